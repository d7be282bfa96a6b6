"""KaTeX's fonts, cut down to the characters that the site's formulas use.

A first visit would otherwise transfer all glyphs of each font for the few that are drawn. Each file
is named after its content, so no cache serves an old cut to a new page.
"""

import base64
import hashlib
import html
import io
import re
import unicodedata
from collections.abc import Collection, Iterable
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

from attention_docs.publish.assets import content
from attention_docs.publish.cache import Cache
from attention_docs.publish.errors import PublishError

FOLDER = "assets/katex/fonts"
STYLE = "katex/dist/katex.min.css"
FONT = re.compile(r"url\(fonts/([\w-]+)\.woff2\)")
UNUSED_FORMATS = re.compile(r',url\([^)]+\.(?:woff|ttf)\) format\("[^"]+"\)')
DRAWING = 'class="katex-html"'
TAG = re.compile(r"<[^>]*>")
# What a number can come to need: digits, signs, brackets, the words True, False, inf and nan, and
# the dots in place of what a matrix does not show.
NUMBERS = "0123456789.,+−-×∞e()[] TrueFalseinfnan⋯⋮⋱"


def font_cache(root: Path) -> Cache:
    """Return the cut fonts of the last build."""
    return Cache(root / ".cache" / "fonts.json", Path(__file__).read_bytes())


def characters(formulas: Iterable[str]) -> set[str]:
    """Collect the characters that typeset formulas draw.

    >>> sorted(characters(['<math>x</math><span class="katex-html"><i>a</i>&lt;b</span>']))
    ['<', 'a', 'b']
    """
    drawn = "".join(TAG.sub("", "<" + formula.partition(DRAWING)[2]) for formula in formulas)
    return {c for c in html.unescape(drawn) if unicodedata.category(c) not in ("Cc", "Cf", "Zs")}


def published(
    modules: Path, formulas: Collection[str], drawn: Collection[str], cache: Cache
) -> dict[str, bytes]:
    """Return KaTeX's style sheet and its fonts, by their paths in the site.

    Args:
        modules: the folder `node_modules`.
        formulas: the typeset formulas of all pages.
        drawn: the names of the fonts that some formula is drawn with; only these are cut.
        cache: the cut fonts of the last build.

    Raises:
        PublishError: if a formula draws a character that no font has.
    """
    style = UNUSED_FORMATS.sub("", content(modules, STYLE).decode())
    wanted = characters(formulas)
    fonts = {name: content(modules, f"katex/dist/fonts/{name}.woff2") for name in names(style)}
    known = set().union(*(glyphs(fonts[name]) for name in drawn))
    if missing := sorted(wanted - known):
        raise PublishError(f"no font of KaTeX has {', '.join(map(repr, missing))}")
    text = "".join(sorted(wanted | set(NUMBERS)))
    files = {}
    for name, font in fonts.items():
        cut = cached_subset(font, text, cache) if name in drawn else font
        hashed = f"{name}.{hashlib.sha256(cut).hexdigest()[:8]}"
        files[f"{FOLDER}/{hashed}.woff2"] = cut
        style = style.replace(f"fonts/{name}.woff2", f"fonts/{hashed}.woff2")
    cache.save()
    return {"assets/katex/katex.min.css": style.encode(), **files}


def addresses(files: Iterable[str]) -> dict[str, str]:
    """Name the published file of each font by the font's name.

    >>> addresses(["assets/katex/katex.min.css", "assets/katex/fonts/KaTeX_Main-Bold.1a2b.woff2"])
    {'KaTeX_Main-Bold': 'assets/katex/fonts/KaTeX_Main-Bold.1a2b.woff2'}
    """
    fonts = (file for file in files if file.startswith(FOLDER))
    return {file.rpartition("/")[2].partition(".")[0]: file for file in fonts}


def names(style: str) -> list[str]:
    return sorted(set(FONT.findall(style)))


def glyphs(font: bytes) -> set[str]:
    """The characters that a font has."""
    return set(map(chr, TTFont(io.BytesIO(font), lazy=True).getBestCmap() or ()))


def cached_subset(font: bytes, text: str, cache: Cache) -> bytes:
    key = hashlib.sha256(font).hexdigest() + text
    if key not in cache:
        cache[key] = base64.b64encode(subset(font, text)).decode()
    return base64.b64decode(cache[key])


def subset(font: bytes, text: str) -> bytes:
    """Leave the glyphs of some characters in a font, and all that places them."""
    options = Options(flavor="woff2", layout_features=["*"], notdef_outline=True)
    whole = TTFont(io.BytesIO(font), recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(text=text)
    subsetter.subset(whole)
    whole.flavor = "woff2"
    written = io.BytesIO()
    whole.save(written)
    return written.getvalue()
