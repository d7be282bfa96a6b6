"""Format one number by the rounding rules of the whole project.

A number has four decimals, but an integer has none, so that exact numbers can be told from rounded
ones. A number that would round to zero is written with an exponent instead. Where numbers are
short, as on the pages of the course, they have two decimals, and such a number is about zero.
"""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

DECIMALS, SHORT_DECIMALS = 4, 2
ARE_SHORT: ContextVar[bool] = ContextVar("ARE_SHORT", default=False)
# Numbers of at least this size are written with an exponent, as so many digits are hard to read.
LARGE = 10**9
EXPONENT = re.compile(r"(?<=\d)e([+-]\d+)")
HYPHEN_BEFORE_NUMBER = re.compile(r"(?<![\w)])-(?=\d|inf)")
LONG_INTEGER = re.compile(r"(?<![\d.,])\d{5,}(?![\d.,])")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@contextmanager
def short_numbers(are_short: bool = True) -> Iterator[None]:
    """Print numbers with two decimals, or again with four.

    >>> with short_numbers():
    ...     [number(x) for x in (2.0, 0.9685, -2.217, 0.0048, -0.0005)]
    ['2', '0.97', '-2.22', '≈0', '≈0']
    """
    token = ARE_SHORT.set(are_short)
    try:
        yield
    finally:
        ARE_SHORT.reset(token)


def format_name() -> str:
    """Return the name of the format of numbers as the page's script knows it."""
    return "short" if ARE_SHORT.get() else "number"


def number(value: float | bool) -> str:
    """Format a number as plain text.

    >>> [number(x) for x in (2.0, 0.5, 0.99999, 0.0, -0.0, 1.4e-11, -0.00002, 3e12)]
    ['2', '0.5000', '1.0000', '0', '0', '1.4e-11', '-2.0e-05', '3.0000e+12']
    >>> [number(x) for x in (True, math.inf, -math.inf, math.nan)]
    ['True', 'inf', '-inf', 'nan']
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    value = float(value)
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= LARGE:
        return f"{value:.{DECIMALS}e}"
    if value.is_integer():
        return str(int(value))
    are_short = ARE_SHORT.get()
    fixed = f"{value:.{SHORT_DECIMALS if are_short else DECIMALS}f}"
    if float(fixed):
        return fixed
    return "≈0" if are_short else f"{value:.1e}"


def typeset(text: str) -> str:
    """Give the numbers of a text a minus sign, powers of ten and separated thousands.

    >>> typeset("goes from -2.0e-05 at 1024 to 24576 at 262144")
    'goes from −2.0·10⁻⁵ at 1024 to 24,576 at 262,144'
    """
    text = EXPONENT.sub(lambda e: "·10" + str(int(e[1])).translate(SUPERSCRIPTS), text)
    return HYPHEN_BEFORE_NUMBER.sub("−", grouped_thousands(text))


def drawn_number(value: float | bool) -> str:
    """Format a number for the text of a drawing.

    >>> [drawn_number(x) for x in (-0.5, 1.4e-11, 65536)]
    ['−0.5000', '1.4·10⁻¹¹', '65,536']
    """
    return typeset(number(value))


def exact_number(value: float) -> str:
    """Format a number that was chosen, such as a tick of an axis, without zeros at its end.

    A number with more decimals than `number` shows is rounded, and keeps its zeros.

    >>> [exact_number(x) for x in (0.25, 65536, 1e-8, 2.5e-7, 1 / 3, 0.50001)]
    ['0.25', '65,536', '10⁻⁸', '2.5·10⁻⁷', '0.3333', '0.5000']
    """
    with short_numbers(False):
        rounded = number(value)
    mantissa, e, exponent = rounded.partition("e")
    if "." not in mantissa or float(rounded) != value:
        return typeset(rounded)
    return typeset(mantissa.rstrip("0").rstrip(".") + e + exponent).removeprefix("1·")


def short_number(value: float) -> str:
    """Format a number for a picture, where two decimals are enough to see it.

    >>> [short_number(x) for x in (2.0, 0.9685, -2.217, 0.0, 0.0048)]
    ['2', '0.97', '−2.22', '0', '≈0']
    """
    with short_numbers():
        return drawn_number(value)


def latex_number(value: float | bool) -> str:
    r"""Format a number in LaTeX.

    >>> print(latex_number(1.4e-11), latex_number(-math.inf), latex_number(True))
    1.4 \times 10^{-11} -\infty \text{T}
    >>> print(latex_number(524288))
    524{,}288
    """
    if isinstance(value, bool | np.bool_):
        return rf"\text{{{'T' if value else 'F'}}}"
    formatted = number(value)
    mantissa, _, exponent = formatted.partition("e")
    if exponent:
        return rf"{mantissa} \times 10^{{{int(exponent)}}}"
    grouped = grouped_thousands(formatted).replace(",", "{,}").replace("≈", r"{\approx}")
    return grouped.replace("inf", r"\infty").replace("nan", r"\text{nan}")


def html_number(value: float | bool) -> str:
    """Format a number in HTML.

    >>> html_number(1.4e-11), html_number(-math.inf), html_number(True), html_number(524288)
    ('1.4 × 10<sup>−11</sup>', '−∞', 'T', '524,288')
    """
    if isinstance(value, bool | np.bool_):
        return "T" if value else "F"
    return raised_exponent(number(value)).replace("inf", "∞")


def raised_exponent(formatted: str) -> str:
    """Write a formatted number in HTML, with its exponent as a power of ten.

    >>> raised_exponent("3.19e-06")
    '3.19 × 10<sup>−6</sup>'
    """
    mantissa, _, exponent = formatted.partition("e")
    power = f" × 10<sup>{int(exponent)}</sup>" if exponent else ""
    return typeset(mantissa + power)


def with_plural(count: int, noun: str) -> str:
    """Return a number followed by its noun, which is in the plural unless the number is 1.

    >>> with_plural(1, "field"), with_plural(2, "field")
    ('1 field', '2 fields')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def grouped_thousands(text: str) -> str:
    """Separate thousands in the integers of a text that have five or more digits.

    >>> grouped_thousands("4096 of 65536")
    '4096 of 65,536'
    """
    return LONG_INTEGER.sub(lambda integer: f"{int(integer[0]):,}", text)


def computed_span(number: str) -> str:
    """Mark a number in running text that the build computed outside an example."""
    return f"<span data-computed>{number}</span>"
