r"""Typesetting of all formulas with KaTeX, in one node process.

The generator leaves them in the HTML as `<span class="arithmatex">\(...\)</span>`, so the search
index never sees KaTeX's markup. A matrix in a displayed formula becomes an HTML table; KaTeX
typesets the TeX around it.
"""

import html
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from attention_docs.arrays import Array
from attention_docs.publish.after.symbols import ROLES, short_formula
from attention_docs.publish.cache import files_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.node import run_node
from attention_docs.publish.project import Project
from attention_docs.render.table import Labels, excerpt, is_large, table

SCRIPT = Path(__file__).with_name("katex.mjs")
MACROS = {rf"\{role}": rf"\htmlClass{{{role}}}{{#1}}" for role in ROLES}
# The second argument is for the MathML, where KaTeX supports no attribute but href.
MACROS[r"\from"] = r"\html@mathml{\htmlData{val=#1}{#2}}{\href{#1}{#2}}"
MACROS[r"\computed"] = r"\html@mathml{\htmlData{computed=}{#1}}{\href{computed}{#1}}"
PENDING = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">'
    r"\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>(?P<after>[.,;:?!)]*)",
    re.DOTALL,
)
MATRIX = re.compile(r"\\val\{(?P<reference>[^{}]*)\}(?P<transposed>\^\\top)?")
TRANSPOSE = '<span class="transposed" role="img" aria-label="transposed">⊤</span>'
# The empty groups keep the space around a relation at the start or end of a segment.
SEGMENT_WRAPPER = (r"\displaystyle{}", "{}")
# Starts a formula with a long row. It becomes a CSS class, to apply to the table too.
FOOTNOTE_SIZE = r"\footnotesize"
ALL_NUMBERS = """\
<details class="digits"><summary>All <span data-computed>{rows} × {columns}</span> numbers</summary>
<div class="formula">{table}</div>
</details>"""


class Formula(NamedTuple):
    """A formula without its dollar signs, or a segment of one."""

    tex: str
    display: bool
    # TeX added before and after a segment.
    wrapper: tuple[str, str] = ("", "")


class LabelledArray(NamedTuple):
    """A matrix or vector, and the words along its axes."""

    array: Array
    labels: Labels


class Matrix(NamedTuple):
    """A reference to a matrix in a formula, like `self_attention.Q`."""

    reference: str
    is_transposed: bool = False


def parse_pending(pending: re.Match[str]) -> Formula:
    return Formula(html.unescape(pending["tex"]).strip(), pending["open"] == "[")


def formulas(page: str) -> list[Formula]:
    r"""List the formulas and segments of a page that KaTeX has to typeset.

    >>> formulas(r'<p><span class="arithmatex">\(n &lt; m^2\)</span></p>')
    [Formula(tex='n < m^2', display=False, wrapper=('', ''))]
    """
    pending_formulas = map(parse_pending, PENDING.finditer(page))
    segments = (segment for formula in pending_formulas for segment in split_at_matrices(formula))
    return [s for s in segments if isinstance(s, Formula) and not html_without_katex(s)]


def html_without_katex(formula: Formula) -> str | None:
    """Return a short inline formula as HTML; displayed ones need KaTeX's spacing."""
    return None if formula.display else short_formula(formula.tex)


def split_at_matrices(formula: Formula) -> list[Formula | Matrix]:
    r"""Split a formula at its matrices.

    >>> formula = Formula(r"Q = \val{self_attention.Q}", display=True)
    >>> [segment[0] for segment in split_at_matrices(formula)]
    ['Q =', 'self_attention.Q']
    """

    def segment(text: str) -> Iterator[Formula]:
        if tex := text.removeprefix(FOOTNOTE_SIZE).strip():
            yield Formula(tex, display=False, wrapper=SEGMENT_WRAPPER)

    segments: list[Formula | Matrix] = []
    end = 0
    for match in MATRIX.finditer(formula.tex):
        segments += segment(formula.tex[end : match.start()])
        segments.append(Matrix(match["reference"], bool(match["transposed"])))
        end = match.end()
    return [*segments, *segment(formula.tex[end:])] if segments else [formula]


