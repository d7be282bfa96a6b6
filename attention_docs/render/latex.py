"""Arrays as LaTeX."""

from itertools import chain, groupby

import numpy as np

from attention_docs.arrays import Array, to_numpy
from attention_docs.render.numbers import latex_number
from attention_docs.render.references import of_element

# `kv` stands for keys and values; what is longer is a word.
LONGEST_SYMBOL = 2


def latex(array: Array, reference: str | None = None) -> str:
    r"""Write a number, a vector (as a row) or a matrix in LaTeX.

    Args:
        array: the numbers.
        reference: which result of an example they are, if each number is to say it.

    Raises:
        ValueError: if the array has more than two axes.

    >>> print(latex(np.array([[2.0, 0.25], [0.0, -1.0]])))
    \begin{bmatrix} 2 & 0.2500 \\ 0 & -1 \end{bmatrix}
    >>> print(latex(np.array(0.25), "self_attention.Q[0,1]"))
    \from{self_attention.Q[0;1]}{0.2500}
    """
    numbers = _numbers(array, reference)
    if numbers.ndim == 0:
        return str(numbers)
    if numbers.ndim > 2:
        raise ValueError(f"array has shape {numbers.shape}; expected at most two axes")
    rows = r" \\ ".join(map(" & ".join, np.atleast_2d(numbers)))
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"


def latex_row(vector: Array, reference: str | None = None) -> str:
    r"""Write a vector for running text, where a matrix of one row would take five times the HTML.

    >>> print(latex_row(np.array([0.25, -1.0])))
    [\,0.2500 \;\; {-1}\,]
    """
    # In braces, or TeX would set a minus between two numbers as that of a difference.
    written = (f"{{{n}}}" if "-" in n else n for n in _numbers(vector, reference))
    numbers = r" \;\; ".join(written)
    return rf"[\,{numbers}\,]"


def _numbers(array: Array, reference: str | None) -> np.ndarray:
    """Write each number of an array."""
    found = np.asarray(to_numpy(array))
    written = np.empty(found.shape, dtype=object)
    for index, value in np.ndenumerate(found):
        tex = latex_number(value)
        written[index] = from_step(tex, of_element(reference, index)) if reference else tex
    return written


def from_step(tex: str, reference: str) -> str:
    r"""Say of a number which result it is; KaTeX turns this into an attribute.

    A comma would begin another attribute there, so the index has a semicolon.
    """
    return rf"\from{{{reference.replace(',', ';')}}}{{{tex}}}"


def latex_steps(steps: dict[str, Array]) -> str:
    r"""Write the steps of an example, one equation a line.

    >>> print(latex_steps({"W_Q": np.eye(2)}))
    W_Q = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}
    """
    return "\n".join(f"{latex_name(name)} = {latex(array)}" for name, array in steps.items())


def latex_name(name: str) -> str:
    r"""Write the name of a step: a symbol as it is, a word upright, in an index as elsewhere.

    >>> print(latex_name("W_Q"), latex_name("X_kv"), latex_name("weights"))
    W_Q X_{kv} \text{weights}
    >>> print(latex_name("W_Q_1"), latex_name("b_1_scaled"))
    W_{Q,1} b_{1,\text{scaled}}
    """
    base, *parts = name.split("_")
    if len(base) != 1:
        return rf"\text{{{name.replace('_', ' ')}}}"
    index = _index(parts)
    return f"{base}_{{{index}}}" if len(index) > 1 else name


def _index(parts: list[str]) -> str:
    """Write the parts of an index with commas between; words that follow each other are one."""
    runs = groupby(parts, key=lambda part: len(part) > LONGEST_SYMBOL)
    written = ([rf"\text{{{' '.join(run)}}}"] if words else run for words, run in runs)
    return ",".join(chain.from_iterable(written))
