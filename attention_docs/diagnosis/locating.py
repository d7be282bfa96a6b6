"""Locate the first wrong step of a result that no mistake of the catalogue explains."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case, expected_steps
from attention_docs.diagnosis.comparing import (
    effective_dtype,
    shape_problem,
    single,
    worst_difference,
)
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.shrinking import as_printed
from attention_docs.diagnosis.worker import Outcome


def describe_worst_difference(case: Case, outcome: Outcome, settings: Settings) -> str:
    """Describe where a result differs most, and by how much."""
    difference = worst_difference(case, outcome.results, case.expected(), settings)
    assert difference
    name, index = difference
    actual, expected = outcome.results[name][index], case.expected()[name][index]
    label = name if name == "output" else f"gradient of {name}"
    position = calling.index_in_layout(index, settings.layout or "bhnd", case.call)
    return f"its {label} at {position} is {as_printed(actual, expected)}"


def with_identity_values(case: Case) -> Case:
    """Replace the values by the identity, so that the output of a head is its weights."""
    assert isinstance(case.call, Call)
    *leading, n, _ = case.call.value.shape
    value = np.broadcast_to(np.eye(n), (*leading, n, n)).copy()
    return replace(case, call=replace(case.call, value=value))


def first_wrong_step(
    case: Case, outcome: Outcome, probe: Case, probe_outcome: Outcome, settings: Settings
) -> str:
    """Describe which step is the first wrong one: the scores, the softmax, or the weighted sum.

    The logarithm of the weights recovers the scaled scores up to a constant for each row.

    Args:
        case: the case with the wrong result.
        outcome: its outcome.
        probe: the same case with the identity as values.
        probe_outcome: the outcome of the probe, whose output is the weights.
        settings: how the function was called.
    """
    if probe_outcome.failure or shape_problem(probe, probe_outcome.results, settings):
        return "could not recover its weights, as it does not take the identity for values"
    weights = probe_outcome.results["output"]
    if not is_weighted_sum(case, outcome, weights):
        return "it is no weighted sum of the values, so look at what follows the softmax"
    expected = probe.expected()
    if worst_difference(probe, probe_outcome.results, expected, settings) is None:
        return "its weights are right, so the sum of the values is wrong"
    settings = single(settings)
    difference = worst_difference(probe, probe_outcome.results, expected, settings)
    if difference is None:
        return "its weights are off by too little to tell which step is wrong"
    return describe_wrong_weights(probe, weights, difference[1], settings)


def describe_wrong_weights(
    probe: Case, weights: Array, first_wrong: tuple[int, ...], settings: Settings
) -> str:
    """Describe which step before the weighted sum makes the weights wrong.

    Args:
        probe: the case, with the identity as values.
        weights: (b, h, m, n) the function's weights.
        first_wrong: the index of the first wrong one.
        settings: how the function was called.
    """
    assert isinstance(probe.call, Call)

    def to_position(index: Iterable[int]) -> list[int]:
        return calling.index_in_layout(tuple(index), settings.layout or "bhnd", probe.call)

    tolerance = probe.tolerance(effective_dtype(probe, settings))
    right = expected_steps(probe.call)
    hidden: Array = np.isneginf(right.masked)
    if np.isnan(weights).any():
        return f"its weights are nan, first at {to_position(np.argwhere(np.isnan(weights))[0])}"
    if (np.abs(weights[hidden]) > tolerance).any():
        weight = np.where(hidden, np.abs(weights), 0).max()
        return f"the mask is the first wrong step: a hidden key has a weight of {weight:.4g}"
    if problem := row_sum_problem(weights, right.weights, tolerance, to_position):
        return problem
    if ((weights <= 0) & ~hidden & (right.weights > tolerance)).any():
        if not hidden.any():
            return "a key has no weight, so look at the softmax first"
        return "the mask is the first wrong step: a visible key has no weight"
    if np.allclose(np.sort(weights), np.sort(right.weights), atol=tolerance):
        return "its weights are right but at other keys, so look at the order of keys and values"
    problem = scores_problem(weights, right.masked, hidden)
    return f"its weights are wrong, first at {to_position(first_wrong)}: {problem}"


def is_weighted_sum(case: Case, outcome: Outcome, weights: Array) -> bool:
    """Whether the output is roughly `weights @ value`; NaN equals NaN."""
    assert isinstance(case.call, Call)
    group_size = weights.shape[1] // case.call.value.shape[1]
    value = np.repeat(case.call.value, group_size, axis=1)
    output = outcome.results["output"]
    with np.errstate(all="ignore"):
        return np.allclose(output, weights @ value, rtol=1e-2, atol=1e-2, equal_nan=True)


def row_sum_problem(
    weights: Array,
    expected: Array,
    tolerance: float,
    to_position: Callable[[Iterable[int]], list[int]],
) -> str:
    """Describe a row of weights that does not sum to one; "" if there is none."""
    sums = weights.sum(axis=-1)
    wrong_rows = np.argwhere(np.abs(sums - expected.sum(axis=-1)) > tolerance)
    if not len(wrong_rows):
        return ""
    with np.errstate(all="ignore"):
        rescaled = weights / sums[..., None]
    is_rescaled = np.allclose(rescaled, expected, atol=tolerance)
    cause = "only their sum is wrong" if is_rescaled else "look at the softmax first"
    row = tuple(wrong_rows[0])
    position = to_position((*row, 0))[:-1]
    return f"its weights sum to {sums[row]:.6g} at {position} instead of 1: {cause}"


def scores_problem(weights: Array, masked: Array, hidden: Array) -> str:
    """Compare the scores, recovered from the weights up to a constant per row, with the right ones.

    Args:
        weights: (b, h, m, n) the function's weights.
        masked: (b, h, m, n) the right masked scores.
        hidden: (b, h, m, n) where the mask hides a key.
    """
    with np.errstate(all="ignore"):
        scores = centre_visible(np.log(weights), ~hidden)
    expected = centre_visible(masked, ~hidden)
    # The factor by least squares; the lower bound avoids a division by zero.
    factor = float((scores * expected).sum() / max((expected * expected).sum(), 1e-300))
    atol = 1e-3 * np.abs(expected).max()
    if np.allclose(scores, 0, atol=atol):
        return "all keys of a query have the same score, so its scores are lost before the softmax"
    if np.allclose(scores, factor * expected, atol=atol):
        if abs(factor - 1) < 1e-3:
            return "its scores are nearly right, so look for something small that is added to them"
        return f"the scores are {factor:.4g} times the right ones, so look at what multiplies them"
    return "the scores, or what the softmax subtracts from them, are the first wrong step"


def centre_visible(scores: Array, visible: Array) -> Array:
    """Subtract from each row the mean of its visible scores, and set the hidden ones to zero."""
    scores = np.where(visible, scores, 0.0)
    count = np.maximum(visible.sum(axis=-1, keepdims=True), 1)
    mean = scores.sum(axis=-1, keepdims=True) / count
    return np.where(visible, scores - mean, 0.0)