def typeset(
    formulas: Collection[Formula], project: Project, locate: Callable[[Formula], str]
) -> dict[Formula, str]:
    """Typeset formulas, or take them from the cache.

    Args:
        formulas: the formulas, without duplicates.
        project: the project.
        locate: returns the location of a formula, for error messages.

    Returns:
        The HTML of each formula, with MathML in it.

    Raises:
        PublishError: if KaTeX rejects a formula; the message has its location.
    """
    katex = project.node_modules / "katex"
    digest = files_digest(SCRIPT, katex / "package.json")
    cache = project.cache.with_key("formulas", digest, repr(MACROS))
    uncached = [formula for formula in formulas if repr(formula) not in cache]
    for formula, result in run_katex(uncached, katex, locate).items():
        cache[repr(formula)] = result
    return {formula: cache[repr(formula)] for formula in formulas}


def run_katex(
    formulas: list[Formula], katex: Path, locate: Callable[[Formula], str]
) -> dict[Formula, str]:
    """Typeset formulas in one node process."""
    if not formulas:
        return {}
    request = {
        "macros": MACROS,
        "formulas": [
            {"tex": formula.tex.join(formula.wrapper), "display": formula.display}
            for formula in formulas
        ],
    }
    module = katex / "dist" / "katex.mjs"
    output = run_node(SCRIPT, module, input=json.dumps(request), error_prefix="KaTeX failed: ")
    results = json.loads(output)
    errors = [
        f"{locate(formula)}: formula {formula.tex!r}: {result['error']}"
        for formula, result in zip(formulas, results, strict=True)
        if "error" in result
    ]
    if errors:
        raise PublishError("\n".join(errors))
    return {formula: result["html"] for formula, result in zip(formulas, results, strict=True)}


def insert(
    page: str, typeset_formulas: Mapping[Formula, str], look_up: Callable[[str], LabelledArray]
) -> str:
    """Replace each pending formula by its HTML.

    Args:
        page: the HTML of a page.
        typeset_formulas: KaTeX's HTML of each formula or segment.
        look_up: returns a matrix by its reference.
    """

    def replace(pending: re.Match[str]) -> str:
        tag, formula = pending["tag"], parse_pending(pending)
        segments = split_at_matrices(formula)
        if segments == [formula]:
            element = '<{0} class="formula">{1}</{0}>'
            formula_html = html_without_katex(formula) or element.format(
                tag, typeset_formulas[formula]
            )
            return keep_together(formula_html, pending["after"])
        arrays = {s: look_up(s.reference) for s in segments if isinstance(s, Matrix)}
        formula_html = "".join(
            matrix_html(segment, arrays[segment])
            if isinstance(segment, Matrix)
            else html_without_katex(segment) or typeset_formulas[segment]
            for segment in segments
        )
        details = "".join(
            all_numbers(matrix, labelled)
            for matrix, labelled in arrays.items()
            if is_large(labelled.array)
        )
        smaller = " smaller" if formula.tex.startswith(FOOTNOTE_SIZE) else ""
        return f'<{tag} class="formula with-matrices{smaller}">{formula_html}</{tag}>{details}'

    return PENDING.sub(replace, page)


def keep_together(formula: str, after: str) -> str:
    """Prevent a line break between a formula and the punctuation after it."""
    return f'<span class="together">{formula}{after}</span>' if after else formula


def matrix_html(matrix: Matrix, labelled: LabelledArray) -> str:
    write = excerpt if is_large(labelled.array) else table
    table_html = write(labelled.array, matrix.reference, labelled.labels)
    return table_html + TRANSPOSE if matrix.is_transposed else table_html


def all_numbers(matrix: Matrix, labelled: LabelledArray) -> str:
    """Return a large matrix in a collapsed block, which a browser lays out only when opened."""
    rows, columns = np.atleast_2d(labelled.array).shape
    table_html = table(labelled.array, matrix.reference, labelled.labels)
    return ALL_NUMBERS.format(rows=rows, columns=columns, table=table_html)


Page = TypeVar("Page")


def first_pages(pages: Iterable[tuple[Page, str]]) -> dict[Formula, Page]:
    """Map each formula of the (page, HTML) pairs to the first page that has it."""
    first: dict[Formula, Page] = {}
    for page, content in pages:
        for formula in formulas(content):
            first.setdefault(formula, page)
    return first
