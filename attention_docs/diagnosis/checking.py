"""Call a function with every case, judge each result, and explain what is wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from attention_docs.diagnosis.calling import Description, Settings
from attention_docs.diagnosis.cases import SIGNIFICAND_BITS, Case, cases_within, layer_cases
from attention_docs.diagnosis.comparing import (
    changes_output,
    explains,
    possible_conventions,
    shape_problem,
    worst_difference,
)
from attention_docs.diagnosis.detecting import always_causal, detect
from attention_docs.diagnosis.explaining import (
    MistakeSearch,
    describe_worst_difference,
    first_wrong_step,
    with_identity_values,
)
from attention_docs.diagnosis.mistakes import TRUE_HIDES
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.report import NOT_SUPPORTED, OK, ON_PURPOSE, WRONG, Report, Verdict
from attention_docs.diagnosis.shrinking import example_code, smallest_failing_case
from attention_docs.diagnosis.worker import InProcessWorker, Outcome, Worker

# Names of the conventions that a library follows; under `--expect` any other is a fault.
EXPECTED = {
    "torch": ("nan_for_negative_scale",),
    "flash": ("bottom_right",),
    "onnx": ("root_of_scale",),
}
# Errors that are never a refusal.
TYPOS = ("NameError", "AttributeError", "UnboundLocalError")
# Each case that combines features, with the cases that have one of these features alone.
COMBINED = {
    "grouped_heads_causal": {"grouped_heads"},
    "grouped_heads_padding": {"grouped_heads"},
    "grouped_heads_mask": {"grouped_heads", "mask_per_head"},
    "grouped_heads_float_mask": {"grouped_heads", "float_mask_per_head"},
    "grouped_heads_window": {"grouped_heads", "window"},
}
# Words by which a library says that it does not take a combination.
REFUSALS = ("should not be set", "not support", "not implemented", "unexpected keyword")
# Cases of features that a function may lack without saying so: any error is accepted.
OPTIONAL = ("mask_per_head", "float_mask_per_head", "short_mask", "softcap_of_zero", "layer_cross")


def check(
    function: str | Callable[..., Any],
    settings: Settings | None = None,
    limit: float = 10.0,
    **options: Any,
) -> Report:
    """Check a function object here, or a named one in a process of its own.

    Args:
        function: a function, or `module:function` or `path/to/file.py:function`.
        settings: how to call it; None means that it is detected.
        limit: time limit of a case in seconds.
        options: as for `check_with`.

    Raises:
        LoadError: if the function cannot be loaded or called at all.
    """
    worker = Worker(function, limit) if isinstance(function, str) else InProcessWorker(function)
    with worker:
        return check_with(worker, settings or Settings(), **options)


def check_with(
    worker: Worker,
    settings: Settings,
    require: tuple[str, ...] = (),
    skip: tuple[str, ...] = (),
    expect: str | None = None,
) -> Report:
    """Call the function of a worker with every case and return the verdicts.

    Args:
        worker: calls the function.
        settings: how to call it; what is None is detected.
        require: features that must be checked.
        skip: features that are not checked.
        expect: the library whose conventions are expected, in `EXPECTED`; None for any.
    """
    is_mask_given = settings.mask is not None  # `detect` fills it in
    description = worker.describe(settings)
    settings = detect(worker, description, settings)
    cases = [case for case in cases_for(description, settings) if case.feature not in skip]
    outcomes = {case: worker.run(case, description, settings) for case in cases}
    failed = {case.name for case, outcome in outcomes.items() if outcome.failure}
    verdicts = [
        judge(case, outcome, description, settings, failed, expect)
        for case, outcome in outcomes.items()
    ]
    if settings.mask == "hide" and not is_mask_given:
        verdicts = [note_inverted_mask(verdict, expect) for verdict in verdicts]
    first = next((verdict for verdict in verdicts if verdict.status == WRONG), None)
    nondeterminism = describe_nondeterminism(worker, description, settings, outcomes, first)
    if nondeterminism:
        index = verdicts.index(first) if first else 0
        verdicts[index] = replace(verdicts[index], status=WRONG, reason=nondeterminism)
    if not first or nondeterminism:
        return Report(worker.target, settings, verdicts, require)
    verdicts = with_explanations(verdicts, outcomes, worker, description, settings)
    outcome = outcomes[first.case]
    case = smallest_failing_case(first.case, outcome, worker, description, settings)
    smallest_outcome = worker.run(case, description, settings)
    example = example_code(worker.target, case, smallest_outcome, description, settings)
    return Report(worker.target, settings, verdicts, require, example, outcome.traceback)


def with_explanations(
    verdicts: list[Verdict],
    outcomes: dict[Case, Outcome],
    worker: Worker,
    description: Description,
    settings: Settings,
) -> list[Verdict]:
    """Return the verdicts with the mistakes that explain them, or with the first wrong step."""
    by_mistakes = MistakeSearch(verdicts, outcomes, settings).run()
    hints = [hint for hint in (blocks_hint(verdicts), strides_hint(verdicts)) if hint]
    explained = []
    for verdict in verdicts:
        case = verdict.case
        verdict = by_mistakes.get(case.name, verdict)
        verdict = add_location(verdict, outcomes[case], worker, description, settings, hints)
        explained.append(verdict)
    return explained


def cases_for(description: Description, settings: Settings) -> list[Case]:
    """Return the cases for a function: within its limits, and in the dtypes that it takes."""
    if description.is_layer:
        cases = layer_cases(description.layer)
    else:
        cases = cases_within(settings.limits)
    if settings.is_always_causal:
        cases = tuple(always_causal(case) for case in cases if case.name != "layer_causal")
    bits = SIGNIFICAND_BITS[settings.dtype]
    return [case for case in cases if case.dtype is None or SIGNIFICAND_BITS[case.dtype] <= bits]


def note_inverted_mask(verdict: Verdict, expect: str | None) -> Verdict:
    """Change the verdict on a boolean mask to `on purpose`, as True was detected to hide keys.

    If a library's conventions are expected, it becomes `wrong`. Other verdicts do not change.
    """
    if verdict.case.name not in ("boolean_mask", "padding") or verdict.status != OK:
        return verdict
    return replace(verdict, status=WRONG if expect else ON_PURPOSE, reason=TRUE_HIDES.summary)


def judge(
    case: Case,
    outcome: Outcome,
    description: Description,
    settings: Settings,
    failed: set[str],
    expect: str | None = None,
) -> Verdict:
    """Return the verdict on a case; `MistakeSearch` and `add_location` explain wrong numbers.

    `failed` are the names of the cases without a result.
    """
    if outcome.failure:
        died = outcome.kind == "died"
        is_wrong = died or is_bug(case, outcome, description, settings, failed)
        status = WRONG if is_wrong else NOT_SUPPORTED
        return Verdict(case, status, outcome.failure, notes=outcome.notes)
    problem = shape_problem(case, outcome.results, settings) or "; ".join(outcome.problems)
    if problem:
        return Verdict(case, WRONG, problem, notes=outcome.notes)
    if worst_difference(case, outcome.results, case.expected(), settings) is None:
        return Verdict(case, OK, notes=outcome.notes)
    for conventions in possible_conventions(case):
        if changes_output(case, conventions) and explains(case, outcome, conventions, settings):
            reason = "; ".join(convention.summary for convention in conventions)
            is_expected = not expect or all(c.name in EXPECTED[expect] for c in conventions)
            return Verdict(case, ON_PURPOSE if is_expected else WRONG, reason, (), outcome.notes)
    if "scaled_late" in case.conventions and not np.isfinite(outcome.results["output"]).all():
        reason = "its products exceed the range of float16, because it scales after the product"
        return Verdict(case, WRONG if expect else ON_PURPOSE, reason, (), outcome.notes)
    return Verdict(case, WRONG, notes=outcome.notes)


def is_bug(
    case: Case,
    outcome: Outcome,
    description: Description,
    settings: Settings,
    failed: set[str],
) -> bool:
    """Whether an error is a bug, not a refusal of the case or a feature that the function lacks."""
    if any(name in outcome.failure for name in TYPOS):
        return True
    if outcome.kind != "raised" or any(word in outcome.failure for word in REFUSALS):
        return False
    if case.compares_gradients and "does not require grad" in outcome.failure:
        return False
    if case.name in OPTIONAL:
        return False
    if case.name == "grouped_heads" and "grouped" not in description.names:
        return False
    if COMBINED.get(case.name, set()) & failed:
        return False
    if case.dtype == "bfloat16" and settings.library != "torch":  # few NumPy functions take it
        return False
    return not (isinstance(case.call, Call) and is_other_form(case.call, outcome, description))


def is_other_form(call: Call, outcome: Outcome, description: Description) -> bool:
    """Whether the function may want an argument in another form than the call has.

    It may want a boolean instead of a float mask, or a window with two limits or of one number.
    """
    has_one_mask = description.names.get("bias") == description.names.get("mask")
    may_want_boolean = call.bias is not None and has_one_mask
    may_want_both_limits = call.window is not None and None in call.window
    may_want_number = call.window is not None and "tuple" in outcome.failure
    return may_want_boolean or may_want_both_limits or may_want_number


def describe_nondeterminism(
    worker: Worker,
    description: Description,
    settings: Settings,
    outcomes: dict[Case, Outcome],
    wrong: Verdict | None,
) -> str:
    """Describe randomness, or a state that is kept between calls; "" if there is neither.

    The case to call again is the first one with wrong numbers, or else the first one of all.
    """
    case = next(iter(outcomes))
    if wrong and not outcomes[wrong.case].failure and not wrong.reason:
        case = wrong.case
    first = outcomes[case]
    second, third = (worker.run(case, description, settings) for _ in range(2))
    if first.failure or second.failure or third.failure:
        return ""

    def differ(one: Outcome, other: Outcome) -> bool:
        return worst_difference(case, one.results, other.results, settings) is not None

    if differ(third, second):
        return "its output differs from call to call, so turn off randomness such as dropout"
    if wrong and wrong.case is case:
        later = right_outcome_in_new_process(case, worker, description, settings) or second
    else:
        worker.run(negated(case), description, settings)
        later = worker.run(case, description, settings)
    if later.failure or differ(later, first):
        return (
            "its output depends on earlier calls, so look for a state that it keeps, such as a "
            "cache with too few keys"
        )
    return ""


def right_outcome_in_new_process(
    case: Case, worker: Worker, description: Description, settings: Settings
) -> Outcome | None:
    """Return the outcome of a case in a process without earlier calls; None if it is not right."""
    worker.stop()  # the next call starts a new process
    outcome = worker.run(case, description, settings)
    if outcome.failure:
        return None
    difference = worst_difference(case, outcome.results, case.expected(), settings)
    return outcome if difference is None else None


def negated(case: Case) -> Case:
    """Return the case with its inputs negated: a different call, to change a state."""
    call = case.call
    inputs = {
        name: -getattr(call, name) for name in ("query", "key", "value") if hasattr(call, name)
    }
    return replace(case, call=replace(call, **inputs))


def blocks_hint(verdicts: list[Verdict]) -> str:
    """Say up to how many keys the results are right, if all wrong results are of more keys."""

    def key_counts(status: str) -> list[int]:
        return [
            verdict.case.call.key.shape[-2]
            for verdict in verdicts
            if verdict.status == status and verdict.case.feature in ("formula", "lengths")
        ]

    right, wrong = key_counts(OK), key_counts(WRONG)
    if not right or not wrong or max(right) >= min(wrong):
        return ""
    return f"it is right up to {max(right)} keys, so look at how blocks of keys are merged"


def strides_hint(verdicts: list[Verdict]) -> str:
    """Say that the results for contiguous arrays are right, if only the others are wrong."""
    wrong = [verdict.case for verdict in verdicts if verdict.status == WRONG]
    if not wrong or not all(case.is_strided for case in wrong):
        return ""
    return "it is right if its arrays are contiguous, so look at how it uses strides"


def add_location(
    verdict: Verdict,
    outcome: Outcome,
    worker: Worker,
    description: Description,
    settings: Settings,
    hints: list[str],
) -> Verdict:
    """Give a wrong verdict without a reason one: the worst number, and where to look.

    The hints say where to look; without any, the first wrong step does.
    """
    if verdict.status != WRONG or verdict.reason:
        return verdict
    case = verdict.case
    reasons = [describe_worst_difference(case, outcome, settings)]
    if isinstance(case.call, Call) and not case.compares_gradients:
        probe = with_identity_values(case)
        probe_outcome = worker.run(probe, description, settings)
        step = first_wrong_step(case, outcome, probe, probe_outcome, settings)
        reasons += hints or [step]
    return replace(verdict, reason="; ".join(reasons))
