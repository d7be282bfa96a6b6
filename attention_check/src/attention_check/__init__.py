"""Check a reader's attention function: compare it on many calls and name its mistakes.

The mathematics and the examples do not import this package. In a pytest test:

    @pytest.mark.parametrize("case", checks(attend), ids=str)
    def test_attention(case):
        case.check()
"""

import math
import unittest
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from attention_check import checking, libraries
from attention_check.calling import Settings
from attention_check.cases import CASES, Case
from attention_check.comparing import absolute_errors
from attention_check.libraries import LoadError
from attention_check.recipe import Array, LayerCall
from attention_check.report import (
    NOT_SUPPORTED,
    WRONG,
    Report,
    format_report,
    format_verdict,
)

__all__ = ["Check", "check", "check_cache", "checks"]

Function = str | Callable[..., Any]
RANDOM_CALLS = 50


def check(
    function: Function,
    make_inputs: Callable[[np.random.RandomState], Any] | None = None,
    reference: Callable[..., Any] | None = None,
    tolerance: float = 1e-5,
    require: tuple[str, ...] | str = (),
    **settings: Any,
) -> Report | None:
    """Check an attention function, or compare any function with a reference.

    Args:
        function: a function, or `module:function` or `path/to/file.py:function`.
        make_inputs: returns the arguments of a call, as a tuple or by name, from a generator of
            random numbers. With it, the function is only compared with `reference`, on 50 calls.
        reference: takes the same arguments and returns the expected result.
        tolerance: how far a number may differ from the reference, relative to the largest one
            expected. Without `make_inputs`, each case has a tolerance of its own.
        require: features that must be checked, as on the command line; not used with `make_inputs`.
        settings: as for `checks`; not used with `make_inputs`.

    Returns:
        The report; None with `make_inputs`.

    Raises:
        AssertionError: if it is wrong; the message names the mistake, or the smallest call.
        LoadError: if the function cannot be called at all.

    >>> def root_of_squares(x):
    ...     return x
    >>> check(root_of_squares, lambda random: (random.normal(size=2),), np.abs)
    Traceback (most recent call last):
    AssertionError: the result of call 3, with arguments of shapes (2,), is off by 1.95 at [1]
    """
    __tracebackhide__ = True
    if make_inputs is not None:
        if reference is None or isinstance(function, str):
            raise TypeError("make_inputs needs a function object and a reference")
        compare_with(function, make_inputs, reference, tolerance)
        return None
    features = require.split(",") if isinstance(require, str) else require
    report = checking.check(function, Settings(**settings), require=tuple(features))
    if not report.is_correct:
        raise AssertionError(format_report(report))
    return report


def compare_with(
    function: Callable[..., Any],
    make_inputs: Callable[[np.random.RandomState], Any],
    reference: Callable[..., Any],
    tolerance: float,
) -> None:
    random = np.random.RandomState(0)
    # For each wrong result: how many numbers the arguments hold, which call it was, the message.
    failures: list[tuple[int, int, str]] = []
    for call in range(1, RANDOM_CALLS + 1):
        inputs = make_inputs(random)
        keyword_arguments = dict(inputs) if isinstance(inputs, Mapping) else {}
        positional_arguments = () if keyword_arguments else tuple(inputs)
        expected = libraries.to_numpy(reference(*positional_arguments, **keyword_arguments))
        actual = libraries.to_numpy(function(*positional_arguments, **keyword_arguments))
        problem = ""
        if actual.shape != expected.shape:
            problem = f"has shape {actual.shape}; expected {expected.shape}"
        else:
            # Where NaN is expected, any number is accepted.
            errors = np.where(np.isnan(expected), 0.0, absolute_errors(actual, expected))
            if errors.max(initial=0.0) > tolerance * largest_magnitude(expected):
                worst_index = [int(i) for i in np.unravel_index(errors.argmax(), errors.shape)]
                problem = f"is off by {errors.max():.3g} at {worst_index}"
        if problem:
            arguments = (*positional_arguments, *keyword_arguments.values())
            shapes = [tuple(x.shape) for x in arguments if hasattr(x, "shape")]
            number_count = sum(math.prod(shape) for shape in shapes)
            shape_list = ", ".join(map(str, shapes))
            message = f"the result of call {call}, with arguments of shapes {shape_list}, {problem}"
            failures.append((number_count, call, message))
    if failures:
        _, _, message = min(failures)
        raise AssertionError(message)


