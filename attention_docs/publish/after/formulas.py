r"""Typesetting of all formulas with KaTeX, in one Node.js process.

The generator leaves formulas in the HTML as `<span class="arithmatex">\(...\)</span>`, so that the
search index has no KaTeX markup. A matrix in a displayed formula is the placeholder of an HTML
table, and KaTeX typesets the TeX segments around it.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import NamedTuple

from attention_docs.publish.after.symbols import short_formula
from attention_docs.publish.cache import files_digest
from attention_docs.publish.errors import PublishError
from attention_docs.publish.inserts import FORMULA
from attention_docs.publish.node import run_node
from attention_docs.publish.project import Project
from attention_docs.render.figures.svg import ROLES

SCRIPT = Path(__file__).with_name("katex.mjs")
MACROS = {rf"\{role}": rf"\htmlClass{{{role}}}{{#1}}" for role in ROLES}
# The second argument is for the MathML, where KaTeX supports no attribute but href.
MACROS[r"\from"] = r"\html@mathml{\htmlData{val=#1}{#2}}{\href{#1}{#2}}"
MACROS[r"\short"] = r"\html@mathml{\htmlData{val=#1,short=}{#2}}{\href{#1}{#2}}"
MACROS[r"\computed"] = r"\html@mathml{\htmlData{computed=}{#1}}{\href{computed}{#1}}"
PENDING = re.compile(rf"{FORMULA.pattern}(?P<punctuation>[.,;:?!)]*)", re.DOTALL)
MATRIX = re.compile(
    r"\\table\{(?P<table>[^{}]*)\}(?:\{(?P<details>[^{}]*)\})?(?P<transposed>\^\\top)?"
)
TRANSPOSE = '<span class="transposed" role="img" aria-label="transposed">⊤</span>'
# TeX drops the space of a relation, like =, at the start or end of a formula. The empty groups keep
# it there in a segment.
SEGMENT_WRAPPER = (r"\displaystyle{}", "{}")
# What is not a letter or a sign in TeX.
COMMAND = re.compile(r"\\[a-zA-Z]+|\\[,;:! ]|[{}\s~_^()]")
# In letters and signs. A longer name in one line with its matrix could overflow a narrow screen.
LONGEST_NAME = 12
# The shape after a matrix, like `(5 \times 2)`; the style sheet sets the space between them.
SHAPE = re.compile(r"(?:\\(?:q?quad|[,;:])\s*)*(\([^()]*\\times[^()]*\))\s*")
# At the start of a formula with a long row. It becomes a CSS class, which applies to tables too.
FOOTNOTE_SIZE = r"\footnotesize"


class Formula(NamedTuple):
    """A formula without its dollar signs, or a segment of one."""

    tex: str
    display: bool
    # TeX added before and after a segment.
    wrapper: tuple[str, str] = ("", "")


class Matrix(NamedTuple):
    """Placeholders for the table of a matrix, and for all numbers of a large one."""

    table: str
    details: str
    is_transposed: bool


def parse_pending(pending: re.Match[str]) -> Formula:
    return Formula(unescape(pending["tex"]).strip(), pending["tag"] == "div")


def formulas(page: str) -> list[Formula]:
    """List the formulas and segments of a page that KaTeX has to typeset."""
    return [
        segment
        for pending in PENDING.finditer(page)
        for segment in split_at_matrices(parse_pending(pending))
        if isinstance(segment, Formula) and not html_without_katex(segment)
    ]


def html_without_katex(formula: Formula) -> str | None:
    """Return a short inline formula as HTML, or None if it needs KaTeX."""
    # A displayed formula needs KaTeX's spacing.
    return None if formula.display else short_formula(formula.tex)


def split_at_matrices(formula: Formula) -> list[Formula | Matrix]:
    r"""Split a formula into its matrices and the segments around them.

    >>> formula = Formula(r"Q = \table{q} \quad (3 \times 2) \quad K = \table{k}", display=True)
    >>> [segment[0] for segment in split_at_matrices(formula)]
    ['Q =', 'q', '(3 \\times 2)', '\\quad K =', 'k']
    """
    tex = formula.tex.removeprefix(FOOTNOTE_SIZE)
    segments: list[Formula | Matrix] = []
    end = 0  # of the last matrix
    for match in MATRIX.finditer(tex):
        segments += split_off_shape(tex[end : match.start()], follows_matrix=end > 0)
        segments.append(Matrix(match["table"], match["details"] or "", bool(match["transposed"])))
        end = match.end()
    if not segments:
        return [formula]
    return segments + split_off_shape(tex[end:], follows_matrix=True)


def split_off_shape(tex: str, *, follows_matrix: bool) -> list[Formula]:
    r"""Return the TeX between two matrices as segments, one of which is a shape, `(5 \times 2)`."""
    tex = tex.strip()
    shape = SHAPE.match(tex) if follows_matrix else None
    parts = [shape[1], tex[shape.end() :]] if shape else [tex]
    return [Formula(part, display=False, wrapper=SEGMENT_WRAPPER) for part in parts if part]


def typeset(
    formulas: Collection[Formula], project: Project, locate: Callable[[Formula], str]
) -> dict[Formula, str]:
    """Typeset formulas, or take them from the cache; `locate` is for error messages."""
    katex = project.node_modules / "katex"
    digest = files_digest(SCRIPT, katex / "package.json")
    cache = project.cache.with_version("formulas", digest, repr(MACROS))
    uncached = [formula for formula in formulas if repr(formula) not in cache]
    if uncached:
        items = [
            {"tex": formula.tex.join(formula.wrapper), "display": formula.display}
            for formula in uncached
        ]
        request = json.dumps({"macros": MACROS, "formulas": items})
        module = katex / "dist" / "katex.mjs"
        output = run_node(SCRIPT, module, input=request, error_prefix="KaTeX failed: ")
        results = dict(zip(uncached, json.loads(output), strict=True))
        errors = [
            f"{locate(formula)}: formula {formula.tex!r}: {result['error']}"
            for formula, result in results.items()
            if "error" in result
        ]
        if errors:
            raise PublishError("\n".join(errors))
        for formula, result in results.items():
            cache[repr(formula)] = result["html"]
    return {formula: cache[repr(formula)] for formula in formulas}


def insert(page: str, typeset_formulas: Mapping[Formula, str]) -> str:
    """Replace each pending formula by its HTML."""

    def formula_html(pending: re.Match[str]) -> str:
        tag, formula = pending["tag"], parse_pending(pending)
        segments = split_at_matrices(formula)
        if segments == [formula]:
            html = html_without_katex(formula)
            if not html:
                html = f'<{tag} class="formula">{typeset_formulas[formula]}</{tag}>'
            punctuation = pending["punctuation"]
            return f'<span class="together">{html}{punctuation}</span>' if punctuation else html
        is_smaller = formula.tex.startswith(FOOTNOTE_SIZE)
        css_class = "formula with-matrices" + (" smaller" if is_smaller else "")
        html = segments_html(segments, typeset_formulas)
        details = dict.fromkeys(part.details for part in segments if isinstance(part, Matrix))
        return f'<{tag} class="{css_class}">{html}</{tag}>{"".join(details)}'

    return PENDING.sub(formula_html, page)


def segments_html(
    segments: Sequence[Formula | Matrix], typeset_formulas: Mapping[Formula, str]
) -> str:
    """Return the HTML of a formula with matrices; lines break only between its parts."""

    def segment_html(segment: Formula | Matrix) -> str:
        if isinstance(segment, Matrix):
            return segment.table + (TRANSPOSE if segment.is_transposed else "")
        html = html_without_katex(segment) or typeset_formulas[segment]
        # Where a shape has no room, a line may break before it.
        return f" {html}" if is_shape(segment) else html

    # Not between a name, its matrices and their shape.
    parts: list[list[Formula | Matrix]] = []
    for segment in segments:
        last = parts[-1][-1] if parts else None
        if isinstance(segment, Matrix):
            stays_with_last = isinstance(last, Matrix) or (last and is_name(last))
        else:
            stays_with_last = isinstance(last, Matrix) and is_shape(segment)
        if stays_with_last:
            parts[-1].append(segment)
        else:
            parts.append([segment])
    html = ""
    for part in parts:
        part_html = "".join(map(segment_html, part))
        # A <div>, because a <span> may not have a table in it. A line may break before it.
        has_matrix = any(isinstance(segment, Matrix) for segment in part)
        html += f' <div class="together">{part_html}</div>' if has_matrix else part_html
    return html


def is_name(segment: Formula) -> bool:
    r"""Whether a segment is a short name with an equals sign, like `\quad W_Q =`."""
    text = COMMAND.sub("", segment.tex)
    return text.endswith("=") and len(text) <= LONGEST_NAME


def is_shape(segment: Formula) -> bool:
    r"""Whether a segment is the shape of a matrix, like `(5 \times 2)`."""
    return bool(SHAPE.fullmatch(segment.tex))
