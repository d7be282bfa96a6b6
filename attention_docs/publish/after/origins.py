"""Check of the scripts that pages run and of the addresses that they fetch from.

A page may run the theme's inline scripts and ours, and fetch from its own host only. This catches
scripts and foreign addresses that a plugin adds.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

# Only the inline scripts of these templates may run. main.html is ours, the others the theme's.
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
# Data blocks, such as the theme's settings, do not run.
DATA = re.compile(r'\stype="application/(?:ld\+)?json"')
# In an escaped pattern, a template expression, which stands for the path to the root of the site.
TEMPLATE_EXPRESSION = re.compile(r"\\\{\\\{.*?\\\}\\\}")
PATH_TO_ROOT = r"(?:\.{1,2}(?:/\.\.)*|/(?!/)[\w./-]*)"
FETCHING_TAG = re.compile(
    r"<(?:audio|base|embed|feimage|frame|iframe|image|img|input|link|object|script|source|track|use"
    r"|video)\s[^>]*>",
    re.IGNORECASE,
)
FETCHING_ATTRIBUTES = {"background", "data", "href", "poster", "src", "srcset", "xlink:href"}
# Types of links that browsers do not fetch.
LINK_TYPES_NOT_FETCHED = {"alternate", "author", "canonical", "license", "next", "prev"}
# The patterns have both cases, because IGNORECASE makes the search through all HTML 5 times slower.
URL_TO_END_OF_TAG = re.compile(r"[uU](?<!\w[uU])[rR][lL]\([^<>]*>")
STYLE_ELEMENT = re.compile(r"<[sS][tT][yY][lL][eE]\b.*?</[sS][tT][yY][lL][eE]\s*>", re.DOTALL)
STYLE_ADDRESS = re.compile(
    r"""(?:\burl\(|@import)\s*(?:["']|&quot;|&\#39;)?\s*([^"'()\s;&]+)""", re.IGNORECASE
)
QUOTED_ADDRESS = re.compile(r"""["'`]((?:https?:)?//[^"'`\s]+)""", re.IGNORECASE)
# An address with a scheme or a host, except those that stay within the page.
FOREIGN = re.compile(r"\s*(?!data:|blob:|about:)(?:[a-z][a-z\d+.-]*:|[\\/]{2})", re.IGNORECASE)


def allowed_scripts(folders: Sequence[str | Path]) -> list[re.Pattern[str]]:
    """Return patterns of the inline scripts that may run.

    Args:
        folders: the folders of templates, in order of precedence.
    """
    patterns = []
    for name in TEMPLATES:
        template = find_template(name, folders)
        if template:
            scripts = inline_scripts(template.read_text(encoding="utf-8"))
            patterns += [script_pattern(script) for script in scripts]
    return patterns


def inline_scripts(page: str) -> list[str]:
    """List the inline scripts of a page that a browser would run.

    >>> inline_scripts('<script>start()</script><script src="a.js"></script>')
    ['start()']
    """
    scripts = INLINE_SCRIPT.finditer(page)
    return [script["code"] for script in scripts if not DATA.search(script["attributes"])]


def find_template(name: str, folders: Sequence[str | Path]) -> Path | None:
    for folder in folders:
        template = Path(folder, name)
        if template.is_file():
            return template
    return None


def script_pattern(script: str) -> re.Pattern[str]:
    r"""Return a pattern that matches a template's script with any path to the root of the site.

    >>> bool(script_pattern('go("{{ base_url }}")').fullmatch('go("../..")'))
    True
    >>> bool(script_pattern('go("{{ base_url }}")').fullmatch('go("//host/")'))
    False
    """
    return re.compile(TEMPLATE_EXPRESSION.sub(lambda _: PATH_TO_ROOT, re.escape(script)))


def site_problems(site: Path, allowed: list[re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    """Check all pages and style sheets of a site.

    Yields:
        The path of a file in the site, and the message of a problem in it.
    """
    for file in [*sorted(site.rglob("*.html")), *sorted(site.rglob("*.css"))]:
        text = file.read_text(encoding="utf-8")
        problems = page_problems(text, allowed) if file.suffix == ".html" else style_problems(text)
        for problem in problems:
            yield file.relative_to(site).as_posix(), problem


def page_problems(page: str, allowed: Iterable[re.Pattern[str]]) -> Iterator[str]:
    """Yield the forbidden inline scripts and foreign addresses of a page.

    >>> list(page_problems('<script>spy()</script><img src="//host/a">', []))
    ["inline script 'spy()' is neither the theme's nor ours", "'//host/a' points to another host"]
    """
    for script in inline_scripts(page):
        if not any(pattern.fullmatch(script) for pattern in allowed):
            start = " ".join(script.split())[:60]
            yield f"inline script {start!r} is neither the theme's nor ours"
    for address in fetched_addresses(page):
        if FOREIGN.match(address):
            yield f"{address!r} points to another host"


def style_problems(style: str) -> Iterator[str]:
    """Yield the foreign addresses that a style sheet would fetch.

    >>> list(style_problems("a { background: url(https://host/a.png) }"))
    ["'https://host/a.png' points to another host"]
    """
    for address in STYLE_ADDRESS.findall(style):
        if FOREIGN.match(address):
            yield f"{address!r} points to another host"


def fetched_addresses(page: str) -> Iterator[str]:
    """Yield the addresses in the tags, styles and scripts of a page that a browser may fetch."""
    for tag in FETCHING_TAG.findall(page):
        yield from TagParser(tag).addresses
    for style in styles(page):
        yield from STYLE_ADDRESS.findall(style)
    for script in INLINE_SCRIPT.finditer(page):
        yield from QUOTED_ADDRESS.findall(script["code"])


def styles(page: str) -> Iterator[str]:
    """Yield the style elements of a page, and each `url(` in a tag with the rest of the tag."""
    yield from STYLE_ELEMENT.findall(page)
    for match in URL_TO_END_OF_TAG.finditer(page):
        is_in_tag = page.rfind("<", 0, match.start()) > page.rfind(">", 0, match.start())
        if is_in_tag:
            yield match[0]


class TagParser(HTMLParser):
    """Collects the addresses that a tag makes a browser fetch."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        link_types = set((dict(attrs).get("rel") or "").lower().split())
        if tag == "link" and link_types and link_types <= LINK_TYPES_NOT_FETCHED:
            return
        for name, value in attrs:
            if name == "srcset":
                candidates = (value or "").split(",")  # each an address and a size
                self.addresses += [item.split()[0] for item in candidates if item.strip()]
            elif name in FETCHING_ATTRIBUTES:
                self.addresses.append(value or "")
