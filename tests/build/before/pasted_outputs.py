"""Outputs of one call as readers paste them: right, wrong, and as NumPy, PyTorch and JAX print them."""

import json

import numpy as np

from attention_check.cases import example_call
from attention_check.mistakes import mistake_named
from attention_check.recipe import attend
from attention_docs import examples

RIGHT = examples.steps("distinct_sizes")["output"]
WRONG = attend(example_call(), mistake_named("softmax_over_queries").changes)[0, 0]
UNKNOWN = RIGHT.copy()
UNKNOWN[1, 2] += 0.5
OVERFLOWING = "1e400 1 1"  # 1e400 is read as infinity


def format_as_torch(array):
    """Format an array as `print(tensor)` does: with four decimals, one row per line."""
    rows = ",\n        ".join(str([float(f"{x:.4f}") for x in row]) for row in array)
    return f"tensor([[{rows}]], dtype=torch.float64, grad_fn=<SqueezeBackward1>)"


def format_rows(rows, number_format=".4f"):
    """Format one row per line, without brackets."""
    return "\n".join(" ".join(format(x, number_format) for x in row) for row in rows)


FORMATS = {
    "NumPy, printed": str,
    "NumPy, repr": repr,
    "NumPy, float32": lambda array: repr(array.astype(np.float32)),
    "NumPy, two decimals": lambda array: np.array2string(array, precision=2),
    "PyTorch": format_as_torch,
    "JAX": lambda array: repr(array.astype(np.float32)).replace("array", "Array"),
    "JSON": lambda array: json.dumps(array.tolist()),
    "JSON with batch and head": lambda array: json.dumps([[array.tolist()]]),
    "a list of NumPy's numbers": lambda array: repr([list(row) for row in array]),
    "PyTorch, after its shape": lambda array: f"torch.Size([4, 3]) {format_as_torch(array)}",
    "one line": lambda array: str(array).replace("\n", " "),
    "no brackets": format_rows,
    "typographic minus": lambda array: str(array).replace("-", "−"),
    "powers of ten": lambda array: format_rows(array, ".5e"),
}
