"""The built site, its search index, and errors that stop a build."""

import gzip
import json
import re
import shutil
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from attention_docs import examples
from attention_docs.figures.registry import FIGURES
from attention_docs.publish.before.pages import MarkdownConverter
from attention_docs.publish.cache import Cache
from attention_docs.publish.computed import ComputedExamples
from attention_docs.publish.errors import PublishError
from attention_docs.publish.page_files import PageFile
from tests.conftest import ROOT, mkdocs, replace_in_file

pytestmark = pytest.mark.independent_tests


def read_page(site, page):
    return (site / page / "index.html").read_text(encoding="utf-8")


# \begin, \end and \text are in the LaTeX of matrices to copy.
UNREPLACED = re.compile(
    r"\\(?!(?:begin|end|text)\{)[A-Za-z]+\{|arithmatex|katex-error|<!-- insert:"
)


def test_no_placeholder_or_macro_is_left(site):
    for page in site.rglob("*.html"):
        assert not UNREPLACED.search(page.read_text(encoding="utf-8")), page


@pytest.fixture(scope="module")
def text_by_location(site):
    """The text of each section in the search index, by its address."""
    index = json.loads((site / "search" / "documents.json").read_text(encoding="utf-8"))
    return {
        section["location"]: f"{section['title']} {section['text']}" for section in index["docs"]
    }


def test_search_index_excludes_figures_exercises_sources_and_lists(text_by_location):
    all_texts = "\n".join(text_by_location.values())
    assert "the midpoint of boat and seaplane" in all_texts
    assert "row 3 · column 3" not in all_texts  # from its figures
    assert "Who looks at whom" not in all_texts  # from their captions
    for location in text_by_location:
        assert not location.endswith(("#exercises", "#where-this-comes-from"))
        assert not location.startswith("reading_order/#")


def test_search_index_has_words_and_no_markup(text_by_location):
    assert any("softmax" in text for text in text_by_location.values())
    simple_tag = re.compile(r"</?(?:p|ul|ol|li|pre|code|table|t[rhd]|thead|tbody|strong|em)>")
    for text in text_by_location.values():
        without_simple_tags = simple_tag.sub("", text)
        macro_or_tag_with_attributes = r"\\[a-z]{2}|<[a-z]+ "
        assert not re.search(f"katex|{macro_or_tag_with_attributes}", without_simple_tags), text


def test_compressed_search_index_has_at_most_2_kb_for_each_page(site):
    index = (site / "search" / "documents.json").read_bytes()
    assert len(gzip.compress(index, 6)) <= 2_000 * len(list(site.rglob("*.html")))


def test_search_index_has_formulas_as_text_and_an_entry_for_each_term(text_by_location):
    assert "softmax((Q K^T)/sqrt(d_k)) V" in text_by_location["course/formula/"]
    assert "GQA" in text_by_location["glossary/#grouped-queries"]
    assert "GQA" not in text_by_location["glossary/"]


def test_pages_have_at_most_250_kb_and_6000_elements(site):
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        advice = "a page in nav adds 280 bytes to all others; shorten this one, or its examples"
        assert len(html.encode()) <= 250_000, f"{page}: {advice}"
        assert len(re.findall(r"<[a-z]", html)) <= 6_000, page


