"""KaTeX's fonts, subset to the characters that the site's formulas use.

Full fonts would make a first visit slow. The subsets are embedded in KaTeX's style sheet, because a
font that arrives after the text shifts the layout. Unused fonts are left out.
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
from attention_docs.publish.assets import read_file
from attention_docs.publish.cache import Cache, files_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.project import Project

STYLE = "katex/dist/katex.min.css"
FACE = re.compile(
    r"@font-face\{(?P<description>[^{}]*)src:url\(fonts/(?P<name>[\w-]+)\.woff2\)[^{}]*\}"
)
EMBEDDED_FACE = '@font-face{{{}src:url(data:font/woff2;base64,{}) format("woff2")}}'
VISIBLE_HTML = '<span class="katex-html"'
TAG_AND_TEXT = re.compile(r"<(?P<closing>/)?(?P<attributes>[^>]*?)(?P<void>/)?>(?P<text>[^<]*)")
CLASS = re.compile(r'class="([^"]*)"')
MAIN = "KaTeX_Main-Regular"
MATH = "KaTeX_Math-Italic"
# For each font but MAIN, the classes that select it in KaTeX's style sheet.
CLASSES = {
    "KaTeX_Main-Bold": ["mathbf"],
    MATH: ["mathnormal"],
    "KaTeX_AMS-Regular": ["mathbb", "amsrm"],
    "KaTeX_Size1-Regular": ["delimsizing size1", "small-op"],
    "KaTeX_Size2-Regular": ["delimsizing size2", "large-op"],
    "KaTeX_Size3-Regular": ["delimsizing size3"],
    "KaTeX_Size4-Regular": ["delimsizing size4"],
}
# Characters of tables and short formulas: digits, signs, T, F and nan, ellipses of large matrices,
# and letters of symbols and subscripts.
ALWAYS_INCLUDED = {
    MAIN: "0123456789.,()=<>+−×⋅/≤≥…∞⋯⋮⋱⊤TF" + string.ascii_lowercase,
    MATH: string.ascii_letters + "".join(GREEK.values()),
}


def used_characters(formulas: Iterable[str]) -> dict[str, set[str]]:
    """Collect the characters that typeset formulas use of each font.

    >>> visible_html = '<span class="katex-html"><i class="mord mathnormal">a</i>&lt;</span>'
    >>> used_characters([f"<math>x</math>{visible_html}"])
    {'KaTeX_Math-Italic': {'a'}, 'KaTeX_Main-Regular': {'<'}}
    """
    texts: dict[str, str] = {}
    for formula in formulas:
        for font, text in fonts_and_texts(formula[formula.index(VISIBLE_HTML) :]):
            texts[font] = texts.get(font, "") + text
    return {font: used for font, text in texts.items() if (used := visible_characters(text))}


def fonts_and_texts(visible_html: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a formula with its font, which nested elements inherit."""
    fonts = [MAIN]
    for tag in TAG_AND_TEXT.finditer(visible_html):
        if tag["closing"]:
            fonts.pop()
            if len(fonts) == 1:
                return  # the rest belongs to the surrounding elements
        elif not tag["void"]:
            fonts.append(font_of(tag["attributes"]) or fonts[-1])
        if tag["text"]:
            yield fonts[-1], tag["text"]


def visible_characters(text: str) -> set[str]:
    return {c for c in html.unescape(text) if unicodedata.category(c) not in ("Cc", "Cf", "Zs")}


@functools.cache
def font_of(attributes: str) -> str | None:
    """Return the font that an element's classes select, if any."""
    match = CLASS.search(attributes)
    classes = set(match[1].split()) if match else set()
    for font, alternatives in CLASSES.items():
        if any(set(required.split()) <= classes for required in alternatives):
            return font
    return None


def style_sheet(project: Project, formulas: Iterable[str]) -> str:
    """Return KaTeX's style sheet with subsets of the used fonts embedded.

    Args:
        project: the project.
        formulas: the typeset formulas of all pages.

    Raises:
        PublishError: if a formula uses a character that its font lacks.
    """
    used = used_characters(formulas)
    cache = project.cache.with_key("fonts", files_digest(Path(truetype.__file__)))
    for name, characters in ALWAYS_INCLUDED.items():
        used[name] = used.get(name, set()) | set(characters)

    def embed(face: re.Match[str]) -> str:
        name = face["name"]
        if name not in used:
            return ""
        font = read_file(project.node_modules, f"katex/dist/fonts/{name}.woff2")
        return EMBEDDED_FACE.format(
            face["description"], cached_subset(name, font, used[name], cache)
        )

    return FACE.sub(embed, read_file(project.node_modules, STYLE).decode())


def cached_subset(name: str, font: bytes, characters: set[str], cache: Cache) -> str:
    """Return a subset of a font in Base64, from the cache if it is there."""
    text = "".join(sorted(characters))
    key = hashlib.sha256(font).hexdigest() + text
    if key not in cache:
        if missing := sorted(characters - truetype.supported_characters(font)):
            raise PublishError(f"{name} has no {', '.join(map(repr, missing))}")
        cache[key] = base64.b64encode(truetype.subset(font, text)).decode()
    return cache[key]
