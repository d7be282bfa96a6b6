"""Find the mistakes of the catalogue that explain wrong cases."""

from dataclasses import replace

import numpy as np

from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case
from attention_docs.diagnosis.comparing import (
    Mistakes,
    changes_output,
    explaining_mistakes,
    explaining_pairs,
    explains,
)
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.verdicts import OK, WRONG, Verdict
from attention_docs.diagnosis.worker import Outcome


def name_mistakes(
    verdicts: list[Verdict], outcomes: dict[Case, Outcome], settings: Settings
) -> list[Verdict]:
    """Add to each wrong case the mistakes that explain it, if any are known."""
    with_result = {v: outcomes[v.case] for v in verdicts if not outcomes[v.case].failure}
    search = MistakeSearch(with_result, settings)
    explained = {v.case.name: search.explain(v) for v in with_result}
    explained |= {
        name: refer_to_simpler(verdict, explained.get(simpler_case(verdict.case)))
        for name, verdict in explained.items()
    }
    return [add_reason(explained.get(v.case.name, v), [*explained.values()]) for v in verdicts]


class MistakeSearch:
    """Search for mistakes that explain the outcomes of a check."""

    def __init__(self, outcomes: dict[Verdict, Outcome], settings: Settings) -> None:
        self.outcomes, self.settings = outcomes, settings
        self.known_pairs: set[Mistakes] = set()

    def explain(self, verdict: Verdict) -> Verdict:
        """Add to a wrong case those of its explanations that explain the most cases."""
        if verdict.status != WRONG or verdict.case.gradients or verdict.case.dtype:
            return verdict
        best = max(self.candidates(verdict), key=self.score, default=())
        if len(best) > 1:
            self.known_pairs.add(best)
        return replace(verdict, mistakes=best)

    def candidates(self, verdict: Verdict) -> list[Mistakes]:
        """Return the single mistakes that explain a case, or if there are none, the pairs."""
        case, outcome = verdict.case, self.outcomes[verdict]
        singles = list(explaining_mistakes(case, outcome, self.settings))
        if np.isnan(outcome.results["output"]).all():  # many mistakes give NaN
            singles = [mistakes for mistakes in singles if self.explains_all(mistakes)]
        # Pairs that explain an earlier case come first, because trying all pairs is slow.
        known = [mistakes for mistakes in self.known_pairs if self.explains(mistakes, verdict)]
        return singles or known or list(explaining_pairs(case, outcome, self.settings))

    def explains(self, mistakes: Mistakes, verdict: Verdict) -> bool:
        return explains(verdict.case, self.outcomes[verdict], mistakes, self.settings)

    def explains_all(self, mistakes: Mistakes) -> bool:
        wrong = (v for v in self.outcomes if v.status == WRONG and not v.case.gradients)
        return all(self.explains(mistakes, v) for v in wrong if not simpler_case(v.case))

    def score(self, mistakes: Mistakes) -> tuple[int, int]:
        """Rank mistakes by the number of cases they explain, then by how few they are."""
        return sum(self.explains(mistakes, verdict) for verdict in self.outcomes), -len(mistakes)


def simpler_case(case: Case) -> str:
    """Return the name of the case that identifies a mistake better than this one, or "".

    Rounding to 16 bits or to integers can mask a mistake, and a wrong float mask is often a wrong
    boolean mask.
    """
    if case.dtype is not None:
        return "distinct_sizes"
    return "boolean_mask" if isinstance(case.call, Call) and case.call.bias is not None else ""


def refer_to_simpler(verdict: Verdict, simpler: Verdict | None) -> Verdict:
    """Refer to the simpler case if it is wrong too, unless only this case has known mistakes."""
    if verdict.status != WRONG or not simpler or simpler.status != WRONG:
        return verdict
    if verdict.mistakes and not simpler.mistakes:
        return verdict
    return replace(verdict, reason=f"as in {simpler.case.name}", mistakes=())


def add_reason(verdict: Verdict, verdicts: list[Verdict]) -> Verdict:
    """Return a verdict with its reason: the mistakes, and a case that lacks their effect."""
    if not verdict.mistakes:
        return verdict
    reason = f"its output is that of {' and '.join(m.summary for m in verdict.mistakes)}"
    unaffected = [v.case.name for v in verdicts if is_unaffected(v, verdict.mistakes)]
    if unaffected:
        usual = {mistake.shows_in for mistake in verdict.mistakes}
        name = next((name for name in unaffected if name in usual), unaffected[0])
        reason += f", but not in {name}"
    return replace(verdict, reason=reason)


def is_unaffected(verdict: Verdict, mistakes: Mistakes) -> bool:
    """Whether a case lacks one of these mistakes that would change its output."""
    if simpler_case(verdict.case) or not (verdict.status == OK or verdict.mistakes):
        return False
    return any(
        changes_output(verdict.case, (mistake,)) and mistake not in verdict.mistakes
        for mistake in mistakes
    )
