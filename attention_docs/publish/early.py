"""Name early, in a page's head, what it will need: its scripts and the fonts of its formulas.

A browser looks ahead for scripts by itself, but not on a page that has its policy in its head.
A font that arrives late lays the whole page out again.
"""

import re

FONTS = "assets/katex/fonts"
# The end of the list of classes that KaTeX's style sheet draws with each font.
DRAWN = {
    "KaTeX_Main-Regular": ["katex"],
    "KaTeX_Main-Bold": [" mathbf"],
    "KaTeX_Math-Italic": [" mathnormal"],
    "KaTeX_AMS-Regular": [" mathbb", " amsrm"],
    "KaTeX_Size1-Regular": ["delimsizing size1", " small-op"],
    "KaTeX_Size2-Regular": ["delimsizing size2", " large-op"],
    "KaTeX_Size3-Regular": ["delimsizing size3"],
    "KaTeX_Size4-Regular": ["delimsizing size4"],
}
FONT = '<link rel="preload" href="{}/{}.woff2" as="font" type="font/woff2" crossorigin>'
# After styles and fonts: the page is drawn before they run.
SCRIPT = '<link rel="preload" href="{}" as="script" fetchpriority="low">'
SOURCE = re.compile(r'<script src="([^"]+)"')


def preload(page: str, fonts: str) -> str:
    """Name what a page needs above its first script, which waits for all that stands before it.

    Args:
        page: the HTML with its formulas typeset.
        fonts: where the fonts lie, as the page addresses it.

    >>> page = '<script>start()</script><p class="katex"><script src="site.js"></script>'
    >>> print(preload(page, "fonts"))  # doctest: +NORMALIZE_WHITESPACE
    <link rel="preload" href="fonts/KaTeX_Main-Regular.woff2" as="font"
    type="font/woff2" crossorigin><link rel="preload" href="site.js"
    as="script" fetchpriority="low"><script>start()</script><p class="katex"><script
    src="site.js"></script>
    """
    drawn = [font for font, marks in DRAWN.items() if any(f'{mark}"' in page for mark in marks)]
    needed = [FONT.format(fonts, font) for font in drawn]
    needed += map(SCRIPT.format, SOURCE.findall(page))
    return page.replace("<script", "".join(needed) + "<script", 1)
