r"""Expansion of \val and other macros, and their error messages."""

import re

import numpy as np
import pytest
from bs4 import BeautifulSoup

from attention_docs.publish.before import values
from attention_docs.publish.before.values import (
    Context,
    number,
    printed,
    resolve,
    resolve_caption,
    value,
)
from attention_docs.publish.errors import PublishError
from attention_docs.publish.inserts import Inserts
from tests.conftest import assert_raises

STEPS = {
    "weights": np.array([[0.25, 0.75, 0.0], [1e-9, 0.5, -2.0]]),
    "total": np.array(1.5),
    "row": np.array([1.0, 0.5]),
    "cube": np.ones((1, 1, 1)),
}

NUMBER_IN_TEXT = re.compile(r'<span data-val="(?P<reference>[^"]*)">(?P<digits>.*?)</span>')
NUMBER_IN_FORMULA = re.compile(
    r"\\from\{(?P<reference>[^}]*)\}\{(?P<digits>(?:[^{}]|\{[^{}]*\})*)\}"
)


def steps(name):
    if name != "toy":
        raise LookupError(f"example {name!r} is unknown; expected one of toy")
    return STEPS


@pytest.fixture(autouse=True)
def no_labels(monkeypatch):
    monkeypatch.setattr(values, "look_up_labels", lambda _: ())


def add_table(html):
    return re.search('data-val=.(.*?)"', html)[1]


CAPTIONS = {"good": r"Row \val{toy.row}.", "bad": r"Row \val{toy.rwo}."}
MACROS = {
    "val": lambda reference, context: value(reference, steps, context, add_table),
    "printed": printed,
    "number": number,
    "figure": lambda name, _: resolve_caption(CAPTIONS[name], MACROS),
}


def resolved(markdown):
    return resolve(markdown, MACROS, lambda line: f"page.md:{line + 1}")


def without_references(markdown):
    return NUMBER_IN_FORMULA.sub(r"\g<digits>", NUMBER_IN_TEXT.sub(r"\g<digits>", markdown))


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (r"about \val{toy.total}.", "about 1.5000."),
        (r"\val{toy.weights[0,1]}", "0.7500"),
        (r"\val{toy.weights[-1, -1]}", "−2"),
        (r"\val{toy.row}", "&#91;1 0.5000&#93;"),
        (r"\val{toy.weights[1]}", "&#91;1.0 × 10<sup>−9</sup> 0.5000 −2&#93;"),
        (r"\val{toy.weights[:,2]}", "&#91;0 −2&#93;"),
        (r"\val{toy.weights}", "&#91;&#91;0.2500 0.7500 0&#93; &#91;1.0 × 10<sup>−9</sup> 0.5000 −2&#93;&#93;"),
        (r"\val{toy.weights.shape}, \val{toy.weights.shape[1]}", "2 × 3, 3"),
        (r"| a | \val{toy.total} |", "| a | 1.5000 |"),
        (r"$x = \val{toy.total}$", "$x = 1.5000$"),
        (r"$\val{toy.weights[1,0]}$", r"$1.0 \times 10^{-9}$"),
        (r"$\val{toy.row}$", r"$[\,1 \enspace\allowbreak 0.5000\,]$"),
        ("$$\nA = \\val{toy.weights}\n$$", "$$\nA = \\table{toy.weights}\n$$"),
        (r"$(\val{toy.weights.shape})$", r"$(2 \times 3)$"),
        ("$$\nA = \\val{toy.weights[:,0]}\n$$", "$$\nA = \\table{toy.weights[:,0]}\n$$"),
        ("$$\n\\begin{aligned} A &= \\val{toy.row} \\end{aligned}\n$$", "$$\n\\begin{aligned} A &= [\\,1 \\enspace\\allowbreak 0.5000\\,] \\end{aligned}\n$$"),
        ("$$\n\\left( \\val{toy.weights[:,2]} \\right) \\val{toy.row}\n$$", "$$\n\\left( [\\,0 \\enspace\\allowbreak {-2}\\,] \\right) \\table{toy.row}\n$$"),
        (r"costs \$5, \val{toy.total} and $y$", r"costs \$5, 1.5000 and $y$"),
        (r"\printed{0.4}", '<s class="printed" title="as printed in the source">0.4</s>'),
        (r"$\printed{0.4}$", r"$\computed{\htmlClass{printed}{0.4}}$"),
        ("\\figure{good}\n", "Row &#91;1 0.5000&#93;.\n"),
        (r"$\text{is } \val{toy.total}$", r"$\text{is } 1.5000$"),
        (r"`\val{toy.total}`", r"`\val{toy.total}`"),
        (r"``a ` \val{toy.total}`` \val{toy.total}", r"``a ` \val{toy.total}`` 1.5000"),
        ("```\n\\val{toy.total}\n```\n\\val{toy.total}", "```\n\\val{toy.total}\n```\n1.5000"),
        ("    ~~~ text\n    $\\val{toy.total}$\n    ~~~\n", "    ~~~ text\n    $\\val{toy.total}$\n    ~~~\n"),
    ],
)  # fmt: skip
def test_macros_expand_in_prose_and_formulas_but_not_in_code(markdown, expected):
    assert without_references(resolved(markdown)) == expected


