"""The Content-Security-Policy: its content, and that the files comply.

All tests in a browser fail if a page violates it, because the browser reports an error.
"""

import re

from bs4 import BeautifulSoup

from attention_docs.publish.after.policy import hash_source
from tests.browser.visit import PAGES

POLICY_TAG = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
# The policy applies only to what follows it.
LOADING_TAG = re.compile(r"<(?:script|style|link|img)\b")
BLOCKED_TAGS = {"style", "base", "iframe", "object", "embed"}


def is_blocked(tag):
    """Whether the policy would block a tag, or code in one of its attributes."""
    return tag.name in BLOCKED_TAGS or any(
        name.startswith("on") or str(value).startswith("javascript:")
        for name, value in tag.attrs.items()
    )


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
        tree = BeautifulSoup(page, "html.parser")
        assert tree.find_all(is_blocked) == []
        scripts.update(script.string for script in tree.select("script:not([src], [type])"))
    # Two of ours and three of the theme's on every page, and the theme's script with the path to the
    # root, which differs at each of three depths and in 404.html. Any other is a plugin's.
    assert len(scripts) == 5 + 4, scripts
    assert set(policy["script-src"]) == {"'self'", *map(hash_source, scripts)}
    assert policy["default-src"] == ["'self'"]
