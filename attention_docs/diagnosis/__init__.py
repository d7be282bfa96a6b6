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
from functools import cached_property
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import checking, libraries, report
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import CASES, Case
from attention_docs.diagnosis.libraries import LoadError
from attention_docs.diagnosis.recipe import LayerCall
from attention_docs.diagnosis.report import NOT_SUPPORTED, WRONG, Report

__all__ = ["Check", "check", "check_cache", "checks"]

Function = str | Callable[..., Any]
RANDOM_CALLS = 50


def check(
    function: Function,
    make_inputs: Callable[[np.random.RandomState], Any] | None = None,
    reference: Callable[..., Any] | None = None,
    tolerance: float = 1e-5,
    require: tuple[str, ...] = (),
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
        require: features that must be checked; not used with `make_inputs`.
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
    if make_inputs is not None:
        if reference is None or isinstance(function, str):
            raise TypeError("make_inputs needs a function object and a reference")
        compare_with(function, make_inputs, reference, tolerance)
        return None
    result = checking.check(function, Settings(**settings), require=require)
    if not result.is_correct:
        raise AssertionError(report.format_report(result))
    return result


def compare_with(
    function: Callable[..., Any],
    make_inputs: Callable[[np.random.RandomState], Any],
    reference: Callable[..., Any],
    tolerance: float,
) -> None:
    """Compare a function with a reference on random calls.

    Raises:
        AssertionError: if a result differs; the message describes the smallest call with a wrong
            result, which is the first one whose arguments hold the fewest numbers.
    """
    random = np.random.RandomState(0)
    failures: list[tuple[int, str]] = []  # how many numbers the arguments hold, and the message
    for call in range(1, RANDOM_CALLS + 1):
        inputs = make_inputs(random)
        named = dict(inputs) if isinstance(inputs, Mapping) else {}
        positional = () if named else tuple(inputs)
        expected = libraries.to_numpy(reference(*positional, **named))
        actual = libraries.to_numpy(function(*positional, **named))
        difference = describe_difference(actual, expected, tolerance)
        if difference:
            arguments = (*positional, *named.values())
            shapes = [tuple(array.shape) for array in arguments if hasattr(array, "shape")]
            number_count = sum(math.prod(shape) for shape in shapes)
            listed = ", ".join(map(str, shapes))
            message = f"the result of call {call}, with arguments of shapes {listed}, {difference}"
            failures.append((number_count, message))
    if failures:
        _, message = min(failures, key=lambda failure: failure[0])
        raise AssertionError(message)


def describe_difference(actual: Array, expected: Array, tolerance: float) -> str:
    """Say how a result differs from the expected one; "" if it does not.

    Where NaN is expected, any number is accepted.
    """
    if actual.shape != expected.shape:
        return f"has shape {actual.shape}; expected {expected.shape}"
    errors = np.where(np.isnan(expected), 0.0, absolute_errors(actual, expected))
    if errors.max(initial=0.0) > tolerance * error_scale(expected):
        worst = [int(i) for i in np.unravel_index(errors.argmax(), errors.shape)]
        return f"is off by {errors.max():.3g} at {worst}"
    return ""


def absolute_errors(actual: Array, expected: Array) -> Array:
    """Return the absolute difference of each number.

    It is 0 where both are NaN or the same infinity, and inf where else one of them is not finite.
    """
    with np.errstate(invalid="ignore"):  # inf - inf is NaN
        differences = np.nan_to_num(np.abs(actual - expected), nan=np.inf)
    are_equal = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    return np.where(are_equal, 0.0, differences)


def error_scale(expected: Array) -> float:
    """Return the largest finite magnitude, at least 1, which a tolerance is relative to."""
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
    n = inputs.shape[1]

    def output_in_chunks(sizes: list[int]) -> Any:
        """Run the layer on consecutive chunks of these sizes, and join its rows."""
        cache, chunks, start = make_cache(), [], 0
        for size in sizes:
            returned = layer(inputs[:, start : start + size], cache)
            chunk, cache = returned if isinstance(returned, tuple) else (returned, cache)
            chunks.append(libraries.to_numpy(chunk))
            start += size
        return np.concatenate(chunks, axis=1)

    at_once = output_in_chunks([n])
    middle = n // 2
    halves, one_by_one = [middle, n - middle], [1] * n
    prefill_and_decode = [middle] + [1] * (n - middle)
    for sizes in (halves, prefill_and_decode, one_by_one):
        errors = absolute_errors(output_in_chunks(sizes), at_once)
        wrong_indices = np.argwhere(errors > tolerance * error_scale(at_once))
        if len(wrong_indices):
            position, listed = wrong_indices[:, 1].min(), ", ".join(map(str, sizes))
            raise AssertionError(
                f"position {position} is off by {errors[:, position].max():.3g} in chunks of "
                f"{listed}; compared with all at once"
            )


@dataclass(eq=False)
class SharedReport:
    """The report on a function, computed once for all tests of its cases.

    Attributes:
        function: the function, or its name.
        settings: the settings of the check.
    """

    function: Function
    settings: Mapping[str, Any]

    @cached_property
    def report_or_error(self) -> Report | LoadError:
        """The report, or the error that kept the function from being called."""
        try:
            return checking.check(self.function, Settings(**self.settings))
        except LoadError as error:
            return error


@dataclass(eq=False)
class Check:
    """A test of a function, of all cases or of a single one.

    Attributes:
        shared: the report on the function, which the first test to need it computes.
        name: the name of the case; None for all cases.
    """

    shared: SharedReport
    name: str | None

    def __str__(self) -> str:
        """Return the name of the case, or the function's name if the test is of all cases."""
        if self.name is not None:
            return self.name
        function = self.shared.function
        return function if isinstance(function, str) else getattr(function, "__name__", "attention")

    @property
    def report(self) -> Report:
        """The report on all cases.

        Raises:
            LoadError: if the function cannot be loaded or called at all.
        """
        if isinstance(self.shared.report_or_error, LoadError):
            raise self.shared.report_or_error
        return self.shared.report_or_error

    def check(self) -> None:
        """Fail if the function is wrong; skip a case that it does not support.

        Raises:
            LoadError: if the function cannot be loaded or called at all.
            AssertionError: with the mistake, the line that fixes it, and where it is explained.
            unittest.SkipTest: with the reason; pytest shows it as a skipped test.
        """
        if self.name is None:
            if not self.report.is_correct:
                raise AssertionError(report.format_report(self.report))
            return
        verdicts = {verdict.case.name: verdict for verdict in self.report.verdicts}
        verdict = verdicts.get(self.name)
        if verdict is None:
            raise unittest.SkipTest(reason_left_out(CASES[self.name], self.report))
        if verdict.status == NOT_SUPPORTED:
            raise unittest.SkipTest(verdict.reason)
        if verdict.status == WRONG:
            raise AssertionError(report.format_verdict(verdict))


def reason_left_out(case: Case, result: Report) -> str:
    """Return why a report has no verdict on a case: which functions the case is for."""
    is_for_layers = isinstance(case.call, LayerCall)
    is_report_on_layer = isinstance(result.verdicts[0].case.call, LayerCall)
    if is_for_layers != is_report_on_layer:
        return f"the case is for {'layers' if is_for_layers else 'plain attention'}"
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
    shared = SharedReport(function, settings)
    names = list(CASES) if each_case else [None]
    return [Check(shared, name) for name in names]
