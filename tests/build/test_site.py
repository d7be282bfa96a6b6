"""The built site, its search index, and errors that stop a build."""

import gzip
import json
import re
import shutil

import pytest
from bs4 import BeautifulSoup

from attention_docs import examples
from attention_docs.publish.before.contents import title_and_description
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


def test_every_formula_has_mathml(site):
    page = read_page(site, "mechanisms/self_attention")
    assert page.count("<math ") == page.count('class="katex-html"') > 10


def test_figures_have_drawings_and_captions(site):
    page = read_page(site, "mechanisms/self_attention")
    markdown = (ROOT / "docs" / "mechanisms" / "self_attention.md").read_text(encoding="utf-8")
    figures = page.split('<figure class="figure"')[1:]
    assert len(figures) == markdown.count("\n\\figure{") > 0
    for figure in figures:
        drawing, caption_tag, _ = figure.partition("<figcaption")
        assert '<svg xmlns="http://www.w3.org/2000/svg" id="figure-' in drawing
        assert caption_tag


@pytest.fixture(scope="module")
def text_by_location(site):
    """The text of each section in the search index, by its address."""
    index = json.loads((site / "search" / "documents.json").read_text(encoding="utf-8"))
    return {
        section["location"]: f"{section['title']} {section['text']}" for section in index["docs"]
    }


def test_search_index_excludes_figures_and_captions(text_by_location):
    all_texts = "\n".join(text_by_location.values())
    assert "the midpoint of boat and seaplane" in all_texts
    assert "row 3 · column 3" not in all_texts  # from its figures
    assert "Who looks at whom" not in all_texts  # from their captions


def test_search_index_has_words_and_no_markup(text_by_location):
    assert any("softmax" in text for text in text_by_location.values())
    simple_tag = re.compile(r"</?(?:p|ul|ol|li|pre|code|table|t[rhd]|thead|tbody|strong|em)>")
    for text in text_by_location.values():
        without_simple_tags = simple_tag.sub("", text)
        macro_or_tag_with_attributes = r"\\[a-z]{2}|<[a-z]+ "
        assert not re.search(f"katex|{macro_or_tag_with_attributes}", without_simple_tags), text


def test_search_index_excludes_exercises_and_provenance(site, text_by_location):
    assert 'id="exercises"' in read_page(site, "course/averages")
    for location in text_by_location:
        assert not location.endswith(("#exercises", "#where-this-comes-from"))


def test_search_index_has_titles_but_not_descriptions_of_listed_pages(text_by_location):
    page_file = PageFile("x.md", (ROOT / "docs/course/averages.md").read_text("utf-8"))
    title, description = title_and_description(page_file)
    list_of_pages = text_by_location["reading_order/#new-to-attention"]
    assert title in list_of_pages
    assert description not in list_of_pages


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


def test_no_repository_links_without_a_repository(one_page_project):
    assert mkdocs(one_page_project, "build", "--strict").returncode == 0
    assert "github.com" not in read_page(one_page_project / "site", "")


def test_provenance_has_definition_numpy_and_latex(site):
    page = read_page(site, "mechanisms/local_window")
    assert "<summary>Where these numbers come from</summary>" in page
    for label in ("The definition", "Copy as NumPy", "Copy as LaTeX"):
        assert label in page


def test_page_with_two_examples_names_the_example_in_each_provenance(site):
    page = read_page(site, "mechanisms/self_attention")
    titles = [examples.load(name).TITLE for name in re.findall('data-of="(.*?)"', page)]
    assert len(titles) == len(set(titles)) == 2
    for title in titles:
        assert f'aria-label="Where these numbers come from: “{title}”"' in page
        assert f"Try your own numbers: “{title}”" in page


def test_only_the_first_provenance_of_a_page_explains_how_to_use_numbers(site):
    page = read_page(site, "mechanisms/self_attention")
    assert page.count("Where these numbers come from: “") > 1
    assert page.count("Press a number") == 1


def append_to_home_page(project, markdown):
    page = project / "docs" / "index.md"
    page.write_text(page.read_text(encoding="utf-8") + markdown, encoding="utf-8")


def location_of(text, project):
    """Return the expected location of a text that a test appended to the home page."""
    before, _, _ = (project / "docs" / "index.md").read_text(encoding="utf-8").partition(text)
    line = before.count("\n") + 1
    return f"docs/index.md:{line}"


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
def test_errors_in_a_page_are_reported_with_their_lines(one_page_project, check):
    append_to_home_page(one_page_project, "".join(f"\n{text}\n" for text, _ in PAGE_ERRORS[check]))
    errors = build_errors(one_page_project)
    for text, message in PAGE_ERRORS[check]:
        expected = f"{location_of(text, one_page_project)}: {message}"
        assert any(error.startswith(expected) for error in errors), (expected, errors)


def test_formula_error_has_its_line_below_values_and_in_a_note(one_page_project):
    macros = "$\\val{self_attention.weights}$\n\n\\figure{self_attention_scores}\n\n"
    note = "!!! note\n\n    $$\n    \\val{self_attention.V}\n    \\nope{x}\n    $$\n"
    append_to_home_page(one_page_project, macros + note)
    errors = build_errors(one_page_project)
    location = location_of(r"\nope", one_page_project)
    assert any(error.startswith(f"{location}: formula") for error in errors), errors


INCOMPLETE_FIGURES = """
from attention_docs.figures.registry import site_figure
from attention_docs.render.figures import Panel, figure


@site_figure
def undescribed(steps_of):
    return figure(Panel(1, 1, "", ""), "A")


@site_figure
def uncaptioned(steps_of):
    return figure(Panel(1, 1, "", "A line."), "A")
"""


