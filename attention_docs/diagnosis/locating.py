"""Where a wrong result, of which no mistake is known, first goes wrong."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case, steps
from attention_docs.diagnosis.comparing import differing, dtype_in, rounding_of, shape_problem
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.worker import Outcome


def first_cell(case: Case, outcome: Outcome, settings: Settings) -> str:
    """Say where a result first differs, by how much, and whether that looks like rounding."""
    right = case.right()
    place = differing(case, outcome.results, right, settings)
    assert place
    name, index = place
    found, expected = outcome.results[name][index], right[name][index]
    called = name if name == "output" else f"gradient of {name}"
    where = calling.index_in(index, settings.layout or "bhnd", case.call)
    words = f"its {called} is {found:.6g} at {where}; expected {expected:.6g}"
    if not np.isfinite(found):
        return words
    words += f", off by {abs(found - expected):.2g}"
    if coarser := rounding_of(case, outcome, settings):
        words += f", which is the size of rounding in {coarser}"
    return words


def with_values_that_show_weights(case: Case) -> Case:
    """Put the identity in place of the values: then the output of a head is its weights."""
    assert isinstance(case.call, Call)
    *leading, n, _ = case.call.value.shape
    value = np.broadcast_to(np.eye(n), (*leading, n, n)).copy()
    return replace(case, call=replace(case.call, value=value))


def first_wrong_step(
    case: Case, outcome: Outcome, probe: Case, shown: Outcome, settings: Settings
) -> str:
    """Say which step is the first wrong one: the scores, the softmax, or the sum of the values.

    The logarithm of the weights gives the scaled scores back, but for one number in each row.

    Args:
        case: what was asked.
        outcome: what came of it.
        probe: the same with values that show the weights.
        shown: what came of that.
        settings: how the function was called.
    """
    if shown.failure or shape_problem(probe, shown.results, settings):
        return "its weights cannot be had, as it does not take the identity for values"
    found = shown.results["output"]
    if not is_weighted_sum(case, outcome, found):
        return "it is no weighted sum of the values, so look at what follows the softmax"
    assert isinstance(probe.call, Call)

    def where(index: Iterable[int]) -> list[int]:
        return calling.index_in(tuple(index), settings.layout or "bhnd", probe.call)

    right = steps(probe.call)
    weights = {"output": found}, {"output": right.weights}
    if differing(probe, *weights, settings) is None:
        return "its weights are right, so the sum of the values is wrong"
    settings = replace(settings, precision="float32")
    unlike = differing(probe, *weights, settings)
    if unlike is None:
        return "its weights are wrong by too little to say more"
    place = where(unlike[1])
    tolerance = probe.tolerance(dtype_in(probe, settings))
    hidden: Array = np.isneginf(right.masked)
    if np.isnan(found).any():
        return f"its weights are nan, first at {where(np.argwhere(np.isnan(found))[0])}"
    if (np.abs(found[hidden]) > tolerance).any():
        weight = np.where(hidden, np.abs(found), 0).max()
        return f"the mask is the first wrong step: a hidden key has a weight of {weight:.4g}"
    if words := sums_problem(found, right.weights, tolerance, where):
        return words
    if ((found <= 0) & ~hidden & (right.weights > tolerance)).any():
        if not hidden.any():
            return "a key has no weight, so look at the softmax first"
        return "the mask is the first wrong step: a key that takes part has no weight"
    if np.allclose(np.sort(found), np.sort(right.weights), atol=tolerance):
        return (
            "its weights are right but stand at other keys, so look at the order of keys and values"
        )
    return f"its weights are wrong, first at {place}: {scores_problem(found, right.masked, hidden)}"


def is_weighted_sum(case: Case, outcome: Outcome, weights: Array) -> bool:
    """Whether an output is that of these weights, as far as both are numbers."""
    assert isinstance(case.call, Call)
    value = np.repeat(case.call.value, weights.shape[1] // case.call.value.shape[1], axis=1)
    with np.errstate(all="ignore"):
        return bool(np.allclose(outcome.results["output"], weights @ value, 1e-2, 1e-2, True))


def sums_problem(
    weights: Array, right: Array, tolerance: float, where: Callable[[Iterable[int]], list[int]]
) -> str:
    """Say whether rows of weights do not sum to one, and whether that is all."""
    sums = weights.sum(axis=-1)
    wrong = np.argwhere(~(np.abs(sums - right.sum(axis=-1)) <= tolerance))
    if not len(wrong):
        return ""
    with np.errstate(all="ignore"):
        rescaled = weights / sums[..., None]
    only = np.allclose(rescaled, right, atol=tolerance)
    cause = "only their sum is wrong" if only else "look at the softmax first"
    row = tuple(wrong[0])
    return f"its weights sum to {sums[row]:.6g} at {where((*row, 0))[:-1]} instead of 1: {cause}"


def scores_problem(weights: Array, masked: Array, hidden: Array) -> str:
    """Compare the scores behind the weights with the right ones, up to a number in each row."""
    with np.errstate(all="ignore"):
        found = np.where(hidden, 0.0, np.log(weights))
    right = np.where(hidden, 0.0, masked)
    seen = ~hidden
    count = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    found = np.where(seen, found - found.sum(axis=-1, keepdims=True) / count, 0.0)
    right = np.where(seen, right - right.sum(axis=-1, keepdims=True) / count, 0.0)
    factor = float((found * right).sum() / max((right * right).sum(), 1e-300))
    if np.allclose(found, 0, atol=1e-3 * np.abs(right).max()):
        return "all keys of a query have the same score, so its scores are lost before the softmax"
    if np.allclose(found, factor * right, atol=1e-3 * np.abs(right).max()):
        if abs(factor - 1) < 1e-3:
            return "its scores are nearly right, so look for something small that is added to them"
        return f"the scores are {factor:.4g} times the right ones, so look at what multiplies them"
    return "the scores, or what the softmax takes off them, are the first wrong step"
