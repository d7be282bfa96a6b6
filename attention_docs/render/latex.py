"""Format arrays in LaTeX."""

from itertools import groupby

import numpy as np

from attention_docs.arrays import Array, to_numpy
from attention_docs.render.numbers import ARE_SHORT, latex_number
from attention_docs.render.references import element_reference

# An index of up to two letters is a symbol, like `kv` for keys and values; a longer one is a word.
LONGEST_SYMBOL = 2


def latex(array: Array, reference: str | None = None) -> str:
    r"""Format a number, a vector (as a row) or a matrix in LaTeX.

    Args:
        reference: the reference of the array, like `multi_head.Q`; if given, each number is marked
            up with its own.

    >>> print(latex(np.array([[2.0, 0.25], [0.0, -1.0]])))
    \begin{bmatrix} 2 & 0.2500 \\ 0 & -1 \end{bmatrix}
    >>> print(latex(np.array(0.25), "self_attention.Q[0,1]"))
    \from{self_attention.Q[0;1]}{0.2500}
    """
    numbers = _format_elements(array, reference)
    if numbers.ndim == 0:
        return str(numbers)
    if numbers.ndim > 2:
        raise ValueError(f"array has shape {numbers.shape}; expected at most two axes")
    rows = r" \\ ".join(map(" & ".join, np.atleast_2d(numbers)))
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"


def latex_row(vector: Array, reference: str | None = None) -> str:
    r"""Format a vector for a formula within a sentence, as numbers between brackets.

    A line may end between two numbers. A matrix of one row would take five times the HTML.

    >>> print(latex_row(np.array([0.25, -1.0])))
    [\,0.2500 \enspace\allowbreak {-1}\,]
    """
    # Without braces, TeX would read a minus between two numbers as a difference.
    numbers = [f"{{{tex}}}" if "-" in tex else tex for tex in _format_elements(vector, reference)]
    row = r" \enspace\allowbreak ".join(numbers)
    return rf"[\,{row}\,]"


def _format_elements(array: Array, reference: str | None) -> np.ndarray:
    """Format each number of an array, marked up with its own reference if the array has one."""
    values = np.asarray(to_numpy(array))
    formatted = np.empty(values.shape, dtype=object)
    for index, value in np.ndenumerate(values):
        tex = latex_number(value)
        if reference:
            tex = with_reference(tex, element_reference(reference, index))
        formatted[index] = tex
    return formatted


def with_reference(tex: str, reference: str) -> str:
    r"""Mark up a number; in KaTeX a comma would separate attributes."""
    macro = r"\short" if ARE_SHORT.get() else r"\from"
    return rf"{macro}{{{reference.replace(',', ';')}}}{{{tex}}}"


def latex_steps(steps: dict[str, Array]) -> str:
    r"""Format the steps of an example, one equation per line.

    >>> print(latex_steps({"W_Q": np.eye(2)}))
    W_Q = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}
    """
    return "\n".join(f"{latex_name(name)} = {latex(array)}" for name, array in steps.items())


def latex_name(name: str) -> str:
    r"""Format the name of a step: a symbol in italics or words upright, and an index likewise.

    >>> print(latex_name("W_Q"), latex_name("X_kv"), latex_name("weights"))
    W_Q X_{kv} \text{weights}
    >>> print(latex_name("W_Q_1"), latex_name("b_1_scaled"))
    W_{Q,1} b_{1,\text{scaled}}
    """
    base, *parts = name.split("_")
    if len(base) != 1:
        return rf"\text{{{name.replace('_', ' ')}}}"
    index = _format_index(parts)
    # An index of one letter needs no braces.
    return f"{base}_{{{index}}}" if len(index) > 1 else name


def _format_index(parts: list[str]) -> str:
    """Join the symbols and words of an index with commas, and consecutive words with spaces."""
    formatted: list[str] = []
    for is_word, group in groupby(parts, key=lambda part: len(part) > LONGEST_SYMBOL):
        if is_word:
            words = " ".join(group)
            formatted.append(rf"\text{{{words}}}")
        else:
            formatted.extend(group)
    return ",".join(formatted)
