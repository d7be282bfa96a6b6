"""Citations in all texts, in any form, match the papers on the page of references.

The forms are "A. Vaswani and others, *Attention Is All You Need*, 2017", "(Ba and others, 2016)",
"(Michel, Levy and Neubig, 2019)", "Vaswani et al. 2017", "Kingma and Ba 2015", "GPT (2018)", links to
arXiv, and links to the references themselves. Other years must be listed as exempt.
"""

import ast
import re
from typing import NamedTuple

import pytest

from attention_docs.publish.before.values import CODE_OR_MATH, MACRO
from attention_docs.publish.page_files import PageFile
from tests.conftest import ROOT

YEAR = re.compile(r"(?<![\d.,:/-])(?:1[89]\d|20[0-3])\d\b(?![.,]?\d|-\d)")
TITLE = re.compile(r"(?<!In )\*([^*\n]+)\*")  # "In *…*" is a journal
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
ARXIV = re.compile(r"(?:arxiv\.org/\w+/|arXiv:\s?)(\d{4}\.\d{4,5})", re.IGNORECASE)
NAME = r"[A-ZÀ-Ž][\w’'-]+"
FIRST_AUTHOR_AND_OTHERS = re.compile(rf"({NAME})(?:,? and others| et al\b)")
# Authors before a year: the groups are the first author and the one after "and".
AUTHORS_BEFORE_YEAR = re.compile(
    rf"({NAME})(?:, {NAME})*(?: et al\.?|,? and others| and (?:[A-Z]\. )*({NAME}))?,? \(?$"
)
AUTHORS_AND_TITLE_BEFORE_YEAR = re.compile(r"(?P<authors>[^:;*()]*)\*(?P<title>[^*]+)\*,? \(?$")


class Paper(NamedTuple):
    title: str
    first_author: str
    authors: str
    after_title: str

    @property
    def years(self):
        return YEAR.findall(self.after_title)

    def has_authors(self, names):
        return all(name in self.authors for name in names)

    def has_short_name(self, name):
        """Whether a paper can be cited by a name instead of its authors, like "GPT (2018)"."""
        texts_with_short_names = f"{self.title.split(':')[0]} {self.after_title}"
        return re.search(rf"\b{name}\b", texts_with_short_names) is not None


def parse_references(page):
    """Yield the papers of the page: authors, a title in italics, and year and links after it."""
    for entry in re.findall(r"^\*\*.*?\*\* (.*)$", page, re.MULTILINE):
        # TITLE has one group, so texts alternate with titles.
        texts_and_titles = TITLE.split(LINK.sub(r"\1", entry))
        for index in range(1, len(texts_and_titles), 2):
            before_title, title, after_title = texts_and_titles[index - 1 : index + 2]
            authors = re.split(r"(?<![A-Z])[.:] ", before_title.rstrip(". "))[-1]
            first_author = re.split(r",| and ", authors)[0].split()[-1]
            yield Paper(title, first_author, authors, after_title)


REFERENCES = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
PAPERS = list(parse_references(REFERENCES))


def is_correct_citation(before, year):
    """Whether the words before a year cite a paper of that year."""
    papers = [paper for paper in PAPERS if year in paper.years]
    with_title = AUTHORS_AND_TITLE_BEFORE_YEAR.search(before)
    if with_title:
        names = re.findall(rf"(?<=[A-Z]\. ){NAME}", with_title["authors"])
        papers = [paper for paper in papers if paper.title.startswith(with_title["title"])]
        return any(paper.has_authors(names) for paper in papers)
    without_title = AUTHORS_BEFORE_YEAR.search(before)
    if not without_title:
        return False
    name, last_author = without_title.groups()
    if last_author:
        by_first_author = [paper for paper in papers if paper.first_author == name]
        return any(paper.has_authors([last_author]) for paper in by_first_author)
    return any(paper.first_author == name or paper.has_short_name(name) for paper in papers)


def wrong_citations(text):
    """Yield the citations of a text that match no reference."""
    for number in ARXIV.findall(text):
        if number not in REFERENCES:
            yield f"arXiv:{number}"
    for words, target in LINK.findall(text):
        if "references.md#" in target:
            for name in re.findall(NAME, words):
                if not any(name in paper.authors for paper in PAPERS):
                    yield name
    # Formulas before macros: a formula that is only a macro would leave "$$", an opening delimiter.
    prose = MACRO.sub("", CODE_OR_MATH.sub("", LINK.sub(r"\1", text)))
    first_authors = {paper.first_author for paper in PAPERS}
    for citation in FIRST_AUTHOR_AND_OTHERS.finditer(prose):
        if citation[1] not in first_authors:
            yield citation[0]
    for year in YEAR.finditer(prose):
        before = prose[: year.start()].rpartition("\n")[2]
        if not is_correct_citation(before, year[0]):
            yield f"{before[-60:]}{year[0]}"


def read_strings(path):
    """Return all string literals of a module, without doctests."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    strings = "\n".join(constant for constant in constants if isinstance(constant, str))
    return re.sub(r"^ *>>> .*(?:\n *\S.*)*", "", strings, flags=re.MULTILINE)


PUBLISHED_TEXTS = {
    ROOT / "README.md": (ROOT / "README.md").read_text("utf-8"),
    **{path: path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")},
    **{
        path: PageFile(path.name, path.read_text("utf-8")).prose
        for path in (ROOT / "docs").rglob("*.ipynb")
    },
    **{path: read_strings(path) for path in (ROOT / "attention_docs").rglob("*.py")},
}
del PUBLISHED_TEXTS[ROOT / "docs" / "references.md"]


def test_every_citation_is_among_the_references():
    wrong = {str(path): list(wrong_citations(text)) for path, text in PUBLISHED_TEXTS.items()}
    assert {path: citations for path, citations in wrong.items() if citations} == {}


def test_paper_is_at_most_two_years_newer_than_its_arxiv_number():
    for paper in PAPERS:
        assert paper.years, paper.title
        for number in ARXIV.findall(paper.after_title):
            submitted = 2000 + int(number[:2])  # the number begins with year and month
            assert any(submitted <= int(year) <= submitted + 2 for year in paper.years), paper.title


@pytest.mark.parametrize(
    "citation",
    [
        "One: A. Vaswani and others, *Attention Is All You Need*, 2018, section 3.",
        "A. Vaswani and others, *Attention Is Not All*, 2017",
        "A. Vaswani, B. Bengio, *Attention Is All You Need*, 2017",
        "M. Smith and others, *A Paper*",
        "a sum (He and others, 2015)",
        "a sum [(Hebert and others)](../references.md#heads)",
        "(Michel and others, 2020)",
        "(Michel, Levy and Bengio, 2019)",
        "Vaswani et al. 2018",
        "Source: Kingma and Ba 2014.",
        "Uszkoreit et al. 2017",
        "Vaswani (2016)",
        "BERT (2018)",
        "as was shown in 2017",
        "https://arxiv.org/abs/1706.03763",
    ],
)
def test_wrong_citations_are_reported(citation):
    assert list(wrong_citations(citation)) != []
