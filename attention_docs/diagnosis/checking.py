"""Call a function with every case and judge each result."""

from dataclasses import replace

from attention_docs.diagnosis.calling import Description, Settings
from attention_docs.diagnosis.cases import CASES, Case, with_equal_widths
from attention_docs.diagnosis.comparing import (
    changes_output,
    explains,
    first_difference,
    possible_conventions,
    shape_problem,
)
from attention_docs.diagnosis.detecting import (
    detect_call_settings,
    detect_mask,
    requires_equal_widths,
)
from attention_docs.diagnosis.locating import (
    describe_first_difference,
    first_wrong_step,
    with_identity_values,
)
from attention_docs.diagnosis.mistakes import TRUE_HIDES
from attention_docs.diagnosis.naming import name_mistakes
from attention_docs.diagnosis.recipe import Call, LayerCall
from attention_docs.diagnosis.verdicts import NOT_SUPPORTED, OK, ON_PURPOSE, WRONG, Report, Verdict
from attention_docs.diagnosis.worker import Outcome, Worker


def check(target: str, settings: Settings | None = None, limit: float = 10.0) -> Report:
    """Call a function with every case and return the verdicts.

    Args:
        target: `module:function` or `path/to/file.py:function`.
        settings: how to call it; None means that it is detected.
        limit: time limit of a case in seconds.

    Raises:
        LoadError: if the function cannot be loaded or called at all.
    """
    with Worker(target, limit) as worker:
        return check_with(worker, settings or Settings())


def check_with(worker: Worker, settings: Settings) -> Report:
    """Check the function of a worker."""
    description = worker.describe(settings)
    settings = replace(settings, library=description.library)
    cases = [case for case in CASES.values() if is_applicable(case, description)]
    settings = detect_call_settings(worker, description, settings, cases)
    if requires_equal_widths(worker, description, settings, cases[0]):
        cases = [with_equal_widths(case) for case in cases]
    is_mask_detected = settings.mask is None
    settings = detect_mask(worker, description, settings, cases)
    outcomes = {case: worker.run(case, description, settings) for case in cases}
    verdicts = [judge(case, outcome, settings) for case, outcome in outcomes.items()]
    if settings.mask == "hide" and is_mask_detected:
        verdicts = [note_inverted_mask(verdict) for verdict in verdicts]
    verdicts = name_mistakes(verdicts, outcomes, settings)
    verdicts = [
        add_location(verdict, outcomes[verdict.case], worker, description, settings)
        for verdict in verdicts
    ]
    return Report(worker.target, settings, verdicts)


def note_inverted_mask(verdict: Verdict) -> Verdict:
    """Mark the case of a boolean mask as on purpose, because True was detected to hide keys."""
    if verdict.case.name != "boolean_mask" or verdict.status != OK:
        return verdict
    return replace(verdict, status=ON_PURPOSE, reason=TRUE_HIDES.summary)


def is_applicable(case: Case, description: Description) -> bool:
    """Whether a case is for this kind of function: a layer with weights, or plain attention."""
    return isinstance(case.call, LayerCall) == description.is_layer


def judge(case: Case, outcome: Outcome, settings: Settings) -> Verdict:
    """Return the verdict on a case; `name_mistakes` and `add_location` explain a wrong one."""
    if outcome.failure:
        status = WRONG if outcome.is_fault else NOT_SUPPORTED
        return Verdict(case, status, outcome.failure, notes=outcome.notes)
    if problem := shape_problem(case, outcome.results, settings):
        return Verdict(case, WRONG, problem, notes=outcome.notes)
    if first_difference(case, outcome.results, case.expected(), settings) is None:
        return Verdict(case, OK, notes=outcome.notes)
    for conventions in possible_conventions(case):
        if changes_output(case, conventions) and explains(case, outcome, conventions, settings):
            reason = "; ".join(convention.summary for convention in conventions)
            return Verdict(case, ON_PURPOSE, reason, notes=outcome.notes)
    return Verdict(case, WRONG, notes=outcome.notes)


def add_location(
    verdict: Verdict, outcome: Outcome, worker: Worker, description: Description, settings: Settings
) -> Verdict:
    """Add to a wrong case that no mistake explains where its result first goes wrong."""
    if verdict.status != WRONG or verdict.reason:
        return verdict
    case = verdict.case
    if case.dtype == "int64":
        reason = "it rounds intermediate results to integers, so pass floats"
        return replace(verdict, status=ON_PURPOSE, reason=reason)
    second_outcome = worker.run(case, description, settings)
    if second_outcome.failure or first_difference(
        case, second_outcome.results, outcome.results, settings
    ):
        reason = "its output differs from call to call, so turn off randomness such as dropout"
        return replace(verdict, reason=reason)
    reason = describe_first_difference(case, outcome, settings)
    if isinstance(case.call, Call) and not case.gradients:
        probe = with_identity_values(case)
        probe_outcome = worker.run(probe, description, settings)
        reason += f"; {first_wrong_step(case, outcome, probe, probe_outcome, settings)}"
    return replace(verdict, reason=reason)
