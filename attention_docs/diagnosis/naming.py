"""Name the mistakes of the catalogue that explain wrong cases."""

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
    with_result = {
        verdict: outcomes[verdict.case]
        for verdict in verdicts
        if not outcomes[verdict.case].failure
    }
    search = MistakeSearch(with_result, settings)
    explained = {verdict.case.name: search.explain(verdict) for verdict in with_result}
    explained |= {
        name: refer_to_simpler(verdict, explained.get(simpler_case(verdict.case)))
        for name, verdict in explained.items()
    }
    return [
        add_reason(explained.get(verdict.case.name, verdict), list(explained.values()))
        for verdict in verdicts
    ]


class MistakeSearch:
    """Search for mistakes that explain the outcomes of a check.

    Attributes:
        outcomes: the outcome of each case that returned a result.
        settings: how the function was called.
        earlier_pairs: the pairs of mistakes that explained earlier cases.
    """

    def __init__(self, outcomes: dict[Verdict, Outcome], settings: Settings) -> None:
        self.outcomes, self.settings = outcomes, settings
        self.earlier_pairs: set[Mistakes] = set()

    def explain(self, verdict: Verdict) -> Verdict:
        """Add to a wrong case, of the mistakes that explain it, those that explain most cases."""
        if verdict.status != WRONG or verdict.case.gradients or verdict.case.dtype:
            return verdict
        best = max(self.candidates(verdict), key=self.rank, default=())
        if len(best) > 1:
            self.earlier_pairs.add(best)
        return replace(verdict, mistakes=best)

    def candidates(self, verdict: Verdict) -> list[Mistakes]:
        """Return the single mistakes that explain a case, or if there are none, the pairs."""
        case, outcome = verdict.case, self.outcomes[verdict]
        singles = list(explaining_mistakes(case, outcome, self.settings))
        if np.isnan(outcome.results["output"]).all():  # many mistakes give NaN
            singles = [mistakes for mistakes in singles if self.explains_all(mistakes)]
        if singles:
            return singles
        # Pairs that explain an earlier case come first, because trying all pairs is slow.
        pairs = [pair for pair in self.earlier_pairs if self.explains(pair, verdict)]
        return pairs or list(explaining_pairs(case, outcome, self.settings))

    def explains(self, mistakes: Mistakes, verdict: Verdict) -> bool:
        return explains(verdict.case, self.outcomes[verdict], mistakes, self.settings)

    def explains_all(self, mistakes: Mistakes) -> bool:
        """Whether mistakes explain all wrong cases, except those that have a simpler case."""
        return all(
            self.explains(mistakes, verdict)
            for verdict in self.outcomes
            if verdict.status == WRONG
            and not verdict.case.gradients
            and not simpler_case(verdict.case)
        )

    def rank(self, mistakes: Mistakes) -> tuple[int, int]:
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
    summaries = " and ".join(mistake.summary for mistake in verdict.mistakes)
    reason = f"its output is that of {summaries}"
    unaffected = [other.case.name for other in verdicts if lacks_effect(other, verdict.mistakes)]
    if unaffected:
        # The case that the catalogue gives for a mistake shows it most clearly.
        typical = {mistake.shows_in for mistake in verdict.mistakes}
        name = next((name for name in unaffected if name in typical), unaffected[0])
        reason += f", but not in {name}"
    return replace(verdict, reason=reason)


def lacks_effect(verdict: Verdict, mistakes: Mistakes) -> bool:
    """Whether one of these mistakes would change the output of a case, but is not found there."""
    is_explained = verdict.status == OK or verdict.mistakes
    if simpler_case(verdict.case) or not is_explained:
        return False
    return any(
        changes_output(verdict.case, (mistake,)) and mistake not in verdict.mistakes
        for mistake in mistakes
    )
