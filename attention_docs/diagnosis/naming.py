"""Which mistakes explain the cases that are wrong."""

from dataclasses import replace

import numpy as np

from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case
from attention_docs.diagnosis.comparing import (
    Named,
    explains,
    pairs_of_mistakes,
    shows,
    single_mistakes,
)
from attention_docs.diagnosis.findings import OK, WRONG, Finding
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.worker import Outcome


def named(
    findings: list[Finding], outcomes: dict[Case, Outcome], settings: Settings
) -> list[Finding]:
    """Name what is wrong in each case, as far as it is known."""
    returned = {f: outcomes[f.case] for f in findings if not outcomes[f.case].failure}
    search = Search(returned, settings)
    found = {f.case.name: search.named(f) for f in returned}
    found |= {name: refer(f, found.get(simpler_case(f.case))) for name, f in found.items()}
    return [in_words(found.get(f.case.name, f), [*found.values()]) for f in findings]


class Search:
    """The search for mistakes that explain what came of the cases of one check."""

    def __init__(self, outcomes: dict[Finding, Outcome], settings: Settings) -> None:
        self.outcomes, self.settings = outcomes, settings
        self.pairs_found: set[Named] = set()

    def named(self, finding: Finding) -> Finding:
        """Of all mistakes that explain a wrong case, take those that explain the most cases."""
        if finding.status != WRONG or finding.case.gradients or finding.case.dtype:
            return finding
        best = max(self.explaining(finding), key=self.agreement, default=())
        if len(best) > 1:
            self.pairs_found.add(best)
        return replace(finding, mistakes=best)

    def explaining(self, finding: Finding) -> list[Named]:
        """Return single mistakes, or else pairs of them."""
        case, outcome = finding.case, self.outcomes[finding]
        single = list(single_mistakes(case, outcome, self.settings))
        if np.isnan(outcome.results["output"]).all():  # as too many mistakes would have it
            single = [made for made in single if self.explains_all(made)]
        # What has been found already comes before a search through all pairs.
        again = [made for made in self.pairs_found if self.explains(made, finding)]
        return single or again or list(pairs_of_mistakes(case, outcome, self.settings))

    def explains(self, made: Named, finding: Finding) -> bool:
        return explains(finding.case, self.outcomes[finding], made, self.settings)

    def explains_all(self, made: Named) -> bool:
        wrong = (f for f in self.outcomes if f.status == WRONG and not f.case.gradients)
        return all(self.explains(made, f) for f in wrong if not simpler_case(f.case))

    def agreement(self, made: Named) -> tuple[int, int]:
        """Return how many cases mistakes explain; of as many, the fewer mistakes are better."""
        return sum(self.explains(made, finding) for finding in self.outcomes), -len(made)


def simpler_case(case: Case) -> str:
    """Return the case that tells which mistake it is, if this one may hide that, or nothing.

    The rounding of 16 bits or of whole numbers does, and so do numbers for a mask that is wrong
    with True and False already.
    """
    if case.dtype is not None:
        return "distinct_sizes"
    return "boolean_mask" if isinstance(case.call, Call) and case.call.bias is not None else ""


def refer(finding: Finding, simpler: Finding | None) -> Finding:
    """Refer to the simpler case, if that is wrong too and no mistake is known in this one alone."""
    if finding.status != WRONG or not simpler or simpler.status != WRONG:
        return finding
    if finding.mistakes and not simpler.mistakes:
        return finding
    return replace(finding, words=f"as in {simpler.case.name}", mistakes=())


def in_words(finding: Finding, findings: list[Finding]) -> Finding:
    """Say which mistakes a case shows, and in which other case they should show but do not."""
    if not finding.mistakes:
        return finding
    words = f"its output is that of {' and '.join(m.words for m in finding.mistakes)}"
    lacking = [f.case.name for f in findings if lacks(f, finding.mistakes)]
    if lacking:
        usual = {mistake.shows_in for mistake in finding.mistakes}
        words += f", but not in {next((name for name in lacking if name in usual), lacking[0])}"
    return replace(finding, words=words)


def lacks(finding: Finding, made: Named) -> bool:
    """Whether a case is right, or has other mistakes, although one of these would show in it."""
    told = finding.status == OK or finding.mistakes
    plain = not simpler_case(finding.case)
    return bool(told and plain) and any(
        shows(finding.case, (m,)) and m not in finding.mistakes for m in made
    )
