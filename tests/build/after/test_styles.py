"""Removal of unused CSS, and content hashes in the names of style sheets."""

import re

import pytest

from attention_docs.publish.after import styles


@pytest.mark.parametrize(
    ("style", "remaining"),
    [
        (".md-a:hover{top:0}", ".md-a:hover{top:0}"),
        (".b{top:0}", ""),
        (".md-a .b,.md-a,#c>p{top:0}", ".md-a,#c>p{top:0}"),
        (":not(.b)>p:is(.b, .d){top:0}", ":not(.b)>p:is(.b, .d){top:0}"),
        ("@media print{.b{top:0}}p{top:1px}", "p{top:1px}"),
        ("@supports (a:b){@media print{.b,p{top:0}}}", "@supports (a:b){@media print{p{top:0}}}"),
        ("@font-face{src:url(data:font/woff2;base64,a+b/c=)}", None),
        ("@keyframes b{0%{top:0}to{top:1px}}", None),
        ("p:after{content:\"}.b{\"}", None),
        ("[data-md-color-primary=red]{top:0}", ""),
        ("[data-md-color-primary=blue],[data-md-toggle=b]{top:0}", None),
        ("[data-md-color-switching] *,.md-a{top:0}", ".md-a{top:0}"),
        ("/* .b{ */p{top:0}", "p{top:0}"),
    ],
)  # fmt: skip
def test_rules_that_can_match_are_kept(style, remaining):
    names = styles.names_in(['<p class="md-a" id="c" data-md-color-primary="blue">'])
    assert styles.remove_unmatched_rules(style, names) == (
        style if remaining is None else remaining
    )


def test_variable_used_only_by_unused_variables_is_removed():
    style = 'p{--a:url("data:;{}");--b:var(--a);--c: 1px;top:0}i{top:var(--c)}'
    assert styles.remove_unused_variables([style], set()) == ["p{--c: 1px;top:0}i{top:var(--c)}"]
    assert styles.remove_unused_variables([style], {"--b"}) == [style]


def test_style_sheet_fetched_by_a_script_keeps_its_name(tmp_path):
    (tmp_path / "live.css").write_text(".b{top:0}p{top:0}", encoding="utf-8")
    (tmp_path / "index.html").write_text("<p>live.css", encoding="utf-8")
    styles.remove_unused(tmp_path)
    assert (tmp_path / "live.css").read_text(encoding="utf-8") == "p{top:0}"


def test_style_sheet_name_has_a_content_hash(tmp_path):
    def hashed_name(style):
        (tmp_path / "a.min.css").write_text(style, encoding="utf-8")
        (tmp_path / "a.min.css.map").write_text("{}", encoding="utf-8")
        page = tmp_path / "index.html"
        page.write_text('<link href="../a.min.css"><p>a.min.css', encoding="utf-8")
        styles.remove_unused(tmp_path)
        (sheet,) = tmp_path.glob("*.css*")
        assert page.read_text(encoding="utf-8") == f'<link href="../{sheet.name}"><p>a.min.css'
        sheet.unlink()
        return sheet.name

    assert hashed_name("p{top:0}.b{top:0}") == hashed_name("p{top:0}")
    assert hashed_name("p{top:1px}") != hashed_name("p{top:0}")
    assert re.fullmatch(r"a\.min\.\w{8}\.css", hashed_name("p{top:0}"))
