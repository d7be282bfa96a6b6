"""Explain wrong results by mistakes of the catalogue, or by the first step that is wrong."""

from dataclasses import dataclass, field, replace

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Interface
from attention_docs.diagnosis.cases import Case, expected_steps
from attention_docs.diagnosis.comparing import (
    Mistakes,
    changes_output,
    effective_dtype,
    explaining_mistakes,
    explaining_pairs,
    explains_with_conventions,
    first_wrong_result,
    float32_at_best,
    result_label,
    shape_problem,
    typical_case,
)
from attention_docs.diagnosis.recipe import Call, share_heads
from attention_docs.diagnosis.report import OK, WRONG, Verdict
from attention_docs.diagnosis.shrinking import format_mismatch
from attention_docs.diagnosis.worker import Outcome

# The search through all pairs of mistakes is slow, so it is limited to outputs of at most so many
# numbers, and to so many cases.
MAX_OUTPUT_SIZE = 60
MAX_PAIR_SEARCHES = 4


@dataclass
class MistakeSearch:
    """The search for mistakes that explain the outcomes of a check.

    Attributes:
        verdicts: the verdicts on cases with a result that mistakes can explain.
        earlier_explanations: the mistakes that explained earlier cases, which are tried first.
        pair_searches: the number of searches through all pairs so far.
    """

    verdicts: list[Verdict]
    outcomes: dict[Case, Outcome]
    interface: Interface
    earlier_explanations: list[Mistakes] = field(default_factory=list)
    pair_searches: int = 0

    def run(self) -> dict[str, Verdict]:
        """Return the wrong verdicts that mistakes explain, with these mistakes, by case name."""
        explained = {}
        for verdict in self.verdicts:
            mistakes = self.best_explanation(verdict.case) if verdict.status == WRONG else ()
            if mistakes:
                explained[verdict.case.name] = replace(verdict, mistakes=mistakes)
                if mistakes not in self.earlier_explanations:
                    self.earlier_explanations.append(mistakes)
        return {name: self.with_reason(verdict, explained) for name, verdict in explained.items()}

    def best_explanation(self, case: Case) -> Mistakes:
        """Return the mistakes that explain a wrong case best; () if none explain it.

        A single mistake that explained an earlier case is taken at once. If rounding can make
        mistakes look alike, nothing but the mistakes of earlier cases is considered. Otherwise the
        catalogue is searched for single mistakes. If there are none, pairs that explained earlier
        cases come first, and all pairs last. `rank` chooses among several.
        """
        earlier = [
            mistakes for mistakes in self.earlier_explanations if self.explains(mistakes, case)
        ]
        has_single_mistake = any(len(mistakes) == 1 for mistakes in earlier)
        if has_single_mistake or self.is_rounded(case):
            return min(earlier, key=len, default=())  # the fewest mistakes
        outcome = self.outcomes[case]
        candidates = list(explaining_mistakes(case, outcome, self.interface)) or earlier
        if not candidates and self.may_search_pairs(case):
            self.pair_searches += 1
            candidates = list(explaining_pairs(case, outcome, self.interface))
        return max(candidates, key=self.rank, default=())

    def is_rounded(self, case: Case) -> bool:
        """Whether a case is of a coarse dtype, and its output finite.

        Rounding can make mistakes look alike, so only those of earlier cases are then considered.
        """
        output = self.outcomes[case].results["output"]
        return case.dtype is not None and bool(np.isfinite(output).all())

    def may_search_pairs(self, case: Case) -> bool:
        """Whether the output has few numbers, and few searches through all pairs were made."""
        output = self.outcomes[case].results["output"]
        return output.size <= MAX_OUTPUT_SIZE and self.pair_searches < MAX_PAIR_SEARCHES

    def explains(self, mistakes: Mistakes, case: Case) -> bool:
        return explains_with_conventions(case, self.outcomes[case], mistakes, self.interface)

    def rank(self, mistakes: Mistakes) -> tuple[int, bool, int, bool, int]:
        """Return a sort key for mistakes, in which the best explanation is largest.

        It compares how many wrong cases they explain, whether one of them explains an earlier case,
        how few they are, whether all right cases allow them, and how many of their typical cases
        were checked.
        """
        wrong_cases = [verdict.case for verdict in self.verdicts if verdict.status == WRONG]
        right_cases = [verdict.case for verdict in self.verdicts if verdict.status == OK]
        explained_count = sum(self.explains(mistakes, case) for case in wrong_cases)
        is_known = any(set(mistakes) & set(earlier) for earlier in self.earlier_explanations)
        is_possible = not any(changes_output(case, mistakes) for case in right_cases)
        checked_names = {case.name for case in (*wrong_cases, *right_cases)}
        typical_count = sum(typical_case(mistake) in checked_names for mistake in mistakes)
        return explained_count, is_known, -len(mistakes), is_possible, typical_count

    def with_reason(self, verdict: Verdict, explained: dict[str, Verdict]) -> Verdict:
        summaries = " and ".join(mistake.summary for mistake in verdict.mistakes)
        reason = f"its output is that of {summaries}"
        other_verdicts = [explained.get(other.case.name, other) for other in self.verdicts]
        unaffected_names = [
            other.case.name for other in other_verdicts if lacks_effect(other, verdict.mistakes)
        ]
        if unaffected_names:
            # The typical case of a mistake shows best that it is not made there.
            typical_names = {typical_case(mistake) for mistake in verdict.mistakes}
            best_names = [name for name in unaffected_names if name in typical_names]
            reason += f", but not in {(best_names or unaffected_names)[0]}"
        return replace(verdict, reason=reason)


