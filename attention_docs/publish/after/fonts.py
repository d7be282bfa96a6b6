"""KaTeX's fonts, subset to the characters that the site's formulas use.

Full fonts would make a first visit slow. The subsets are embedded in KaTeX's style sheet, because a
font that arrives after the text shifts the layout. Unused fonts are left out.

fontTools is imported inside functions, because importing it takes longer than importing this
project.
"""

import base64
import functools
import html
import io
import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from attention_docs.publish.after.symbols import GREEK
from attention_docs.publish.assets import read_file
from attention_docs.publish.cache import digest, files_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.project import Project

STYLE = "katex/dist/katex.min.css"
FONT_FACE = re.compile(
    r"@font-face\{(?P<descriptors>[^{}]*)src:url\(fonts/(?P<name>[\w-]+)\.woff2\)[^{}]*\}"
)
EMBEDDED_FONT_FACE = '@font-face{{{}src:url(data:font/woff2;base64,{}) format("woff2")}}'
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
# Unicode categories of characters that need no glyph: controls, formats, spaces.
INVISIBLE = ("Cc", "Cf", "Zs")
# Characters of tables and short formulas, which are not typeset by KaTeX: digits, signs, T, F and
# nan, ellipses of large matrices, and letters of symbols and subscripts.
ALWAYS_INCLUDED = {
    MAIN: "0123456789.,()=<>+−×⋅/≤≥…∞⋯⋮⋱⊤TF" + string.ascii_lowercase,
    MATH: string.ascii_letters + "".join(GREEK.values()),
}


def used_characters(formulas: Iterable[str]) -> dict[str, set[str]]:
    """Return the characters of each font that formulas use; their MathML needs no glyphs."""
    characters: dict[str, set[str]] = {}
    for formula in formulas:
        for font, text in fonts_and_texts(formula[formula.index(VISIBLE_HTML) :]):
            visible = {
                char for char in html.unescape(text) if unicodedata.category(char) not in INVISIBLE
            }
            if visible:
                characters.setdefault(font, set()).update(visible)
    return characters


def fonts_and_texts(visible_html: str) -> Iterator[tuple[str, str]]:
    """Yield the font and the text of each piece of the element that `visible_html` starts with."""
    font_stack = [MAIN]  # of the open elements, each of which inherits the font around it
    for tag in TAG_AND_TEXT.finditer(visible_html):
        if tag["closing"]:
            font_stack.pop()
            if len(font_stack) == 1:  # the end of the visible part
                return
        elif not tag["void"]:
            font_stack.append(selected_font(tag["attributes"]) or font_stack[-1])
        if tag["text"]:
            yield font_stack[-1], tag["text"]


@functools.cache
def selected_font(attributes: str) -> str | None:
    match = CLASS.search(attributes)
    classes = set(match[1].split()) if match else set()
    for font, selectors in CLASSES.items():
        if any(classes.issuperset(selector.split()) for selector in selectors):
            return font
    return None


def style_sheet(project: Project, formulas: Iterable[str]) -> str:
    """Return KaTeX's style sheet with subsets of the used fonts embedded."""
    characters = used_characters(formulas)
    for name, always_included in ALWAYS_INCLUDED.items():
        characters.setdefault(name, set()).update(always_included)
    cache = project.cache.with_version("fonts", files_digest(Path(__file__)))

    def embed_subset(font_face: re.Match[str]) -> str:
        """Replace a font face by one with the embedded subset, or remove an unused one."""
        name = font_face["name"]
        if name not in characters:
            return ""
        font = read_file(project.node_modules, f"katex/dist/fonts/{name}.woff2")
        text = "".join(sorted(characters[name]))
        key = digest(font) + text
        if key not in cache:
            cache[key] = base64.b64encode(subset_font(name, font, text)).decode()
        return EMBEDDED_FONT_FACE.format(font_face["descriptors"], cache[key])

    return FONT_FACE.sub(embed_subset, read_file(project.node_modules, STYLE).decode())


def subset_font(name: str, font: bytes, text: str) -> bytes:
    """Return a font reduced to the glyphs and layout features of the characters of a text."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    ttfont = TTFont(io.BytesIO(font), recalcTimestamp=False)
    missing = sorted(set(text) - set(map(chr, ttfont.getBestCmap() or ())))
    if missing:
        raise PublishError(f"{name} has no {', '.join(map(repr, missing))}")
    # Hinting takes half of a small font, and only helps on low-resolution screens.
    options = Options(flavor="woff2", layout_features=["*"], notdef_outline=True, hinting=False)
    subsetter = Subsetter(options)
    subsetter.populate(text=text)
    subsetter.subset(ttfont)
    ttfont.flavor = "woff2"
    output = io.BytesIO()
    ttfont.save(output)
    return output.getvalue()
