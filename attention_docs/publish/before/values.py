r"""Replace the macros of a page, such as `\val{self_attention.weights}`, by what they name.

A table gives the function that writes each macro. Those for numbers stand here. Code is left alone.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from fractions import Fraction

import numpy as np

from attention_docs.arrays import Array
from attention_docs.publish.errors import PublishError
from attention_docs.render.latex import latex, latex_row, with_reference
from attention_docs.render.references import element_reference
from attention_docs.render.text import as_text

Steps = Mapping[str, Array]

CODE_OR_MATH = re.compile(
    r"""
    (?=[ `~$])  # the first character of each alternative: this cuts the search to a third
    (?:
      (?P<code> ^[ ]*(?P<fence>`{3,}|~{3,}) .*? ^[ ]*(?P=fence)[`~]*[ ]*$
              | (?<!`)(?P<ticks>`+)(?!`) .+? (?<!`)(?P=ticks)(?!`) )
    | (?P<math> \$\$ .+? \$\$
              | (?<![\\$])\$(?![\s$]) [^$\n]*? [^\s\\$] \$ | (?<![\\$])\$[^\s\\$]\$ )
    )
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
MACRO = re.compile(r"\\(?P<name>[A-Za-z]+)\{(?P<argument>[^{}]*)\}")
# What opens and closes a place inside a formula.
NESTING = (("{", "}"), (r"\begin", r"\end"), (r"\left", r"\right"))
BRACKETS = {"[": "&#91;", "]": "&#93;"}
OPERATIONS: dict[type[ast.AST], Callable[..., Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
REFERENCE = re.compile(r"(?P<example>\w+)\.(?P<step>\w+)(?P<shape>\.shape)?(?P<part>\[[^\]]*\])?")


class Place(Enum):
    """Where a macro stands."""

    TEXT = "in running text"
    FORMULA = "in a formula"
    # Not inside anything else there, such as a fraction: a matrix can be a table of its own.
    TOP = "at the top level of a displayed formula"


# By name, what writes a macro from its argument and its place. It raises a LookupError or a
# ValueError where the argument is wrong.
Macros = Mapping[str, Callable[[str, Place], str]]


def resolve(markdown: str, macros: Macros, location: Callable[[int], str]) -> str:
    """Replace every macro outside code.

    Args:
        markdown: the text of a page.
        macros: what a page may write.
        location: names a line of the page, counted from 0, for error messages.

    Raises:
        PublishError: if macros are wrong; a line for each gives its location and the known names.

    >>> from attention_docs import examples
    >>> macros = {"val": lambda reference, place: value(reference, examples.steps, place)}
    >>> resolve(r"The first weight is \\val{self_attention.weights[0,0]}.", macros, str)
    'The first weight is <span data-val="self_attention.weights[0,0]">0.0287</span>.'
    """
    problems = []

    def expand_or_report(macro: re.Match[str], place: Place) -> str:
        try:
            return expand(macro, place, macros)
        except (LookupError, ValueError) as error:
            spot = location(markdown.count("\n", 0, macro.start()))
            problems.append(f"{spot}: {macro[0]}: {error.args[0]}")
            return macro[0]

    resolved = substitute(markdown, expand_or_report)
    if problems:
        raise PublishError("\n".join(problems))
    return resolved


def resolve_caption(markdown: str, macros: Macros) -> str:
    """Replace the macros of a caption; their mistakes are those of the figure's own macro."""
    return substitute(markdown, lambda macro, place: expand(macro, place, macros))


def substitute(markdown: str, expand: Callable[[re.Match[str], Place], str]) -> str:
    """Replace whatever looks like a macro outside code by what it expands to at its place."""
    pieces, end = [], 0
    for macro, place in macros_in(markdown):
        pieces += [markdown[end : macro.start()], expand(macro, place)]
        end = macro.end()
    return "".join([*pieces, markdown[end:]])


def expand(macro: re.Match[str], place: Place, macros: Macros) -> str:
    """Write a macro, or leave the TeX of a formula alone. No TeX belongs outside a formula."""
    if write := macros.get(macro["name"]):
        return write(macro["argument"], place)
    if place is Place.TEXT:
        raise LookupError(f"unknown macro; expected one of {', '.join(macros)}")
    return macro[0]


def macros_in(markdown: str) -> Iterator[tuple[re.Match[str], Place]]:
    """Yield whatever looks like a macro outside code, and where it stands."""
    end = 0
    for found in CODE_OR_MATH.finditer(markdown):
        yield from in_text(markdown, end, found.start())
        if found["math"]:
            for macro in MACRO.finditer(markdown, *found.span()):
                yield macro, place_in_formula(markdown[found.start() : macro.start()])
        end = found.end()
    yield from in_text(markdown, end, len(markdown))


def in_text(markdown: str, start: int, end: int) -> Iterator[tuple[re.Match[str], Place]]:
    return ((macro, Place.TEXT) for macro in MACRO.finditer(markdown, start, end))


def place_in_formula(before: str) -> Place:
    r"""Tell where a macro stands from what the formula has before it.

    >>> place_in_formula(r"$$ Q = ").name, place_in_formula(r"$$ \frac{").name
    ('TOP', 'FORMULA')
    """
    opened = all(before.count(opener) == before.count(closer) for opener, closer in NESTING)
    return Place.TOP if before.startswith("$$") and opened else Place.FORMULA


def value(reference: str, steps: Callable[[str], Steps], place: Place) -> str:
    r"""Format the value of a reference like `self_attention.weights[0]`.

    A matrix at the top level of a displayed formula stays a reference, because it becomes a table
    there, while KaTeX sets only what stands around it.

    Raises:
        LookupError: if the example, the step or the index is unknown.
        ValueError: if the reference is malformed.

    >>> from attention_docs import examples
    >>> print(value("self_attention.Q.shape", examples.steps, Place.FORMULA))
    \from{self_attention.Q.shape}{3 \times 2}
    >>> print(value("self_attention.weights[0,1]", examples.steps, Place.FORMULA))
    \from{self_attention.weights[0;1]}{0.4856}
    >>> print(value("self_attention.Q", examples.steps, Place.TOP))
    \val{self_attention.Q}
    """
    reference = reference.replace(" ", "")
    array = look_up(reference, steps)
    if isinstance(array, tuple):
        return sizes(array, reference, place)
    if place is Place.TEXT:
        return prose(array, reference)
    if place is Place.TOP and array.ndim in (1, 2):
        return rf"\val{{{reference}}}"
    return latex_row(array, reference) if array.ndim == 1 else latex(array, reference)


def look_up(reference: str, steps: Callable[[str], Steps]) -> Array | tuple[int, ...]:
    """Return the array, or the shape, that a reference names.

    Raises:
        LookupError: if the example, the step or the index is unknown.
        ValueError: if the reference is malformed.
    """
    parts = REFERENCE.fullmatch(reference.replace(" ", ""))
    if not parts:
        raise ValueError("expected example.step, example.step[index] or example.step.shape")
    known = steps(parts["example"])
    if parts["step"] not in known:
        raise LookupError(
            f"step {parts['step']!r} is unknown; {parts['example']} has {', '.join(known)}"
        )
    array = known[parts["step"]]
    if not parts["shape"]:
        return element(array, parts["part"])
    return element(np.asarray(array.shape), parts["part"]) if parts["part"] else array.shape


def sizes(shape: tuple[int, ...], reference: str, place: Place) -> str:
    """Format a shape."""
    if place is Place.TEXT:
        return marked(" × ".join(map(str, shape)), reference)
    return with_reference(r" \times ".join(map(str, shape)), reference)


def element(array: Array, part: str | None) -> Array:
    """Pick a part of an array, with NumPy's notation.

    >>> print(element(np.array([[1, 2], [3, 4]]), "[:,1]"))
    [2 4]
    """
    if part is None:
        return array
    if not re.fullmatch(r"\[(-?\d+|:)(,(-?\d+|:))*\]", part):
        raise ValueError(f"index {part} is not understood; expected [0], [0,1] or [:,1]")
    index = tuple(slice(None) if i == ":" else int(i) for i in part[1:-1].split(","))
    try:
        return array[index]
    except IndexError:
        shape = " x ".join(map(str, array.shape))
        raise LookupError(f"index {part} is outside the shape {shape}") from None


def prose(array: Array, reference: str) -> str:
    """Format a value for running text: on one line, with brackets that Markdown leaves alone."""
    names = (element_reference(reference, index) for index in np.ndindex(np.shape(array)))

    def written(token: re.Match[str]) -> str:
        return BRACKETS.get(token[0]) or marked(token[0], next(names))

    one_line = re.sub(r"\s+", " ", as_text(array)).replace("[ ", "[")
    return re.sub(r"[\[\]]|[^\s\[\]]+", written, one_line)


def marked(number: str, reference: str) -> str:
    """Say of a number in running text which result it is."""
    return f'<span data-val="{reference}">{number}</span>'


def number(expression: str, place: Place) -> str:
    r"""Write a number that the text chooses, or the exact result of arithmetic on such numbers.

    Raises:
        ValueError: if the expression is no arithmetic on whole numbers.

    >>> print(number("224 - 1", Place.TEXT))
    <span data-computed>223</span>
    >>> print(number("1/9 - 1/16", Place.FORMULA), number("2**20", Place.FORMULA))
    \computed{7/144} \computed{1{,}048{,}576}
    """
    try:
        result = arithmetic(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"expected arithmetic on whole numbers: {error}") from None
    if not isinstance(result, Fraction):
        raise ValueError("expected arithmetic with an exact result; this one is irrational")
    shown = "/".join(map(grouped, result.as_integer_ratio())).removesuffix("/1")
    if place is Place.TEXT:
        return computed(shown.replace("-", "−"))
    return rf"\computed{{{shown.replace(',', '{,}')}}}"


def arithmetic(node: ast.expr) -> Fraction:
    """Compute what an expression of whole numbers says, exactly."""
    match node:
        case ast.Constant(value=whole) if type(whole) is int:
            return Fraction(whole)
        case ast.UnaryOp(op, operand) if type(op) in OPERATIONS:
            return OPERATIONS[type(op)](arithmetic(operand))
        case ast.BinOp(left, op, right) if type(op) in OPERATIONS:
            return OPERATIONS[type(op)](arithmetic(left), arithmetic(right))
    raise ValueError(f"expected arithmetic on whole numbers, not {ast.unparse(node)}")


def grouped(whole: int) -> str:
    """Separate the thousands from five digits on: 4096, but 65,536."""
    return f"{whole:,}" if abs(whole) >= 10_000 else str(whole)


def computed(shown: str) -> str:
    """Mark a number in running text that the build computed, but that is no step of an example."""
    return f"<span data-computed>{shown}</span>"


def printed(number: str, place: Place) -> str:
    """Quote a number that a source prints wrongly, marked as such."""
    if place is not Place.TEXT:
        return rf"\computed{{\htmlClass{{printed}}{{{number}}}}}"
    return f'<s class="printed" title="as printed in the source">{number}</s>'
