"""Preload links in a page's head, for its scripts and the fonts of its formulas.

A browser scans ahead for scripts by itself, but not on a page with a policy in its head.
A font that arrives late makes the browser lay the whole page out again.
"""

import re
from collections.abc import Mapping

from attention_docs.publish.fonts import used

FONT = '<link rel="preload" href="{}" as="font" type="font/woff2" crossorigin>'
# Low priority, after styles and fonts: the first paint does not wait for scripts.
SCRIPT = '<link rel="preload" href="{}" as="script" fetchpriority="low">'
SOURCE = re.compile(r'<script src="([^"]+)"')


def with_preloads(page: str, fonts: Mapping[str, str]) -> str:
    """Add preload links above the first script, which would delay whatever comes after it.

    Args:
        page: the HTML with its formulas typeset.
        fonts: the address of each font by its name, relative to the page.

    >>> page = '<script>start()</script><p class="katex"><script src="site.js"></script>'
    >>> fonts = {"KaTeX_Main-Regular": "main.woff2"}
    >>> print(with_preloads(page, fonts))  # doctest: +NORMALIZE_WHITESPACE
    <link rel="preload" href="main.woff2" as="font"
    type="font/woff2" crossorigin><link rel="preload" href="site.js"
    as="script" fetchpriority="low"><script>start()</script><p class="katex"><script
    src="site.js"></script>
    """
    links = [FONT.format(fonts[font]) for font in used(page)]
    links += map(SCRIPT.format, SOURCE.findall(page))
    return page.replace("<script", "".join(links) + "<script", 1)
