"""Preload links in a page's head for its scripts.

A browser scans ahead for scripts by itself, but not on a page with a policy in its head.
"""

import re

# Low priority, after the style sheets: the first paint does not wait for scripts.
SCRIPT = '<link rel="preload" href="{}" as="script" fetchpriority="low">'
SOURCE = re.compile(r'<script src="([^"]+)"')


def with_preloads(page: str) -> str:
    """Add preload links above the first script, which would delay whatever comes after it.

    >>> with_preloads('<script>start()</script><script src="a.js">').partition("<script>")[0]
    '<link rel="preload" href="a.js" as="script" fetchpriority="low">'
    """
    links = map(SCRIPT.format, SOURCE.findall(page))
    return page.replace("<script", "".join(links) + "<script", 1)
