"""Explain wrong results by mistakes of the catalogue, or by the first step that is wrong."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case, expected_steps
from attention_docs.diagnosis.comparing import (
    Mistakes,
    changes_output,
    effective_dtype,
    explaining_mistakes,
    explaining_pairs,
    explains_with_conventions,
    float32_at_best,
    result_label,
    shape_problem,
    typical_case,
    worst_difference,
)
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.report import OK, WRONG, Verdict
from attention_docs.diagnosis.shrinking import format_mismatch
from attention_docs.diagnosis.worker import Outcome

# The search through all pairs of mistakes is slow, so it is limited to outputs of few numbers, and
# to a few cases.
MAX_NUMBERS, MAX_SEARCHES = 60, 4


class MistakeSearch:
    """The search for mistakes that explain the outcomes of a check.

    Attributes:
        verdicts: the verdicts on cases with a result that mistakes can explain.
        outcomes: the outcome of each case.
        settings: how the function was called.
        explanations: the mistakes that explained earlier cases, which are tried first.
        searches: the number of searches through all pairs so far.
    """

    def __init__(
        self, verdicts: list[Verdict], outcomes: dict[Case, Outcome], settings: Settings
    ) -> None:
        self.verdicts = [
            verdict
            for verdict in verdicts
            if not (verdict.reason or verdict.case.compares_gradients)
        ]
        self.outcomes, self.settings = outcomes, settings
        self.explanations: list[Mistakes] = []
        self.searches = 0

    def run(self) -> dict[str, Verdict]:
        """Return the wrong verdicts that mistakes explain, with these mistakes, by case."""
        explained = {}
        for verdict in self.verdicts:
            mistakes = self.best_explanation(verdict.case) if verdict.status == WRONG else ()
            if mistakes:
                explained[verdict.case.name] = replace(verdict, mistakes=mistakes)
                if mistakes not in self.explanations:
                    self.explanations.append(mistakes)
        return {name: self.with_reason(verdict, explained) for name, verdict in explained.items()}

    def best_explanation(self, case: Case) -> Mistakes:
        """Return the mistakes that explain a case and the most others; () if none explain it."""
        outcome = self.outcomes[case]
        candidates = [mistakes for mistakes in self.explanations if self.explains(mistakes, case)]
        is_finite = np.isfinite(outcome.results["output"]).all()
        # Rounding to few bits can hide the difference between mistakes.
        if (case.dtype and is_finite) or any(len(mistakes) == 1 for mistakes in candidates):
            return min(candidates, key=len, default=())
        candidates = list(explaining_mistakes(case, outcome, self.settings)) or candidates
        is_small = outcome.results["output"].size <= MAX_NUMBERS
        if not candidates and is_small and self.searches < MAX_SEARCHES:
            self.searches += 1
            candidates = list(explaining_pairs(case, outcome, self.settings))
        return max(candidates, key=self.rank, default=())

    def explains(self, mistakes: Mistakes, case: Case) -> bool:
        return explains_with_conventions(case, self.outcomes[case], mistakes, self.settings)

    def rank(self, mistakes: Mistakes) -> tuple[int, bool, int, bool, int]:
        """Return a sort key for mistakes, in which the best explanation is largest.

        It compares how many wrong cases they explain, whether one of them explains an earlier case,
        how few they are, whether all right cases allow them, and how many of their typical cases
        were checked.
        """
        wrong = [verdict.case for verdict in self.verdicts if verdict.status == WRONG]
        right = [verdict.case for verdict in self.verdicts if verdict.status == OK]
        count = sum(self.explains(mistakes, case) for case in wrong)
        is_known = any(set(mistakes) & set(earlier) for earlier in self.explanations)
        is_possible = not any(changes_output(case, mistakes) for case in right)
        checked = {case.name for case in (*wrong, *right)}
        typical_count = sum(typical_case(mistake) in checked for mistake in mistakes)
        return count, is_known, -len(mistakes), is_possible, typical_count

    def with_reason(self, verdict: Verdict, explained: dict[str, Verdict]) -> Verdict:
        """Return a verdict with its reason: the mistakes, and a case in which they are not made."""
        summaries = " and ".join(mistake.summary for mistake in verdict.mistakes)
        reason = f"its output is that of {summaries}"
        verdicts = (explained.get(other.case.name, other) for other in self.verdicts)
        unaffected = [
            other.case.name for other in verdicts if lacks_effect(other, verdict.mistakes)
        ]
        if unaffected:
            typical = set(map(typical_case, verdict.mistakes))
            name = next((name for name in unaffected if name in typical), unaffected[0])
            reason += f", but not in {name}"
        return replace(verdict, reason=reason)


def lacks_effect(verdict: Verdict, mistakes: Mistakes) -> bool:
    """Whether one of the mistakes would change the output of a case, but was not made there."""
    is_unexplained = verdict.status != OK and not verdict.mistakes
    if is_unexplained:
        return False
    return any(
        changes_output(verdict.case, (mistake,)) and mistake not in verdict.mistakes
        for mistake in mistakes
    )


def describe_worst_difference(case: Case, outcome: Outcome, settings: Settings) -> str:
    """Describe where a result differs most, and by how much."""
    difference = worst_difference(case, outcome.results, case.expected(), settings)
    assert difference
    name, index = difference
    actual = outcome.results[name][index]
    expected = case.expected()[name][index]
    position = calling.index_in_layout(index, settings.layout or "bhnd", case.call)
    return f"its {result_label(name)} at {position} is {format_mismatch(actual, expected)}"


def with_identity_values(case: Case) -> Case:
    """Return the case with identity matrices as values, so that a head returns its weights."""
    assert isinstance(case.call, Call)
    *leading, n, _ = case.call.value.shape
    value = np.broadcast_to(np.eye(n), (*leading, n, n)).copy()
    return replace(case, call=replace(case.call, value=value))


def first_wrong_step(
    case: Case, outcome: Outcome, probe: Case, probe_outcome: Outcome, settings: Settings
) -> str:
    """Describe which step is the first wrong one: the scores, the softmax, or the weighted sum.

    The probe is the same case with the identity as values, so its output is the weights. Their
    logarithm recovers the scaled scores up to a constant for each row.
    """
    if probe_outcome.failure or shape_problem(probe, probe_outcome.results, settings):
        return "could not recover its weights, as it does not take the identity for values"
    weights = probe_outcome.results["output"]
    if not is_weighted_sum(case, outcome, weights):
        return "it is no weighted sum of the values, so look at what follows the softmax"
    expected = probe.expected()
    if worst_difference(probe, probe_outcome.results, expected, settings) is None:
        return "its weights are right, so the sum of the values is wrong"
    settings = float32_at_best(settings)
    difference = worst_difference(probe, probe_outcome.results, expected, settings)
    if difference is None:
        return "its weights are off by too little to tell which step is wrong"
    return describe_wrong_weights(probe, weights, difference[1], settings)


def describe_wrong_weights(
    probe: Case, weights: Array, first_wrong: tuple[int, ...], settings: Settings
) -> str:
    """Describe which step before the weighted sum makes the (b, h, m, n) weights wrong."""
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
    """Whether the output is `weights @ value` within about 1 %; NaN equals NaN."""
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
    """Describe how the scores that gave the weights differ from the right masked scores.

    The logarithm of the weights gives the scores up to a constant for each row.
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
