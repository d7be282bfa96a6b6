r"""Lists of pages and of public names, written from `nav`, front matter and docstrings.

`\contents{Chapters}` lists the pages of a section of `nav`, `\lessons{Course}` adds the time to
read each, and `\overview{Reference}` lists the public names that the pages of a section document.
These stand on a line of their own. `\minutes{Course}` is the time to read a whole section.
"""

import inspect
import math
import pkgutil
import posixpath
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from attention_docs.publish.before.values import CODE_OR_MATH, MACRO
from attention_docs.publish.page_files import PageFile
from attention_docs.render.numbers import computed_span

# `nav` of mkdocs.yml: a page is its path, or {title: path}; a section is {title: items}.
Nav = list[Any]
# The files of pages by the paths of their Markdown. A page of `nav` may be missing here, because
# MkDocs itself warns of it.
PageFiles = Mapping[str, PageFile]

TITLE = re.compile(r"^# (.+?)(?: *\{ ?#[^}]*\})?$", re.MULTILINE)
DIRECTIVE = re.compile(r"^::: (\S+)$", re.MULTILINE)
MARKUP = re.compile(r"[\\`*_\[\]$]")
WORD = re.compile(r"[^\W\d_]+(?:['’-]\w+)*")
TARGET_CLASS_OR_TAG = re.compile(r"\]\([^)]*\)|\{ ?(?:[.#]|data-)[^}]*\}|</?[a-z][^>]*>")
# The page on the reading order states both rates.
WORDS_PER_MINUTE = 130
# For a displayed formula, a figure, a table or a block of code.
MINUTES_PER_DISPLAY = 1 / 2
TABLE = re.compile(r"^\|[ :|-]+\|$", re.MULTILINE)
PROGRESS = """\
<details class="progress" style="--read: {share_read:.0%}" data-search-exclude markdown="1">
<summary>{section}, page {position} of {count}</summary>

{links}

</details>"""


def contents(
    section_title: str, nav: Nav, page_files: PageFiles, page: str, *, has_minutes: bool = False
) -> str:
    """Return a list of the pages of a section, in the order of `nav`, with their descriptions.

    The search excludes the descriptions, because it finds the pages themselves.

    Args:
        page: the path of the page that shows the list.
    """
    items = section_items(section_title, nav)
    return "\n".join(list_lines(items, page_files, page, has_minutes=has_minutes))


def minutes(section_title: str, nav: Nav, page_files: PageFiles) -> str:
    paths = page_paths(section_items(section_title, nav))
    total = sum(reading_minutes(page_files[path]) for path in paths if path in page_files)
    return computed_span(str(total))


def reading_minutes(page_file: PageFile) -> int:
    """Estimate how long it takes to read a page without its exercises, in whole minutes.

    >>> reading_minutes(PageFile("a.md", "one word " * 130 + "and $x$\\n\\n$$\\ny\\n$$\\n"))
    3
    """
    text = page_file.prose.partition("\n## Exercises\n")[0]
    blocks = [m for m in CODE_OR_MATH.finditer(text) if m["fence"] or m[0].startswith("$$")]
    figures = [macro for macro in MACRO.finditer(text) if macro["name"] == "figure"]
    displays = len(blocks) + len(figures) + len(TABLE.findall(text))
    word_count = len(words_of_prose(text))
    return math.ceil(word_count / WORDS_PER_MINUTE + displays * MINUTES_PER_DISPLAY)


def words_of_prose(text: str) -> list[str]:
    """Return the words of a page without code, formulas, macros, addresses and tags."""
    # Formulas before macros: a formula that is only a macro would leave "$$", an opening delimiter.
    for pattern in (CODE_OR_MATH, MACRO, TARGET_CLASS_OR_TAG):
        text = pattern.sub(" ", text)
    return WORD.findall(text)


def list_lines(items: Nav, page_files: PageFiles, page: str, *, has_minutes: bool) -> Iterator[str]:
    """Yield the lines of a numbered list of pages; nested sections are collapsed."""
    for title, target in map(title_and_target, items):
        if isinstance(target, list):
            yield f'\n<details markdown="1"><summary>{escape(title or "")}</summary>\n'
            yield from list_lines(target, page_files, page, has_minutes=has_minutes)
            yield "\n</details>\n"
        elif page_file := page_files.get(target):
            heading, description = title_and_description(page_file)
            link = f"[{escape_markdown(title or heading)}]({relative_path(target, page)})"
            if has_minutes:
                count = reading_minutes(page_file)
                link += f", {computed_span(str(count))} {'minute' if count == 1 else 'minutes'}"
            excerpt = f"<span data-search-exclude>{escape_markdown(description)}</span>"
            yield f"1. {link}<br>{excerpt}"


