"""Arrays as data another program can read: JSON, and NumPy code to paste."""

import json
from typing import Any

import numpy as np

from attention_docs.arrays import Array, to_numpy


def json_steps(steps: dict[str, Array]) -> str:
    """Write the steps of an example as JSON, every digit kept; -inf and its like as strings.

    >>> print(json_steps({"Q": np.array([[2.0, -np.inf]])}))
    {"Q": [[2.0, "-inf"]]}
    """
    return json.dumps({name: _plain(to_numpy(array).tolist()) for name, array in steps.items()})


def _plain(value: Any) -> Any:
    """Replace what JSON has no number for by its name."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if np.isfinite(value) else str(value)


def numpy_steps(steps: dict[str, Array]) -> str:
    """Write the steps of an example as NumPy code, with fifteen digits.

    The last two of a float's seventeen depend on how a release of NumPy adds up.

    >>> print(numpy_steps({"Q": np.array([[2.0, 0.1, 0.1 + 0.2]])}))
    import numpy as np
    <BLANKLINE>
    Q = np.array([[2.0, 0.1, 0.3]])
    """
    lines = (f"{name} = np.array({_literal(array)})" for name, array in steps.items())
    return "\n".join(["import numpy as np", "", *lines])


def _literal(array: Array) -> str:
    values = repr(_rounded(to_numpy(array).tolist()))
    return values.replace("inf", "np.inf").replace("nan", "np.nan")


def _rounded(value: Any) -> Any:
    """Round the floats of nested lists to fifteen digits."""
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.15g}") if isinstance(value, float) else value
