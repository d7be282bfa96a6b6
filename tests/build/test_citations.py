"""Citations in all texts, in any form, match the papers on the page of references.

The forms are "A. Vaswani and others, *Attention Is All You Need*, 2017", "(Ba and others, 2016)",
"(Michel, Levy and Neubig, 2019)", "Vaswani et al. 2017", "Kingma and Ba 2015", "GPT (2018)", links to
arXiv, and links to the references themselves. Other years must be listed as exempt.
"""

import ast
import json
import re
from typing import NamedTuple

import pytest

from attention_docs.publish.before.values import CODE_OR_MATH, MACRO
from tests.conftest import ROOT

YEAR = re.compile(r"(?<![\d.,:/-])(?:1[89]\d|20[0-3])\d\b(?![.,]?\d|-\d)")
ITALIC = re.compile(r"(?<!In )\*([^*\n]+)\*")
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
ARXIV = re.compile(r"(?:arxiv\.org/\w+/|arXiv:\s?)(\d{4}\.\d{4,5})", re.IGNORECASE)
NAME = r"[A-ZÀ-Ž][\w’'-]+"
OTHERS = re.compile(rf"({NAME})(?:,? and others| et al\b)")
CITED = re.compile(
    rf"({NAME})(?:, {NAME})*(?: et al\.?|,? and others| and (?:[A-Z]\. )*({NAME}))?,? \(?$"
)
# Phrases with a year that are not citations, or cite in another form.
EXEMPT = (
    "the original transformer (2017)",
    "T5 (2020)",
)


class Paper(NamedTuple):
    title: str
    first_author: str
    authors: str
    years: tuple[str, ...]
    short_name: str


def papers_in(references):
    """Parse the papers of the page: authors, a title in italics, and the year after it."""
    for entry in re.findall(r"^\*\*.*?\*\* (.*)$", references, re.MULTILINE):
        text = LINK.sub(r"\1", entry)
        titles = list(ITALIC.finditer(text))
        for i, title in enumerate(titles):
            before = text[titles[i - 1].end() if i else 0 : title.start()].rstrip(". ")
            authors = re.split(r"(?<![A-Z])[.:] ", before)[-1]
            first = re.split(r",| and ", authors)[0].split()[-1]
            after = text[title.end() : titles[i + 1].start() if i + 1 < len(titles) else None]
            short_name = f"{title[1].split(':')[0]} {after}"
            yield Paper(title[1], first, authors, tuple(YEAR.findall(after)), short_name)


REFERENCES = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
PAPERS = list(papers_in(REFERENCES))


def is_correct_citation(before, year):
    """Return whether the words before a year cite a paper of that year."""
    papers = [paper for paper in PAPERS if year in paper.years]
    if title := re.search(r"([^:;*()]*)\*([^*]+)\*,? \(?$", before):
        names = re.findall(rf"(?<=[A-Z]\. ){NAME}", title[1])
        papers = [paper for paper in papers if paper.title.startswith(title[2])]
        return any(all(name in paper.authors for name in names) for paper in papers)
    if not (cited := CITED.search(before)):
        return False
    first, second = cited.groups(default="")
    return any(
        (paper.first_author == first and second in paper.authors)
        or (not second and re.search(rf"\b{first}\b", paper.short_name))
        for paper in papers
    )


def wrong_citations(text):
    """Return the citations of a text that match no reference."""
    wrong = [f"arXiv:{number}" for number in ARXIV.findall(text) if number not in REFERENCES]
    for words, target in LINK.findall(text):
        names = re.findall(NAME, words) if "references.md#" in target else []
        wrong += [name for name in names if not any(name in paper.authors for paper in PAPERS)]
    for phrase in EXEMPT:
        text = text.replace(phrase, "")
    # Formulas before macros: a formula that is only a macro would leave "$$", an opening delimiter.
    text = MACRO.sub("", CODE_OR_MATH.sub("", LINK.sub(r"\1", text)))
    authors = {paper.first_author for paper in PAPERS}
    wrong += [citation[0] for citation in OTHERS.finditer(text) if citation[1] not in authors]
    for year in YEAR.finditer(text):
        before = text[: year.start()].rpartition("\n")[2]
        if not is_correct_citation(before, year[0]):
            wrong.append(f"{before[-60:]}{year[0]}")
    return wrong


def markdown_of(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def strings(module):
    """Return all string literals of a module, without doctests."""
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    docs = "\n".join(text for text in texts if isinstance(text, str))
    return re.sub(r"^ *>>> .*(?:\n *\S.*)*", "", docs, flags=re.MULTILINE)


PAGES = {page: page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")}
PUBLISHED = {
    **{page: text for page, text in PAGES.items() if text != REFERENCES},
    ROOT / "README.md": (ROOT / "README.md").read_text(encoding="utf-8"),
    **{page: markdown_of(page) for page in (ROOT / "docs").rglob("*.ipynb")},
    **{module: strings(module) for module in (ROOT / "attention_docs").rglob("*.py")},
}


@pytest.mark.parametrize(
    "source", sorted(PUBLISHED), ids=lambda source: str(source.relative_to(ROOT))
)
def test_every_citation_is_among_the_references(source):
    assert wrong_citations(PUBLISHED[source]) == []


def test_every_exception_occurs_in_a_text():
    all_texts = "\n".join(PUBLISHED.values())
    assert [phrase for phrase in EXEMPT if phrase not in all_texts] == []


def test_years_of_papers_match_their_arxiv_numbers():
    for paper in PAPERS:
        assert paper.years, paper.title
        for number in ARXIV.findall(paper.short_name):
            submitted = 2000 + int(number[:2])
            assert {str(submitted), str(submitted + 1), str(submitted + 2)} & {*paper.years}, (
                paper.title
            )


@pytest.mark.parametrize(
    "citation",
    [
        "One: A. Vaswani and others, *Attention Is All You Need*, 2017, section 3.",
        "J. Su and others, *RoFormer*, 2021 (RoPE).",
        "a sum (He and others, 2016), a norm [(Ba and others, 2016)](../references.md#heads)",
        "removed (Michel, Levy and Neubig, 2019), Vaswani et al. 2017, table 1, Vaswani (2017)",
        "Milakov and Gimelshein 2018, section 3.1; Dao et al. 2022, Dao 2023 (FlashAttention)",
        "GPT-2 (2019), [V2-Lite](https://arxiv.org/abs/2405.04434), on 2026-11-23, 2,017 and 1.2018",
    ],
)
def test_correct_citations_pass(citation):
    assert wrong_citations(citation) == []


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
    assert wrong_citations(citation) != []
