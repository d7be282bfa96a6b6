"""The Markdown beside each page, and the list of all of it for language models."""

import re
import textwrap

import pytest

from attention_docs import examples
from attention_docs.publish.before.plain import plain_markdown
from attention_docs.publish.before.values import CODE_OR_MATH
from attention_docs.render.latex import latex
from tests.conftest import ROOT

LINK = re.compile(r"\]\(([^)#\s:]+\.md)[)#]")
CODE = re.compile(r"^ *```python\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
LEFT_OVER = re.compile(r"<[a-z/!]|\\[a-z]+\{|\{ ?[.:]|site-packages")


@pytest.fixture(scope="module")
def files(site):
    return sorted(site.rglob("*.md"))


def test_every_page_has_markdown_and_its_link(site, files):
    pages = [path for kind in ("*.md", "*.ipynb") for path in (ROOT / "docs").rglob(kind)]
    names = {path.relative_to(ROOT / "docs").with_suffix(".md") for path in pages}
    assert {file.relative_to(site) for file in files} == names
    page = (site / "mechanisms" / "masks" / "index.html").read_text(encoding="utf-8")
    assert page.count(' href="../masks.md"') == 1


def test_markdown_has_no_markup_of_the_site(files):
    for file in files:
        text = CODE_OR_MATH.sub("", file.read_text(encoding="utf-8"))
        assert LEFT_OVER.findall(text) == [], file
        assert str(ROOT) not in text, file


def test_markdown_has_the_computed_numbers(site):
    text = (site / "mechanisms" / "self_attention.md").read_text(encoding="utf-8")
    assert latex(examples.steps("self_attention")["weights"]) in text
    assert examples.expected("self_attention").strip() in text


def test_links_between_markdown_files_lead_to_files(site, files):
    for file in [*files, site / "llms.txt"]:
        for link in LINK.findall(CODE_OR_MATH.sub("", file.read_text(encoding="utf-8"))):
            assert (file.parent / link).is_file(), f"{file}: {link}"


def test_llms_txt_names_each_page_of_the_navigation_once(site):
    text = (site / "llms.txt").read_text(encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\ntheme:")[0]
    pages = re.findall(r"([\w/]+)\.(?:md|ipynb)$", settings, re.MULTILINE)
    assert re.findall(r"/attention-docs/([\w/]+)\.md\)", text) == pages


def test_code_fits_its_column_and_leaves_room_for_the_button(files):
    for file in files:
        for block in CODE.findall(file.read_text(encoding="utf-8")):
            lines = textwrap.dedent(block).splitlines()
            is_session = any(line.startswith(">>>") for line in lines)
            for number, line in enumerate(lines):
                # What a session prints breaks where its line ends.
                if not is_session or line.startswith((">>> ", "... ")):
                    assert len(line) <= (78 if number < 2 else 80), f"{file}: {line}"


def test_what_readers_press_is_left_out():
    box = '<div class="try" markdown="block">\n\nPress.\n\n</div>\n'
    assert plain_markdown(f"A text.\n\n{box}\nClick\nhere.\n{{.hands-on}}\n\nMore.") == (
        "A text.\n\nMore.\n"
    )
