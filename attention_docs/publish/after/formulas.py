r"""Typeset the formulas of all pages with KaTeX, in one node process.

The generator leaves them in the HTML as `<span class="arithmatex">\(...\)</span>`, so the search
index never sees KaTeX's markup. A matrix in a displayed formula is a table; KaTeX sets what stands
before and after it.
"""

import html
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from attention_docs.arrays import Array
from attention_docs.publish.after.symbols import ROLES, plain
from attention_docs.publish.cache import sources_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.node import run_node
from attention_docs.publish.project import Project
from attention_docs.render.table import excerpt, is_large, table

SCRIPT = Path(__file__).with_name("katex.mjs")
MACROS = {rf"\{role}": rf"\htmlClass{{{role}}}{{#1}}" for role in ROLES}
# The second argument is for the MathML, where KaTeX writes no other attribute than this.
MACROS[r"\from"] = r"\html@mathml{\htmlData{val=#1}{#2}}{\href{#1}{#2}}"
MACROS[r"\computed"] = r"\html@mathml{\htmlData{computed=}{#1}}{\href{computed}{#1}}"
PENDING = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">'
    r"\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>(?P<after>[.,;:?!)]*)",
    re.DOTALL,
)
MATRIX = re.compile(r"\\val\{(?P<reference>[^{}]*)\}(?P<transposed>\^\\top)?")
TRANSPOSED = '<span class="transposed" role="img" aria-label="transposed">⊤</span>'
# The empty groups keep the space on both sides of a relation that begins or ends a part.
AROUND_PART = (r"\displaystyle{}", "{}")
# At the start of a formula with a long row. It holds for the table too, so it becomes a class.
SMALLER = r"\footnotesize"
FOLD = """\
<details class="digits"><summary>All <span data-computed>{rows} × {columns}</span> numbers</summary>
<div class="formula">{table}</div>
</details>"""


class Formula(NamedTuple):
    """One formula as written, without its dollar signs, or a part of one."""

    tex: str
    display: bool
    # TeX before and after a part, which belongs to the whole.
    around: tuple[str, str] = ("", "")


class Reference(NamedTuple):
    """The place of a matrix in a formula, like `self_attention.Q`."""

    name: str
    transposed: bool = False


def formula(pending: re.Match[str]) -> Formula:
    return Formula(html.unescape(pending["tex"]).strip(), pending["open"] == "[")


def formulas(page: str) -> list[Formula]:
    r"""List what KaTeX has to set in a page that is not typeset yet.

    >>> formulas(r'<p><span class="arithmatex">\(n &lt; m^2\)</span></p>')
    [Formula(tex='n < m^2', display=False, around=('', ''))]
    """
    every = (part for pending in PENDING.finditer(page) for part in parts(formula(pending)))
    return [part for part in every if isinstance(part, Formula) and not short(part)]


def short(item: Formula) -> str | None:
    """Write a formula that does without KaTeX; a displayed one has room for KaTeX's spaces."""
    return None if item.display else plain(item.tex)


def parts(item: Formula) -> list[Formula | Reference]:
    r"""Divide a formula at its matrices.

    >>> [part[0] for part in parts(Formula(r"Q = \val{self_attention.Q}", display=True))]
    ['Q =', 'self_attention.Q']
    """

    def part(text: str) -> Iterator[Formula]:
        if tex := text.removeprefix(SMALLER).strip():
            yield Formula(tex, display=False, around=AROUND_PART)

    found: list[Formula | Reference] = []
    end = 0
    for matrix in MATRIX.finditer(item.tex):
        found += part(item.tex[end : matrix.start()])
        found.append(Reference(matrix["reference"], bool(matrix["transposed"])))
        end = matrix.end()
    return [*found, *part(item.tex[end:])] if found else [item]


