"""Arrays as LaTeX."""

from itertools import chain, groupby

import numpy as np

from attention_docs.arrays import Array, to_numpy
from attention_docs.render.numbers import latex_number

# `kv` stands for keys and values; what is longer is a word.
LONGEST_SYMBOL = 2


def latex(array: Array) -> str:
    r"""Write a number, a vector (as a row) or a matrix in LaTeX.

    Raises:
        ValueError: if the array has more than two axes.

    >>> print(latex(np.array([[2.0, 0.25], [0.0, -1.0]])))
    \begin{bmatrix} 2 & 0.2500 \\ 0 & -1 \end{bmatrix}
    >>> print(latex(np.array(0.25)))
    0.2500
    """
    matrix = np.asarray(to_numpy(array))
    if matrix.ndim == 0:
        return latex_number(matrix.item())
    if matrix.ndim > 2:
        raise ValueError(f"array has shape {matrix.shape}; expected at most two axes")
    rows = r" \\ ".join(" & ".join(map(latex_number, row)) for row in np.atleast_2d(matrix))
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"


def latex_row(vector: Array) -> str:
    r"""Write a vector for running text, where a matrix of one row would take five times the HTML.

    >>> print(latex_row(np.array([0.25, -1.0])))
    [\,0.2500 \;\; -1\,]
    """
    numbers = r" \;\; ".join(map(latex_number, np.asarray(to_numpy(vector))))
    return rf"[\,{numbers}\,]"


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
    if len(base) != 1 or not all(parts):
        return rf"\text{{{name.replace('_', ' ')}}}"
    index = _index(parts)
    return f"{base}_{{{index}}}" if len(index) > 1 else name


def _index(parts: list[str]) -> str:
    """Write the parts of an index with commas between; words that follow each other are one."""
    runs = groupby(parts, key=lambda part: len(part) > LONGEST_SYMBOL)
    written = ([rf"\text{{{' '.join(run)}}}"] if words else run for words, run in runs)
    return ",".join(chain.from_iterable(written))