def lacks_effect(verdict: Verdict, mistakes: Mistakes) -> bool:
    """Whether one of the mistakes would change the output of a case, but was not made there."""
    if verdict.status != OK and not verdict.mistakes:  # an unexplained output tells nothing
        return False
    return any(
        changes_output(verdict.case, (mistake,)) and mistake not in verdict.mistakes
        for mistake in mistakes
    )


def describe_wrong_result(case: Case, outcome: Outcome, interface: Interface) -> str:
    difference = first_wrong_result(case, outcome.results, case.expected(), interface)
    assert difference
    name, index = difference
    actual = outcome.results[name][index]
    expected = case.expected()[name][index]
    position = calling.index_in_layout(index, interface.layout)
    return f"its {result_label(name)} at {position} is {format_mismatch(actual, expected)}"


def with_identity_values(case: Case) -> Case:
    """Return the case with identity matrices as values, so that a head returns its weights."""
    assert isinstance(case.call, Call)
    b, h, n, _ = case.call.value.shape
    value = np.tile(np.eye(n), (b, h, 1, 1))
    return replace(case, call=replace(case.call, value=value))


def first_wrong_step(
    case: Case, outcome: Outcome, probe: Case, probe_outcome: Outcome, interface: Interface
) -> str:
    """Describe which step is the first wrong one: the scores, the softmax, or the weighted sum.

    Args:
        probe: the same case `with_identity_values`.
        probe_outcome: its outcome, whose output is the weights.
    """
    if probe_outcome.failure or shape_problem(probe, probe_outcome.results, interface):
        return "could not recover its weights, as it does not take the identity for values"
    weights = probe_outcome.results["output"]
    if not is_weighted_sum(case, outcome, weights):
        return "it is no weighted sum of the values, so look at what follows the softmax"
    expected = probe.expected()
    if first_wrong_result(probe, probe_outcome.results, expected, interface) is None:
        return "its weights are right, so the sum of the values is wrong"
    interface = float32_at_best(interface)
    difference = first_wrong_result(probe, probe_outcome.results, expected, interface)
    if difference is None:
        return "its weights are off by too little to tell which step is wrong"
    _, worst_index = difference
    return describe_wrong_weights(probe, weights, worst_index, interface)


