"""The Content-Security-Policy: its content, and that the files comply.

All tests in a browser fail if a page violates it, because the browser reports an error.
"""

import re
from html.parser import HTMLParser

from attention_docs.publish.after.policy import hash_source
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
    # Two of ours and three of the theme's on every page, and the theme's script with the path to the
    # root, which differs at each of three depths and in 404.html. Any other is a plugin's.
    assert len(scripts) == 5 + 4, scripts
    assert set(policy["script-src"]) == {"'self'", *map(hash_source, scripts)}
    assert policy["default-src"] == ["'self'"]
