"""Removal of unused CSS.

Most rules of the theme and of KaTeX are for elements that this site does not have. Once all pages
are built, a rule is removed if it requires a class or an id that neither a page nor a script has,
or if it makes browsers restyle the whole page at each load; a variable is removed if nothing uses
it. Style sheets that pages link to are named after their content, for caches.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path

from attention_docs.publish.cache import digest

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

    Returns:
        The pages with links to the new names. Only those that need the style sheet of API pages
        keep their link to it.
    """
    # Any word of a script may be a class that it sets, or a variable that it reads.
    script_words = {
        word
        for pattern in SCRIPTS
        for path in site.glob(pattern)
        for word in WORD.findall(path.read_text(encoding="utf-8"))
    }
    # The theme's script puts the last two together from words.
    names = {
        *script_words,
        *names_in(pages.values()),
        "tabbed-control--next",
        "tabbed-control--prev",
    }
    variables = {name for page in pages.values() for name in USED_VARIABLE.findall(page)}
    paths = list(site.rglob("*.css"))
    matching = [used_rules(path.read_text(encoding="utf-8"), names) for path in paths]
    new_pages = {
        path: page if API_ENTRY_CLASS in page else MKDOCSTRINGS_SHEET.sub("", page)
        for path, page in pages.items()
    }
    used = remove_unused_variables(matching, script_words | variables)
    for path, sheet in zip(paths, used, strict=True):
        path.write_text(sheet, encoding="utf-8")
        link = f'/{path.name}"'
        # A sheet that no page links is fetched by a script, which expects its old name.
        if any(link in page for page in new_pages.values()):
            new_path = path.with_name(f"{path.stem}.{digest(sheet)[:8]}.css")
            path.rename(new_path)
            for page_path, page in new_pages.items():
                new_pages[page_path] = page.replace(link, f'/{new_path.name}"')
    return new_pages


def names_in(pages: Iterable[str]) -> set[str]:
    """Collect the classes, ids and theme colours of pages."""
    return {
        name
        for page in pages
        for pattern in NAME_ATTRIBUTES
        for attribute in set(pattern.findall(page))
        for name in attribute.split()
    }


def used_rules(style: str, names: set[str]) -> str:
    """Return the rules of a style sheet that an element with these classes and ids can match.

    In a list of selectors, those that cannot match are left out.
    """
    used = ""
    for selectors, body in rules(COMMENT.sub("", style)):
        if selectors.lstrip().startswith(("@container", "@media", "@supports")):
            body = used_rules(body, names)
        else:
            # A rule that restyles all elements is slow, and the site has a narrower one instead.
            selectors = ",".join(
                selector
                for selector in COMMA.split(selectors)
                if not RESTYLES_ALL.fullmatch(selector)
                and names.issuperset(REQUIRED_NAME.findall(OPTIONAL.sub("", selector)))
            )
        if selectors and body:
            used += f"{selectors}{{{body}}}"
    return used


def rules(style: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors (or at-rule) and the body of each top-level rule."""
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


def remove_unused_variables(styles: list[str], used_elsewhere: Set[str]) -> list[str]:
    """Remove the variables that no style sheet uses, unless `used_elsewhere` has their names."""
    used = used_elsewhere | {name for style in styles for name in USED_VARIABLE.findall(style)}

    remaining = [
        VARIABLE.sub(lambda variable: variable[0] if variable["name"] in used else "", style)
        for style in styles
    ]
    # Removing one variable may orphan another, so repeat.
    return styles if remaining == styles else remove_unused_variables(remaining, used_elsewhere)
