"""Inline scripts come from templates; any other stops the build."""

from pathlib import Path

import material
import pytest

from attention_docs.publish.after import inline_scripts
from tests.conftest import ROOT, mkdocs, replace_in_file

pytestmark = pytest.mark.independent_tests

TEMPLATE_FOLDERS = [
    ROOT / "attention_docs/publish/generator/theme",
    Path(material.__file__).parent / "templates",
]


def test_every_inline_script_of_the_site_is_allowed(site):
    allowed = inline_scripts.allowed_scripts(TEMPLATE_FOLDERS)
    used = set()
    for page in site.rglob("*.html"):
        for script in inline_scripts.inline_scripts(page.read_text(encoding="utf-8")):
            matching = [pattern for pattern in allowed if pattern.fullmatch(script)]
            assert matching, script
            used.update(matching)
    unused = len(allowed) - len(used)
    assert unused <= 1  # the theme's script for linked tabs, which no page has


def test_our_template_overrides_the_theme_template(tmp_path):
    (tmp_path / "main.html").write_text("<script>ours()</script>")
    allowed = inline_scripts.allowed_scripts([tmp_path])
    assert [script.pattern for script in allowed] == [r"ours\(\)"]


def test_inline_script_of_a_plugin_stops_the_build_with_its_location(one_page_project):
    replace_in_file(one_page_project / "mkdocs.yml", "hooks:\n", "hooks:\n  - add_loader.py\n")
    loader = '<script>tex = {"loader": "https://host/loader.js"}</script>'
    (one_page_project / "add_loader.py").write_text(
        f"def on_post_page(output, page, config):\n    return output + {loader!r}\n"
    )
    built = mkdocs(one_page_project, "build", "--strict")
    assert built.returncode != 0
    assert "Traceback" not in built.stderr
    assert 'docs/index.md: site/index.html: inline script \'tex = {"loader"' in built.stderr
    assert "remove it, or load it from a file" in built.stderr
