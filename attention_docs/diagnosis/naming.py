"""Name the mistakes of the catalogue that explain wrong cases: as few as explain them all."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case
from attention_docs.diagnosis.comparing import (
    Deviations,
    Mistakes,
    changes_output,
    explaining_mistakes,
    explaining_pairs,
    explains,
    possible_conventions,
)
from attention_docs.diagnosis.verdicts import OK, WRONG, Verdict
from attention_docs.diagnosis.worker import Outcome

# A case to compare with all pairs has at most so many numbers, and so many cases are compared.
SMALL, SEARCHES = 60, 4


class Naming:
    """The search for mistakes that explain the outcomes of a check.

    Attributes:
        verdicts: the verdicts on cases with a result that mistakes can explain.
        outcomes: the outcome of each case.
        settings: how the function was called.
        found: the mistakes found so far, which are tried first.
        searches: how many cases were compared with all pairs, which is slow.
    """

    def __init__(
        self, verdicts: list[Verdict], outcomes: dict[Case, Outcome], settings: Settings
    ) -> None:
        self.verdicts = [
            verdict for verdict in verdicts if not (verdict.reason or verdict.case.gradients)
        ]
        self.outcomes, self.settings = outcomes, settings
        self.found: list[Mistakes] = []
        self.searches = 0

    def name(self) -> dict[str, Verdict]:
        """Return the wrong verdicts that mistakes explain, with these mistakes, by case."""
        named = {}
        for verdict in self.verdicts:
            if verdict.status == WRONG and (best := self.best(verdict)):
                named[verdict.case.name] = replace(verdict, mistakes=best)
                self.found += [best] if best not in self.found else []
        return {name: self.with_reason(verdict, named) for name, verdict in named.items()}

    def best(self, verdict: Verdict) -> Mistakes:
        """Return the mistakes that explain a case, and the most other cases; () if none do."""
        case, outcome = verdict.case, self.outcomes[verdict.case]
        candidates = [known for known in self.found if self.explains(known, case)]
        is_finite = np.isfinite(outcome.results["output"]).all()
        if case.dtype and is_finite:  # rounding can hide the difference between mistakes
            return min(candidates, key=len, default=())
        candidates = list(explaining_mistakes(case, outcome, self.settings)) or candidates
        is_small = outcome.results["output"].size <= SMALL
        if not candidates and is_small and self.searches < SEARCHES:
            self.searches += 1
            candidates = list(explaining_pairs(case, outcome, self.settings))
        return max(candidates, key=self.rank, default=())

    def explains(self, mistakes: Mistakes, case: Case) -> bool:
        """Whether mistakes explain a case, possibly together with conventions."""
        conventions: list[Deviations] = [(), *possible_conventions(case)]
        outcome = self.outcomes[case]
        return any(explains(case, outcome, (*c, *mistakes), self.settings) for c in conventions)

    def rank(self, mistakes: Mistakes) -> tuple[int, bool, int, bool, int]:
        """Rank mistakes by the cases they explain, whether they are known, and how few they are.

        Then come those that no right case contradicts, and those with a typical case here.
        """
        wrong, right = (
            [verdict.case for verdict in self.verdicts if verdict.status == status]
            for status in (WRONG, OK)
        )
        count = sum(self.explains(mistakes, case) for case in wrong)
        is_known = any(set(mistakes) & set(found) for found in self.found)
        is_possible = not any(changes_output(case, mistakes) for case in right)
        typical = sum(m.shows_in == case.name for m in mistakes for case in (*wrong, *right))
        return count, is_known, -len(mistakes), is_possible, typical

    def with_reason(self, verdict: Verdict, named: dict[str, Verdict]) -> Verdict:
        """Return a verdict with its reason: the mistakes, and a case that lacks their effect."""
        summaries = " and ".join(mistake.summary for mistake in verdict.mistakes)
        reason = f"its output is that of {summaries}"
        others: Sequence[Verdict] = [named.get(v.case.name, v) for v in self.verdicts]
        unaffected = [other.case.name for other in others if lacks_effect(other, verdict.mistakes)]
        if unaffected:
            typical = {mistake.shows_in for mistake in verdict.mistakes}
            name = next((name for name in unaffected if name in typical), unaffected[0])
            reason += f", but not in {name}"
        return replace(verdict, reason=reason)


def lacks_effect(verdict: Verdict, mistakes: Mistakes) -> bool:
    """Whether one of these mistakes would change the output of a case, but is not found there."""
    if verdict.status != OK and not verdict.mistakes:
        return False
    return any(
        changes_output(verdict.case, (mistake,)) and mistake not in verdict.mistakes
        for mistake in mistakes
    )
