"""Style sheets without what no page of the site can use.

Most rules of the theme and of KaTeX are for things that this site does not have. Once all pages are
built, a rule goes if it asks for a class or an id that no page has and no script names, or if it
has the whole page styled again at each load; and a variable goes if nothing reads it. A style sheet
that pages link to is named after its content, so no cache serves an old one to a new page.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

# Each begins with a literal, which makes the search through all HTML several times faster.
NAMES_IN_PAGE = (
    re.compile(r' class="([^"]*)"'),
    re.compile(r' id="([^"]*)"'),
    re.compile(r' data-md-color-\w+="([^"]*)"'),
)
# The scripts that write into pages; Plotly brings its own styles.
SCRIPTS = ("assets/*.js", "assets/javascripts/*.js")
# Only the pages of the reference have what this sheet is for.
REFERENCE = re.compile(r'<link rel="stylesheet" href="[^"]*assets/_mkdocstrings\.css">')
READ = re.compile(r"var\((--[\w-]+)")
WORD = re.compile(r"[\w-]+")
COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
BRACE_OR_STRING = re.compile(r"""[{}]|"[^"]*"|'[^']*'""")
COMMA = re.compile(r",(?![^(]*\))")
# An element may match without what stands in the brackets.
CHOICE = re.compile(r":(?:not|is|where)\([^()]*\)")
# The theme sets this attribute at each load and removes it, and for its rule a browser styles every
# element again. In site.css a rule for fewer keeps links from fading into another scheme's colours.
RESTYLES_ALL = re.compile(r"\[data-md-color-switching\] (\*|:after|:before)")
NAME = re.compile(r"""[.#]([\w-]+)|\[data-md-color-\w+=["']?([\w-]+)""")
VARIABLE = re.compile(
    r"""(?<=[{;])\s*(?P<name>--[\w-]+):(?:[^;{}"']|"[^"]*"|'[^']*')*(?:;|(?=\}))"""
)


def publish(site: Path) -> None:
    """Cut the style sheets of a built site, and name them after their content in every page."""
    pages = {path: path.read_bytes().decode() for path in site.rglob("*.html")}
    scripts = [path.read_text(encoding="utf-8") for kind in SCRIPTS for path in site.glob(kind)]
    sheets = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    words = {word for script in scripts for word in WORD.findall(script)}
    names = words | names_in(pages.values())
    read = words | {name for page in pages.values() for name in READ.findall(page)}
    cut = without_unread([with_names(sheet, names) for sheet in sheets.values()], read)
    renamed: dict[str, str] = {}
    for path, sheet in zip(sheets, cut, strict=True):
        path.write_text(sheet, encoding="utf-8")
        # What a script fetches keeps its name.
        if any(f'/{path.name}"' in page for page in pages.values()):
            renamed |= rename(path, sheet)
    for path, page in pages.items():
        if 'class="doc ' not in page:
            page = REFERENCE.sub("", page)
        for old, new in renamed.items():
            page = page.replace(old, new)
        path.write_bytes(page.encode())


def rename(path: Path, sheet: str) -> dict[str, str]:
    """Name a style sheet after its content; return the new end of an address by the old one."""
    digest = hashlib.sha256(sheet.encode()).hexdigest()[:8]
    new = path.with_name(f"{path.stem}.{digest}.css")
    path.rename(new)
    path.with_name(f"{path.name}.map").unlink(missing_ok=True)
    return {f'/{path.name}"': f'/{new.name}"'}


def names_in(pages: Iterable[str]) -> set[str]:
    """Collect the classes, the ids and the colours of pages.

    >>> sorted(names_in(['<p class="note large" id="first">']))
    ['first', 'large', 'note']
    """
    values = {value for page in pages for kind in NAMES_IN_PAGE for value in kind.findall(page)}
    return {name for value in values for name in value.split()}


def with_names(style: str, names: Set[str]) -> str:
    """Leave the rules of a style sheet that an element with some of these names can match.

    >>> with_names(".a, .b { top: 0 } @media print { .b { top: 1px } } p:not(.b) {}", {"a"})
    '.a{ top: 0 } p:not(.b) {}'
    """
    return "".join(kept(COMMENT.sub("", style), names))


def kept(style: str, names: Set[str]) -> Iterator[str]:
    for selector, body in rules(style):
        if selector.lstrip().startswith(("@media", "@supports")):
            if within := "".join(kept(body, names)):
                yield f"{selector}{{{within}}}"
        elif matching := [one for one in COMMA.split(selector) if stays(one, names)]:
            yield f"{','.join(matching)}{{{body}}}"


def rules(style: str) -> Iterator[tuple[str, str]]:
    """Yield the rules of a style sheet, each with what stands before its braces and between them.

    >>> list(rules("a{top:0}@media print{b{top:1px}}"))
    [('a', 'top:0'), ('@media print', 'b{top:1px}')]
    """
    depth = start = opened = 0
    for found in BRACE_OR_STRING.finditer(style):
        if found[0] == "{":
            opened = opened if depth else found.start()
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if not depth:
                yield style[start:opened], style[opened + 1 : found.start()]
                start = found.end()


def stays(selector: str, names: Set[str]) -> bool:
    return not RESTYLES_ALL.fullmatch(selector) and all(
        name in names for pair in NAME.findall(CHOICE.sub("", selector)) for name in pair if name
    )


def without_unread(styles: list[str], read: Set[str]) -> list[str]:
    """Take the variables out of style sheets that neither these nor anything else reads.

    >>> without_unread(["a{--x:1;--y:var(--x);top:var(--z)}", "b{--z:0}"], set())
    ['a{top:var(--z)}', 'b{--z:0}']
    """
    used = read | {name for style in styles for name in READ.findall(style)}
    left = [
        VARIABLE.sub(lambda found: found[0] if found["name"] in used else "", style)
        for style in styles
    ]
    # What is gone may have been all that read another.
    return left if left == styles else without_unread(left, read)
