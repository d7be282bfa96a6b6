"""Check a reader's attention function: compare it on many calls and name its mistakes.

In a pytest test:

    def test_attention():
        check(attend, require="causal")
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from attention_check import checking, libraries
from attention_check.calling import Settings
from attention_check.comparing import absolute_errors
from attention_check.recipe import Array
from attention_check.report import Report, format_report

__all__ = ["check", "check_cache"]


def check(
    function: str | Callable[..., Any],
    require: str = "",
    skip: str = "",
    expect: str | None = None,
    **settings: Any,
) -> Report:
    """Check an attention function or layer, with the options of the command line.

    Args:
        function: a function or layer, or `module:function` or `path/to/file.py:function`.
        require: features that must be checked, such as `"causal,gradients"`.
        skip: features that are not checked.
        expect: the library whose conventions are right: `torch`, `flash` or `onnx`.
        settings: `library`, `layout`, `mask`, `scale` and `names`; one that is left out is
            detected.

    Raises:
        AssertionError: if it is wrong; the message is the report.
        LoadError: if the function cannot be called at all.

    >>> check(lambda q, k, v: v, layout="nd")
    Traceback (most recent call last):
    AssertionError: ...
    """
    __tracebackhide__ = True  # pytest shows the reader's test, and not this function
    report = checking.check(
        function, Settings(**settings), require=require, skip=skip, expect=expect
    )
    if not report.is_correct:
        raise AssertionError(format_report(report))
    return report


def check_cache(
    layer: Callable[[Any, Any], Any],
    make_cache: Callable[[], Any],
    inputs: Any,
    tolerance: float = 1e-5,
) -> None:
    """Check that a causal layer with a cache gives the same rows, however its input is split.

    The layer is called with all positions at once, in two halves, with the first half at once and
    then one position at a time, and with one position at a time from the start.

    Args:
        layer: takes the next inputs and a cache; returns the rows of these inputs, or a tuple of
            the rows and a new cache.
        make_cache: returns an empty cache.
        inputs: (b, n, ...) inputs, of any library.
        tolerance: how far a number may be off, relative to the largest one.

    Raises:
        AssertionError: if a row differs; the message says at which position and in which chunks.

    >>> def running_sum(x, cache):
    ...     return np.cumsum(x, axis=1)  # forgets the cache
    >>> check_cache(running_sum, dict, np.ones((1, 4, 2)))
    Traceback (most recent call last):
    AssertionError: position 2 is off by 2 in chunks of 2, 2; compared with all at once
    """
    length = inputs.shape[1]
    first_half = length // 2
    second_half = length - first_half
    expected = output_in_chunks(layer, make_cache(), inputs, [length])
    # Errors are relative to the largest number, or to 1 if all are smaller.
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    for chunk_lengths in (
        [first_half, second_half],
        [first_half] + second_half * [1],
        length * [1],
    ):
        output = output_in_chunks(layer, make_cache(), inputs, chunk_lengths)
        errors = absolute_errors(output, expected)
        wrong_indices = np.argwhere(errors > tolerance * largest)
        if len(wrong_indices):
            position = wrong_indices[:, 1].min()
            raise AssertionError(
                f"position {position} is off by {errors[:, position].max():.3g} in chunks of "
                f"{', '.join(map(str, chunk_lengths))}; compared with all at once"
            )


def output_in_chunks(
    layer: Callable[[Any, Any], Any], cache: Any, inputs: Any, chunk_lengths: list[int]
) -> Array:
    """Run a layer with a cache on consecutive chunks of the inputs, and join its rows."""
    outputs = []
    start = 0
    for length in chunk_lengths:
        returned = layer(inputs[:, start : start + length], cache)
        output, cache = returned if isinstance(returned, tuple) else (returned, cache)
        outputs.append(libraries.to_numpy(output))
        start += length
    return np.concatenate(outputs, axis=1)
