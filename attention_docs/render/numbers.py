"""Format one number by the rounding rules of the whole project.

A number has four decimals, but an integer has none, so that exact numbers can be told from rounded
ones. A number that would round to zero is written with an exponent instead.
"""

import math
import re

import numpy as np

DECIMALS = 4
# Numbers of at least this size are written with an exponent, as so many digits are hard to read.
LARGE = 10**9
EXPONENT = re.compile(r"(?<=\d)e([+-]\d+)")
HYPHEN_BEFORE_NUMBER = re.compile(r"(?<![\w)])-(?=\d|inf)")
LONG_INTEGER = re.compile(r"(?<![\d.,])\d{5,}(?![\d.,])")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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
    fixed = f"{value:.{DECIMALS}f}"
    return fixed if float(fixed) else f"{value:.1e}"


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
    rounded = number(value)
    mantissa, e, exponent = rounded.partition("e")
    if "." not in mantissa or float(rounded) != value:
        return typeset(rounded)
    return typeset(mantissa.rstrip("0").rstrip(".") + e + exponent).removeprefix("1·")


def short_number(value: float) -> str:
    """Format a number for a picture, where two decimals are enough to see it.

    A number that would round to zero is written as a bound, so that it does not look like zero.

    >>> [short_number(x) for x in (2.0, 0.9685, -2.217, 0.0, 0.0048, -0.0005)]
    ['2', '0.97', '−2.22', '0', '<0.01', '>−0.01']
    """
    if not math.isfinite(value) or abs(value) >= LARGE or float(value).is_integer():
        return drawn_number(value)
    fixed = f"{value:.2f}"
    if float(fixed):
        return typeset(fixed)
    return ">−0.01" if value < 0 else "<0.01"


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
    grouped = grouped_thousands(formatted).replace(",", "{,}")
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
