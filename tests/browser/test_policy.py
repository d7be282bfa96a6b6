"""The Content-Security-Policy: its content, that the site complies, and that browsers enforce it."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from attention_docs.publish.after.policy import add_policy
from tests.browser.visit import PAGES

POLICY_TAG = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
# The policy applies only to what follows it.
LOADING_TAG = re.compile(r"<(?:script|style|link|img)\b")
BLOCKED_TAGS = {"style", "base", "iframe", "object", "embed"}


class PageScanner(HTMLParser):
    """Collect the inline scripts of a page, and its tags that the policy would block."""

    def __init__(self, html):
        super().__init__()
        self.inline_scripts, self.blocked_tags = [], []
        self.is_in_script = False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        names = {name for name, _ in attributes}
        has_code = any(
            name.startswith("on") or (value or "").startswith("javascript:")
            for name, value in attributes
        )
        if tag in BLOCKED_TAGS or has_code:
            self.blocked_tags.append(self.get_starttag_text())
        if tag == "script" and names.isdisjoint({"src", "type"}):
            self.is_in_script = True
            self.inline_scripts.append("")

    def handle_data(self, data):
        if self.is_in_script:
            self.inline_scripts[-1] += data

    def handle_endtag(self, tag):
        self.is_in_script = False


def parse_policy(page):
    """Parse the policy of a page into the sources of each directive."""
    (policy,) = POLICY_TAG.findall(page)
    return {name: sources for name, *sources in map(str.split, policy.split(";"))}


def hash_source(script):
    """Return the source of a directive that allows an inline script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def test_policy_allows_inline_scripts_of_all_pages():
    head = '<html><head><meta charset="utf-8"><script src="a.js"></script>'
    data = '<script type="application/json">{"data": 1}</script>'
    one, two = "<script>one()</script>", "<script id=two>if (1 < 2) two()</script>"
    pages = add_policy({"one.html": head + one + data, "deep/two.html": head + one + two})
    expected = {"'self'", hash_source("one()"), hash_source("if (1 < 2) two()")}
    for page in pages.values():
        assert set(parse_policy(page)["script-src"]) == expected
        assert POLICY_TAG.sub("", page).startswith(head)


def test_every_page_has_the_same_minimal_policy(site):
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert len(pages) == len(PAGES) + 1  # and 404.html
    policy = parse_policy(pages[0])
    scripts = set()
    for page in pages:
        assert parse_policy(page) == policy
        assert POLICY_TAG.search(page).start() < LOADING_TAG.search(page).start()
        scanner = PageScanner(page)
        assert scanner.blocked_tags == []
        scripts.update(scanner.inline_scripts)
    # Two of ours and two of the theme's on every page, and the theme's script with the path to the
    # root, which differs at each of three depths and in 404.html. Any other is a plugin's.
    assert len(scripts) == 4 + 4, scripts
    assert set(policy["script-src"]) == {"'self'", *map(hash_source, scripts)}
    assert policy["default-src"] == ["'self'"]


@pytest.fixture
def navigated(open_page):
    """A page that is reached by instant navigation, so that its document has another page's policy.

    `open_page` asserts that nothing violates the policy, as that would be an error.
    """
    visit = open_page("mechanisms/cross_attention")
    visit.page.evaluate("window.isSameDocument = true")
    visit.page.locator("article a[href*=self_attention]").first.click()
    visit.page.get_by_role("heading", level=1, name="Self-attention").wait_for()
    yield visit
    assert visit.page.evaluate("window.isSameDocument")


def test_copying_and_searching_comply_with_the_policy(navigated):
    page = navigated.page
    # The theme adds the button when the code comes into view.
    page.locator("article .highlight:visible").first.scroll_into_view_if_needed()
    page.locator("[data-clipboard-target]:visible").first.click()
    page.locator(".md-dialog--active").wait_for()
    page.get_by_placeholder("Search").press_sequentially("softmax")
    page.locator(".md-search-result__item a[href*='h=softmax']").first.click()
    page.wait_for_url("**?h=softmax*")


def test_browser_blocks_an_injected_script(open_page):
    visit = open_page()
    visit.page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.injected = true";
        document.head.append(script);
    }""")
    assert not visit.page.evaluate("window.injected")
    (error,) = visit.errors
    assert "Content Security Policy" in error
    visit.errors.clear()
