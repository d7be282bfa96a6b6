"""Removal of unused CSS.

Most rules of the theme and of KaTeX are for elements that this site does not have. Once all pages
are built, a rule is removed if it requires a class or an id that neither a page nor a script has,
or if it makes browsers restyle the whole page at each load; a variable is removed if nothing uses
it. Style sheets that pages link to are named after their content, for caches.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from pathlib import Path

# Patterns that begin with a literal make the search through all HTML several times faster.
NAME_ATTRIBUTES = (
    re.compile(r' class="([^"]*)"'),
    re.compile(r' id="([^"]*)"'),
    re.compile(r' data-md-color-\w+="([^"]*)"'),
)
# Scripts that write into pages.
SCRIPTS = ("assets/*.js", "assets/javascripts/*.js")
# The link to the style sheet of mkdocstrings, and an attribute of the elements that need it.
MKDOCSTRINGS_SHEET = re.compile(r'<link rel="stylesheet" href="[^"]*assets/_mkdocstrings\.css">')
API_ENTRY_CLASS = 'class="doc '
USED_VARIABLE = re.compile(r"var\((--[\w-]+)")
WORD = re.compile(r"[\w-]+")
COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
BRACE_OR_STRING = re.compile(r"""[{}]|"[^"]*"|'[^']*'""")
COMMA = re.compile(r",(?![^(]*\))")  # outside parentheses
# An element can match these without having the names in the parentheses.
OPTIONAL = re.compile(r":(?:not|is|where)\([^()]*\)")
# The theme sets and removes this attribute at each load, and its rule then makes browsers restyle
# every element. site.css has a narrower rule that stops links from fading between schemes.
RESTYLES_ALL = re.compile(r"\[data-md-color-switching\] (\*|:after|:before)")
REQUIRED_NAME = re.compile(r"""(?:[.#]|\[data-md-color-\w+=["']?)([\w-]+)""")
VARIABLE = re.compile(
    r"""(?<=[{;])\s*(?P<name>--[\w-]+):(?:[^;{}"']|"[^"]*"|'[^']*')*(?:;|(?=\}))"""
)


def remove_unused(site: Path, pages: Mapping[str, str]) -> dict[str, str]:
    """Remove unused CSS from a built site, and add a digest to the names of its style sheets.

    With the digest, caches cannot serve an old style sheet.

    Args:
        site: the folder of the site, with its style sheets and scripts.
        pages: the HTML of all pages, by path.

    Returns:
        The pages with links to the new names. Only those that need the style sheet of API pages
        keep their link to it.
    """
    scripts = [
        path.read_text(encoding="utf-8") for pattern in SCRIPTS for path in site.glob(pattern)
    ]
    sheets = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    pruned_sheets = used_css(sheets.values(), pages.values(), scripts)
    new_names: dict[str, str] = {}
    for path, sheet in zip(sheets, pruned_sheets, strict=True):
        path.write_text(sheet, encoding="utf-8")
        # A sheet that no page links is fetched by a script, which expects its old name.
        is_linked = any(f'/{path.name}"' in page for page in pages.values())
        if is_linked:
            new_names[path.name] = rename_after_content(path, sheet)
    return {path: update_links(page, new_names) for path, page in pages.items()}


def used_css(styles: Iterable[str], pages: Collection[str], scripts: Iterable[str]) -> list[str]:
    """Return each style sheet with only the rules and variables that pages or scripts may use."""
    # Any word of a script may be a class that it sets, or a variable that it reads.
    script_words = {word for script in scripts for word in WORD.findall(script)}
    names = script_words | names_in(pages)
    variables = {name for page in pages for name in USED_VARIABLE.findall(page)}
    matching = [remove_unmatched_rules(style, names) for style in styles]
    return remove_unused_variables(matching, script_words | variables)


