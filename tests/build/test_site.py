"""The built site, its search index, and errors that stop a build."""

import gzip
import json
import re
import shutil

import pytest

from attention_docs.publish.before.contents import title_and_description
from attention_docs.publish.sources import Source
from tests.build.forked import mkdocs
from tests.conftest import ROOT

pytestmark = pytest.mark.independent_tests


def read_page(site, page):
    return (site / page / "index.html").read_text(encoding="utf-8")


def test_self_attention_shows_its_weights_and_output(site):
    page = read_page(site, "mechanisms/self_attention")
    for number in ("0.0287", "0.4856", "1.0287", "1.9426"):
        assert number in page


# Except for the LaTeX of matrices to copy.
UNREPLACED = re.compile(
    r"\\(?!(?:begin|end|text)\{)[A-Za-z]+\{|arithmatex|katex-error|<!-- deferred"
)


def test_no_placeholder_or_macro_is_left(site):
    for page in site.rglob("*.html"):
        assert not UNREPLACED.search(page.read_text(encoding="utf-8")), page


def test_every_formula_has_mathml(site):
    page = read_page(site, "mechanisms/self_attention")
    assert page.count("<math ") == page.count('class="katex-html"') > 10


def test_diagrams_are_drawn(site):
    assert '<svg role="img" aria-labelledby="diagram-' in read_page(
        site, "mechanisms/cross_attention"
    )


def test_figures_have_captions_and_are_not_in_the_search_index(site):
    page = read_page(site, "mechanisms/self_attention")
    source = (ROOT / "docs" / "mechanisms" / "self_attention.md").read_text(encoding="utf-8")
    figures = page.split('<figure class="figure"')[1:]
    assert len(figures) == page.count("</figcaption>") == source.count("\n\\figure{") > 0
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" id="figure-'
    assert all(drawing in figure.partition("<figcaption")[0] for figure in figures)
    index = (site / "search" / "documents.json").read_text(encoding="utf-8")
    assert "row 3 · column 3" not in index
    assert "Who looks at whom" not in index
    assert "the midpoint of the second" in index


def test_search_index_has_words_and_no_markup(site):
    index = json.loads((site / "search" / "documents.json").read_text(encoding="utf-8"))
    texts = [entry["title"] + " " + entry["text"] for entry in index["docs"]]
    assert any("softmax" in text for text in texts)
    without_tags = [
        re.sub(r"</?(?:p|ul|ol|li|pre|code|table|t[rhd]|thead|tbody|strong|em)>", "", t)
        for t in texts
    ]
    for text in without_tags:
        assert not re.search(r"katex|\\[a-z]{2}|<(?!class)[a-z]+ ", text), text


def test_search_index_excludes_exercises_and_is_at_most_120_kb(site):
    index = (site / "search" / "documents.json").read_bytes()
    assert len(gzip.compress(index, 6)) <= 120_000
    texts = {entry["location"]: entry["text"] for entry in json.loads(index)["docs"]}
    assert 'id="exercises"' in read_page(site, "course/averages")
    assert not [
        location
        for location in texts
        if location.endswith(("#exercises", "#where-this-comes-from"))
    ]
    listed = texts["reading_order/#new-to-attention"]
    assert "A word and its neighbours" in listed
    assert (
        title_and_description(
            Source("x.md", (ROOT / "docs/course/averages.md").read_text("utf-8"))
        )[1]
        not in listed
    )


def test_pages_have_at_most_250_kb_and_6000_elements(site):
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        assert len(html.encode()) <= 250_000, page
        assert len(re.findall(r"<[a-z]", html)) <= 6_000, page


