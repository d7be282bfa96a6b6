"""Check where everything comes from that the built site would fetch or run.

A page may run the theme's inline scripts and ours, and fetch from its own host only. If a plugin
adds a script or an address on another host, it is found here before anything is published.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

# The templates whose inline scripts may run, and no other's. main.html is ours, the others are the
# theme's.
TEMPLATES = (
    "main.html",
    "partials/javascripts/base.html",
    "partials/javascripts/content.html",
    "partials/javascripts/palette.html",
)
INLINE_SCRIPT = re.compile(
    r"<script(?P<attributes>(?![^>]*\ssrc\s*=)[^>]*)>(?P<code>.*?)</script\s*>",
    re.DOTALL | re.IGNORECASE,
)
# A block of data, such as the theme's settings, does not run.
DATA = re.compile(r'\stype="application/(?:ld\+)?json"')
# What a template fills in: the path from a page to the root of the site.
FILLED_IN = re.compile(r"\\\{\\\{.*?\\\}\\\}")
FETCHING_TAG = re.compile(
    r"<(?:audio|base|embed|feimage|frame|iframe|image|img|input|link|object|script|source|track|use"
    r"|video)\s[^>]*>",
    re.IGNORECASE,
)
FETCHING_ATTRIBUTES = {"background", "data", "href", "poster", "src", "srcset", "xlink:href"}
# Kinds of links that make no browser fetch anything.
PASSIVE_LINKS = {"alternate", "author", "canonical", "license", "next", "prev"}
# Both cases are spelled out: IGNORECASE makes the search through all HTML five times slower.
URL_TO_END_OF_TAG = re.compile(r"[uU](?<!\w[uU])[rR][lL]\([^<>]*>")
STYLE_ELEMENT = re.compile(r"<[sS][tT][yY][lL][eE]\b.*?</[sS][tT][yY][lL][eE]\s*>", re.DOTALL)
STYLE_ADDRESS = re.compile(
    r"""(?:\burl\(|@import)\s*(?:["']|&quot;|&\#39;)?\s*([^"'()\s;&]+)""", re.IGNORECASE
)
QUOTED_ADDRESS = re.compile(r"""["'`]((?:https?:)?//[^"'`\s]+)""", re.IGNORECASE)
# An address with a scheme or a host, except those that stay within the page.
FOREIGN = re.compile(r"\s*(?!data:|blob:|about:)(?:[a-z][a-z\d+.-]*:|[\\/]{2})", re.IGNORECASE)


def known_scripts(folders: Sequence[str | Path]) -> list[re.Pattern[str]]:
    """Read the inline scripts that may run, as patterns.

    Args:
        folders: the folders of templates, in order of precedence.
    """
    templates = (find(name, folders) for name in TEMPLATES)
    texts = (path.read_text(encoding="utf-8") for path in templates if path)
    return [pattern(script) for text in texts for script in inline_scripts(text)]


def inline_scripts(page: str) -> list[str]:
    """List the inline scripts of a page that a browser would run.

    >>> inline_scripts('<script>start()</script><script src="a.js"></script>')
    ['start()']
    """
    found = INLINE_SCRIPT.finditer(page)
    return [script["code"] for script in found if not DATA.search(script["attributes"])]


def find(name: str, folders: Sequence[str | Path]) -> Path | None:
    return next((Path(folder, name) for folder in folders if Path(folder, name).is_file()), None)


def pattern(script: str) -> re.Pattern[str]:
    r"""Match a template's script with any path to the root of the site filled in.

    >>> bool(pattern('go("{{ base_url }}")').fullmatch('go("../..")'))
    True
    >>> bool(pattern('go("{{ base_url }}")').fullmatch('go("//host/")'))
    False
    """
    return re.compile(FILLED_IN.sub(r"(?:\\.{1,2}(?:/\\.\\.)*|/(?!/)[\\w./-]*)", re.escape(script)))


def site_problems(site: Path, known: list[re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    """Check all pages and style sheets of a site.

    Yields:
        The path of the file in the site, and what is wrong in it.
    """
    for file in [*sorted(site.rglob("*.html")), *sorted(site.rglob("*.css"))]:
        text = file.read_text(encoding="utf-8")
        found = page_problems(text, known) if file.suffix == ".html" else style_problems(text)
        name = file.relative_to(site).as_posix()
        yield from ((name, problem) for problem in found)


def page_problems(page: str, known: Iterable[re.Pattern[str]]) -> Iterator[str]:
    """Find what a page would run or fetch although it must not.

    >>> list(page_problems('<script>spy()</script><img src="//host/a">', []))
    ["inline script 'spy()' is neither the theme's nor ours", "'//host/a' points to another host"]
    """
    for script in inline_scripts(page):
        if not any(one.fullmatch(script) for one in known):
            start = " ".join(script.split())[:60]
            yield f"inline script {start!r} is neither the theme's nor ours"
    for address in addresses(page):
        if FOREIGN.match(address):
            yield f"{address!r} points to another host"


def style_problems(style: str) -> Iterator[str]:
    """Find what a style sheet would fetch although it must not.

    >>> list(style_problems("a { background: url(https://host/a.png) }"))
    ["'https://host/a.png' points to another host"]
    """
    for address in STYLE_ADDRESS.findall(style):
        if FOREIGN.match(address):
            yield f"{address!r} points to another host"


def addresses(page: str) -> Iterator[str]:
    """Yield the addresses a page would fetch, from its tags, its styles and its scripts."""
    for tag in FETCHING_TAG.findall(page):
        yield from FetchedAddresses(tag).addresses
    for style in styles(page):
        yield from STYLE_ADDRESS.findall(style)
    for script in INLINE_SCRIPT.finditer(page):
        yield from QUOTED_ADDRESS.findall(script["code"])


def styles(page: str) -> Iterator[str]:
    """Yield the style elements of a page, and the rest of each tag from its first `url(` on."""
    yield from STYLE_ELEMENT.findall(page)
    for found in URL_TO_END_OF_TAG.finditer(page):
        if page.rfind("<", 0, found.start()) > page.rfind(">", 0, found.start()):
            yield found[0]


class FetchedAddresses(HTMLParser):
    """Reads the addresses that a tag makes a browser fetch."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kinds = set((dict(attrs).get("rel") or "").lower().split())
        if tag == "link" and kinds and kinds <= PASSIVE_LINKS:
            return
        for name, value in attrs:
            if name == "srcset":
                self.addresses += [
                    part.split()[0] for part in (value or "").split(",") if part.strip()
                ]
            elif name in FETCHING_ATTRIBUTES:
                self.addresses.append(value or "")