def relative_path(target: str, page: str) -> str:
    """Return the path of a page relative to the folder of another one, for a link from there.

    >>> relative_path("scores/root.md", "start/order.md")
    '../scores/root.md'
    """
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def overview(section_title: str, nav: Nav, page_files: PageFiles, page: str) -> str:
    """Return a table of the public names that the pages of a section document.

    The names come from the directives `::: name`, in the order of `nav` and of each page. Each name
    is described by the first paragraph of its docstring.
    """
    rows = ["| name | in one line |", "| --- | --- |"]
    for api_page in page_paths(section_items(section_title, nav)):
        if api_page not in page_files:
            continue
        link = relative_path(api_page, page)
        for object_path in DIRECTIVE.findall(page_files[api_page].prose):
            name = object_path.rpartition(".")[2]
            rows.append(f"| [`{name}`]({link}#{object_path}) | {summary(object_path)} |")
    return "\n".join(rows)


def progress(section_title: str, nav: Nav, page: str) -> str:
    """Return Markdown like “Course, page 2 of 10”, which unfolds to a list of the section's pages.

    It is empty for a page of another section.

    Args:
        nav: the navigation, which must have a title for each page of the section.
    """
    # Not `section_items`, which raises an error if `nav` has no such section.
    items = next((items for title, items in sections(nav) if title == section_title), [])
    titles = {path: title for title, path in map(title_and_target, items)}
    if page not in titles:
        return ""
    links = {path: f"1. [{title}]({relative_path(path, page)})" for path, title in titles.items()}
    links[page] = f"1. **{titles[page]}**"
    position = list(titles).index(page) + 1
    return PROGRESS.format(
        share_read=position / len(titles),
        section=section_title,
        position=computed_span(str(position)),
        count=computed_span(str(len(titles))),
        links="\n".join(links.values()),
    )


def section_items(section_title: str, nav: Nav) -> Nav:
    """Return the pages and nested sections of the first section with a title, as in `nav`."""
    for title, items in sections(nav):
        if title == section_title:
            return items
    # A dictionary, because two sections may have the same title.
    known_titles = dict.fromkeys(title for title, _ in sections(nav))
    expected = ", ".join(known_titles) or "none"
    raise LookupError(f"section {section_title!r} is unknown; expected one of {expected}")


def sections(nav: Nav) -> Iterator[tuple[str, Nav]]:
    """Yield the title and the items of each section, an outer section before those in it."""
    for title, target in map(title_and_target, nav):
        if isinstance(target, list):
            yield title or "", target
            yield from sections(target)


def page_paths(items: Nav) -> Iterator[str]:
    for _, target in map(title_and_target, items):
        if isinstance(target, list):
            yield from page_paths(target)
        else:
            yield target


def title_and_target(item: str | dict[str, Any]) -> tuple[str | None, Any]:
    """Return the title of an item of `nav`, or None, and the path of its page or its items."""
    if isinstance(item, str):
        return None, item
    ((title, target),) = item.items()
    return title, target


def title_and_description(page_file: PageFile) -> tuple[str, str]:
    title = TITLE.search(page_file.prose)
    description = page_file.settings.get("description")
    if not title:
        raise LookupError(f"{page_file.file} has no title")
    if not description:
        raise LookupError(f"{page_file.file} has no description")
    return title[1], description


def summary(object_path: str) -> str:
    """Return the first paragraph of an object's docstring, escaped for a table cell."""
    try:
        docstring = inspect.getdoc(pkgutil.resolve_name(object_path))
    except (AttributeError, ImportError):
        raise LookupError(f"{object_path!r} is not a name of the package") from None
    if not docstring:
        raise LookupError(f"{object_path!r} has no docstring")
    first_paragraph = docstring.partition("\n\n")[0]
    return " ".join(first_paragraph.split()).replace("|", r"\|")


def escape_markdown(text: str) -> str:
    r"""Escape characters that Markdown or HTML would read as markup.

    >>> print(escape_markdown("W_O & d_k < 3"))
    W\_O &amp; d\_k &lt; 3
    """
    return MARKUP.sub(r"\\\g<0>", escape(text, quote=False))
