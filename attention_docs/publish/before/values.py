r"""Expansion of macros, such as `\val{self_attention.weights}`, in Markdown outside code.

The caller passes a table from the name of each macro to the function that expands it. The functions
for numbers are in this module.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import Flag, auto
from fractions import Fraction

import numpy as np

from attention_docs.arrays import Array
from attention_docs.lookup import StepsOf, look_up, look_up_labels
from attention_docs.publish.errors import PublishError
from attention_docs.render import numbers
from attention_docs.render.latex import latex, latex_row, with_reference
from attention_docs.render.references import element_reference
from attention_docs.render.table import excerpt, is_large, labels_of, table
from attention_docs.render.text import as_text

CODE_OR_MATH = re.compile(
    r"""
    (?=[ `~$])  # the first character of each alternative, which makes the search 3 times faster
    (?:
      (?P<code> ^[ ]*(?P<fence>`{3,}|~{3,}) .*? ^[ ]*(?P=fence)[`~]*[ ]*$  # a code block
              | (?<!`)(?P<ticks>`+)(?!`) .+? (?<!`)(?P=ticks)(?!`) )       # inline code
    | (?P<math> \$\$ .+? \$\$                                # a displayed formula
              | (?<![\\$])\$(?![\s$]) [^$\n]*? [^\s\\$] \$   # an inline formula
              | (?<![\\$])\$[^\s\\$]\$ )                     # a formula of one character
    )
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
MACRO = re.compile(r"\\(?P<name>[A-Za-z]+)\{(?P<argument>[^{}]*)\}")
# Opening and closing delimiters inside a formula.
DELIMITERS = (("{", "}"), (r"\begin", r"\end"), (r"\left", r"\right"))


ALL_NUMBERS = """\
<details class="digits"><summary>All <span data-computed>{rows} × {columns}</span> numbers</summary>
<div class="formula">{table}</div>
</details>"""


class Context(Flag):
    """Where a macro stands."""

    TEXT = auto()
    FORMULA = auto()
    # Where a matrix can become an HTML table, which it cannot inside a fraction, for example.
    TOP = auto()
    # In a formula with a result, which readers can compute from the numbers in it.
    COMPUTATION = auto()


# The function that expands each macro, by name. It takes the argument and the context, and raises
# LookupError or ValueError if the argument is wrong.
Macros = Mapping[str, Callable[[str, Context], str]]


def resolve(markdown: str, macros: Macros, location: Callable[[int], str]) -> str:
    """Replace every macro outside code.

    Args:
        location: returns the location of a 0-based line, for error messages.
    """
    problems = []

    def expand_or_report(macro: re.Match[str], context: Context) -> str:
        try:
            return expand(macro, context, macros)
        except (LookupError, ValueError) as error:
            line = markdown.count("\n", 0, macro.start())
            problems.append(f"{location(line)}: {macro[0]}: {error.args[0]}")
            return macro[0]

    resolved = substitute(markdown, expand_or_report)
    if problems:
        raise PublishError("\n".join(problems))
    return resolved


def resolve_caption(markdown: str, macros: Macros) -> str:
    return substitute(markdown, lambda macro, context: expand(macro, context, macros))


def substitute(markdown: str, expand: Callable[[re.Match[str], Context], str]) -> str:
    """Replace anything that looks like a macro outside code."""
    pieces = []
    end = 0  # of the last macro
    for macro, context in macros_in(markdown):
        pieces += [markdown[end : macro.start()], expand(macro, context)]
        end = macro.end()
    return "".join([*pieces, markdown[end:]])


def expand(macro: re.Match[str], context: Context, macros: Macros) -> str:
    """Return the expansion of a macro; in a formula, an unknown name is a TeX command and stays."""
    if macro["name"] in macros:
        return macros[macro["name"]](macro["argument"], context)
    if context is Context.TEXT:
        raise LookupError(f"unknown macro; expected one of {', '.join(macros)}")
    return macro[0]


def macros_in(markdown: str) -> Iterator[tuple[re.Match[str], Context]]:
    """Yield anything that looks like a macro outside code, with its context."""
    text_start = 0
    for code_or_math in CODE_OR_MATH.finditer(markdown):
        for macro in MACRO.finditer(markdown, text_start, code_or_math.start()):
            yield macro, Context.TEXT
        if code_or_math["math"]:
            computes = is_computation(code_or_math["math"])
            also = Context.COMPUTATION if computes else Context(0)
            for macro in MACRO.finditer(markdown, *code_or_math.span()):
                tex_before = markdown[code_or_math.start() : macro.start()]
                yield macro, formula_context(tex_before) | also
        text_start = code_or_math.end()
    for macro in MACRO.finditer(markdown, text_start):
        yield macro, Context.TEXT


def is_computation(tex: str) -> bool:
    r"""Whether a formula computes numbers from others.

    >>> is_computation(r"\frac{\val{x.a}}{\val{x.b}} = \val{x.c}"), is_computation(r"Q = \val{x.Q}")
    (True, False)
    """
    sides = re.split(r"=|\\approx", tex.partition(r"\qquad")[0])
    return sum(r"\val{" in side for side in sides) > 1


def formula_context(tex_before: str) -> Context:
    """Return the context of a macro in a formula from the TeX before it."""
    # Inside `\frac{` or `\begin{cases}`, for example, a delimiter before the macro is still open.
    is_nested = any(tex_before.count(start) != tex_before.count(end) for start, end in DELIMITERS)
    is_displayed = tex_before.startswith("$$")
    return Context.TOP if is_displayed and not is_nested else Context.FORMULA


