"""The files of pages: no typed matrices, and a common structure."""

import re

import pytest

from attention_docs.publish.before.contents import words_of_prose
from attention_docs.publish.before.values import CODE_OR_MATH
from attention_docs.publish.page_files import PageFile
from tests.conftest import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
BEFORE_AND_AFTER = ("before_you_begin", "test_yourself")
COURSE_PAGES = sorted(
    page for page in (ROOT / "docs" / "course").glob("*.md") if page.stem not in BEFORE_AND_AFTER
)
MAX_WORDS_OF_MOST_PAGES = 720
# The page on learning has a whole training in it.
MAX_WORDS = {"before_you_begin": 500, "learned": 1050}
COMPUTED = re.compile(r"\\(?:val|number)\{[^{}]*\}")
MATRIX = re.compile(r"\\begin\{[bpvV]?(?:matrix|array)\}.*?\\end\{", re.DOTALL)


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda page: page.stem)
def test_page_has_no_typed_matrix(page):
    prose = PageFile(page.name, page.read_text(encoding="utf-8")).prose
    without_code = CODE_OR_MATH.sub(lambda match: "" if match["code"] else match[0], prose)
    matrices = MATRIX.findall(COMPUTED.sub("", without_code))
    assert [matrix for matrix in matrices if re.search(r"\d", matrix)] == []


def test_typed_matrix_is_recognized():
    assert MATRIX.findall(r"\begin{bmatrix} 1 & 0 \end{bmatrix}")


def test_words_of_prose_excludes_code_formulas_and_macros():
    page = """---
description: A page.
---

Here $\\val{a.b}$ and $\\val{a.c}$ are \\val{a.d} between

$$
x = \\val{a.e} \\text{ not }
$$

two [displayed](far/away.md) **formulas**{.query}

$$
y
$$

<div class="try">

and `code`, which ends.
"""
    expected = "Here and are between two displayed formulas and which ends"
    assert words_of_prose(PageFile("page.md", page).prose) == expected.split()


@pytest.mark.parametrize("name", ["before_you_begin", *(page.stem for page in COURSE_PAGES)])
def test_course_page_is_short(name):
    page = ROOT / "docs" / "course" / f"{name}.md"
    prose = PageFile(page.name, page.read_text(encoding="utf-8")).prose
    assert len(words_of_prose(prose)) <= MAX_WORDS.get(name, MAX_WORDS_OF_MOST_PAGES)


@pytest.mark.parametrize("page", COURSE_PAGES, ids=lambda page: page.stem)
def test_course_page_has_the_common_structure(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("??? question") in (1, 2)
    assert text.index("\\figure{") < text.index("## "), "the first section comes before a figure"
    assert "## What this page leaves out" in text
    terms = re.findall(r"glossary\.md#([\w-]+)", text)
    assert len(terms) == len(set(terms)), "an entry of the glossary is linked twice"


TEST_YOURSELF = (ROOT / "docs" / "course" / "test_yourself.md").read_text(encoding="utf-8")
QUESTION_AND_ANSWER = re.compile(
    r'\\ask\{(.+?) \|.*?\?\?\? info "Answer: (.*?)(?=\n## |\Z)', re.DOTALL
)
QUESTION_COUNT = 14


def test_every_question_has_a_folded_answer():
    questions = QUESTION_AND_ANSWER.findall(TEST_YOURSELF)
    assert len(questions) == QUESTION_COUNT
    assert TEST_YOURSELF.count("\\ask{") == QUESTION_COUNT
    assert TEST_YOURSELF.count('??? info "Answer: ') == QUESTION_COUNT


def test_every_answer_shows_the_number_that_is_asked_for():
    for reference, answer in QUESTION_AND_ANSWER.findall(TEST_YOURSELF):
        # The question for a word refers to a row of numbers, and its answer to one of them.
        assert "\\val{" + reference.rstrip("]") in answer


def test_glossary_is_sorted():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(\S.*) \{ #.*\}\n:   ", glossary, re.M)
    assert len(terms) > 40
    assert terms == sorted(set(terms), key=str.lower)