@pytest.mark.parametrize(("shape", "size"), [((5, 9), "5 × 9"), ((50,), "1 × 50")])
def test_large_matrix_is_excerpted_with_details_for_all_of_it(shape, size):
    inserts = Inserts()
    tex = value("toy.L", lambda _: {"L": np.ones(shape)}, Context.TOP, inserts.add)
    assert re.fullmatch(r"\\table\{.*\}\{.*\}", tex)
    part, details = (BeautifulSoup(html, "html.parser") for html in inserts.values())
    assert part.table["data-val"] == details.table["data-val"] == "toy.L"
    assert details.summary.text == f"All {size} numbers"
    assert len(details.select("td")) == np.prod(shape) > len(part.select("td"))


def test_caption_error_is_reported_for_the_figure_macro():
    with pytest.raises(PublishError, match=r"^page.md:1: \\figure\{bad\}: step 'rwo' is unknown"):
        resolved(r"\figure{bad}")


@pytest.mark.parametrize(
    ("macro", "references"),
    [
        (r"\val{toy.total}", ["toy.total"]),
        (r"\val{toy.weights[-1, -1]}", ["toy.weights[-1,-1]"]),
        (r"\val{toy.weights[:,2]}", ["toy.weights[0,2]", "toy.weights[1,2]"]),
        (r"\val{toy.row}", ["toy.row[0]", "toy.row[1]"]),
        (r"\val{toy.weights.shape}", ["toy.weights.shape"]),
    ],
)
def test_numbers_carry_their_references(macro, references):
    in_text = NUMBER_IN_TEXT.finditer(resolved(macro))
    in_formula = NUMBER_IN_FORMULA.finditer(resolved(f"${macro}$"))
    assert [number["reference"] for number in in_text] == references
    # A comma would separate attributes in KaTeX's \htmlData.
    assert [number["reference"].replace(";", ",") for number in in_formula] == references


@pytest.mark.parametrize(
    ("macro", "message"),
    [
        (r"\val{tyo.total}", "example 'tyo' is unknown; expected one of toy"),
        (r"\val{toy.wieghts}", "step 'wieghts' is unknown; toy has weights, total, row, cube"),
        (r"\val{toy.weights[2]}", "index [2] is outside the shape 2 x 3"),
        (r"\val{toy.weights[0,0,0]}", "index [0,0,0] is outside the shape 2 x 3"),
        (r"\val{toy.weights.shape[2]}", "weights.shape has 2 sizes; index [2] is out of range"),
        (r"\val{toy.row.shape[0,0]}", "row.shape has 1 size; index [0,0] is out of range"),
        (r"\val{toy.weights[x]}", "index [x] is not understood; expected [0], [0,1] or [:,1]"),
        (r"\val{toy}", "expected example.step, example.step[index] or example.step.shape"),
    ],
)
@pytest.mark.parametrize(
    "page",  # with the macro in line 3
    [
        pytest.param("one\n\ntwo {}\n", id="text"),
        pytest.param("one\n\n$${}$$\n", id="formula"),
        pytest.param("`x`\n```\n``` {}\n", id="after code"),
    ],
)
def test_wrong_reference_is_reported_with_location_and_names(macro, message, page):
    expected = f"page.md:3: {macro}: {message}"
    assert_raises(lambda: resolved(page.format(macro)), PublishError, expected)


@pytest.mark.parametrize("formula", [r"$\val{toy.cube}$", "$$\n\\val{toy.cube}\n$$"])
def test_three_axes_in_a_formula_are_rejected(formula):
    with pytest.raises(PublishError, match="expected at most two axes"):
        resolved(formula)


@pytest.mark.parametrize("expression", ["", "True", "a", "1/0", "2 ** (1/2)", "int('3')"])
def test_number_rejects_inexact_or_other_expressions(expression):
    with pytest.raises(PublishError, match=r": \\number\{.*\}: expected arithmetic"):
        resolved(rf"\number{{{expression}}}")


def test_number_names_a_division_by_zero():
    with pytest.raises(PublishError, match="this divides by zero"):
        resolved(r"\number{2 / (1 - 1)}")
