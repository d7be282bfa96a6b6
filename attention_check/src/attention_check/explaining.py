"""Explain wrong results by mistakes of the catalogue, or by the first step that is wrong."""

from dataclasses import dataclass, field, replace

import numpy as np

from attention_check import calling, recipe
from attention_check.calling import Interface
from attention_check.cases import Case, output_gradient
from attention_check.comparing import (
    Mistakes,
    changes_output,
    effective_dtype,
    explaining_mistakes,
    explains,
    explains_with_conventions,
    first_wrong_result,
    float32_at_best,
    result_label,
    shape_problem,
    typical_case,
)
from attention_check.mistakes import MISTAKES, compatible_pairs
from attention_check.recipe import Array, Call, masked_scores, share_heads, softmax
from attention_check.report import OK, WRONG, Verdict
from attention_check.shrinking import format_mismatch
from attention_check.worker import Outcome, Worker

# The search through pairs of mistakes is slow, so only so many cases get one.
MAX_PAIR_SEARCHES = 2
# A case with more scores is explained by the mistakes of earlier cases only, because that is slow.
MOST_SCORES = 100_000


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
        mistakes look alike, or the case is large, only the mistakes of earlier cases count.
        Otherwise the catalogue is searched for single mistakes. If there are none, pairs that
        explained earlier cases come first, and all pairs last. `rank` chooses among several.
        """
        earlier = [
            mistakes for mistakes in self.earlier_explanations if self.explains(mistakes, case)
        ]
        outcome = self.outcomes[case]
        output = outcome.results["output"]
        is_finite = bool(np.isfinite(output).all())
        has_single_mistake = any(len(mistakes) == 1 for mistakes in earlier)
        is_rounded = case.dtype is not None and is_finite
        is_large = output.size // output.shape[-1] * case.call.key.shape[-2] > MOST_SCORES
        if has_single_mistake or is_rounded or is_large:
            return min(earlier, key=len, default=())  # the fewest mistakes
        candidates = list(explaining_mistakes(case, outcome, self.interface)) or earlier
        # Too many pairs would explain an output with NaN or infinity.
        if not candidates and is_finite and self.pair_searches < MAX_PAIR_SEARCHES:
            self.pair_searches += 1
            mistakes = [mistake for mistake in MISTAKES if changes_output(case, (mistake,))]
            candidates = [
                pair
                for pair in compatible_pairs(mistakes)
                if explains(case, outcome, pair, self.interface)
            ]
        return max(candidates, key=self.rank, default=())

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
            other.case.name
            for other in other_verdicts
            # An unexplained output tells nothing.
            if (other.status == OK or other.mistakes)
            and any(
                changes_output(other.case, (mistake,)) and mistake not in other.mistakes
                for mistake in verdict.mistakes
            )
        ]
        if unaffected_names:
            # The typical case of a mistake shows best that it is not made there.
            typical_names = {typical_case(mistake) for mistake in verdict.mistakes}
            best_names = [name for name in unaffected_names if name in typical_names]
            reason += f", but not in {(best_names or unaffected_names)[0]}"
        return replace(verdict, reason=reason)


def locate(
    case: Case, outcome: Outcome, worker: Worker, interface: Interface, hints: list[str]
) -> str:
    """Describe a wrong result by its worst number and, for attention, where to look."""
    difference = first_wrong_result(case, outcome.results, case.expected(), interface)
    assert difference
    name, index = difference
    if interface.right_layout:
        return (
            f"it is right in the layout {interface.right_layout}, and its name, docstring or a "
            f"comment says {interface.layout}: it attends along another axis"
        )
    position = calling.index_in_layout(index, interface.layout)
    mismatch = format_mismatch(outcome.results[name][index], case.expected()[name][index])
    reasons = [f"its {result_label(name)} at {position} is {mismatch}"]
    if isinstance(case.call, Call) and case.compares_gradients:
        reasons += gradient_hints(case, outcome, interface)
    elif case.compares_gradients:
        derivatives = recipe.directional_derivatives(case.call, output_gradient(case.call), True)
        errors = np.abs(outcome.results["input"] - derivatives)
        if errors.max() <= 10 * case.tolerance(effective_dtype(case, interface)):
            reasons.append(recipe.GRADIENT_MISTAKES["detached"])
    elif isinstance(case.call, Call):
        reasons += hints or [first_wrong_step(case, outcome, worker, interface)]
    return "; ".join(reasons)


def gradient_hints(case: Case, outcome: Outcome, interface: Interface) -> list[str]:
    """Say which gradients are right, in which heads they are not, and by which factor."""
    expected = case.expected()
    tolerance = 100 * case.tolerance(effective_dtype(case, interface))
    for mistake, reason in recipe.GRADIENT_MISTAKES.items():
        with np.errstate(all="ignore"):  # a row that sees no key
            wrong = recipe.gradients(case.call, output_gradient(case.call), mistake)
        if all(np.abs(outcome.results[name] - wrong[name]).max() <= tolerance for name in wrong):
            return [reason]
    hints = []
    right = []
    for name, actual in outcome.results.items():
        errors = np.abs(actual - expected[name])
        if errors.max() <= tolerance:
            right.append(name)
            continue
        factor = float((actual * expected[name]).sum() / (expected[name] ** 2).sum())
        wrong_heads = np.flatnonzero((~(errors <= tolerance)).any(axis=(0, 2, 3)))
        if np.allclose(actual, factor * expected[name], atol=tolerance):
            of_scale = abs(factor * recipe.effective_scale(case.call) - 1) < 1e-3
            cause = ": the scale is missing" if of_scale else ", so look at what multiplies it"
            hints.append(f"the gradient of {name} is {factor:.4g} times the right one{cause}")
        elif len(wrong_heads) < actual.shape[1]:
            hints.append(f"the gradient of {name} is wrong only in heads {wrong_heads.tolist()}")
    if right:
        hints.append(f"the gradient of {' and '.join(right)} is right")
    if case.is_strided and not hints:
        hints.append("look at how the backward pass uses the strides of the gradient it gets")
    return hints


def first_wrong_step(case: Case, outcome: Outcome, worker: Worker, interface: Interface) -> str:
    """Describe which step is the first wrong one: the scores, the softmax, or the weighted sum.

    A further call has identity matrices as values, so that its output is the weights.
    """
    b, h, n, _ = case.call.value.shape
    identity = np.tile(np.eye(n), (b, h, 1, 1))
    probe = replace(case, call=replace(case.call, value=identity))
    probe_outcome = worker.run(probe, interface)
    if probe_outcome.failure or shape_problem(probe, probe_outcome.results, interface):
        return "could not recover its weights, as it does not take the identity for values"
    weights = probe_outcome.results["output"]
    output = outcome.results["output"]
    value = share_heads(case.call).value
    with np.errstate(all="ignore"):
        is_weighted_sum = np.allclose(output, weights @ value, rtol=0.01, atol=0.01, equal_nan=True)
    if not is_weighted_sum:
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
    layout = interface.layout
    tolerance = probe.tolerance(effective_dtype(probe, interface))
    expected_scores = masked_scores(share_heads(probe.call))
    expected_weights = softmax(expected_scores)
    is_hidden: Array = np.isneginf(expected_scores)
    if np.isnan(weights).any():
        first_nan = tuple(np.argwhere(np.isnan(weights))[0])
        return f"its weights are nan, first at {calling.index_in_layout(first_nan, layout)}"
    if (np.abs(weights[is_hidden]) > tolerance).any():
        largest_weight = np.abs(weights[is_hidden]).max()
        return (
            f"the mask is the first wrong step: a hidden key has a weight of {largest_weight:.4g}"
        )
    is_zero_row = (weights == 0).all(axis=-1) & ~is_hidden.all(axis=-1)
    if is_zero_row.any():
        mask = probe.call.mask
        is_of_keys = mask is not None and mask.ndim == 4 and mask.shape[2] == 1
        if is_of_keys and mask.shape[-1] == is_zero_row.shape[-1]:
            is_padding = ~mask[:, :, 0] & np.ones_like(is_zero_row)
            if np.array_equal(is_zero_row, is_padding):
                return (
                    "it zeroes queries where keys are padding, and a mask of keys hides keys only"
                )
        row = tuple(np.argwhere(is_zero_row)[0])
        position = calling.index_in_layout((*row, 0), layout)[:-1]
        return f"rows of its output are zero, the first at {position}"
    if are_right_in_blocks(weights, expected_weights):
        return "its weights are right among neighbouring keys, so look at how blocks are merged"
    sums = weights.sum(axis=-1)
    wrong_queries = np.argwhere(np.abs(sums - expected_weights.sum(axis=-1)) > tolerance)
    if len(wrong_queries):
        with np.errstate(all="ignore"):  # a sum may be zero
            rescaled = weights / sums[..., None]
        is_only_rescaled = np.allclose(rescaled, expected_weights, atol=tolerance)
        cause = "only their sum is wrong" if is_only_rescaled else "look at the softmax first"
        query = tuple(wrong_queries[0])
        # Without the key, which is last in every layout.
        position = calling.index_in_layout((*query, 0), layout)[:-1]
        return f"its weights sum to {sums[query]:.6g} at {position} instead of 1: {cause}"
    if ((weights <= 0) & ~is_hidden & (expected_weights > tolerance)).any():
        if not is_hidden.any():
            return "a key has no weight, so look at the softmax first"
        return "the mask is the first wrong step: a visible key has no weight"
    if np.allclose(np.sort(weights), np.sort(expected_weights), atol=tolerance):
        return "its weights are right but at other keys, so look at the order of keys and values"
    problem = scores_problem(weights, expected_scores, ~is_hidden)
    position = calling.index_in_layout(worst_index, layout)
    return f"its weights are wrong, the worst at {position}: {problem}"


def are_right_in_blocks(weights: Array, expected: Array) -> bool:
    """Whether in each row a few factors, each of neighbouring keys, separate right from wrong."""
    with np.errstate(all="ignore"):
        factors = np.where(expected > 0, weights / expected, np.nan)
    steps = np.abs(np.diff(factors, axis=-1)) > 1e-6 * np.abs(factors[..., 1:])
    return bool((factors > 0).all() and 0 < steps.sum(axis=-1).max() <= 2)


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
