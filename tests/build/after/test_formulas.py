r"""Formulas, typeset by KaTeX in strict mode, with MathML, roles and tables for matrices."""

import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from attention_docs import examples
from attention_docs.publish.after import formulas
from attention_docs.publish.after.formulas import Formula
from attention_docs.publish.cache import Cache
from attention_docs.publish.computed import ComputedExamples
from attention_docs.publish.errors import PublishError
from attention_docs.render.latex import latex_name
from tests.conftest import ROOT

PAGE = r'<p>If <span class="arithmatex">\(a^2 &lt; \query{Q}\)</span> then</p><div class="arithmatex">\[\sqrt{d_k}\]</div>'
INLINE = Formula(r"a^2 < \query{Q}", display=False)
DISPLAYED = Formula(r"\sqrt{d_k}", display=True)


@pytest.fixture
def typeset(assets, tmp_path):
    """A function that typesets formulas, with a cache for the test."""

    def typeset(*items):
        project = SimpleNamespace(node_modules=assets, cache=Cache(tmp_path))
        return formulas.typeset(items, project, locate=lambda _: "page.md:3")

    return typeset


def test_formulas_lists_the_formulas_of_a_page():
    assert formulas.formulas(PAGE) == [INLINE, DISPLAYED]


def test_every_step_name_can_be_typeset(typeset):
    computed = ComputedExamples(ROOT)
    steps = {name for example in examples.names() for name in computed.steps(example)}
    names = [Formula(latex_name(name), display=False) for name in sorted(steps)]
    assert typeset(*names).keys() == set(names)


def test_insert_replaces_pending_formulas_by_html_and_mathml(typeset):
    page = formulas.insert(PAGE, typeset(INLINE, DISPLAYED))
    assert page.count('<math xmlns="http://www.w3.org/1998/Math/MathML"') == 2
    assert page.count("katex-html") == 2
    assert page.count('display="block"') == 1
    assert 'class="enclosing query"' in page
    assert "arithmatex" not in page


def test_numbers_carry_references_in_html_and_mathml(typeset):
    fraction = Formula(r"\frac{\from{toy.Q[0;1]}{-0.5}}{\from{toy.n}{2}}", display=False)
    html = typeset(fraction)[fraction]
    page = BeautifulSoup(html, "html.parser")
    digits = {"toy.Q[0,1]": "−0.5", "toy.n": "2"}
    in_mathml = page.select("math [data-spoken]")
    assert {number["data-spoken"]: number.text for number in in_mathml} == digits
    in_html = page.select(".katex-html [data-val]")
    assert {number["data-val"]: number.text for number in in_html} == digits
    assert "annotation" not in html
    assert "href" not in html


def test_space_before_an_operator_is_not_part_of_the_number(typeset):
    formula = Formula(r"\from{toy.n}{-2} + 1", display=False)
    page = BeautifulSoup(typeset(formula)[formula], "html.parser")
    (number,) = page.select(".katex-html [data-val]")
    assert not number.select(".mspace")
    assert "mspace" in number.find_next_sibling()["class"]


def test_mathml_tokens_contain_only_text(typeset):
    """KaTeX puts elements into <mi> and <mo>, which browsers would not know there."""
    formula = Formula(r"\underset{\from{a.Q.shape}{3}}{\query{Q}} + \query{Q_1}", display=True)
    mathml = typeset(formula)[formula].partition("</math>")[0]
    assert "<munder>" in mathml
    assert not re.search(r"<(mi|mo|mn|mtext)\b[^>]*><", mathml)


def test_punctuation_stays_on_the_line_of_its_formula():
    page = r'<p><span class="arithmatex">\(a\)</span>), or <span class="arithmatex">\(b\)</span> c'
    page = formulas.insert(page, typeset_formulas={})
    (unbreakable,) = BeautifulSoup(page, "html.parser").select(".together")
    assert unbreakable.text == "a),"


MATRICES = r'<div class="arithmatex">\[\footnotesize \sqrt{\query{Q}} = \table{<q>}{<all>} \table{<k>}{<all>}^\top \quad (2 \times 2)\]</div>'


def test_matrices_are_tables_between_formula_segments(typeset):
    (root,) = formulas.formulas(MATRICES)
    assert root.tex == r"\sqrt{\query{Q}} ="
    html = formulas.insert(MATRICES, typeset(root))
    page = BeautifulSoup(html, "html.parser")
    (unbreakable,) = page.select_one(".formula.smaller").find_all(recursive=False)
    assert unbreakable["class"] == ["together"]
    assert unbreakable.select("math msqrt")
    around_tables = re.split("<q>|<k>", html)
    assert '<span class="transposed" role="img" aria-label="transposed">' in around_tables[2]
    assert around_tables[2].endswith("(2 × 2)</span></div></div><all>")
    assert "aria-hidden" not in around_tables[1]


def test_relation_at_the_end_of_a_segment_keeps_its_spacing(typeset):
    segment, *_ = formulas.split_at_matrices(Formula(r"Q = \table{q}", display=True))
    spaces_around_equals_sign = typeset(segment)[segment].count('class="mspace"')
    assert spaces_around_equals_sign == 2


@pytest.mark.parametrize(
    "tex",
    [
        r"\sqrt{",
        r"\unknown",
        r"\htmlStyle{color: red}{x}",
        r"\href{javascript:0}{x}",
        r"\href{//host/}{x}",
        "ü",
    ],
)
def test_wrong_formula_is_reported_with_its_location(typeset, tex):
    with pytest.raises(PublishError) as caught:
        typeset(Formula(tex, display=False))
    assert str(caught.value).startswith(f"page.md:3: formula {tex!r}: ")


def test_changed_macro_invalidates_the_formula_cache(typeset, monkeypatch):
    before = typeset(INLINE, DISPLAYED)
    monkeypatch.setitem(formulas.MACROS, r"\query", r"\htmlClass{other}{#1}")
    after = typeset(INLINE, DISPLAYED)
    assert 'class="enclosing other"' in after[INLINE]
    assert after[DISPLAYED] == before[DISPLAYED]
