"""The offline zip: the unpacked site works without a server."""

import re
import zipfile
from urllib.parse import unquote

import pytest

from attention_docs.lookup import load_results
from tests.browser.visit import PAGES
from tests.conftest import copy_project, cut_down
from tests.repository.checkout import copy_scripts, create_venv, posix_only, run

pytestmark = posix_only
ZIP = "attention-docs-offline.zip"
FIELD = 'table[data-val="self_attention.X"] input >> nth=0'
LINK = re.compile(r'<\w[^>]*\s(?:href|src)="([^"#?]+)')


@pytest.fixture(scope="module")
def project(tmp_path_factory, site):
    return with_zip(copy_project(tmp_path_factory.mktemp("project")))


@pytest.fixture(scope="module")
def one_page_project(tmp_path_factory, site):
    return with_zip(cut_down(copy_project(tmp_path_factory.mktemp("small"))))


def with_zip(project):
    copy_scripts(project)
    create_venv(project)
    build_zip(project)
    return project


def build_zip(project, **environment):
    """Build the zip of a project, and return its content."""
    process = run(project, "offline", **environment)
    assert process.returncode == 0, process.stderr
    return (project / ZIP).read_bytes()


@pytest.fixture(scope="module")
def folder(project, tmp_path_factory):
    """The unpacked zip, in a folder with a space in its name."""
    target = tmp_path_factory.mktemp("offline") / "My documents"
    zipfile.ZipFile(project / ZIP).extractall(target)
    return target / "attention-docs"


@pytest.fixture
def open_page(tab, folder):
    """Load files of the unpacked zip as first visits, without foreign requests or errors."""

    def load(file):
        tab.load_uncached((folder / file).as_uri())
        return tab

    yield load
    own_schemes = ("file:", "data:", "blob:")
    assert [url for url in tab.requests if not url.startswith(own_schemes)] == []
    tab.assert_no_errors()


def test_zip_is_reproducible(one_page_project):
    first = (one_page_project / ZIP).read_bytes()
    assert build_zip(one_page_project, TZ="Asia/Tokyo", PYTHONHASHSEED="1") == first
    assert not list(one_page_project.glob(".site-*"))


def test_zip_has_every_page_and_link_target(folder):
    pages = {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}
    # Two pages are the index of their folder.
    file_names = {"": "index.html", "reference": "reference/index.html"}
    assert pages == {file_names.get(page, f"{page}.html") for page in PAGES}
    for page in pages:
        for link in LINK.findall((folder / page).read_text(encoding="utf-8")):
            if not link.startswith(("http:", "https:", "data:")):
                assert (folder / page).parent.joinpath(unquote(link)).is_file(), (page, link)


def test_one_page_of_each_folder_loads(open_page, folder):
    """Paths to scripts and styles depend on the folder; `open_page` asserts that none fails."""
    visit = open_page("index.html")
    for file in {file.parent: file for file in folder.rglob("*.html")}.values():
        visit.page.goto(file.as_uri())


def test_search_works_from_a_file(open_page):
    visit = open_page("index.html")
    page = visit.page
    page.get_by_placeholder("Search").press_sequentially("softmax")
    page.locator(".md-search-result__item a[href*='h=softmax']").first.click()
    page.wait_for_url("file:**?h=softmax*")
    assert page.locator(".katex, .symbols").count() > 0
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('1em KaTeX_Main'))")


def assert_edited(page):
    page.wait_for_selector(".live-changed:visible")
    assert page.locator(FIELD).input_value() == "3"


def test_edit_and_scheme_survive_reload_navigation_and_copied_link(open_page):
    page = open_page("mechanisms/self_attention.html").page
    for title in ("Follow the system; switch to light", "Light; switch to dark"):
        page.get_by_title(title).click()
    page.locator(".live-try").first.click()
    page.locator(FIELD).fill("3")
    page.wait_for_url("file:**#try=*=3")
    page.reload()
    assert_edited(page)
    page.locator(".md-sidebar--secondary a[href$='#weights']").click()
    page.wait_for_url("file:**#try=*=3&at=weights")
    assert_edited(page)
    page.locator(".md-footer__link--next").click()
    page.wait_for_url("**/cross_attention.html")
    page.get_by_role("heading", level=1, name="Cross-attention").wait_for()
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    page.go_back()
    assert_edited(page)
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    assert_edited(page)


def test_heads_of_another_sentence_are_shown_from_a_file(open_page):
    visit = open_page("course/at_full_size.html")
    sentence = load_results("real_model")["sentences"][-1]
    visit.page.get_by_label("sentence").select_option(sentence["text"])
    last_token = sentence["tokens"][-1].strip()
    visit.page.locator(".all-heads output", has_text=f"the last token, “{last_token}”,").wait_for()
