r"""Formulas: KaTeX at build time, strict, with MathML and the colours of the roles."""

from types import SimpleNamespace

import numpy as np
import pytest
from bs4 import BeautifulSoup

from attention_docs import examples
from attention_docs.publish.after import formulas
from attention_docs.publish.after.formulas import Formula
from attention_docs.publish.cache import Cache
from attention_docs.publish.errors import PublishError
from attention_docs.render.latex import latex_name

PAGE = r'<p>If <span class="arithmatex">\(a^2 &lt; \query{Q}\)</span> then</p><div class="arithmatex">\[\sqrt{d_k}\]</div>'
WANTED = [Formula(r"a^2 < \query{Q}", False), Formula(r"\sqrt{d_k}", True)]


@pytest.fixture
def typeset(assets, tmp_path):
    """Typeset formulas, with a cache that lives as long as the test."""

    def typeset(*items):
        project = SimpleNamespace(modules=assets, cache=Cache(tmp_path))
        return formulas.typeset(items, project, locate=lambda item: "page.md:3")

    return typeset


def test_finds_the_formulas_of_a_page():
    assert formulas.formulas(PAGE) == WANTED


def test_the_name_of_every_step_can_be_typeset(typeset):
    steps = {name for example in examples.names() for name in examples.steps(example)}
    names = [Formula(latex_name(name), False) for name in sorted(steps)]
    assert typeset(*names).keys() == set(names)


def test_each_formula_is_blamed_on_the_first_page_that_has_it():
    assert formulas.first_pages([("one", PAGE), ("two", PAGE)]) == dict.fromkeys(WANTED, "one")


def test_puts_html_and_mathml_in_place(typeset):
    done = formulas.insert(PAGE, typeset(*WANTED), look_up=None)
    assert done.count('<math xmlns="http://www.w3.org/1998/Math/MathML"') == 2
    assert done.count("katex-html") == 2
    assert done.count('display="block"') == 1
    assert 'class="enclosing query"' in done
    assert "arithmatex" not in done


def test_number_says_what_it_is_in_html_and_in_mathml(typeset):
    (done,) = typeset(Formula(r"\frac{\from{toy.Q[0;1]}{-0.5}}{\from{toy.n}{2}}", False)).values()
    page = BeautifulSoup(done, "html.parser")
    for copy, attribute in (("math", "data-spoken"), (".katex-html", "data-val")):
        marked = page.select(f"{copy} [{attribute}]")
        shown = {number[attribute]: number.text for number in marked}
        assert shown == {"toy.Q[0,1]": "−0.5", "toy.n": "2"}
    assert "annotation" not in done
    assert "href" not in done


def test_what_follows_a_formula_stays_on_its_line(typeset):
    page = (
        r'<p><span class="arithmatex">\(a\)</span>), or <span class="arithmatex">\(b\)</span> here'
    )
    done = formulas.insert(page, typeset(*formulas.formulas(page)), look_up=None)
    assert [each.text[-2:] for each in BeautifulSoup(done, "html.parser").select(".together")] == [
        "),"
    ]


MATRIX = r'<div class="arithmatex">\[\footnotesize \sqrt{\query{Q}} = \val{toy.Q} \val{toy.K}^\top \quad (2 \times 2)\]</div>'


@pytest.fixture
def with_matrices(typeset):
    """Insert a formula with two matrices, of a number of rows and columns."""

    def with_matrices(*shape):
        wanted = formulas.formulas(MATRIX)
        assert [item.tex for item in wanted] == [r"\sqrt{\query{Q}} ="]
        return formulas.insert(MATRIX, typeset(*wanted), lambda name: np.ones(shape))

    return with_matrices


def test_a_matrix_is_a_table_between_parts_of_the_formula(with_matrices):
    page = BeautifulSoup(with_matrices(2, 2), "html.parser")
    parts = page.select(".formula > *")
    assert [part.name for part in parts] == ["span", "table", "table", "span", "span"]
    assert [table["data-val"] for table in page.select("table")] == ["toy.Q", "toy.K"]
    assert parts[3]["aria-label"] == "transposed"
    assert page.select_one(".formula.smaller"), "the size is lost"


def test_no_table_is_hidden_from_screen_readers(with_matrices):
    page = BeautifulSoup(with_matrices(2, 2), "html.parser")
    assert not page.select("[aria-hidden] table")


def test_a_large_matrix_is_an_excerpt_and_all_of_it_in_a_fold(with_matrices):
    page = BeautifulSoup(with_matrices(5, 9), "html.parser")
    names = [table["data-val"] for table in page.select(".with-matrices table")]
    assert names == ["toy.Q", "toy.K"]
    assert [fold.summary.text for fold in page.select("details")] == ["All 5 × 9 numbers"] * 2
    assert [table["data-val"] for table in page.select("details table")] == ["toy.Q", "toy.K"]
    assert len(page.select("details td")) == 2 * 45


def test_a_long_vector_has_a_fold_too(with_matrices):
    page = BeautifulSoup(with_matrices(50), "html.parser")
    assert [fold.summary.text for fold in page.select("details")] == ["All 1 × 50 numbers"] * 2


def test_a_relation_at_the_end_of_a_part_keeps_its_space(typeset):
    first, *_ = formulas.split_at_matrices(Formula(r"Q = \val{toy.Q}", display=True))
    assert typeset(first)[first].count('class="mspace"') == 2


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
def test_a_wrong_formula_names_place_and_formula(typeset, tex):
    with pytest.raises(PublishError) as caught:
        typeset(Formula(tex, False))
    assert str(caught.value).startswith(f"page.md:3: formula {tex!r}: ")


def test_a_formula_is_typeset_once(typeset, monkeypatch):
    first = typeset(*WANTED)
    monkeypatch.setattr(formulas, "run_node", lambda *_, **__: pytest.fail("typeset again"))
    assert typeset(*WANTED) == first
    assert typeset(WANTED[1]) == {WANTED[1]: first[WANTED[1]]}


def test_another_macro_typesets_anew(typeset, monkeypatch):
    before = typeset(*WANTED)
    monkeypatch.setitem(formulas.MACROS, r"\query", r"\htmlClass{other}{#1}")
    after = typeset(*WANTED)
    assert 'class="enclosing other"' in after[WANTED[0]]
    assert after[WANTED[1]] == before[WANTED[1]]
