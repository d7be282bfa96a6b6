"""Preload links for the scripts of a page.

Browsers scan the HTML ahead for scripts to load, but not on a page whose head has a
Content-Security-Policy.
"""

import re

# With low priority, because the first paint needs style sheets but no scripts.
PRELOAD = '<link rel="preload" href="{}" as="script" fetchpriority="low">'
SCRIPT_SOURCE = re.compile(r'<script src="([^"]+)"')


def with_preloads(page: str) -> str:
    """Add a preload link for each script file of a page, in front of its first script.

    Behind it they would be found late, because the parser stops at a script.

    >>> with_preloads('<script>start()</script><script src="a.js">').partition("<script>")[0]
    '<link rel="preload" href="a.js" as="script" fetchpriority="low">'
    """
    links = map(PRELOAD.format, SCRIPT_SOURCE.findall(page))
    return page.replace("<script", "".join(links) + "<script", 1)
