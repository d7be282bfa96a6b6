"""KaTeX's fonts, each cut down to the characters that the site's formulas draw with it.

A first visit would otherwise transfer all glyphs of each font for the few that are drawn. What is
left of them stands in KaTeX's style sheet itself, because a font that arrives after the text moves
it. A font that draws nothing is left out.
"""

import base64
import functools
import hashlib
import html
import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from attention_docs.publish.after import truetype
from attention_docs.publish.after.symbols import GREEK
from attention_docs.publish.assets import content
from attention_docs.publish.cache import Cache, sources_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.project import Project

STYLE = "katex/dist/katex.min.css"
FACE = re.compile(
    r"@font-face\{(?P<description>[^{}]*)src:url\(fonts/(?P<name>[\w-]+)\.woff2\)[^{}]*\}"
)
EMBEDDED = '@font-face{{{}src:url(data:font/woff2;base64,{}) format("woff2")}}'
DRAWING = '<span class="katex-html"'
TAG_AND_TEXT = re.compile(r"<(?P<closes>/)?(?P<attributes>[^>]*?)(?P<empty>/)?>(?P<text>[^<]*)")
CLASS = re.compile(r'class="([^"]*)"')
MAIN = "KaTeX_Main-Regular"
MATH = "KaTeX_Math-Italic"
# For each other font, the classes of the elements that KaTeX's style sheet sets in it.
CLASSES = {
    "KaTeX_Main-Bold": ["mathbf"],
    MATH: ["mathnormal"],
    "KaTeX_AMS-Regular": ["mathbb", "amsrm"],
    "KaTeX_Size1-Regular": ["delimsizing size1", "small-op"],
    "KaTeX_Size2-Regular": ["delimsizing size2", "large-op"],
    "KaTeX_Size3-Regular": ["delimsizing size3"],
    "KaTeX_Size4-Regular": ["delimsizing size4"],
}
# What tables and symbols can come to need: digits, signs, the words T, F and nan, the dots in place
# of what a matrix does not show, and the letters of symbols and their indices.
ALWAYS = {
    MAIN: "0123456789.,()=<>+−×⋅/≤≥…∞⋯⋮⋱⊤TF" + string.ascii_lowercase,
    MATH: string.ascii_letters + "".join(GREEK.values()),
}


def characters(formulas: Iterable[str]) -> dict[str, set[str]]:
    """Collect, for each font, the characters that typeset formulas draw with it.

    >>> drawn = '<span class="katex-html"><i class="mord mathnormal">a</i>&lt;</span>'
    >>> characters([f"<math>x</math>{drawn}"])
    {'KaTeX_Math-Italic': {'a'}, 'KaTeX_Main-Regular': {'<'}}
    """
    found: dict[str, str] = {}
    for formula in formulas:
        for font, text in texts(formula[formula.index(DRAWING) :]):
            found[font] = found.get(font, "") + text
    return {font: drawn for font, text in found.items() if (drawn := visible(text))}


def texts(drawing: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a drawing with its font, which is that of the nearest element with one."""
    fonts = [MAIN]
    for tag in TAG_AND_TEXT.finditer(drawing):
        if tag["closes"]:
            fonts.pop()
            if len(fonts) == 1:
                return  # what follows belongs to the elements around the drawing
        elif not tag["empty"]:
            fonts.append(font_of(tag["attributes"]) or fonts[-1])
        if tag["text"]:
            yield fonts[-1], tag["text"]


def visible(text: str) -> set[str]:
    return {c for c in html.unescape(text) if unicodedata.category(c) not in ("Cc", "Cf", "Zs")}


@functools.cache
def font_of(attributes: str) -> str | None:
    """Name the font that an element sets by its classes, if it sets one."""
    found = CLASS.search(attributes)
    classes = set(found[1].split()) if found else set()
    for font, alternatives in CLASSES.items():
        if any(set(needed.split()) <= classes for needed in alternatives):
            return font
    return None


def style_sheet(project: Project, formulas: Iterable[str]) -> str:
    """Return KaTeX's style sheet with the fonts that the site draws with, and no others.

    Args:
        project: the project.
        formulas: the typeset formulas of all pages.

    Raises:
        PublishError: if a formula draws a character that its font lacks.
    """
    drawn = characters(formulas)
    cache = project.cache.part("fonts", sources_digest(Path(truetype.__file__)))
    for name, always in ALWAYS.items():
        drawn[name] = drawn.get(name, set()) | set(always)

    def embed(face: re.Match[str]) -> str:
        name = face["name"]
        if name not in drawn:
            return ""
        font = content(project.modules, f"katex/dist/fonts/{name}.woff2")
        return EMBEDDED.format(face["description"], cached_subset(name, font, drawn[name], cache))

    return FACE.sub(embed, content(project.modules, STYLE).decode())


def cached_subset(name: str, font: bytes, drawn: set[str], cache: Cache) -> str:
    """Cut a font, or take it from the cache; in base 64."""
    text = "".join(sorted(drawn))
    key = hashlib.sha256(font).hexdigest() + text
    if key not in cache:
        if missing := sorted(drawn - truetype.glyphs(font)):
            raise PublishError(f"{name} has no {', '.join(map(repr, missing))}")
        cache[key] = base64.b64encode(truetype.subset(font, text)).decode()
    return cache[key]
