"""The check: call a function with every case, and say what came of each."""

from dataclasses import replace

from attention_docs.diagnosis.calling import Description, Settings
from attention_docs.diagnosis.cases import CASES, Case, with_equal_widths
from attention_docs.diagnosis.comparing import (
    conventions_of,
    differing,
    explains,
    shape_problem,
    shows,
)
from attention_docs.diagnosis.findings import NOT_SUPPORTED, OK, ON_PURPOSE, WRONG, Finding, Report
from attention_docs.diagnosis.locating import (
    first_cell,
    first_wrong_step,
    with_values_that_show_weights,
)
from attention_docs.diagnosis.mistakes import TRUE_HIDES
from attention_docs.diagnosis.naming import named
from attention_docs.diagnosis.recipe import Call, LayerCall
from attention_docs.diagnosis.trying import callable_settings, equal_widths, mask_settings
from attention_docs.diagnosis.worker import Outcome, Worker


def check(target: str, settings: Settings | None = None, limit: float = 10.0) -> Report:
    """Call a function with every case and say what it gets wrong.

    Args:
        target: `module:function` or `path/to/file.py:function`.
        settings: what is known of it; the rest is found out.
        limit: seconds that a case may take.

    Raises:
        LoadError: if there is no such function, or it cannot be called at all.
    """
    with Worker(target, limit) as worker:
        return check_with(worker, settings or Settings())


def check_with(worker: Worker, settings: Settings) -> Report:
    """Check the function of a worker."""
    description = worker.describe(settings)
    settings = replace(settings, library=description.library)
    cases = [case for case in CASES.values() if fits(case, description)]
    settings = callable_settings(worker, description, settings, cases)
    if equal_widths(worker, description, settings, cases[0]):
        cases = [with_equal_widths(case) for case in cases]
    told = settings.mask
    settings = mask_settings(worker, description, settings, cases)
    outcomes = {case: worker.run(case, description, settings) for case in cases}
    findings = [judge(case, outcome, settings) for case, outcome in outcomes.items()]
    if settings.mask == "hide" and not told:
        findings = [with_polarity(finding) for finding in findings]
    findings = named(findings, outcomes, settings)
    findings = [explained(f, outcomes[f.case], worker, description, settings) for f in findings]
    return Report(worker.target, settings, findings)


def with_polarity(finding: Finding) -> Finding:
    """Say of the case of a boolean mask that True hides, where nobody has told so."""
    if finding.case.name != "boolean_mask" or finding.status != OK:
        return finding
    return replace(finding, status=ON_PURPOSE, words=TRUE_HIDES.words)


def fits(case: Case, description: Description) -> bool:
    """Whether a case is for functions of this kind: a layer with weights, or attention itself."""
    return isinstance(case.call, LayerCall) == description.is_layer


def judge(case: Case, outcome: Outcome, settings: Settings) -> Finding:
    """Say what came of a case, without a name for what is wrong."""
    if outcome.failure:
        status = WRONG if outcome.broken else NOT_SUPPORTED
        return Finding(case, status, outcome.failure, notes=outcome.notes)
    if problem := shape_problem(case, outcome.results, settings):
        return Finding(case, WRONG, problem, notes=outcome.notes)
    if differing(case, outcome.results, case.right(), settings) is None:
        return Finding(case, OK, notes=outcome.notes)
    for made in conventions_of(case):
        if shows(case, made) and explains(case, outcome, made, settings):
            words = "; ".join(convention.words for convention in made)
            return Finding(case, ON_PURPOSE, words, notes=outcome.notes)
    return Finding(case, WRONG, notes=outcome.notes)


def explained(
    finding: Finding, outcome: Outcome, worker: Worker, description: Description, settings: Settings
) -> Finding:
    """Say in words what is wrong: the mistake, or where it first shows."""
    if finding.status != WRONG or finding.words:
        return finding
    if finding.case.dtype == "int64":
        words = "it rounds whole numbers to whole numbers on the way, so pass floats"
        return replace(finding, status=ON_PURPOSE, words=words)
    again = worker.run(finding.case, description, settings)
    if again.failure or differing(finding.case, again.results, outcome.results, settings):
        words = "it gives another output each time, so turn off what is random, such as dropout"
        return replace(finding, words=words)
    words = first_cell(finding.case, outcome, settings)
    if isinstance(finding.case.call, Call) and not finding.case.gradients:
        probe = with_values_that_show_weights(finding.case)
        shown = worker.run(probe, description, settings)
        words += f"; {first_wrong_step(finding.case, outcome, probe, shown, settings)}"
    return replace(finding, words=words)
