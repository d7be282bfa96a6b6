"""Inline scripts and foreign addresses in pages and style sheets."""

from pathlib import Path

import material
import pytest

from attention_docs.publish.after import origins
from tests.build.forked import mkdocs
from tests.conftest import ROOT

pytestmark = pytest.mark.independent_tests

TEMPLATE_FOLDERS = [
    ROOT / "attention_docs/publish/generator/theme",
    Path(material.__file__).parent / "templates",
]


def test_every_inline_script_of_the_site_is_allowed(site):
    allowed = origins.allowed_scripts(TEMPLATE_FOLDERS)
    used = set()
    for page in site.rglob("*.html"):
        for script in origins.inline_scripts(page.read_text(encoding="utf-8")):
            matching = [pattern for pattern in allowed if pattern.fullmatch(script)]
            assert matching, script
            used.update(matching)
    # A page with linked tabs would use one more script of the theme.
    assert len(used) >= len(allowed) - 1


def test_our_template_overrides_the_theme_template(tmp_path):
    (tmp_path / "main.html").write_text("<script>ours()</script>")
    allowed = origins.allowed_scripts([tmp_path])
    assert [script.pattern for script in allowed] == [r"ours\(\)"]


@pytest.mark.parametrize(
    "tag",
    [
        '<img src="https://host/a.png">',
        "<img src=//host/a.png>",
        '<img alt="" srcset="a.png 1x, https://host/a.png 2x">',
        '<link rel="stylesheet" href="https://host/a.css">',
        '<link rel="preconnect dns-prefetch" href="//host">',
        '<link href="https://host/a">',
        '<script src="\nHTTPS://host/a.js"></script>',
        '<script type="module" src="https:host/a.js"></script>',
        '<script type="application/json">{"worker": "https://host/a.js"}</script>',
        '<video poster="\\\\host\\a.png"></video>',
        '<object data="https://host/a"></object>',
        '<svg><image xlink:href="https://host/a.png"/></svg>',
        '<base href="https://host/">',
        '<p style="background: url(https://host/a.png)">',
        '<p style="background: url(&quot;https://host/a.png&quot;)">',
        '<style>@import "https://host/a.css";</style>',
        '<rect fill="url(https://host/a.svg#b)"/>',
    ],
)
def test_foreign_address_is_reported(tag):
    (problem,) = origins.page_problems(f"<html>{tag}</html>", [])
    assert problem.endswith("points to another host")


@pytest.mark.parametrize(
    "tag",
    [
        '<a href="https://host/">elsewhere</a>',
        '<link rel="canonical" href="https://host/">',
        '<meta property="og:image" content="https://host/a.png">',
        '<link rel="next" href="../masks/">',
        '<img src="data:image/png;base64,aaaa//bbbb">',
        '<img src="assets/logo.svg">',
        '<script src="../assets/site.js"></script>',
        '<rect fill="url(#pattern)"/>',
        '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
        "<code>background: url(https://host/a.png)</code>",
    ],
)
def test_foreign_address_that_is_not_fetched_is_allowed(tag):
    assert list(origins.page_problems(tag, [])) == []


def test_foreign_assets_stop_the_build_with_their_locations(one_page_project):
    config_file = one_page_project / "mkdocs.yml"
    config = config_file.read_text(encoding="utf-8")
    config = config.replace("extra_css:\n", "extra_css:\n  - https://host/style.css\n")
    config = config.replace("extra_javascript:\n", "extra_javascript:\n  - https://host/code.js\n")
    config = config.replace("hooks:\n", "hooks:\n  - add_loader.py\n")
    config_file.write_text(config, encoding="utf-8")
    # Like a plugin that adds a loader script to every page.
    loader = '<script>tex = {"loader": "https://host/loader.js"}</script>'
    (one_page_project / "add_loader.py").write_text(
        f"def on_post_page(output, page, config):\n    return output + {loader!r}\n"
    )
    with (one_page_project / "docs/index.md").open("a", encoding="utf-8") as page:
        page.write('\n<img src="https://host/picture.png" alt="A picture">\n')
        page.write('\n<p style="background: url(https://host/paper.png)">Text.</p>\n')
    with (one_page_project / "docs/assets/site.css").open("a", encoding="utf-8") as style_sheet:
        style_sheet.write("@font-face { src: url(https://host/font.woff2) }\n")
    built = mkdocs(one_page_project, "build", "--strict")
    assert built.returncode != 0
    assert "Traceback" not in built.stderr
    for name in ("style.css", "code.js", "loader.js", "picture.png", "paper.png"):
        expected = f"docs/index.md: site/index.html: 'https://host/{name}' points to another host"
        assert expected in built.stderr, name
    assert 'docs/index.md: site/index.html: inline script \'tex = {"loader"' in built.stderr
    assert "site/assets/site.css: 'https://host/font.woff2' points to another host" in built.stderr