def describe_wrong_weights(
    probe: Case, weights: Array, worst_index: tuple[int, ...], interface: Interface
) -> str:
    """Describe which step before the weighted sum makes the (b, h, m, n) weights wrong."""
    assert isinstance(probe.call, Call)
    layout = interface.layout
    tolerance = probe.tolerance(effective_dtype(probe, interface))
    expected = expected_steps(probe.call)
    is_hidden: Array = np.isneginf(expected.masked)
    if np.isnan(weights).any():
        first_nan = tuple(np.argwhere(np.isnan(weights))[0])
        return f"its weights are nan, first at {calling.index_in_layout(first_nan, layout)}"
    if (np.abs(weights[is_hidden]) > tolerance).any():
        largest_weight = np.abs(weights[is_hidden]).max()
        return (
            f"the mask is the first wrong step: a hidden key has a weight of {largest_weight:.4g}"
        )
    if problem := row_sum_problem(weights, expected.weights, tolerance, layout):
        return problem
    if ((weights <= 0) & ~is_hidden & (expected.weights > tolerance)).any():
        if not is_hidden.any():
            return "a key has no weight, so look at the softmax first"
        return "the mask is the first wrong step: a visible key has no weight"
    if np.allclose(np.sort(weights), np.sort(expected.weights), atol=tolerance):
        return "its weights are right but at other keys, so look at the order of keys and values"
    problem = scores_problem(weights, expected.masked, ~is_hidden)
    position = calling.index_in_layout(worst_index, layout)
    return f"its weights are wrong, the worst at {position}: {problem}"


def is_weighted_sum(case: Case, outcome: Outcome, weights: Array) -> bool:
    """Whether the output is `weights @ value` within about 1 %; NaN equals NaN."""
    assert isinstance(case.call, Call)
    output = outcome.results["output"]
    value = share_heads(case.call).value
    with np.errstate(all="ignore"):
        return np.allclose(output, weights @ value, rtol=0.01, atol=0.01, equal_nan=True)


def row_sum_problem(weights: Array, expected: Array, tolerance: float, layout: str) -> str:
    """Describe the first query whose weights do not sum to one; "" if there is none.

    Args:
        weights: (b, h, m, n) weights.
        expected: (b, h, m, n) right weights, which may sum to zero.
        layout: the reader's layout, in which the query is given.
    """
    sums = weights.sum(axis=-1)
    wrong_queries = np.argwhere(np.abs(sums - expected.sum(axis=-1)) > tolerance)
    if not len(wrong_queries):
        return ""
    with np.errstate(all="ignore"):  # a sum may be zero
        rescaled_weights = weights / sums[..., None]
    is_only_rescaled = np.allclose(rescaled_weights, expected, atol=tolerance)
    cause = "only their sum is wrong" if is_only_rescaled else "look at the softmax first"
    query = tuple(wrong_queries[0])
    # Without the key, which is last in every layout.
    position = calling.index_in_layout((*query, 0), layout)[:-1]
    return f"its weights sum to {sums[query]:.6g} at {position} instead of 1: {cause}"


def scores_problem(weights: Array, masked_scores: Array, is_visible: Array) -> str:
    """Describe how the scores that gave the weights differ from the right masked scores.

    The logarithm of the weights gives the scores up to a constant for each row, which
    `centre_visible` removes.
    """
    with np.errstate(all="ignore"):  # hidden keys have weights of zero
        scores = centre_visible(np.log(weights), is_visible)
    expected = centre_visible(masked_scores, is_visible)
    # The factor by least squares; the lower bound avoids a division by zero.
    factor = float((scores * expected).sum() / max((expected**2).sum(), 1e-300))
    tolerance = 1e-3 * np.abs(expected).max()
    if np.allclose(scores, 0, atol=tolerance):
        return "all keys of a query have the same score, so its scores are lost before the softmax"
    if np.allclose(scores, factor * expected, atol=tolerance):
        if abs(factor - 1) < 1e-3:
            return "its scores are nearly right, so look for something small that is added to them"
        return f"the scores are {factor:.4g} times the right ones, so look at what multiplies them"
    return "the scores, or what the softmax subtracts from them, are the first wrong step"


def centre_visible(scores: Array, is_visible: Array) -> Array:
    """Subtract from each row the mean of its visible scores, and set the hidden ones to zero."""
    scores = np.where(is_visible, scores, 0.0)
    visible_count = np.maximum(is_visible.sum(axis=-1, keepdims=True), 1)
    mean = scores.sum(axis=-1, keepdims=True) / visible_count
    return np.where(is_visible, scores - mean, 0.0)
