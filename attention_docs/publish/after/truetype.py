"""Characters and subsets of fonts.

fontTools is imported inside functions, because the import takes longer than that of this project.
"""

import io


def supported_characters(font: bytes) -> set[str]:
    """Return the characters that a font supports."""
    from fontTools.ttLib import TTFont

    return set(map(chr, TTFont(io.BytesIO(font), lazy=True).getBestCmap() or ()))


def subset(font: bytes, text: str) -> bytes:
    """Return a font reduced to the glyphs and layout features of the characters of a text.

    Hinting is removed: it takes half of a small font, and only helps on low-resolution screens.
    """
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    options = Options(flavor="woff2", layout_features=["*"], notdef_outline=True, hinting=False)
    ttfont = TTFont(io.BytesIO(font), recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(text=text)
    subsetter.subset(ttfont)
    ttfont.flavor = "woff2"
    output = io.BytesIO()
    ttfont.save(output)
    return output.getvalue()