def typeset(
    wanted: Collection[Formula], project: Project, locate: Callable[[Formula], str]
) -> dict[Formula, str]:
    """Typeset formulas, or take them from the cache.

    Args:
        wanted: the formulas, without duplicates.
        project: the project.
        locate: names the page and line of a formula, for error messages.

    Returns:
        The HTML of each formula, with MathML in it.

    Raises:
        PublishError: if KaTeX rejects a formula; the message names page, line and formula.
    """
    katex = project.modules / "katex"
    setting = sources_digest(SCRIPT, katex / "package.json")
    cache = project.cache.part("formulas", setting, repr(MACROS))
    new = [item for item in wanted if repr(item) not in cache]
    for item, result in run_katex(new, katex, locate).items():
        cache[repr(item)] = result
    return {item: cache[repr(item)] for item in wanted}


def run_katex(
    wanted: list[Formula], katex: Path, locate: Callable[[Formula], str]
) -> dict[Formula, str]:
    """Typeset formulas in one node process."""
    if not wanted:
        return {}
    request = {
        "macros": MACROS,
        "formulas": [
            {"tex": item.tex.join(item.around), "display": item.display} for item in wanted
        ],
    }
    module = katex / "dist" / "katex.mjs"
    output = run_node(SCRIPT, module, input=json.dumps(request), error_prefix="KaTeX failed: ")
    results = json.loads(output)
    errors = [
        f"{locate(item)}: formula {item.tex!r}: {result['error']}"
        for item, result in zip(wanted, results, strict=True)
        if "error" in result
    ]
    if errors:
        raise PublishError("\n".join(errors))
    return {item: result["html"] for item, result in zip(wanted, results, strict=True)}


def insert(
    page: str, typeset_formulas: Mapping[Formula, str], matrix: Callable[[str], Array]
) -> str:
    """Replace each pending formula by its HTML.

    Args:
        page: the HTML of a page.
        typeset_formulas: what KaTeX made of each formula, or part of one.
        matrix: gives a matrix by its reference.
    """

    def replace(pending: re.Match[str]) -> str:
        tag, whole = pending["tag"], formula(pending)
        found = parts(whole)
        if found == [whole]:
            boxed = '<{0} class="formula">{1}</{0}>'
            written = short(whole) or boxed.format(tag, typeset_formulas[whole])
            return together(written, pending["after"])
        matrices = {part: matrix(part.name) for part in found if isinstance(part, Reference)}
        written = "".join(
            in_formula(part, matrices)
            if isinstance(part, Reference)
            else short(part) or typeset_formulas[part]
            for part in found
        )
        folds = "".join(fold(part, array) for part, array in matrices.items() if is_large(array))
        smaller = " smaller" if whole.tex.startswith(SMALLER) else ""
        return f'<{tag} class="formula with-matrices{smaller}">{written}</{tag}>{folds}'

    return PENDING.sub(replace, page)


def together(formula: str, after: str) -> str:
    """Keep what follows a formula on its line: a browser would begin a line with a full stop."""
    return f'<span class="together">{formula}{after}</span>' if after else formula


def in_formula(part: Reference, matrices: Mapping[Reference, Array]) -> str:
    array = matrices[part]
    write = excerpt if is_large(array) else table
    drawn = write(array, part.name)
    return drawn + TRANSPOSED if part.transposed else drawn


def fold(part: Reference, array: Array) -> str:
    """Write all numbers of a large matrix, folded: a browser lays out nothing of what is shut."""
    rows, columns = np.atleast_2d(array).shape
    return FOLD.format(rows=rows, columns=columns, table=table(array, part.name))


Page = TypeVar("Page")


def first_pages(pages: Iterable[tuple[Page, str]]) -> dict[Formula, Page]:
    """Collect the formulas of all (page, HTML) pairs, each with the first page that has it."""
    wanted: dict[Formula, Page] = {}
    for page, content in pages:
        for item in formulas(content):
            wanted.setdefault(item, page)
    return wanted