def test_search_index_of_the_theme_is_empty(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert index["docs"] == []
    assert index["config"]["lang"] == ["en"]


def test_source_maps_and_search_languages_of_the_theme_are_not_published(site):
    assert not [*site.rglob("*.map"), *site.rglob("lunr*")]


def test_pages_start_our_search_worker_with_the_theme_worker_as_its_query(site):
    for page in site.rglob("*.html"):
        (address,) = re.findall(r'"search": "([^"]+)"', page.read_text(encoding="utf-8"))
        our_worker, _, theme_worker = address.partition("?")
        # 404.html has absolute addresses, other pages relative ones.
        folder = site if our_worker.startswith("/") else page.parent
        file = folder / our_worker.removeprefix("/attention-docs/")
        assert file.resolve() == (site / "assets" / "search.js").resolve()
        assert (site / "assets" / theme_worker).is_file()


def test_footer_has_commit_versions_and_repository_link(site):
    page = read_page(site, "notation")
    assert re.search(r"commit \w{7,}\+?, NumPy \d", page)
    assert "https://github.com/someone/attention-docs/issues/new?template=wrong-number.yml" in page


def test_page_with_two_examples_names_the_example_in_each_provenance(site):
    page = read_page(site, "mechanisms/self_attention")
    for label in ("The definition", "Copy as NumPy", "Copy as LaTeX"):
        assert page.count(f"<summary>{label}</summary>") == 2
    titles = [examples.load(name).TITLE for name in re.findall('data-of="(.*?)"', page)]
    assert len(titles) == len(set(titles)) == 2
    for title in titles:
        assert f'aria-label="Where these numbers come from: “{title}”"' in page
        assert f"Try your own numbers: “{title}”" in page
    assert page.count("Press a number") == 1


def append_to_home_page(project, markdown):
    page = project / "docs" / "index.md"
    page.write_text(page.read_text(encoding="utf-8") + markdown, encoding="utf-8")


def build_errors(project):
    """Return the lines of errors and warnings of a failing strict build."""
    built = mkdocs(project, "build", "--strict")
    assert built.returncode != 0
    assert "Traceback" not in built.stderr
    return re.findall(r"^(?!INFO)(?:(?:ERROR|WARNING) +-  )?(.+)", built.stderr, re.MULTILINE)


# Wrong Markdown and the error message, by the check that reports it: a build stops after the first
# check with errors.
PAGE_ERRORS = {
    "macros": [
        (r"\val{self_attention.wieghts}", r"\val{self_attention.wieghts}: step 'wieghts' is unknown; self_attention has X, W_Q"),
        (r"\vla{self_attention.Q}", r"\vla{self_attention.Q}: unknown macro; expected one of val, printed"),
        (r"\figure{nope}", r"\figure{nope}: figure 'nope' is unknown; expected one of"),
        (r"\figure{uncaptioned}", r"\figure{uncaptioned}: figure 'uncaptioned' has no docstring, and so no caption"),
        (r"\example{nope}", r"\example{nope}: example 'nope' is unknown"),
        (r"\contents{Chpaters}", r"\contents{Chpaters}: section 'Chpaters' is unknown; expected one of none"),
        (r"\overview{Refrence}", r"\overview{Refrence}: section 'Refrence' is unknown; expected one of none"),
    ],
    "blocks": [
        ("```mermaid\ngraph TB\n  A --> B\n```", "mermaid: the line `accTitle: ...` is missing"),
        ("# Another title", "a second title; a page has exactly one"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("check", PAGE_ERRORS)
def test_errors_in_a_page_are_reported_with_their_lines(assets, tmp_path, monkeypatch, check):
    monkeypatch.setitem(FIGURES, "uncaptioned", lambda _: "")
    project = SimpleNamespace(
        node_modules=assets, cache=Cache(tmp_path), examples=ComputedExamples(ROOT), repository=None
    )
    content = "# Home\n" + "".join(f"\n{text}\n" for text, _ in PAGE_ERRORS[check])
    with pytest.raises(PublishError) as caught:
        MarkdownConverter(project, [], {}).page_markdown(PageFile("index.md", content))
    errors = str(caught.value).splitlines()
    for text, message in PAGE_ERRORS[check]:
        line = content.partition(text)[0].count("\n") + 1
        expected = f"docs/index.md:{line}: {message}"
        assert any(error.startswith(expected) for error in errors), (expected, errors)


def test_formula_error_has_its_line_below_values_and_in_a_note(one_page_project):
    macros = "$\\val{self_attention.weights}$\n\n\\figure{self_attention_scores}\n\n"
    note = "!!! note\n\n    $$\n    \\val{self_attention.V}\n    \\nope{x}\n    $$\n"
    append_to_home_page(one_page_project, macros + note)
    errors = build_errors(one_page_project)
    page = (one_page_project / "docs" / "index.md").read_text(encoding="utf-8")
    line = page.partition(r"\nope")[0].count("\n") + 1
    assert any(error.startswith(f"docs/index.md:{line}: formula") for error in errors), errors


def test_warnings_of_mkdocs_and_about_unused_examples_stop_the_build(one_page_project):
    append_to_home_page(
        one_page_project, "\n[a](nowhere.md)\n\n[b](#nowhere)\n\n![c](assets/nope.svg)\n"
    )
    (one_page_project / "docs" / "left_out.md").write_text("# Left out\n", encoding="utf-8")
    replace_in_file(one_page_project / "mkdocs.yml", "  - index.md\n", "  - index.md\n  - no.md\n")
    examples = one_page_project / "attention_docs" / "examples"
    shutil.copy(examples / "self_attention.py", examples / "unused.py")
    errors = "\n".join(build_errors(one_page_project))
    for target in ("nowhere.md", "#nowhere", "assets/nope.svg"):
        assert f"'index.md' contains a link '{target}'" in errors
    assert 'not included in the "nav" configuration:\n  - left_out.md' in errors
    assert "'no.md' is included in the 'nav' configuration, which is not found" in errors
    assert r"attention_docs/examples/unused.py: no page uses \example{unused}" in errors


def test_map_links_to_every_mechanism(site):
    page = BeautifulSoup(read_page(site, "reading_order"), "html.parser")
    links_in_map = {a["href"] for a in page.select(".map a")}
    links_in_lists = {a["href"] for a in page.select(".md-content details li a")}
    mechanisms = {link for link in links_in_lists if "mechanisms" in link}
    assert len(mechanisms) > 40
    assert mechanisms <= links_in_map


def test_course_page_shows_its_number_and_links_to_the_other_pages_below_its_title(site):
    page = BeautifulSoup(read_page(site, "course/scale"), "html.parser")
    progress = page.select_one(".progress")
    assert progress.summary.get_text() == "The course, page 4 of 12"
    assert progress.find_previous_sibling().name == "h1"
    items = page.select(".progress li")
    assert len(items) == 12
    assert [item.a["href"] for item in items[:2]] == ["../averages/", "../projections/"]
    (page_itself,) = [item for item in items if not item.a]
    title_without_anchor_sign = page.h1.get_text().strip("#¶ \n")
    assert page_itself.get_text() == title_without_anchor_sign