def with_short_numbers(macros: Macros) -> Macros:
    """Return macros that print numbers with two decimals, except in computations."""

    def shortened(expand: Callable[[str, Context], str]) -> Callable[[str, Context], str]:
        def expand_short(argument: str, context: Context) -> str:
            with numbers.short_numbers(Context.COMPUTATION not in context):
                return expand(argument, context)

        return expand_short

    return {name: shortened(expand) for name, expand in macros.items()}


def split_fields(argument: str, *names: str) -> list[str]:
    """Split the argument of a macro into its fields, which stand between `|`."""
    fields = [" ".join(field.split()) for field in argument.split("|")]
    expected = f"expected {len(names)}: {' | '.join(names)}"
    if len(fields) != len(names):
        raise ValueError(f"argument has {numbers.with_plural(len(fields), 'field')}; {expected}")
    for name, field in zip(names, fields, strict=True):
        if not field:
            raise ValueError(f"argument has an empty field {name!r}; {expected}")
    return fields


def value(
    reference: str, steps_of: StepsOf, context: Context, add_insert: Callable[[str], str]
) -> str:
    """Format the value of a reference like `self_attention.weights[0]`.

    A vector or matrix at the top level of a displayed formula is an HTML table, and KaTeX typesets
    only the TeX around it.
    """
    reference = reference.replace(" ", "")
    array = look_up(reference, steps_of)
    if isinstance(array, tuple):
        sizes = map(str, array)
        if context is Context.TEXT:
            return reference_span(" × ".join(sizes), reference)
        return with_reference(r" \times ".join(sizes), reference)
    if context is Context.TEXT:
        return format_inline(array, reference)
    if Context.TOP in context and array.ndim in (1, 2):
        return matrix_macro(array, reference, add_insert)
    return latex_row(array, reference) if array.ndim == 1 else latex(array, reference)


def matrix_macro(array: Array, reference: str, add_insert: Callable[[str], str]) -> str:
    r"""Return TeX like `\table{…}`, whose argument is a placeholder for a matrix.

    Of a large matrix it is an excerpt, and a second argument stands for a table of all numbers.
    """
    labels = labels_of(look_up_labels(reference))
    whole = table(array, reference, labels)
    if not is_large(array):
        return rf"\table{{{add_insert(whole)}}}"
    rows, columns = np.atleast_2d(array).shape
    part = add_insert(excerpt(array, reference, labels))
    # Browsers lay out collapsed blocks only when they are opened.
    details = add_insert(ALL_NUMBERS.format(rows=rows, columns=columns, table=whole))
    return rf"\table{{{part}}}{{{details}}}"


def format_inline(array: Array, reference: str) -> str:
    """Format an array for running text: on one line, with brackets escaped from Markdown.

    >>> print(format_inline(np.array([0.5, 2.0]), "softmax.x"))
    &#91;<span data-val="softmax.x[0]">0.5000</span> <span data-val="softmax.x[1]">2</span>&#93;
    """
    if array.ndim == 0:
        digits = as_text(array) if array.dtype == bool else numbers.html_number(array)
        return reference_span(digits, reference)
    elements = (
        format_inline(element, element_reference(reference, (i,)))
        for i, element in enumerate(array)
    )
    return f"&#91;{' '.join(elements)}&#93;"


def reference_span(number: str, reference: str) -> str:
    is_short = " data-short" if numbers.ARE_SHORT.get() else ""
    return f'<span data-val="{reference}"{is_short}>{number}</span>'


def number(expression: str, context: Context) -> str:
    r"""Format the exact result of arithmetic on numbers that the text chooses.

    It is a decimal if the expression has one, and otherwise a whole number or a fraction.

    >>> print(number("224 - 1", Context.TEXT), number("1 - 0.02", Context.TEXT))
    <span data-computed>223</span> <span data-computed>0.98</span>
    >>> print(number("1/9 - 1/16", Context.FORMULA), number("2**20", Context.FORMULA))
    \computed{7/144} \computed{1{,}048{,}576}
    """
    if not re.fullmatch(r"[\d. +*/()-]+", expression):
        raise ValueError(f"expected arithmetic on numbers, not {expression}")
    try:
        # A Fraction by way of its digits, so that 0.1 is exactly 1/10.
        result = eval(re.sub(r"[\d.]+", r"Fraction('\g<0>')", expression))
    except (SyntaxError, TypeError) as error:
        raise ValueError(f"expected arithmetic on numbers: {error}") from None
    except ZeroDivisionError:
        raise ValueError("expected arithmetic with a result; this divides by zero") from None
    if not isinstance(result, Fraction):
        raise ValueError("expected arithmetic with an exact result; this one is irrational")
    # str(Fraction) leaves out a denominator of 1.
    digits = (
        numbers.exact_number(float(result))
        if "." in expression
        else numbers.grouped_thousands(str(result))
    )
    if context is Context.TEXT:
        return numbers.computed_span(digits.replace("-", "−"))
    # TeX would set a space after a bare comma.
    return rf"\computed{{{digits.replace(',', '{,}')}}}"


def printed(number: str, context: Context) -> str:
    """Format a wrong number that a publication prints, struck through."""
    if context is not Context.TEXT:
        return rf"\computed{{\htmlClass{{printed}}{{{number}}}}}"
    return f'<s class="printed" title="as printed in the source">{number}</s>'
