"""What is read from a font, and a font cut down to some characters.

fontTools takes longer to import than all of this project, so what needs it imports it.
"""

import io
from pathlib import Path


def glyphs(font: bytes) -> set[str]:
    """The characters that a font has."""
    from fontTools.ttLib import TTFont

    return set(map(chr, TTFont(io.BytesIO(font), lazy=True).getBestCmap() or ()))


def character_widths(file: Path) -> dict[str, float]:
    """Read how wide each character of a font is, in sizes of the font."""
    from fontTools.ttLib import TTFont

    with TTFont(file) as font:
        glyphs = font.getGlyphSet()
        units = font["head"].unitsPerEm  # type: ignore[attr-defined]  # set when the table is read
        names = font.getBestCmap() or {}
        return {chr(code): glyphs[name].width / units for code, name in names.items()}


def subset(font: bytes, text: str) -> bytes:
    """Leave the glyphs of some characters in a font, and all that places them.

    Their hints go: they are half of a small font, and only help old screens of few pixels.
    """
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    options = Options(flavor="woff2", layout_features=["*"], notdef_outline=True, hinting=False)
    whole = TTFont(io.BytesIO(font), recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(text=text)
    subsetter.subset(whole)
    whole.flavor = "woff2"
    written = io.BytesIO()
    whole.save(written)
    return written.getvalue()