def update_links(page: str, new_names: Mapping[str, str]) -> str:
    """Replace the names of renamed style sheets in the links of a page.

    The link to the style sheet of mkdocstrings is removed from pages that document no functions,
    because they have no elements to which its rules apply.

    >>> page = '<link rel="stylesheet" href="../assets/site.css"><h1>Masks</h1>'
    >>> update_links(page, {"site.css": "site.0a1b2c3d.css"})
    '<link rel="stylesheet" href="../assets/site.0a1b2c3d.css"><h1>Masks</h1>'
    """
    if API_ENTRY_CLASS not in page:
        page = MKDOCSTRINGS_SHEET.sub("", page)
    for name, new_name in new_names.items():
        page = page.replace(f'/{name}"', f'/{new_name}"')
    return page


def rename_after_content(path: Path, sheet: str) -> str:
    """Add a digest to the name of a style sheet, and return the new name."""
    digest = hashlib.sha256(sheet.encode()).hexdigest()[:8]
    new_path = path.with_name(f"{path.stem}.{digest}.css")
    path.rename(new_path)
    return new_path.name


def names_in(pages: Iterable[str]) -> set[str]:
    """Collect the classes, ids and theme colours of pages.

    >>> sorted(names_in(['<p class="note large" id="first">']))
    ['first', 'large', 'note']
    """
    attributes: set[str] = set()
    for page in pages:
        for pattern in NAME_ATTRIBUTES:
            attributes.update(pattern.findall(page))
    return {name for attribute in attributes for name in attribute.split()}


def remove_unmatched_rules(style: str, names: Set[str]) -> str:
    """Remove the rules of a style sheet that no element with these classes and ids can match.

    >>> style = ".a, .b { top: 0 } @media print { .b { top: 1px } } p:not(.b) {}"
    >>> remove_unmatched_rules(style, {"a"})
    '.a{ top: 0 } p:not(.b) {}'
    """
    return "".join(matching_rules(COMMENT.sub("", style), names))


def matching_rules(style: str, names: Set[str]) -> Iterator[str]:
    """Yield the rules that an element with these classes and ids can match.

    In a list of selectors, those that cannot match are left out.
    """
    for selectors, body in rules(style):
        if selectors.lstrip().startswith(("@media", "@supports")):
            nested_rules = "".join(matching_rules(body, names))
            if nested_rules:
                yield f"{selectors}{{{nested_rules}}}"
        else:
            matching = [
                selector for selector in COMMA.split(selectors) if can_match(selector, names)
            ]
            if matching:
                yield f"{','.join(matching)}{{{body}}}"


def rules(style: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors (or at-rule) and the body of each top-level rule.

    >>> list(rules("a{top:0}@media print{b{top:1px}}"))
    [('a', 'top:0'), ('@media print', 'b{top:1px}')]
    """
    depth = 0  # the number of open braces
    rule_start = 0  # of the current top-level rule
    body_start = 0
    for match in BRACE_OR_STRING.finditer(style):
        if match[0] == "{":
            if depth == 0:
                body_start = match.end()
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                yield style[rule_start : body_start - 1], style[body_start : match.start()]
                rule_start = match.end()


def can_match(selector: str, names: Set[str]) -> bool:
    """Whether an element that has no other classes and ids than these can match a selector.

    The answer is also False for a selector that restyles every element of a page while the theme
    changes colours, because that is slow and the site has a narrower rule instead.
    """
    if RESTYLES_ALL.fullmatch(selector):
        return False
    required_names = REQUIRED_NAME.findall(OPTIONAL.sub("", selector))
    return all(name in names for name in required_names)


def remove_unused_variables(styles: list[str], used_elsewhere: Set[str]) -> list[str]:
    """Remove the variables that no style sheet uses, unless `used_elsewhere` has their names.

    >>> remove_unused_variables(["a{--x:1;--y:var(--x);top:var(--z)}", "b{--z:0}"], set())
    ['a{top:var(--z)}', 'b{--z:0}']
    """
    used = used_elsewhere | {name for style in styles for name in USED_VARIABLE.findall(style)}

    def keep_if_used(declaration: re.Match[str]) -> str:
        return declaration[0] if declaration["name"] in used else ""

    remaining = [VARIABLE.sub(keep_if_used, style) for style in styles]
    if remaining == styles:
        return styles
    # Removing one variable may orphan another, so repeat.
    return remove_unused_variables(remaining, used_elsewhere)
