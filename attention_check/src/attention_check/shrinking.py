"""Reduce a failing call to a small one, and write it as code."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from attention_check import calling
from attention_check.calling import Interface
from attention_check.cases import Case
from attention_check.comparing import first_wrong_result, is_right, shape_problem
from attention_check.recipe import Array, Call
from attention_check.worker import Outcome, Worker

# An example prints the numbers of its arrays if none has more than this.
LARGEST_PRINTED = 60
# Numbers nearer to zero than this would not show what is wrong.
SMALLEST_SHOWN = 0.1
# Significant digits of a printed number; 17 tell any two floats apart.
FEWEST_DIGITS, MOST_DIGITS = 5, 17
# For each library, what to import and the function that makes an array.
ARRAY_CODE = {
    "torch": ("import torch", "torch.tensor"),
    "jax": ("import jax.numpy as jnp", "jnp.array"),
    "cupy": ("import cupy as cp", "cp.array"),
    "numpy": ("import numpy as np", "np.array"),
}


def smallest_failing_case(
    case: Case, outcome: Outcome, worker: Worker, interface: Interface
) -> Case:
    """Return the smallest case found that fails in the same way as a failing case.

    Options are removed and axes shortened one at a time, as long as a call still fails. A case of
    a layer or of gradients, and a case that ends the process, are returned as they are.
    """
    if not isinstance(case.call, Call) or case.compares_gradients or outcome.kind == "died":
        return case

    def fails_likewise(smaller_case: Case) -> bool:
        """Whether it raises the same error, or also has a wrong shape, numbers or problems."""
        smaller_outcome = worker.run(smaller_case, interface)
        if outcome.failure or outcome.problems:
            return (
                smaller_outcome.failure == outcome.failure
                and smaller_outcome.problems == outcome.problems
            )
        if smaller_outcome.failure:
            return False
        if shape_problem(case, outcome.results, interface):
            return bool(shape_problem(smaller_case, smaller_outcome.results, interface))
        if np.abs(smaller_case.expected()["output"]).max() <= SMALLEST_SHOWN:
            return False
        return not is_right(smaller_case, smaller_outcome, interface)

    smallest_case = case
    while failing_case := next(filter(fails_likewise, smaller_cases(smallest_case)), None):
        smallest_case = failing_case
    return smallest_case


def smaller_cases(case: Case) -> Iterator[Case]:
    """Yield cases with one option of the case removed, then cases with one axis shortened."""
    call = case.call
    for option in ("mask", "bias", "scale", "window", "softcap"):
        if getattr(call, option) is not None:
            no_option: dict[str, Any] = {option: None}
            yield replace(case, call=replace(call, **no_option))
    if call.is_causal and case.feature != "causal":  # a case of causal masks stays causal
        yield replace(case, call=replace(call, is_causal=False))
    b, h, m, d_k = call.query.shape
    key_heads, n, d_v = call.value.shape[1:]
    for axis, size in {"b": b, "h": h, "m": m, "n": n, "d": d_k, "v": d_v}.items():
        # The number of query heads must stay a multiple of the number of key heads.
        if axis != "h" or key_heads == h:
            for smaller_size in sorted({1, size // 2, size - 1}):
                if 0 < smaller_size < size:
                    yield replace(case, call=shortened(call, axis, smaller_size))


def shortened(call: Call, axis: str, size: int) -> Call:
    """Return a call of which an axis keeps its first entries: b, h, m, n, d (of keys) or v."""

    def shorten(array: Array | None, axes: str) -> Array | None:
        if array is None:
            return None
        own_axes = axes[len(axes) - array.ndim :]  # a mask may lack leading axes
        return array[tuple(slice(size if letter == axis else None) for letter in own_axes)]

    return replace(
        call,
        query=shorten(call.query, "bhmd"),
        key=shorten(call.key, "bhnd"),
        value=shorten(call.value, "bhnv"),
        mask=shorten(call.mask, "bhmn"),
        bias=shorten(call.bias, "bhmn"),
        d_model=None,
    )


def example_code(target: str, case: Case, outcome: Outcome, interface: Interface) -> str:
    """Return code that makes a failing call, with its result and the expected one in a comment."""
    arguments = calling.translate_arguments(case.call, interface)
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    if any(array.size > LARGEST_PRINTED for array in arrays.values()):
        shapes = ", ".join(str(array.shape) for array in arrays.values())
        return f"its arguments have shapes {shapes}"
    library_import, constructor = ARRAY_CODE[interface.library]
    lines = [library_import]
    module, _, function = target.rpartition(":")
    if module:
        module_name = Path(module).stem if module.endswith(".py") else module
        lines.append(f"from {module_name} import {function}")
    for name, array in arrays.items():
        # `inf` and `nan` are not literals of Python.
        numbers = str(array.tolist()).replace("inf", 'float("inf")').replace("nan", 'float("nan")')
        # The elements of a boolean array imply its dtype.
        library_alias = constructor.partition(".")[0]
        dtype = f", dtype={library_alias}.{case.dtype or interface.dtype}"
        lines.append(f"{name} = {constructor}({numbers}{'' if array.dtype == bool else dtype})")
    if case.is_strided:
        lines.append("# each array a transposed view, which is not contiguous")
    # Other arguments, such as the module of transformers, are left out.
    keywords = [
        f"{name}={name if name in arrays else repr(value)}"
        for name, value in arguments.items()
        if name in arrays or isinstance(value, int | float | tuple | None)
    ]
    is_wrong = outcome.failure or outcome.problems or not is_right(case, outcome, interface)
    if not is_wrong:  # in a new process: what is wrong depends on earlier calls
        return ""
    comment = describe_outcome(case, outcome, interface)
    lines.append(f"{function}({', '.join(keywords)})  # {comment}")
    return "\n".join(lines)


def describe_outcome(case: Case, outcome: Outcome, interface: Interface) -> str:
    """Describe the failure or problem of a call, or else its number with the largest error."""
    problem = (
        outcome.failure.removeprefix("it ")
        or shape_problem(case, outcome.results, interface)
        or "; ".join(outcome.problems)
    )
    if problem:
        return problem
    difference = first_wrong_result(case, outcome.results, case.expected(), interface)
    assert difference
    name, index = difference
    position = calling.index_in_layout(index, interface.layout)
    owner = "" if name == "output" else f" of the gradient of {name}"
    mismatch = format_mismatch(outcome.results[name][index], case.expected()[name][index])
    return f"{position}{owner} is {mismatch}"


def format_mismatch(actual: Any, expected: Any) -> str:
    """Format an actual and an expected number, with enough digits to tell them apart."""
    for digits in range(FEWEST_DIGITS, MOST_DIGITS + 1):
        actual_text = f"{actual:.{digits}g}"
        expected_text = f"{expected:.{digits}g}"
        if actual_text != expected_text:
            break
    return f"{actual_text}; expected {expected_text}"
