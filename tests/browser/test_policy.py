"""The Content-Security-Policy: its content, that the site complies, and that browsers enforce it."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from attention_docs.publish.after.policy import add_policy
from tests.browser.visit import PAGES, served
from tests.conftest import link_folder

META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
LOADS = re.compile(r"<(?:script|style|link|img)\b")
BLOCKED = {"style", "base", "iframe", "object", "embed"}


class Parsed(HTMLParser):
    """The inline scripts of a page, and its tags that the policy would block."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.blocked, self.in_script = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        names = {name for name, _ in attributes}
        scripted = [name for name in names if name.startswith("on")]
        scripted += [value for _, value in attributes if (value or "").startswith("javascript:")]
        if tag in BLOCKED or scripted:
            self.blocked.append(self.get_starttag_text())
        if tag == "script" and names.isdisjoint({"src", "type"}):
            self.in_script = True
            self.scripts.append("")

    def handle_data(self, data):
        if self.in_script:
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        self.in_script = False


def directives(page):
    """Parse the policy of a page into the sources of each directive."""
    (policy,) = META.findall(page)
    return {name: sources for name, *sources in map(str.split, policy.split(";"))}


def hash_source(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def violations(visit):
    return [text for text in visit.errors if "Content Security Policy" in text]


def test_policy_allows_inline_scripts_of_all_pages(tmp_path):
    head = '<html><head><meta charset="utf-8"><script src="a.js"></script>'
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.html").write_text(
        head + '<script>one()</script><script type="application/json">{"data": 1}</script>'
    )
    (tmp_path / "deep" / "two.html").write_text(
        head + "<script>one()</script><script id=two>if (1 < 2) two()</script>"
    )
    add_policy(tmp_path)
    expected = {"'self'", hash_source("one()"), hash_source("if (1 < 2) two()")}
    for page in tmp_path.rglob("*.html"):
        text = page.read_text()
        assert set(directives(text)["script-src"]) == expected
        assert META.sub("", text).startswith(head)


def test_every_page_has_the_same_minimal_policy(site):
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert len(pages) == len(PAGES) + 1  # and 404.html
    scripts = set()
    for page in pages:
        assert directives(page) == directives(pages[0])
        assert META.search(page).start() < LOADS.search(page).start()
        parsed = Parsed(page)
        assert parsed.blocked == []
        scripts.update(parsed.scripts)
    assert len(scripts) > 4  # one depends on the depth of the page
    assert set(directives(pages[0])["script-src"]) == {"'self'", *map(hash_source, scripts)}
    assert directives(pages[0])["default-src"] == ["'self'"]


def test_instant_navigation_complies_with_the_policy(open_page):
    visit = open_page("mechanisms/additive_attention")
    page = visit.page
    page.evaluate("window.isSameDocument = true")
    page.get_by_role("link", name="Self-attention", exact=True).first.click()
    page.get_by_role("heading", level=1, name="Self-attention").wait_for()
    page.get_by_role("button", name="Explore in 3D").click()
    page.locator(".space canvas").first.wait_for()
    # Plotly's inserted style sheet is applied.
    assert (
        page.locator(".space .svg-container").evaluate("e => getComputedStyle(e).position")
        == "relative"
    )
    page.get_by_role("button", name="Back to the drawing").click()
    page.locator("[data-clipboard-target]:visible").first.click()
    page.locator(".md-dialog--active").wait_for()
    before = page.evaluate("document.body.dataset.mdColorScheme")
    for name in ("Follow", "Light", "Dark", "Follow", "Light"):
        page.locator(f"label[title^='{name}']:visible").click()
    assert page.evaluate("document.body.dataset.mdColorScheme") != before
    page.get_by_placeholder("Search").press_sequentially("softmax")
    page.locator(".md-search-result__item a[href*='h=softmax']").first.click()
    page.wait_for_url("**?h=softmax*")
    assert page.evaluate("window.isSameDocument")
    assert violations(visit) == []
    page.evaluate(
        "document.head.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.injected = true'}))"
    )
    assert not page.evaluate("window.injected")
    assert len(violations(visit)) == 1


@pytest.mark.parametrize(
    ("injected", "directive"),
    [
        ("<script>window.injected = true</script>", "script-src"),
        ("<img src=none onerror='window.injected = true'>", "script-src"),
        ("<script src='http://localhost:9/foreign.js'></script>", "script-src"),
        ("<style>body { color: red }</style>", "style-src-elem"),
        ("<img src='http://localhost:9/foreign.png'>", "img-src"),
        ("<iframe src='assets/logo.svg'></iframe>", "frame-src"),
        ("<object data='assets/logo.svg'></object>", "object-src"),
        ("<link rel=preload as=font crossorigin href='http://localhost:9/a.woff2'>", "font-src"),
        ("<base href='http://localhost:9/'>", "base-uri"),
    ],
)
def test_policy_blocks_injected_elements(tab, site, tmp_path, injected, directive):
    link_folder(site / "assets", tmp_path / "assets")
    page = (site / "index.html").read_text(encoding="utf-8")
    (tmp_path / "index.html").write_text(page.replace("</body>", injected + "</body>"), "utf-8")
    with served(tmp_path) as home:
        tab.load_uncached(home)
    assert any(directive in text for text in violations(tab)), tab.errors
    assert not tab.page.evaluate("window.injected")
