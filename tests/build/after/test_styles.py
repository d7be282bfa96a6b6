"""Removal of unused CSS, and content hashes in the names of style sheets."""

import re

import pytest

from attention_docs.publish.after import styles

# The names on the pages: b, d and red are not among them.
NAMES = styles.names_in(['<p class="md-a" id="c" data-md-color-primary="blue">'])


@pytest.mark.parametrize(
    "style",
    [
        ".md-a:hover{top:0}",
        ":not(.b)>p:is(.b, .d){top:0}",
        "@font-face{src:url(data:font/woff2;base64,a+b/c=)}",
        "@keyframes b{0%{top:0}to{top:1px}}",
        'p:after{content:"}.b{"}',
        "[data-md-color-primary=blue],[data-md-toggle=b]{top:0}",
    ],
)
def test_rule_that_can_match_is_kept(style):
    assert styles.used_rules(style, NAMES) == style


@pytest.mark.parametrize(
    ("style", "remaining"),
    [
        (".b{top:0}", ""),
        (".md-a .b,.md-a,#c>p{top:0}", ".md-a,#c>p{top:0}"),
        ("@media print{.b{top:0}}p{top:1px}", "p{top:1px}"),
        ("@supports (a:b){@media print{.b,p{top:0}}}", "@supports (a:b){@media print{p{top:0}}}"),
        ("[data-md-color-primary=red]{top:0}", ""),
        ("[data-md-color-switching] *,.md-a{top:0}", ".md-a{top:0}"),
        ("/* .b{ */p{top:0}", "p{top:0}"),
    ],
)
def test_selector_that_cannot_match_is_removed(style, remaining):
    assert styles.used_rules(style, NAMES) == remaining


def test_variable_used_only_by_unused_variables_is_removed():
    style = 'p{--a:url("data:;{}");--b:var(--a);--c: 1px;top:0}i{top:var(--c)}'
    assert styles.remove_unused_variables([style], set()) == ["p{--c: 1px;top:0}i{top:var(--c)}"]
    assert styles.remove_unused_variables([style], {"--b"}) == [style]


def test_style_sheet_fetched_by_a_script_keeps_its_name(tmp_path):
    (tmp_path / "live.css").write_text(".b{top:0}p{top:0}", encoding="utf-8")
    styles.remove_unused(tmp_path, {"index.html": "<p>live.css"})
    assert (tmp_path / "live.css").read_text(encoding="utf-8") == "p{top:0}"


def renamed_style_sheet(site, style):
    """Finish a site with a style sheet, and return its new name, to which the page must link."""
    site.mkdir()
    (site / "a.min.css").write_text(style, encoding="utf-8")
    pages = styles.remove_unused(site, {"index.html": '<link href="../a.min.css"><p>a.min.css'})
    (sheet,) = site.glob("*.css")
    assert pages == {"index.html": f'<link href="../{sheet.name}"><p>a.min.css'}
    return sheet.name


def test_style_sheet_name_has_a_digest_of_its_used_rules(tmp_path):
    name = renamed_style_sheet(tmp_path / "one", "p{top:0}")
    assert re.fullmatch(r"a\.min\.\w{8}\.css", name)
    assert renamed_style_sheet(tmp_path / "two", "p{top:0}.b{top:0}") == name
    assert renamed_style_sheet(tmp_path / "three", "p{top:1px}") != name
