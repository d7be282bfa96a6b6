"""Compare results, within rounding, with the expected results or a mistake's results."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling, recipe
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import CASES, PRECISION, Case
from attention_docs.diagnosis.mistakes import (
    CONVENTIONS,
    MISTAKES,
    Convention,
    Mistake,
    compatible_pairs,
)
from attention_docs.diagnosis.recipe import LayerCall, StepFunctions
from attention_docs.diagnosis.worker import Outcome

Mistakes = tuple[Mistake, ...]
Deviations = tuple[Mistake | Convention, ...]


def shape_problem(case: Case, results: dict[str, Array], settings: Settings) -> str:
    """Describe a result of the wrong shape, in the reader's layout; "" if all shapes are right."""
    layout = settings.layout or "bhnd"
    for name, expected in case.expected().items():
        shape = results[name].shape
        if shape != expected.shape:
            label = name if name == "output" else f"gradient of {name}"
            if len(shape) == len(expected.shape):
                shape = tuple(calling.index_in_layout(shape, layout, case.call))
            expected_shape = tuple(calling.index_in_layout(expected.shape, layout, case.call))
            return f"its {label} has shape {shape}; expected {expected_shape}"
    return ""


def effective_dtype(case: Case, settings: Settings) -> str:
    """Return the coarsest dtype that the call computes in, for the tolerance."""
    dtypes = (settings.dtype if case.dtype is None else case.dtype, settings.precision)
    return min((dtype for dtype in dtypes if dtype), key=PRECISION.__getitem__)


def worst_difference(
    case: Case, results: dict[str, Array], expected: dict[str, Array], settings: Settings
) -> tuple[str, tuple[int, ...]] | None:
    """Return the name of the first wrong result, and the index of its largest error.

    Return None if no result differs by more than rounding. A result of the wrong shape has the
    index ().
    """
    tolerance = case.tolerance(effective_dtype(case, settings))
    for name, array in expected.items():
        actual = results[name]
        if actual.shape != array.shape:
            return name, ()
        wrong = ~within_tolerance(actual, array, tolerance)
        if wrong.any():
            with np.errstate(invalid="ignore"):  # inf - inf is NaN
                errors = np.nan_to_num(np.abs(actual - array), nan=np.inf)
            errors[~wrong] = -1.0  # below any error, so that a wrong number has the largest one
            worst = np.unravel_index(errors.argmax(), errors.shape)
            return name, tuple(int(i) for i in worst)
    return None


def within_tolerance(actual: Array, expected: Array, tolerance: float) -> Array:
    """Compare elementwise with an absolute tolerance; NaN equals NaN."""
    with np.errstate(invalid="ignore"):
        is_near = np.abs(actual - expected) <= tolerance
    return is_near | (np.isnan(actual) & np.isnan(expected)) | (actual == expected)


def coarser_precision(case: Case, outcome: Outcome, settings: Settings) -> str | None:
    """Return the finest coarser dtype whose rounding explains the errors, if any.

    For a 16-bit dtype, all numbers of the result must also be representable in it, because its
    rounding errors are as large as the effect of some mistakes.
    """
    bits = PRECISION[effective_dtype(case, settings)]
    coarser = [dtype for dtype in PRECISION if PRECISION[dtype] < bits]
    (result,) = outcome.results.values()
    mantissa, _ = np.frexp(result)
    for dtype in sorted(coarser, key=PRECISION.__getitem__, reverse=True):
        is_representable = not ((mantissa * 2.0 ** PRECISION[dtype]) % 1).any()
        trial = replace(settings, precision=dtype)
        is_right = worst_difference(case, outcome.results, case.expected(), trial) is None
        if is_right and (is_representable or dtype == "float32"):
            return dtype
    return None


def possible_conventions(case: Case) -> Iterator[tuple[Convention, ...]]:
    """Yield the conventions that may apply to a case, and each compatible pair of them."""
    conventions = [convention for convention in CONVENTIONS if convention.name in case.conventions]
    yield from ((convention,) for convention in conventions)
    for first, second in itertools.combinations(conventions, 2):
        if not first.changes.keys() & second.changes.keys():
            yield first, second


@cache
def output_with(case: Case, deviations: Deviations) -> Array | None:
    """Compute the output that mistakes or conventions give for a case, if they can be applied."""
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


def explains(case: Case, outcome: Outcome, deviations: Deviations, settings: Settings) -> bool:
    """Whether these mistakes or conventions give the actual output, within float32 or coarser."""
    if case.compares_gradients or "output" not in outcome.results:
        return False
    output = output_with(case, deviations)
    if output is None or output.shape != outcome.results["output"].shape:
        return False
    # Where a mistake hides all keys, the plain formula gives NaN instead of our zeros.
    actual = outcome.results["output"]
    is_hidden_row = (output == 0).all(axis=-1, keepdims=True) & np.isnan(actual)
    results = {"output": np.where(is_hidden_row, output, actual)}
    return worst_difference(case, results, {"output": output}, float32_at_best(settings)) is None


def float32_at_best(settings: Settings) -> Settings:
    """Return the settings with a precision no finer than float32."""
    coarsest = min(settings.precision or "float64", "float32", key=PRECISION.__getitem__)
    return replace(settings, precision=coarsest)


@cache
def changes_output(case: Case, deviations: Deviations) -> bool:
    """Whether mistakes or conventions change the output by more than `explains` tolerates."""
    output = output_with(case, deviations)
    if output is None or case.compares_gradients:
        return False
    return (
        worst_difference(case, {"output": output}, case.expected(), float32_at_best(Settings()))
        is not None
    )


@cache
def typical_case(mistake: Mistake) -> str:
    """Return the name of the first case whose output a mistake changes."""
    return next(name for name, case in CASES.items() if changes_output(case, (mistake,)))


def explains_with_conventions(
    case: Case, outcome: Outcome, mistakes: Mistakes, settings: Settings
) -> bool:
    """Whether mistakes explain a case, possibly together with conventions."""
    conventions: list[Deviations] = [(), *possible_conventions(case)]
    return any(explains(case, outcome, (*c, *mistakes), settings) for c in conventions)


def explaining_mistakes(case: Case, outcome: Outcome, settings: Settings) -> Iterator[Mistakes]:
    """Yield each mistake that explains a wrong output by itself, as a tuple of one mistake."""
    for mistake in MISTAKES:
        is_explained = explains_with_conventions(case, outcome, (mistake,), settings)
        if is_explained and changes_output(case, (mistake,)):
            yield (mistake,)


def explaining_pairs(case: Case, outcome: Outcome, settings: Settings) -> Iterator[Mistakes]:
    """Yield each pair of mistakes that explains a wrong output.

    An output with NaN or infinity gets none, because too many pairs would explain it.
    """
    if not np.isfinite(outcome.results["output"]).all():
        return
    for pair in compatible_pairs():
        if explains(case, outcome, pair, settings) and changes_output(case, pair):
            yield pair
