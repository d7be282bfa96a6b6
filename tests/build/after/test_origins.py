"""What a page runs is the theme's or ours, and what it fetches comes from its own host."""

from pathlib import Path

import material
import pytest

from attention_docs.publish.after import origins
from tests.build.forked import mkdocs
from tests.conftest import ROOT

pytestmark = pytest.mark.apart

FOLDERS = [
    ROOT / "attention_docs/publish/generator/theme",
    Path(material.__file__).parent / "templates",
]


def test_every_inline_script_of_the_site_is_on_the_closed_list(site):
    known = origins.allowed_scripts(FOLDERS)
    seen = set()
    for page in site.rglob("*.html"):
        for script in origins.inline_scripts(page.read_text(encoding="utf-8")):
            seen.update(one for one in known if one.fullmatch(script))
    # The theme has one more, for tabs that are linked, which no page uses.
    assert len(known) - 1 <= len(seen) <= len(known)


def test_a_template_of_ours_comes_before_the_theme_s(tmp_path):
    (tmp_path / "main.html").write_text("<script>ours()</script>")
    known = origins.allowed_scripts([tmp_path])
    assert [one.pattern for one in known] == [r"ours\(\)"]


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
def test_an_address_of_another_host_is_found(tag):
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
def test_what_names_another_host_and_fetches_nothing_is_no_fault(tag):
    assert list(origins.page_problems(tag, [])) == []


def test_the_build_stops_at_each_stranger_and_names_its_page_and_file(one_page):
    settings = one_page / "mkdocs.yml"
    text = settings.read_text(encoding="utf-8")
    text = text.replace("extra_css:\n", "extra_css:\n  - https://host/style.css\n")
    text = text.replace("extra_javascript:\n", "extra_javascript:\n  - https://host/code.js\n")
    settings.write_text(text.replace("hooks:\n", "hooks:\n  - adds.py\n"), encoding="utf-8")
    # As a plugin does: it adds its loader, with its settings, to every page.
    loader = '<script>tex = {"loader": "https://host/loader.js"}</script>'
    (one_page / "adds.py").write_text(
        f"def on_post_page(output, page, config):\n    return output + {loader!r}\n"
    )
    with (one_page / "docs/index.md").open("a", encoding="utf-8") as page:
        page.write('\n<img src="https://host/picture.png" alt="A picture">\n')
        page.write('\n<p style="background: url(https://host/paper.png)">Text.</p>\n')
    with (one_page / "docs/assets/site.css").open("a", encoding="utf-8") as style:
        style.write("@font-face { src: url(https://host/font.woff2) }\n")
    built = mkdocs(one_page, "build", "--strict")
    assert built.returncode != 0
    assert "Traceback" not in built.stderr
    for name in ("style.css", "code.js", "loader.js", "picture.png", "paper.png"):
        told = f"docs/index.md: site/index.html: 'https://host/{name}' points to another host"
        assert told in built.stderr, name
    assert 'docs/index.md: site/index.html: inline script \'tex = {"loader"' in built.stderr
    assert "site/assets/site.css: 'https://host/font.woff2' points to another host" in built.stderr
