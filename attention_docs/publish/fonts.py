"""Fetch a page's formula fonts early: one that arrives late lays the whole page out again."""

FOLDER = "assets/katex/fonts"
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
LINK = '<link rel="preload" href="{}/{}.woff2" as="font" type="font/woff2" crossorigin>'


def preload(page: str, folder: str) -> str:
    """Name the fonts that a page's formulas need in its head.

    Args:
        page: the HTML with its formulas typeset.
        folder: where the fonts lie, as the page addresses it.

    >>> print(preload('<head></head><p class="katex">', "fonts"))
    ... # doctest: +NORMALIZE_WHITESPACE
    <head><link rel="preload" href="fonts/KaTeX_Main-Regular.woff2" as="font"
    type="font/woff2" crossorigin></head><p class="katex">
    """
    fonts = [font for font, marks in DRAWN.items() if any(f'{mark}"' in page for mark in marks)]
    return page.replace(
        "</head>", "".join(LINK.format(folder, font) for font in fonts) + "</head>", 1
    )
