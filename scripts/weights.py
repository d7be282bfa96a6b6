"""What each page of the built site weighs: its HTML, and all that a first visit fetches.

Compressed, as a server sends them, and known without a browser: what the page names, the fonts that
the classes of its formulas ask for, and what the theme's script fetches by itself.
"""

import pathlib
import posixpath
import re
import zlib

NAMED = re.compile(
    r'<link rel="(?:stylesheet|icon|preload)" href="([^"]+)"|<(?:script|img) src="([^"]+)"'
)
FETCHED_BY_SCRIPT = ("assets/javascripts/workers/*.js", "search/search_index.json", "sitemap.xml")
STYLE = "assets/katex/katex.min.css"
FACE = re.compile(
    r'@font-face\{[^}]*font-family:"?(\w+)"?;font-style:(\w+);font-weight:(\d+);src:url\(([^)]+)\)'
)
RULE = re.compile(r"([^{}]+)\{font-family:(KaTeX_\w+)(?:;font-style:(\w+))?(?:;font-weight:(\d+))?")
COMPRESSED_ALREADY = (".woff2", ".png")


def show(site):
    """Print one line a page, the heaviest first."""
    print("What each page weighs, compressed, in kB:\n  HTML  first visit  page")
    for visit, html, page in sorted(weigh(site), reverse=True):
        print("{:6.0f} {:12.0f}  {}".format(html / 1000, visit / 1000, page))


def weigh(site):
    """Return for each page the bytes of a first visit, those of its HTML, and its address."""
    site = pathlib.Path(site)
    fetched = {
        file.relative_to(site).as_posix() for name in FETCHED_BY_SCRIPT for file in site.glob(name)
    }
    asked = fonts((site / STYLE).read_text(encoding="utf-8"))
    known = {}

    def size(name):
        if name not in known:
            content = (site / name).read_bytes()
            plain = name.endswith(COMPRESSED_ALREADY)
            known[name] = len(content if plain else zlib.compress(content, 6))
        return known[name]

    pages = []
    for file in site.rglob("index.html"):
        name = file.relative_to(site).as_posix()
        text = file.read_text(encoding="utf-8")
        files = fetched.union(named(text, name), (font for mark, font in asked if mark in text))
        html = size(name)
        pages.append((html + sum(map(size, files)), html, name[: -len("index.html")] or "./"))
    return pages


def named(text, page):
    """Return the files that a page names, by their paths in the site."""
    folder = posixpath.dirname(page)
    addresses = (link or source for link, source in NAMED.findall(text))
    return {posixpath.normpath(posixpath.join(folder, address)) for address in addresses}


def fonts(style):
    """Return pairs of a mark in the HTML and the font that the style sheet asks for there."""
    faces = {face[:3]: STYLE.rpartition("/")[0] + "/" + face[3] for face in FACE.findall(style)}
    pairs = []
    for selectors, family, slant, weight in RULE.findall(style):
        font = faces[family, slant or "normal", weight or "400"]
        for selector in selectors.split(","):
            # Of ".katex .op-symbol.small-op" the classes of the last element, as KaTeX writes them.
            classes = re.sub(r">\w+$", "", selector).rpartition(" ")[2].split(".")[1:]
            # The last of an attribute, or not.
            pairs += [(" ".join(classes) + end, font) for end in ('"', " ")]
    return pairs