def largest_magnitude(expected: Array) -> float:
    """Return the largest absolute value of the finite numbers, or 1 if all of them are smaller."""
    return float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))


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
    for chunk_lengths in (
        [first_half, second_half],
        [first_half] + second_half * [1],
        length * [1],
    ):
        output = output_in_chunks(layer, make_cache(), inputs, chunk_lengths)
        errors = absolute_errors(output, expected)
        wrong_indices = np.argwhere(errors > tolerance * largest_magnitude(expected))
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


@dataclass(eq=False, repr=False)
class Check:
    """A test of a function, with all cases or with a single one.

    Attributes:
        report_or_error: returns the report on the function, or the error if it cannot be loaded or
            called; computed once for all tests of the function.
    """

    function: Function
    report_or_error: Callable[[], Report | LoadError]
    case_name: str | None

    def __repr__(self) -> str:
        return f"<check of {self}>"

    def __str__(self) -> str:
        """Return the name of the case, or the function's name if the test is of all cases."""
        if self.case_name is not None:
            return self.case_name
        if isinstance(self.function, str):
            return self.function
        return getattr(self.function, "__name__", "attention")

    @property
    def report(self) -> Report:
        report_or_error = self.report_or_error()
        if isinstance(report_or_error, LoadError):
            raise report_or_error
        return report_or_error

    def check(self) -> None:
        """Fail if the function is wrong; skip a case that it does not support.

        Raises:
            LoadError: if the function cannot be loaded or called at all.
            AssertionError: with the mistake, the line that fixes it, and where it is explained.
            unittest.SkipTest: with the reason; pytest shows it as a skipped test.
        """
        __tracebackhide__ = True  # pytest shows the reader's test, and not this method
        if self.case_name is None:
            if not self.report.is_correct:
                raise AssertionError(format_report(self.report))
            return
        verdicts = {verdict.case.name: verdict for verdict in self.report.verdicts}
        verdict = verdicts.get(self.case_name)
        if verdict is None:
            raise unittest.SkipTest(reason_left_out(CASES[self.case_name], self.report))
        if verdict.status == NOT_SUPPORTED:
            raise unittest.SkipTest(verdict.reason)
        if verdict.status == WRONG:
            raise AssertionError(format_verdict(verdict))


def reason_left_out(case: Case, report: Report) -> str:
    """Return why a check of a function left out a case, so that the report has no verdict on it."""
    is_for_layers = isinstance(case.call, LayerCall)
    is_layer_checked = isinstance(report.verdicts[0].case.call, LayerCall)
    if is_for_layers and not is_layer_checked:
        return "the case is for layers"
    if is_layer_checked and not is_for_layers:
        return "the case is for plain attention"
    if case.dtype:
        return f"the case is for {case.dtype}"
    return "the case is for layers that are not always causal"


def checks(function: Function, each_case: bool = False, **settings: Any) -> list[Check]:
    """Return tests of a function: a single test of all cases, or one test for each case.

    Args:
        function: a function, or `module:function` or `path/to/file.py:function`.
        each_case: whether each case is a test of its own.
        settings: `library`, `layout`, `mask` and `names`, as on the command line; a setting that
            is left out is detected.

    >>> [str(case) for case in checks("my_package:attend", each_case=True)][:3]
    ['distinct_sizes', 'other_sizes', 'square']
    """

    @cache
    def report_or_error() -> Report | LoadError:
        try:
            return checking.check(function, Settings(**settings))
        except LoadError as error:
            return error

    case_names = list(CASES) if each_case else [None]
    return [Check(function, report_or_error, case_name) for case_name in case_names]
