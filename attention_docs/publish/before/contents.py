r"""Parts of a page that are made from what is there, so nobody has to keep them in step.

`\contents{Chapters}` lists the pages of a section of `nav`, and `\overview{Reference}` the public
names that the pages of a section document. Both stand on a line of their own.
"""

import inspect
import pkgutil
import posixpath
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from attention_docs.publish.before.lint import DIRECTIVE
from attention_docs.publish.sources import Source

# As in mkdocs.yml: a page is its address, or {title: address}; a section is {title: items}.
Nav = list[Any]
# By the address of their Markdown. MkDocs itself names what `nav` lists and nobody wrote.
Sources = Mapping[str, Source]

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
MARKUP = re.compile(r"[\\`*_\[\]$]")


def contents(name: str, nav: Nav, sources: Sources, page: str) -> str:
    """List the pages of a section, in the order of `nav`, each with its description.

    The search leaves the descriptions out, because it has the pages themselves.

    Args:
        name: the title of the section.
        nav: what the settings say.
        sources: the pages.
        page: the address of the page that shows the list, for the links.

    Raises:
        LookupError: if there is no such section, or a page of it lacks a title or a description.

    >>> nav = [{"Chapters": [{"Scores": [{"The root": "scores/root.md"}]}, "end.md"]}]
    >>> texts = {
    ...     "scores/root.md": "---\\ndescription: Why it is the root.\\n---\\n# The root of d",
    ...     "end.md": "---\\ndescription: What to read next.\\n---\\n# The end",
    ... }
    >>> pages = {address: Source(address, text) for address, text in texts.items()}
    >>> print(contents("Chapters", nav, pages, "start/order.md"))
    1. **Scores**
        1. [The root](../scores/root.md)<br><span data-search-exclude>Why it is the root.</span>
    1. [The end](../end.md)<br><span data-search-exclude>What to read next.</span>
    """
    return "\n".join(lines(section(name, nav), sources, posixpath.dirname(page)))


def lines(items: Nav, sources: Sources, folder: str, indent: str = "") -> Iterator[str]:
    """Write the items of a section as a numbered list, and its own sections as lists inside it."""
    for title, inside in map(named, items):
        if isinstance(inside, list):
            yield f"{indent}1. **{plain(title or '')}**"
            yield from lines(inside, sources, folder, indent + "    ")
        elif source := sources.get(inside):
            heading, description = front(source)
            link = posixpath.relpath(inside, folder or ".")
            said = f"<span data-search-exclude>{plain(description)}</span>"
            yield f"{indent}1. [{plain(title or heading)}]({link})<br>{said}"


def overview(name: str, nav: Nav, sources: Sources, page: str) -> str:
    """Tabulate the public names that the pages of a section document, in one line each.

    The names are those of the directives `::: name`, in the order of `nav` and of each page. What
    is said of a name is the first paragraph of its docstring.

    Args:
        name: the title of the section.
        nav: what the settings say.
        sources: the pages.
        page: the address of the page that shows the table, for the links.

    Raises:
        LookupError: if there is no such section, or a name is unknown or has no docstring.

    >>> softmax = Source("a.md", "::: attention_docs.softmax.softmax")
    >>> table = overview("Reference", [{"Reference": ["a.md"]}], {"a.md": softmax}, "b/c.md")
    >>> print(table.partition(" | Normalise")[0])
    | name | in one line |
    | --- | --- |
    | [`softmax`](../a.md#attention_docs.softmax.softmax)
    """
    rows = ["| name | in one line |", "| --- | --- |"]
    for documenting in filter(sources.__contains__, pages(section(name, nav))):
        link = posixpath.relpath(documenting, posixpath.dirname(page) or ".")
        for path in DIRECTIVE.findall(sources[documenting].prose):
            entry = f"[`{path.rpartition('.')[2]}`]({link}#{path})"
            rows.append(f"| {entry} | {summary(path)} |")
    return "\n".join(rows)


def section(name: str, nav: Nav) -> Nav:
    """Return the items of a section by its title.

    >>> section("Nope", [{"Home": "index.md"}, {"Chapters": [{"Scores": ["root.md"]}]}])
    Traceback (most recent call last):
    LookupError: section 'Nope' is unknown; known are Chapters, Scores
    """
    known: dict[str, Nav] = {}
    for title, items in sections(nav):
        known.setdefault(title, items)
    if name not in known:
        names = ", ".join(known) or "none"
        raise LookupError(f"section {name!r} is unknown; known are {names}")
    return known[name]


def sections(nav: Nav) -> Iterator[tuple[str, Nav]]:
    """Yield each section with its title, those inside it after it."""
    for title, inside in map(named, nav):
        if isinstance(inside, list):
            yield title or "", inside
            yield from sections(inside)


def pages(items: Nav) -> Iterator[str]:
    """Yield the address of each page of a section and of the sections inside it."""
    for _, inside in map(named, items):
        if isinstance(inside, list):
            yield from pages(inside)
        else:
            yield inside


def named(item: str | dict[str, Any]) -> tuple[str | None, Any]:
    """Return the title of an item of `nav`, if it has one there, and what it stands for."""
    return (None, item) if isinstance(item, str) else next(iter(item.items()))


def front(source: Source) -> tuple[str, str]:
    """Return the title and the description of a page.

    >>> front(Source("a.md", "# Nothing said of it"))
    Traceback (most recent call last):
    LookupError: docs/a.md has no description
    """
    title, description = TITLE.search(source.prose), source.settings.get("description")
    if not title or not description:
        raise LookupError(f"{source.file} has no {'description' if title else 'title'}")
    return title[1], description


def summary(path: str) -> str:
    """Return the first paragraph of a docstring, as a cell of a table holds it.

    >>> summary("attention_docs.softmax.softmax")
    'Normalise scores to weights that are not negative and sum to one.'
    >>> summary("attention_docs.nope")
    Traceback (most recent call last):
    LookupError: 'attention_docs.nope' is no name of the package
    """
    try:
        documented = inspect.getdoc(pkgutil.resolve_name(path))
    except (AttributeError, ImportError):
        raise LookupError(f"{path!r} is no name of the package") from None
    if not documented:
        raise LookupError(f"{path!r} has no docstring")
    return " ".join(documented.partition("\n\n")[0].split()).replace("|", r"\|")


def plain(text: str) -> str:
    r"""Keep Markdown from reading a title or a description as markup.

    >>> print(plain("W_O & d_k < 3"))
    W\_O &amp; d\_k &lt; 3
    """
    return MARKUP.sub(r"\\\g<0>", escape(text, quote=False))
