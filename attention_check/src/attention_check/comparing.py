"""Compare results, within rounding, with the expected results or a mistake's results."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from attention_check import calling, recipe
from attention_check.calling import Interface
from attention_check.cases import CASES, SIGNIFICAND_BITS, Case
from attention_check.mistakes import (
    CONVENTIONS,
    MISTAKES,
    Convention,
    Mistake,
    compatible_pairs,
)
from attention_check.recipe import Array, LayerCall, StepFunctions
from attention_check.worker import Outcome

Mistakes = tuple[Mistake, ...]
Deviations = tuple[Mistake | Convention, ...]


def shape_problem(case: Case, results: dict[str, Array], interface: Interface) -> str:
    """Describe a result of the wrong shape, in the reader's layout; "" if all shapes are right."""
    for name, expected in case.expected().items():
        shape = results[name].shape
        if shape != expected.shape:
            # A result with another number of axes has not been converted from the layout.
            if len(shape) == len(expected.shape):
                shape = tuple(calling.index_in_layout(shape, interface.layout))
            expected_shape = tuple(calling.index_in_layout(expected.shape, interface.layout))
            return f"its {result_label(name)} has shape {shape}; expected {expected_shape}"
    return ""


def result_label(name: str) -> str:
    """Name a result in a sentence: the output, or the gradient of an input."""
    return name if name == "output" else f"gradient of {name}"


def effective_dtype(case: Case, interface: Interface) -> str:
    """Return the dtype that a call computes in: that of its arrays, or a coarser precision."""
    dtype = case.dtype or interface.dtype
    return coarser_dtype(dtype, interface.precision or dtype)


def coarser_dtype(*dtypes: str) -> str:
    return min(dtypes, key=SIGNIFICAND_BITS.__getitem__)


def first_wrong_result(
    case: Case, results: dict[str, Array], expected: dict[str, Array], interface: Interface
) -> tuple[str, tuple[int, ...]] | None:
    """Return the name of the first wrong result and the index of its worst number, if any."""
    tolerance = case.tolerance(effective_dtype(case, interface))
    for name, expected_array in expected.items():
        actual = results[name]
        if actual.shape != expected_array.shape:
            return name, ()
        errors = absolute_errors(actual, expected_array)
        if errors.max() > tolerance:
            worst_index = np.unravel_index(errors.argmax(), errors.shape)
            return name, tuple(int(i) for i in worst_index)
    return None


def is_right(case: Case, outcome: Outcome, interface: Interface) -> bool:
    if outcome.failure:
        return False
    return first_wrong_result(case, outcome.results, case.expected(), interface) is None


def absolute_errors(actual: Array, expected: Array) -> Array:
    """Return the absolute difference of each pair of numbers.

    It is 0 if both are NaN or the same infinity, and otherwise inf if one of them is not finite.
    """
    with np.errstate(invalid="ignore"):  # inf - inf is NaN
        differences = np.nan_to_num(np.abs(actual - expected), nan=np.inf)
    are_equal = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    return np.where(are_equal, 0.0, differences)


def coarser_precision(case: Case, outcome: Outcome, interface: Interface) -> str | None:
    """Return the finest dtype coarser than the call's whose rounding explains the errors.

    Return None if there is none. For a 16-bit dtype, all numbers of the result must also be
    representable in it, because its rounding errors are as large as the effect of some mistakes.
    """
    if case.compares_gradients:
        return None
    bits = SIGNIFICAND_BITS[effective_dtype(case, interface)]
    significands, _ = np.frexp(outcome.results["output"])  # from 1/2 to 1
    for dtype, coarser_bits in SIGNIFICAND_BITS.items():
        if coarser_bits >= bits:
            continue
        # Not so if a number is not finite.
        is_representable = (significands * 2.0**coarser_bits % 1 == 0).all()
        is_possible = dtype == "float32" or is_representable
        if is_possible and is_right(case, outcome, replace(interface, precision=dtype)):
            return dtype
    return None


def possible_conventions(case: Case) -> Iterator[tuple[Convention, ...]]:
    """Yield the conventions that may apply to a case, and each compatible pair of them."""
    conventions = [CONVENTIONS[name] for name in CONVENTIONS if name in case.conventions]
    yield from ((convention,) for convention in conventions)
    yield from compatible_pairs(conventions)


@cache
def output_with(case: Case, deviations: Deviations) -> Array | None:
    changes: StepFunctions = {}
    for deviation in deviations:
        changes |= deviation.changes
    try:
        with np.errstate(all="ignore"):
            if isinstance(case.call, LayerCall):
                return recipe.attend_in_heads(case.call, changes)
            return recipe.attend(case.call, changes)
    # KeyError: a layer lacks the output projection that is changed. ValueError: shapes do not fit.
    except (KeyError, ValueError):
        return None


def explains(case: Case, outcome: Outcome, deviations: Deviations, interface: Interface) -> bool:
    """Whether mistakes or conventions give the output, within the tolerance of float32 at best."""
    if case.compares_gradients or "output" not in outcome.results:
        return False
    actual = outcome.results["output"]
    output = output_with(case, deviations)
    if output is None or output.shape != actual.shape:
        return False
    # Where a mistake hides all keys, the plain formula gives NaN instead of our zeros.
    is_hidden_row = (output == 0).all(axis=-1, keepdims=True) & np.isnan(actual)
    results = {"output": np.where(is_hidden_row, output, actual)}
    return first_wrong_result(case, results, {"output": output}, float32_at_best(interface)) is None


def float32_at_best(interface: Interface) -> Interface:
    """Return the interface with a precision no finer than float32."""
    return replace(interface, precision=coarser_dtype(interface.precision or "float64", "float32"))


@cache
def changes_output(case: Case, deviations: Deviations) -> bool:
    """Whether mistakes or conventions change the output by more than `explains` tolerates."""
    output = output_with(case, deviations)
    if output is None or case.compares_gradients:
        return False
    results = {"output": output}
    return (
        first_wrong_result(case, results, case.expected(), float32_at_best(Interface())) is not None
    )


@cache
def typical_case(mistake: Mistake) -> str:
    """Return the name of the first case whose output a mistake changes."""
    return next(name for name, case in CASES.items() if changes_output(case, (mistake,)))


def explains_with_conventions(
    case: Case, outcome: Outcome, mistakes: Mistakes, interface: Interface
) -> bool:
    """Whether mistakes explain an outcome, by themselves or with conventions of the case."""
    choices: list[Deviations] = [(), *possible_conventions(case)]
    return any(
        explains(case, outcome, (*conventions, *mistakes), interface) for conventions in choices
    )


def explaining_mistakes(case: Case, outcome: Outcome, interface: Interface) -> Iterator[Mistakes]:
    """Yield each mistake that explains a wrong output by itself, as a tuple of one mistake."""
    for mistake in MISTAKES:
        mistakes = (mistake,)
        is_explained = explains_with_conventions(case, outcome, mistakes, interface)
        if is_explained and changes_output(case, mistakes):
            yield mistakes