def test_figure_without_description_or_caption_stops_the_build(one_page_project):
    figures = one_page_project / "attention_docs" / "publish" / "before" / "figures"
    (figures / "incomplete.py").write_text(INCOMPLETE_FIGURES, encoding="utf-8")
    undescribed, uncaptioned = r"\figure{undescribed}", r"\figure{uncaptioned}"
    append_to_home_page(one_page_project, f"\n{undescribed}\n\n{uncaptioned}\n")
    assert build_errors(one_page_project)[:2] == [
        f"{location_of(undescribed, one_page_project)}: {undescribed}: a figure needs a name and a description, for screen readers",
        f"{location_of(uncaptioned, one_page_project)}: {uncaptioned}: figure 'uncaptioned' has no docstring, and so no caption",
    ]


def test_broken_links_and_missing_anchors_stop_the_build(one_page_project):
    append_to_home_page(
        one_page_project, "\n[a](nowhere.md)\n\n[b](#nowhere)\n\n![c](assets/nope.svg)\n"
    )
    errors = "\n".join(build_errors(one_page_project))
    for target in ("nowhere.md", "#nowhere", "assets/nope.svg"):
        assert f"'index.md' contains a link '{target}'" in errors


# The first is read for the footer at the start of a build, the second for the fonts at its end.
@pytest.mark.parametrize(
    "path", ["katex/package.json", "katex/dist/fonts/KaTeX_Main-Regular.woff2"]
)
def test_missing_file_of_an_npm_package_is_reported(one_page_project, path):
    node_modules = one_page_project / "node_modules"  # a link
    installed = node_modules.resolve()
    node_modules.unlink()
    not_needed = shutil.ignore_patterns("axe-core", "contrib", "src")
    shutil.copytree(installed, node_modules, ignore=not_needed)
    (node_modules / path).unlink()
    assert build_errors(one_page_project)[0].startswith(f"node_modules/{path} is missing; ")


def test_mismatch_of_pages_and_nav_is_reported(one_page_project):
    (one_page_project / "docs" / "left_out.md").write_text("# Left out\n", encoding="utf-8")
    replace_in_file(
        one_page_project / "mkdocs.yml", "  - index.md\n", "  - index.md\n  - nowhere.md\n"
    )
    built = mkdocs(one_page_project, "build", "--strict")
    assert built.returncode != 0
    assert 'not included in the "nav" configuration:\n  - left_out.md' in built.stderr
    assert "'nowhere.md' is included in the 'nav' configuration, which is not found" in built.stderr


def test_page_added_to_nav_is_listed_in_its_section(one_page_project):
    home, section = "  - index.md\n", "  - More:\n      - new.md\n"
    replace_in_file(one_page_project / "mkdocs.yml", home, home + section)
    append_to_home_page(one_page_project, "\n\\contents{More}\n")
    new_page = "---\ndescription: What is new.\n---\n\n# New\n"
    (one_page_project / "docs" / "new.md").write_text(new_page, encoding="utf-8")
    assert mkdocs(one_page_project, "build", "--strict").returncode == 0
    item = '<a href="new/">New</a><br><span data-search-exclude>What is new.</span></li>'
    assert item in read_page(one_page_project / "site", "")


def test_example_that_no_page_uses_stops_the_build(one_page_project):
    examples = one_page_project / "attention_docs" / "examples"
    shutil.copy(examples / "self_attention.py", examples / "unused.py")
    errors = build_errors(one_page_project)
    assert errors[-1] == r"attention_docs/examples/unused.py: no page uses \example{unused}"


def test_changed_input_changes_the_page(one_page_project):
    append_to_home_page(one_page_project, "\n$$\n\\val{self_attention.weights}\n$$\n")
    example = one_page_project / "attention_docs" / "examples" / "self_attention.py"
    replace_in_file(example, "[1, 1, 1, 1]]", "[1, 1, 1, 3]]")
    assert mkdocs(one_page_project, "build").returncode == 0
    changed_weight = "0.0033"
    assert f"<td>{changed_weight}" in read_page(one_page_project / "site", "")


def test_map_links_to_every_mechanism(site):
    page = BeautifulSoup(read_page(site, "reading_order"), "html.parser")
    links_in_map = {a["href"] for a in page.select(".map a")}
    links_in_lists = {a["href"] for a in page.select(".md-content details li a")}
    mechanisms = {link for link in links_in_lists if "mechanisms" in link}
    assert len(mechanisms) > 40
    assert mechanisms <= links_in_map


@pytest.fixture
def fourth_course_page(site):
    return BeautifulSoup(read_page(site, "course/scale"), "html.parser")


def test_course_page_shows_its_number_and_the_total_below_its_title(fourth_course_page):
    progress = fourth_course_page.select_one(".progress")
    assert progress.summary.get_text() == "The course, page 4 of 11"
    assert progress.find_previous_sibling().name == "h1"


def test_page_after_the_course_has_no_number(site):
    assert 'class="progress"' not in read_page(site, "course/test_yourself")


def test_course_page_links_to_all_other_pages_of_the_course(fourth_course_page):
    items = fourth_course_page.select(".progress li")
    assert len(items) == 11
    assert [item.a["href"] for item in items[:2]] == ["../averages/", "../projections/"]
    (page_itself,) = [item for item in items if not item.a]
    title_without_anchor_sign = fourth_course_page.h1.get_text().strip("#¶ \n")
    assert page_itself.get_text() == title_without_anchor_sign
