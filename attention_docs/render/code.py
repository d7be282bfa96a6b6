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
    """Return a number or nested lists of numbers, with strings for inf and nan."""
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    return value if np.isfinite(value) else str(value)


def numpy_steps(steps: dict[str, Array]) -> str:
    """Return the steps of an example as NumPy code, with 15 significant digits.

    A float has up to 17, but the last two vary between releases of NumPy.

    >>> print(numpy_steps({"Q": np.array([[2.0, 0.1, 0.1 + 0.2]])}))
    import numpy as np
    <BLANKLINE>
    Q = np.array([[2.0, 0.1, 0.3]])
    """
    lines = (f"{name} = np.array({_python_literal(array)})" for name, array in steps.items())
    return "\n".join(["import numpy as np", "", *lines])


def _python_literal(array: Array) -> str:
    nested_lists = repr(_round_floats(to_numpy(array).tolist()))
    return nested_lists.replace("inf", "np.inf").replace("nan", "np.nan")


def _round_floats(value: Any) -> Any:
    if isinstance(value, list):
        return [_round_floats(item) for item in value]
    return float(f"{value:.15g}") if isinstance(value, float) else value
