"""Compare what was found with what is right, or with what a mistake gives, within rounding."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling, recipe
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import ROUNDOFF, Case
from attention_docs.diagnosis.mistakes import CONVENTIONS, MISTAKES, Convention, Mistake, pairs
from attention_docs.diagnosis.recipe import LayerCall, Steps
from attention_docs.diagnosis.worker import Outcome

# Several mistakes at once, or one, or none; or conventions.
Named = tuple[Mistake, ...]
Made = tuple[Mistake | Convention, ...]


def shape_problem(case: Case, results: dict[str, Array], settings: Settings) -> str:
    """Say whether a result has another shape than the right one, in the reader's layout."""
    layout = settings.layout or "bhnd"
    for name, right in case.right().items():
        found = results[name].shape
        if found != right.shape:
            called = name if name == "output" else f"gradient of {name}"
            if len(found) == len(right.shape):
                found = tuple(calling.index_in(found, layout, case.call))
            expected = tuple(calling.index_in(right.shape, layout, case.call))
            return f"its {called} has shape {found}; expected {expected}"
    return ""


def dtype_in(case: Case, settings: Settings) -> str:
    if case.dtype in ROUNDOFF:
        return case.dtype
    return settings.precision or settings.dtype


def differing(
    case: Case, results: dict[str, Array], expected: dict[str, Array], settings: Settings
) -> tuple[str, tuple[int, ...]] | None:
    """Return the first cell that differs by more than rounding, with the result's name, if any."""
    tolerance = case.tolerance(dtype_in(case, settings))
    for name, right in expected.items():
        found = results[name]
        if found.shape != right.shape:
            return name, ()
        wrong = ~agree(found, right, tolerance)
        if wrong.any():
            return name, tuple(int(i) for i in np.argwhere(wrong)[0])
    return None


def agree(found: Array, expected: Array, tolerance: float) -> Array:
    """Tell of each number whether it is as expected within a tolerance; NaN agrees with NaN."""
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= tolerance
    return near | (np.isnan(found) & np.isnan(expected)) | (found == expected)


def rounding_of(case: Case, outcome: Outcome, settings: Settings) -> str | None:
    """Return the finest coarser dtype that explains the error by two roundings of the largest."""
    unit, right = ROUNDOFF[dtype_in(case, settings)], case.right()
    error = max(float(np.abs(outcome.results[name] - right[name]).max()) for name in right)
    size = max(float(np.abs(array).max()) for array in right.values())
    finer_first = sorted(ROUNDOFF, key=lambda name: ROUNDOFF[name])
    coarser = (name for name in finer_first if ROUNDOFF[name] > unit)
    return next((name for name in coarser if error <= 2 * ROUNDOFF[name] * size), None)


def conventions_of(case: Case) -> Iterator[tuple[Convention, ...]]:
    """Yield the conventions that may show in a case, and each two of them."""
    known = [c for c in CONVENTIONS if c.name in case.conventions]
    yield from ((convention,) for convention in known)
    for one, other in itertools.combinations(known, 2):
        if not one.changes.keys() & other.changes.keys():
            yield one, other


@cache
def mistaken(case: Case, made: Made) -> Array | None:
    """Return the output of a case with mistakes made, if they give one."""
    changes: Steps = {}
    for mistake in made:
        changes |= mistake.changes
    try:
        with np.errstate(all="ignore"):
            if isinstance(case.call, LayerCall):
                return recipe.attend_in_heads(case.call, changes)
            return recipe.attend(case.call, changes)
    except ValueError:  # the arrays do not fit any more
        return None


def explains(case: Case, outcome: Outcome, made: Made, settings: Settings) -> bool:
    """Whether mistakes give the digits that were found, to the precision of float32 at least."""
    if case.gradients or "output" not in outcome.results:
        return False
    settings = replace(settings, precision="float32")
    output = mistaken(case, made)
    return (
        output is not None
        and differing(case, outcome.results, {"output": output}, settings) is None
    )


@cache
def shows(case: Case, made: Made) -> bool:
    """Whether mistakes change the output of a case by more than `explains` allows for."""
    output = mistaken(case, made)
    if output is None or case.gradients:
        return False
    found = differing(case, {"output": output}, case.right(), Settings(precision="float32"))
    return found is not None


def single_mistakes(case: Case, outcome: Outcome, settings: Settings) -> Iterator[Named]:
    """Yield each mistake that explains a wrong output."""
    return ((m,) for m in MISTAKES if explains(case, outcome, (m,), settings) and shows(case, (m,)))


def pairs_of_mistakes(case: Case, outcome: Outcome, settings: Settings) -> Iterator[Named]:
    """Yield each two mistakes that explain an output of numbers; NaN too many would explain."""
    found = outcome.results["output"]
    if np.isfinite(found).all():
        tolerance = case.tolerance(dtype_in(case, replace(settings, precision="float32")))
        made, outputs = outputs_of_pairs(case, found.shape)
        matching = agree(found, outputs, tolerance).all(axis=tuple(range(1, outputs.ndim)))
        yield from (made[i] for i in np.flatnonzero(matching) if shows(case, made[i]))


@cache
def outputs_of_pairs(case: Case, shape: tuple[int, ...]) -> tuple[list[Named], Array]:
    """Return the pairs of mistakes whose output has a shape, and these outputs as one array.

    There are more than a thousand, so they are compared all at once.
    """
    outputs = {two: mistaken(case, two) for two in pairs()}
    fitting = {
        two: each for two, each in outputs.items() if each is not None and each.shape == shape
    }
    return list(fitting), np.array(list(fitting.values())).reshape(-1, *shape)
