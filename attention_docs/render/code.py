"""Format arrays for other programs: as JSON, and as NumPy code to paste."""

import json
from typing import Any

import numpy as np

from attention_docs.arrays import Array, to_numpy


def json_steps(steps: dict[str, Array]) -> str:
    """Return the steps of an example as JSON with all digits; -inf, inf and nan become strings.

    >>> print(json_steps({"Q": np.array([[2.0, -np.inf]])}))
    {"Q": [[2.0, "-inf"]]}
    """
    values = {name: _json_value(to_numpy(array).tolist()) for name, array in steps.items()}
    return json.dumps(values)


def _json_value(value: Any) -> Any:
    """Replace numbers that JSON cannot hold by their names."""
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    return value if np.isfinite(value) else str(value)


def numpy_steps(steps: dict[str, Array]) -> str:
    """Return the steps of an example as NumPy code, with fifteen digits.

    The last two of a float's seventeen digits vary with the release of NumPy.

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
