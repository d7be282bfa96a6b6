r"""Short formulas as plain HTML: text, spacing, roles, and formulas left to KaTeX."""

import pytest
from bs4 import BeautifulSoup

from attention_docs.publish.after.symbols import short_formula
from attention_docs.render.figures.svg import ROLES


def text_of(tex):
    return BeautifulSoup(short_formula(tex), "html.parser").text.strip()


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        ("Q", "Q"),
        ("d_k", "dk"),
        (r"d_{\text{model}}", "dmodel"),
        ("X_{kv}", "Xkv"),
        (r"\alpha_{1,2}", "α1,2"),
        ("q_i k_i", "qiki"),
        ("2n", "2n"),
        ("n = 3", "n = 3"),
        ("n=-0.5", "n = −0.5"),
        ("-1", "−1"),
        ("n - 1", "n − 1"),
        ("(-1, 2)", "(−1, 2)"),
        (r"m \times d_k", "m × dk"),
        (r"-\infty", "−∞"),
        (r"i = 1, \dots, h", "i = 1, …, h"),
        (r"6/d", "6/d"),
        (r"4 \times 2 \text{ each}", "4 × 2 each"),
        (r"\le 2", "≤ 2"),
    ],
)
def test_text_of_short_formula(tex, expected):
    assert text_of(tex) == expected


@pytest.mark.parametrize(
    "tex",
    [
        "n^2", "A'", r"\sqrt{d}", r"\frac{1}{2}", r"W_Q^\top", r"W^{(i)}", r"\alpha_{i,j}",
        r"\query{Q_1 K}", r"\query{Q}_1", r"\tanh", r"\lambdax", r"\timesx", r"\left(1\right)",
        r"\mathbb{R}", "a ^2", "x|y", r"\text{Two words}",
    ],
)  # fmt: skip
def test_complex_formula_is_left_to_katex(tex):
    assert short_formula(tex) is None


@pytest.mark.parametrize("role", ROLES)
def test_role_is_the_class_of_its_symbol(role):
    page = BeautifulSoup(short_formula(rf"\{role}{{q_i}} = 1"), "html.parser")
    assert page.select_one(f"i.{role}").text == "qi"


def test_letters_are_italic_and_other_subscripts_upright():
    html = short_formula(r"d_{\text{model}} = 2q_1")
    assert '<i>d<sub class="upright">model</sub></i>' in html
    assert '2<i>q<sub class="upright">1</sub></i>' in html
