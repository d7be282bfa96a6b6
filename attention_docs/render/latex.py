"""Arrays as LaTeX."""

import numpy as np

from attention_docs.arrays import Array, to_numpy
from attention_docs.render.numbers import latex_number


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


def latex_steps(steps: dict[str, Array]) -> str:
    r"""Write the steps of an example, one equation a line.

    >>> print(latex_steps({"W_Q": np.eye(2)}))
    W_Q = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}
    """
    return "\n".join(f"{latex_name(name)} = {latex(array)}" for name, array in steps.items())


def latex_name(name: str) -> str:
    r"""Write the name of a step: a symbol as it is, a word upright.

    >>> print(latex_name("W_Q"), latex_name("X_kv"), latex_name("weights"))
    W_Q X_{kv} \text{weights}
    """
    base, _, index = name.partition("_")
    if len(base) > 1:
        return rf"\text{{{name.replace('_', ' ')}}}"
    return f"{base}_{{{index}}}" if len(index) > 1 else name
