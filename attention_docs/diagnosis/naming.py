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
    """Name what is wrong: of all that explain a case, take what explains the most of the cases."""
    wrong = [f for f in findings if f.status == WRONG and not outcomes[f.case].failure]
    pairs_found: set[Named] = set()

    def agreement(made: Named) -> tuple[int, int]:
        judged = [f for f in findings if not outcomes[f.case].failure]
        return sum(explains(f.case, outcomes[f.case], made, settings) for f in judged), -len(made)

    def explains_all(made: Named) -> bool:
        plain = (f for f in wrong if simpler_case(f.case) is None and not f.case.gradients)
        return all(explains(f.case, outcomes[f.case], made, settings) for f in plain)

    def name(finding: Finding) -> Finding:
        if finding not in wrong or finding.case.gradients:
            return finding
        first = simpler_case(finding.case)
        if any(other.case.name == first for other in wrong):
            return replace(finding, words=f"as in {first}")
        if finding.case.dtype == "int64":  # rounded to whole numbers, it is no mistake's digits
            return finding
        outcome = outcomes[finding.case]
        # What has been found already comes before a search through all pairs.
        again = (made for made in pairs_found if explains(finding.case, outcome, made, settings))
        single = single_mistakes(finding.case, outcome, settings)
        if np.isnan(outcome.results["output"]).all():  # as too many mistakes would have it
            single = (made for made in single if explains_all(made))
        found = list(single) or list(again) or pairs_of_mistakes(finding.case, outcome, settings)
        best: Named = max(found, key=agreement, default=())
        if len(best) > 1:
            pairs_found.add(best)
        return replace(finding, mistakes=best)

    found = [name(finding) for finding in findings]
    return [in_words(finding, found) for finding in found]


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
    plain = simpler_case(finding.case) is None
    return bool(told and plain) and any(
        shows(finding.case, (m,)) and m not in finding.mistakes for m in made
    )


def simpler_case(case: Case) -> str | None:
    """Return the case that tells which mistake it is, if this one hides that.

    The rounding of 16 bits or of whole numbers does, and so do numbers for a mask that is wrong
    with True and False already.
    """
    if case.dtype is not None:
        return "distinct_sizes"
    return "boolean_mask" if isinstance(case.call, Call) and case.call.bias is not None else None