def test_theme_index_is_empty_and_pages_use_our_search_worker(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert index["docs"] == []
    assert index["config"]["lang"] == ["en"]
    for page in site.rglob("*.html"):
        (worker,) = re.findall(r'"search": "([^"]+)"', page.read_text(encoding="utf-8"))
        ours, _, theirs = worker.partition("?")
        folder = site if worker.startswith("/") else page.parent
        ours = ours.removeprefix("/attention-docs/")
        assert (folder / ours).resolve() == (site / "assets" / "search.js").resolve()
        assert (site / "assets" / theirs).is_file()


def test_footer_has_commit_versions_and_repository_link(site):
    page = read_page(site, "notation")
    assert re.search(r"commit \w{7,}\+?, NumPy \d", page)
    assert "https://github.com/someone/attention-docs/issues/new?template=wrong-number.yml" in page


def test_no_repository_links_without_a_repository(one_page):
    assert mkdocs(one_page, "build", "--strict").returncode == 0
    assert "github.com" not in read_page(one_page / "site", "")


def test_provenance_has_definition_numpy_and_latex(site):
    page = read_page(site, "mechanisms/self_attention")
    assert "Where do these numbers come from?" in page
    for label in ("The definition", "Copy as NumPy", "Copy as LaTeX"):
        assert label in page


def append(project, text):
    page = project / "docs" / "index.md"
    page.write_text(page.read_text(encoding="utf-8") + text, encoding="utf-8")


def edit(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def build_errors(project):
    """Return the lines of errors and warnings of a failing strict build."""
    built = mkdocs(project, "build", "--strict")
    assert built.returncode != 0
    assert "Traceback" not in built.stderr
    return re.findall(r"^(?!INFO)(?:(?:ERROR|WARNING) +-  )?(.+)", built.stderr, re.MULTILINE)


# By the check that reports them: a build stops after a check with errors, with all of them.
PAGE_ERRORS = {
    "macros": [
        (r"\val{self_attention.wieghts}", r"\val{self_attention.wieghts}: step 'wieghts' is unknown; self_attention has X, W_Q"),
        (r"\vla{self_attention.Q}", r"\vla{self_attention.Q}: unknown macro; expected one of val, printed"),
        (r"\figure{nope}", r"\figure{nope}: figure 'nope' is unknown; known are"),
        (r"\example{nope}", r"\example{nope}: example 'nope' is unknown"),
        (r"\contents{Chpaters}", r"\contents{Chpaters}: section 'Chpaters' is unknown; known are none"),
        (r"\overview{Refrence}", r"\overview{Refrence}: section 'Refrence' is unknown; known are none"),
    ],
    "formulas": [("$\\sqrt{$", r"formula '\\sqrt{': KaTeX parse error")],
    "blocks": [
        ("```mermaid\ngraph TB\n  A --> B\n```", "mermaid: the line `accTitle: ...` is missing"),
        ("![](assets/logo.svg)", "the image has no alternative text"),
    ],
    "links": [
        ("[link](nowhere.md)", "broken link 'nowhere.md'"),
        ("[link](#nowhere)", "broken link '#nowhere'"),
        ('<a href="nowhere/">raw</a>', "broken link 'nowhere/'"),
        ("![A picture](assets/nope.svg)", "broken link 'assets/nope.svg'"),
        ('<img src="assets/none.svg" alt="A picture">', "broken link 'assets/none.svg'"),
        ("## A {#same}\n\n## B {#same}", "duplicate id 'same'"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", PAGE_ERRORS)
def test_errors_in_a_page_are_reported_with_their_lines(one_page, kind):
    append(one_page, "".join(f"\n{text}\n" for text, _ in PAGE_ERRORS[kind]))
    errors, line = build_errors(one_page), 9
    for text, message in PAGE_ERRORS[kind]:
        expected = f"docs/index.md:{line}: {message}"
        assert any(error.startswith(expected) for error in errors), (expected, errors)
        line += text.count("\n") + 2


def test_warning_is_repeated_by_the_next_build(one_page):
    append(one_page, "\n[function][attention_docs.nope]\n")
    for _ in range(2):
        built = mkdocs(one_page, "build", "--strict")
        assert built.returncode != 0
        assert "attention_docs.nope" in built.stderr


def test_formula_error_has_its_line_below_values_and_in_a_note(one_page):
    above = "$\\val{self_attention.weights}$\n\n\\figure{self_attention_scores}\n\n"
    append(
        one_page, above + "!!! note\n\n    $$\n    \\val{self_attention.V}\n    \\nope{x}\n    $$\n"
    )
    errors = build_errors(one_page)
    assert any(error.startswith("docs/index.md:16: formula") for error in errors), errors


BARE_FIGURES = """
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.render.figures import Panel, figure


@site_figure
def undescribed(steps_of):
    return figure(Panel(1, 1, "", ""), "A")


@site_figure
def uncaptioned(steps_of):
    return figure(Panel(1, 1, "", "A line."), "A")
"""


def test_figure_without_description_or_caption_stops_the_build(one_page):
    figures = one_page / "attention_docs" / "publish" / "before" / "figures"
    (figures / "bare.py").write_text(BARE_FIGURES, encoding="utf-8")
    append(one_page, "\n\\figure{undescribed}\n\n\\figure{uncaptioned}\n")
    errors = build_errors(one_page)
    assert (
        r"docs/index.md:9: \figure{undescribed}: a figure needs a name and a description, for screen readers"
        in errors
    )
    assert (
        r"docs/index.md:11: \figure{uncaptioned}: figure 'uncaptioned' has no docstring, and so no caption"
        in errors
    )


def test_missing_asset_in_mkdocs_yml_is_reported(one_page):
    settings = (one_page / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [f"assets/{name}" for name in ("logo.svg", "favicon.svg", "site.css", "site.js")]
    for asset in missing:
        (one_page / "docs" / asset).unlink()
    errors = build_errors(one_page)
    for asset in missing:
        line = settings[: settings.index(asset)].count("\n") + 1
        assert f"mkdocs.yml:{line}: broken link '{asset}'" in errors


# Read for the footer at the start of a build, and for the fonts at its end.
@pytest.mark.parametrize(
    "name", ["katex/package.json", "katex/dist/fonts/KaTeX_Main-Regular.woff2"]
)
def test_missing_file_of_an_npm_package_is_reported(one_page, name):
    modules = one_page / "node_modules"
    source = modules.resolve()
    modules.unlink()
    shutil.copytree(source, modules, ignore=shutil.ignore_patterns("axe-core", "contrib", "src"))
    (modules / name).unlink()
    assert build_errors(one_page)[0].startswith(f"node_modules/{name} is missing; ")


def test_mismatch_of_pages_and_nav_is_reported(one_page):
    (one_page / "docs" / "left_out.md").write_text("# Left out\n", encoding="utf-8")
    edit(one_page / "mkdocs.yml", "  - index.md\n", "  - index.md\n  - nowhere.md\n")
    built = mkdocs(one_page, "build", "--strict")
    assert built.returncode != 0
    assert 'not included in the "nav" configuration:\n  - left_out.md' in built.stderr
    assert "'nowhere.md' is included in the 'nav' configuration, which is not found" in built.stderr


def test_page_added_to_nav_is_listed_in_its_section(one_page):
    edit(one_page / "mkdocs.yml", "  - index.md\n", "  - index.md\n  - More:\n      - new.md\n")
    append(one_page, "\n\\contents{More}\n")
    new = one_page / "docs" / "new.md"
    new.write_text("---\ndescription: What is new.\n---\n\n# New\n", encoding="utf-8")
    assert mkdocs(one_page, "build", "--strict").returncode == 0
    listed = '<a href="new/">New</a><br><span data-search-exclude>What is new.</span></li>'
    assert listed in read_page(one_page / "site", "")
    edit(new, "description: What is new.", "title: New")
    expected = r"docs/index.md:9: \contents{More}: docs/new.md has no description"
    assert expected in build_errors(one_page)


def test_example_that_no_page_uses_stops_the_build(one_page):
    examples = one_page / "attention_docs" / "examples"
    shutil.copy(examples / "self_attention.py", examples / "lonely.py")
    errors = build_errors(one_page)
    assert errors[-1] == r"attention_docs/examples/lonely.py: no page uses \example{lonely}"


def test_changed_input_changes_the_page(one_page):
    append(one_page, "\n$$\n\\val{self_attention.weights}\n$$\n")
    example = one_page / "attention_docs" / "examples" / "self_attention.py"
    edit(example, "[1, 1, 1, 1]]", "[1, 1, 1, 3]]")
    assert mkdocs(one_page, "build").returncode == 0
    assert "<td>0.0033" in read_page(one_page / "site", "")
