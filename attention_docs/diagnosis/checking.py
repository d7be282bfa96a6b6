"""Call a function with every case, judge each result, and explain what is wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from attention_docs.diagnosis.calling import Description, Settings
from attention_docs.diagnosis.cases import PRECISION, Case, cases_within, layer_cases
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
from attention_docs.diagnosis.shrinking import example_code, smallest
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
    is_mask_given = settings.mask is not None
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
    else:
        verdicts = with_explanations(verdicts, outcomes, worker, description, settings)
    wrong = [verdict for verdict in verdicts if verdict.status == WRONG]
    example, traceback = "", ""
    if wrong and not nondeterminism:
        case = smallest(wrong[0].case, outcomes[wrong[0].case], worker, description, settings)
        outcome = worker.run(case, description, settings)
        example = example_code(worker.target, case, outcome, description, settings)
        traceback = outcomes[wrong[0].case].traceback
    return Report(worker.target, settings, verdicts, require, example, traceback)


def with_explanations(
    verdicts: list[Verdict],
    outcomes: dict[Case, Outcome],
    worker: Worker,
    description: Description,
    settings: Settings,
) -> list[Verdict]:
    """Return the verdicts with the mistakes that explain them, or with the first wrong step."""
    by_mistakes = MistakeSearch(verdicts, outcomes, settings).run()
    hints = [blocks_hint(verdicts), strides_hint(verdicts)]
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
    if settings.always_causal:
        cases = tuple(always_causal(case) for case in cases if case.name != "layer_causal")
    bits = PRECISION[settings.dtype]
    return [case for case in cases if case.dtype is None or PRECISION[case.dtype] <= bits]


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
    """Whether an error is a bug, and not the refusal of a case or the lack of its feature."""
    if any(name in outcome.failure for name in TYPOS):
        return True
    if outcome.kind != "raised" or any(word in outcome.failure for word in REFUSALS):
        return False
    if case.gradients and "does not require grad" in outcome.failure:
        return False
    # The cases whose feature the function may lack.
    lacks_feature = {
        "grouped_heads": "grouped" not in description.names,
        "mask_per_head": True,
        "float_mask_per_head": True,
        "short_mask": True,
        "softcap_of_zero": True,
        "layer_cross": True,
    }
    lacks_part = bool(COMBINED.get(case.name, set()) & failed)
    is_numpy_bfloat16 = settings.library != "torch" and case.dtype == "bfloat16"
    return not (
        lacks_feature.get(case.name)
        or lacks_part
        or is_numpy_bfloat16
        or (isinstance(case.call, Call) and is_other_form(case.call, outcome, description))
    )


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
    """Describe randomness, or a state that is kept between calls; "" if there is neither."""
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
        worker.stop()  # the next call starts a new process, without a state
        later = worker.run(case, description, settings)
        if later.failure or worst_difference(case, later.results, case.expected(), settings):
            later = second
    else:
        worker.run(negated(case), description, settings)
        later = worker.run(case, description, settings)
    if later.failure or differ(later, first):
        return (
            "its output depends on earlier calls, so look for a state that it keeps, such as a "
            "cache with too few keys"
        )
    return ""


def negated(case: Case) -> Case:
    """Return the case with its inputs negated: another call, whose state a function may keep."""
    call = case.call
    inputs = {
        name: -getattr(call, name) for name in ("query", "key", "value") if hasattr(call, name)
    }
    return replace(case, call=replace(call, **inputs))


def blocks_hint(verdicts: list[Verdict]) -> str:
    """Say up to how many keys a result is right, if only longer ones are wrong."""
    lengths: dict[str, list[int]] = {OK: [], WRONG: []}
    for verdict in verdicts:
        if verdict.status in lengths and verdict.case.feature in ("formula", "lengths"):
            lengths[verdict.status].append(verdict.case.call.key.shape[-2])
    if not all(lengths.values()) or max(lengths[OK]) >= min(lengths[WRONG]):
        return ""
    return f"it is right up to {max(lengths[OK])} keys, so look at how blocks of keys are merged"


def strides_hint(verdicts: list[Verdict]) -> str:
    """Say that a result is right for contiguous arrays, if only others are wrong."""
    wrong = [verdict.case for verdict in verdicts if verdict.status == WRONG]
    if not all(case.strided for case in wrong):
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
    """Say where the result of a wrong case first goes wrong, if no mistake explains it."""
    if verdict.status != WRONG or verdict.reason:
        return verdict
    case = verdict.case
    reason = describe_worst_difference(case, outcome, settings)
    if isinstance(case.call, Call) and not case.gradients:
        probe = with_identity_values(case)
        probe_outcome = worker.run(probe, description, settings)
        step = first_wrong_step(case, outcome, probe, probe_outcome, settings)
        reason = "; ".join([reason, *([hint for hint in hints if hint] or [step])])
    return replace(verdict, reason=reason)
