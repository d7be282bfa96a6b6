"""Removal of unused CSS.

Most rules of the theme and of KaTeX are for elements that this site does not have. Once all pages
are built, a rule is removed if it requires a class or an id that neither a page nor a script has,
or if it makes browsers restyle the whole page at each load; a variable is removed if nothing uses
it. Style sheets that pages link to are named after their content, for caches.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

# Each begins with a literal, which makes the search through all HTML several times faster.
NAME_ATTRIBUTES = (
    re.compile(r' class="([^"]*)"'),
    re.compile(r' id="([^"]*)"'),
    re.compile(r' data-md-color-\w+="([^"]*)"'),
)
# Scripts that write into pages, except Plotly, which has its own styles.
SCRIPTS = ("assets/*.js", "assets/javascripts/*.js")
# Needed only on pages of the reference.
REFERENCE_SHEET = re.compile(r'<link rel="stylesheet" href="[^"]*assets/_mkdocstrings\.css">')
USED_VARIABLE = re.compile(r"var\((--[\w-]+)")
WORD = re.compile(r"[\w-]+")
COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
BRACE_OR_STRING = re.compile(r"""[{}]|"[^"]*"|'[^']*'""")
COMMA = re.compile(r",(?![^(]*\))")
# An element may match without the names in the parentheses.
OPTIONAL = re.compile(r":(?:not|is|where)\([^()]*\)")
# The theme sets and removes this attribute at each load, and its rule then makes browsers restyle
# every element. site.css has a narrower rule that stops links from fading between schemes.
RESTYLES_ALL = re.compile(r"\[data-md-color-switching\] (\*|:after|:before)")
NAME = re.compile(r"""[.#]([\w-]+)|\[data-md-color-\w+=["']?([\w-]+)""")
VARIABLE = re.compile(
    r"""(?<=[{;])\s*(?P<name>--[\w-]+):(?:[^;{}"']|"[^"]*"|'[^']*')*(?:;|(?=\}))"""
)


def remove_unused(site: Path) -> None:
    """Remove unused CSS from a built site, and rename style sheets after their content."""
    pages = {path: path.read_bytes().decode() for path in site.rglob("*.html")}
    scripts = [
        path.read_text(encoding="utf-8") for pattern in SCRIPTS for path in site.glob(pattern)
    ]
    sheets = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    script_words = {word for script in scripts for word in WORD.findall(script)}
    names = script_words | names_in(pages.values())
    page_variables = {v for page in pages.values() for v in USED_VARIABLE.findall(page)}
    matching = [remove_unmatched_rules(sheet, names) for sheet in sheets.values()]
    remaining = remove_unused_variables(matching, script_words | page_variables)
    renamed: dict[str, str] = {}
    for path, sheet in zip(sheets, remaining, strict=True):
        path.write_text(sheet, encoding="utf-8")
        # A style sheet that a script fetches keeps its name.
        if any(f'/{path.name}"' in page for page in pages.values()):
            renamed |= rename(path, sheet)
    for path, page in pages.items():
        if 'class="doc ' not in page:
            page = REFERENCE_SHEET.sub("", page)
        for old, new in renamed.items():
            page = page.replace(old, new)
        path.write_bytes(page.encode())


def rename(path: Path, sheet: str) -> dict[str, str]:
    """Rename a style sheet after its content, and map the old end of its address to the new."""
    digest = hashlib.sha256(sheet.encode()).hexdigest()[:8]
    new = path.with_name(f"{path.stem}.{digest}.css")
    path.rename(new)
    path.with_name(f"{path.name}.map").unlink(missing_ok=True)
    return {f'/{path.name}"': f'/{new.name}"'}


def names_in(pages: Iterable[str]) -> set[str]:
    """Collect the classes, ids and theme colours of pages.

    >>> sorted(names_in(['<p class="note large" id="first">']))
    ['first', 'large', 'note']
    """
    values = {
        value for page in pages for pattern in NAME_ATTRIBUTES for value in pattern.findall(page)
    }
    return {name for value in values for name in value.split()}


def remove_unmatched_rules(style: str, names: Set[str]) -> str:
    """Remove the rules of a style sheet that no element with these names can match.

    >>> style = ".a, .b { top: 0 } @media print { .b { top: 1px } } p:not(.b) {}"
    >>> remove_unmatched_rules(style, {"a"})
    '.a{ top: 0 } p:not(.b) {}'
    """
    return "".join(matching_rules(COMMENT.sub("", style), names))


def matching_rules(style: str, names: Set[str]) -> Iterator[str]:
    for selector, body in rules(style):
        if selector.lstrip().startswith(("@media", "@supports")):
            if nested := "".join(matching_rules(body, names)):
                yield f"{selector}{{{nested}}}"
        elif matching := [s for s in COMMA.split(selector) if can_match(s, names)]:
            yield f"{','.join(matching)}{{{body}}}"


def rules(style: str) -> Iterator[tuple[str, str]]:
    """Yield the selector (or at-rule) and the body of each top-level rule.

    >>> list(rules("a{top:0}@media print{b{top:1px}}"))
    [('a', 'top:0'), ('@media print', 'b{top:1px}')]
    """
    depth = start = opening = 0
    for match in BRACE_OR_STRING.finditer(style):
        if match[0] == "{":
            opening = opening if depth else match.start()
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if not depth:
                yield style[start:opening], style[opening + 1 : match.start()]
                start = match.end()


def can_match(selector: str, names: Set[str]) -> bool:
    return not RESTYLES_ALL.fullmatch(selector) and all(
        name in names for pair in NAME.findall(OPTIONAL.sub("", selector)) for name in pair if name
    )


def remove_unused_variables(styles: list[str], used_elsewhere: Set[str]) -> list[str]:
    """Remove the variables of style sheets that are used neither in these nor elsewhere.

    >>> remove_unused_variables(["a{--x:1;--y:var(--x);top:var(--z)}", "b{--z:0}"], set())
    ['a{top:var(--z)}', 'b{--z:0}']
    """
    used = used_elsewhere | {name for style in styles for name in USED_VARIABLE.findall(style)}
    remaining = [
        VARIABLE.sub(lambda match: match[0] if match["name"] in used else "", style)
        for style in styles
    ]
    # Removing one variable may orphan another, so repeat.
    return remaining if remaining == styles else remove_unused_variables(remaining, used_elsewhere)
