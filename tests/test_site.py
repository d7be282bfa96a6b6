"""The built site: what it shows, what its search finds, and what stops its build."""

import json
import re
import shutil

import pytest

from tests.conftest import mkdocs


def read(site, page):
    return (site / page / "index.html").read_text(encoding="utf-8")


def test_self_attention_shows_its_weights_and_output(site):
    page = read(site, "mechanisms/self_attention")
    for number in ("0.0287", "0.4856", "1.0287", "1.9426"):
        assert number in page


def test_nothing_waits_to_be_replaced(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(
            r"\\val\{|\\printed\{|\\example\{|\\figure\{|arithmatex|katex-error|<!-- later", text
        ), page


def test_every_formula_has_mathml(site):
    page = read(site, "mechanisms/self_attention")
    assert page.count("<math ") == page.count('class="katex-html"') > 30


def test_diagrams_are_drawn(site):
    pytest.importorskip("merman")
    assert '<svg xmlns="http://www.w3.org/2000/svg" id="diagram-' in read(
        site, "mechanisms/cross_attention"
    )


def test_figures_are_drawn_with_their_captions_and_kept_out_of_the_search(site):
    page = read(site, "mechanisms/self_attention")
    assert page.count('<figure class="figure"') == page.count("</figcaption>") == 4
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" id="figure-') == 4
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "takes almost nothing" in index
    assert "row 3 · column 3" not in index
    assert "Who looks at whom" not in index
    assert "the midpoint of the second" in index


def test_search_finds_words_and_holds_no_markup(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    texts = [entry["title"] + " " + entry["text"] for entry in index["docs"]]
    assert any("softmax" in text for text in texts)
    without_tags = [
        re.sub(r"</?(?:p|ul|ol|li|pre|code|table|t[rhd]|thead|tbody|strong|em)>", "", t)
        for t in texts
    ]
    for text in without_tags:
        assert not re.search(r"katex|\\[a-z]{2}|<(?!class)[a-z]+ ", text), text


def test_footer_names_commit_and_versions_and_links_to_the_repository(site):
    page = read(site, "notation")
    assert re.search(r"commit \w{7,}\+?, NumPy \d", page)
    assert "https://github.com/someone/attention-docs/issues/new?template=wrong-number.yml" in page


def test_without_a_repository_there_is_no_link_to_one(project):
    assert mkdocs(project, "build", "--strict").returncode == 0
    assert "github.com" not in read(project / "site", "notation")


def test_provenance_offers_the_definition_numpy_and_latex(site):
    page = read(site, "mechanisms/self_attention")
    assert "Where do these numbers come from?" in page
    for label in ("The definition", "Copy as NumPy", "Copy as LaTeX"):
        assert label in page


def append(project, text):
    page = project / "docs" / "index.md"
    lines = page.read_text(encoding="utf-8").count("\n")
    page.write_text(page.read_text(encoding="utf-8") + text, encoding="utf-8")
    return lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\\val{self_attention.wieghts}\n", r"docs/index.md:{line}: \val{{self_attention.wieghts}}: step 'wieghts' is unknown; self_attention has X, W_Q"),
        ("\n\\val{selfattention.weights}\n", r"docs/index.md:{line}: \val{{selfattention.weights}}: example 'selfattention' is unknown; known are"),
        ("\n\\figure{nope}\n", r"docs/index.md:{line}: \figure{{nope}}: figure 'nope' is unknown; known are"),
        ("\n\\example{nope}\n", r"docs/index.md:{line}: \example{{nope}}: example 'nope' is unknown"),
        ("\n$\\sqrt{$\n", r"docs/index.md: formula '\\sqrt{{': KaTeX parse error"),
        ("\n```mermaid\ngraph TB\n  A --> [[\n```\n", "accTitle"),
        ("\n[link](nowhere.md)\n", "nowhere.md"),
        ("\n[link](#nowhere)\n", "#nowhere"),
    ],
    ids=["step", "example", "figure", "provenance", "formula", "diagram", "link", "anchor"],
)  # fmt: skip
def test_a_mistake_in_a_page_stops_the_build_and_is_named(project, text, message):
    line = append(project, text) + 2
    built = mkdocs(project, "build", "--strict")
    assert built.returncode != 0
    assert "index.md" in built.stderr
    assert message.format(line=line) in built.stderr


def test_a_changed_input_changes_the_page(project):
    # They compare with the example, and would stop the build.
    shutil.rmtree(project / "docs" / "notebooks")
    example = project / "attention_docs" / "examples" / "self_attention.py"
    changed = example.read_text(encoding="utf-8").replace("[1, 1, 1, 1]]", "[1, 1, 1, 3]]")
    example.write_text(changed, encoding="utf-8")
    assert mkdocs(project, "build").returncode == 0
    assert "<mn>0.0033</mn>" in read(project / "site", "mechanisms/self_attention")
