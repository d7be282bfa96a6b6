"""Reduce a failing call to a small one, and write it as code."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Description, Settings
from attention_docs.diagnosis.cases import Case
from attention_docs.diagnosis.comparing import shape_problem, worst_difference
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.worker import Outcome, Worker

LARGEST_PRINTED = 60
# For each library, what to import and the function that makes an array.
ARRAY_CODE = {
    "torch": ("import torch", "torch.tensor"),
    "jax": ("import jax.numpy as jnp", "jnp.array"),
    "cupy": ("import cupy as cp", "cp.array"),
    "array_api_strict": ("import array_api_strict as xp", "xp.asarray"),
    "numpy": ("import numpy as np", "np.array"),
}


def smallest(
    case: Case, outcome: Outcome, worker: Worker, description: Description, settings: Settings
) -> Case:
    """Return the smallest case that fails in the same way: by the same error, or by a number.

    A case of a layer or of gradients, or one that ends the process, is not reduced.
    """
    if not isinstance(case.call, Call) or case.gradients or outcome.kind == "died":
        return case
    has_wrong_shape = not outcome.failure and bool(shape_problem(case, outcome.results, settings))

    def fails(candidate: Case) -> bool:
        """Whether a candidate fails in the same way as the original case."""
        other = worker.run(candidate, description, settings)
        if outcome.failure or outcome.problems:
            return other.failure == outcome.failure and other.problems == outcome.problems
        if other.failure:
            return False
        if has_wrong_shape:
            return bool(shape_problem(candidate, other.results, settings))
        difference = worst_difference(candidate, other.results, candidate.expected(), settings)
        # Numbers near zero would not show what is wrong.
        return difference is not None and np.abs(candidate.expected()["output"]).max() > 0.1

    while smaller := next(filter(fails, smaller_cases(case)), None):
        case = smaller
    return case


def smaller_cases(case: Case) -> Iterator[Case]:
    """Yield cases with one option of the case removed, or one axis shortened."""
    call = case.call
    assert isinstance(call, Call)
    for name in ("mask", "bias", "scale", "window", "softcap"):
        if getattr(call, name) is not None:
            without: dict[str, Any] = {name: None}
            yield replace(case, call=replace(call, **without))
    if call.is_causal and case.feature != "causal":  # a causal case stays causal
        yield replace(case, call=replace(call, is_causal=False))
    (b, h, m, d_k), (n, d_v) = call.query.shape, call.value.shape[-2:]
    # Grouped heads are kept, because query heads must stay a multiple of key heads.
    has_groups = h != call.key.shape[1]
    sizes = {"b": b, "h": 1 if has_groups else h, "m": m, "n": n, "d": d_k, "v": d_v}
    for axis, size in sizes.items():
        for smaller in sorted({1, size // 2, size - 1}):
            if 0 < smaller < size:
                yield replace(case, call=sliced(call, **{axis: smaller}))


def sliced(call: Call, **sizes: int) -> Call:
    """Return the call with the first entries of one axis: b, h, m, n, d (of keys) or v."""

    def shorten(array: Array | None, *axes: str) -> Array | None:
        """Shorten an array along the axes in `sizes`; axes of length 1 broadcast and are kept."""
        if array is None:
            return None
        own_axes = axes[len(axes) - array.ndim :]  # a mask may lack leading axes
        stops = (
            sizes.get(axis) if length > 1 else None
            for axis, length in zip(own_axes, array.shape, strict=True)
        )
        return array[tuple(slice(stop) for stop in stops)]

    return replace(
        call,
        query=shorten(call.query, "b", "h", "m", "d"),
        key=shorten(call.key, "b", "h", "n", "d"),
        value=shorten(call.value, "b", "h", "n", "v"),
        mask=shorten(call.mask, "b", "h", "m", "n"),
        bias=shorten(call.bias, "b", "h", "m", "n"),
        d_model=None,
    )


def example_code(
    target: str, case: Case, outcome: Outcome, description: Description, settings: Settings
) -> str:
    """Return code that makes a failing call, with what it gives and what is expected.

    If an argument has too many numbers to print, only the shapes are returned.
    """
    values = calling.translate_arguments(case.call, description, settings)
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    if any(array.size > LARGEST_PRINTED for array in arrays.values()):
        return f"its arguments have shapes {', '.join(str(a.shape) for a in arrays.values())}"
    library_import, constructor = ARRAY_CODE[settings.library or "numpy"]
    alias = constructor.partition(".")[0]
    dtype = case.dtype or settings.dtype
    module, _, function = target.rpartition(":")
    lines = [library_import]
    if module:
        module_name = Path(module).stem if module.endswith(".py") else module
        lines.append(f"from {module_name} import {function}")
    for name, array in arrays.items():
        dtype_code = "" if array.dtype == bool else f", dtype={alias}.{dtype}"
        lines.append(f"{name} = {constructor}({as_list(array)}{dtype_code})")
    if case.strided:
        lines.append("# each array a transposed view, which is not contiguous")
    # Other arguments, such as the module of transformers, cannot be written as a literal.
    arguments = ", ".join(
        f"{name}={name}" if name in arrays else f"{name}={value!r}"
        for name, value in values.items()
        if name in arrays or isinstance(value, int | float | tuple | None)
    )
    lines.append(f"{function}({arguments})  # {outcome_comment(case, outcome, settings)}")
    return "\n".join(lines)


def as_list(array: Array) -> str:
    """Return an array as Python code for a list; `inf` and `nan` are not literals of Python."""
    return str(array.tolist()).replace("inf", 'float("inf")').replace("nan", 'float("nan")')


def outcome_comment(case: Case, outcome: Outcome, settings: Settings) -> str:
    """Say what a call gives and what is expected, at the worst number."""
    if outcome.failure:
        return outcome.failure.removeprefix("it ")
    if problem := shape_problem(case, outcome.results, settings) or "; ".join(outcome.problems):
        return problem
    difference = worst_difference(case, outcome.results, case.expected(), settings)
    if difference is None:
        return "right in a new process"
    name, index = difference
    position = calling.index_in_layout(index, settings.layout or "bhnd", case.call)
    actual, expected = outcome.results[name][index], case.expected()[name][index]
    of = "" if name == "output" else f" of the gradient of {name}"
    return f"{position}{of} is {as_printed(actual, expected)}"


def as_printed(actual: Any, expected: Any) -> str:
    """Format an actual and an expected number, with enough digits to tell them apart."""
    for digits in range(5, 18):
        texts = f"{actual:.{digits}g}", f"{expected:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return f"{texts[0]}; expected {texts[1]}"
