"""Call a function with every case, judge each result, and explain what is wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from attention_check import comparing, detecting, explaining, positions, recipe, shrinking
from attention_check.calling import Interface, Settings
from attention_check.cases import CASES, Case
from attention_check.libraries import LoadError
from attention_check.mistakes import CONVENTIONS
from attention_check.recipe import Array, Call
from attention_check.report import NOT_SUPPORTED, OK, ON_PURPOSE, WRONG, Report, Verdict
from attention_check.worker import InProcessWorker, Outcome, Worker

# Names of the conventions that each library follows; under `--expect` any other is a fault.
EXPECTED_CONVENTIONS = {
    "torch": ("nan_for_negative_scale",),
    "flash": ("bottom_right",),
    "onnx": ("root_of_scale",),
}
# Errors that are never a refusal.
TYPO_ERRORS = ("NameError", "AttributeError", "UnboundLocalError")
# Each case that combines features, with the cases that test one of these features alone.
COMBINED_FEATURES = {
    **{
        name: {"window"}
        for name, case in CASES.items()
        if case.feature == "window" and name != "window"
    },
    "grouped_heads_causal": {"grouped_heads"},
    "grouped_heads_padding": {"grouped_heads"},
    "grouped_heads_mask": {"grouped_heads", "mask_per_head"},
}
POSITION_ASPECTS = {
    "table": "sines and cosines of positions",
    "addition": "sines and cosines that are added to rows",
    "rotation": "features that are rotated by their positions",
}
# Phrases by which a library says that it does not take an argument, or not with others.
REFUSAL_PHRASES = (
    "should not be set",
    "not support",
    "not implemented",
    "unexpected keyword",
    "expected at most",
    "positional argument",
    "mutually exclusive",
    "both attn_mask",
)
# Cases of features that a function may lack without saying so: any error is accepted.
OPTIONAL_CASES = (
    "three_axes",
    "three_axes_causal",
    "causal_fewer_queries",
    "causal_one_query",
    "causal_more_queries",
    "mask_per_head",
    "float_mask_per_head",
    "short_mask",
    "softcap_of_zero",
    "layer_cross",
    "layer_mask",
    "layer_padding",
    "layer_padding_again",
    "layer_padding_causal",
    "layer_gradients_padding",
    "layer_float16",
    "layer_bfloat16",
)


def check(
    function: str | Callable[..., Any],
    settings: Settings | None = None,
    time_limit_s: float = 10.0,
    require: str = "",
    skip: str = "",
    expect: str | None = None,
    show_progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Check a function object in this process, or a function given by name in its own process.

    `require` and `skip` are names of features, separated by commas.
    """
    settings = settings or Settings()
    required, skipped = features_named(require), features_named(skip)
    if expect not in (None, *EXPECTED_CONVENTIONS):
        raise LoadError(f"expect is {expect!r}; expected one of {', '.join(EXPECTED_CONVENTIONS)}")
    if isinstance(function, str):
        worker = Worker(function, settings, time_limit_s)
    else:
        worker = InProcessWorker(function, settings)
    with worker:
        described = worker.describe()
        if described.positions:
            return check_positions(worker, described, required)
        interface = detecting.detect(worker, described)
        cases = [case for case in detecting.cases_for(interface) if case.feature not in skipped]
        outcomes = {}
        for i, case in enumerate(cases):
            outcomes[case] = worker.run(case, interface)
            if show_progress:
                show_progress(i + 1, len(cases))
        failed_cases = {case.name for case, outcome in outcomes.items() if outcome.failure}
        verdicts = [
            judge(case, outcome, interface, failed_cases, expect)
            for case, outcome in outcomes.items()
        ]
        if settings.mask is None:  # what a mask means was found, and not told
            hiding = []
            if interface.mask == "hide" and interface.stated_mask != "hide":
                hiding += ["boolean_mask", "layer_mask"]
            if interface.padding == "hide" or (interface.mask == "hide" and not interface.padding):
                hiding += ["padding", "layer_padding"]
            reason = CONVENTIONS["true_hides"].summary
            status = WRONG if expect else ON_PURPOSE
            verdicts = [
                replace(verdict, status=status, reason=reason)
                if verdict.case.name in hiding and verdict.status == OK
                else verdict
                for verdict in verdicts
            ]
        verdicts = [with_forward_pass(verdict, verdicts, outcomes) for verdict in verdicts]
        report = Report(worker.target, interface, verdicts, required)
        return with_explanations(report, outcomes, worker)


def features_named(text: str) -> tuple[str, ...]:
    """Return the features in a list of names that are separated by commas."""
    known_features = list(dict.fromkeys(case.feature for case in CASES.values()))
    features = tuple(name.strip() for name in text.split(",") if name.strip())
    for feature in features:
        if feature not in known_features:
            raise LoadError(f"feature is {feature!r}; expected one of {', '.join(known_features)}")
    return features


# The case that must be right before another one can be wrong: the forward pass of gradients.
FORWARD_PASSES = {
    "gradients": "batch_and_heads",
    "gradients_causal": "causal",
    "gradients_mask": "boolean_mask",
    "gradients_softcap": "softcap",
    "gradients_hidden_row": "fully_masked_row",
    "gradients_grouped": "grouped_heads",
    "gradients_strides": "not_contiguous_heads",
    "layer_gradients": "layer",
    "layer_gradients_padding": "layer_padding",
    "three_axes_causal": "three_axes",
}


def with_forward_pass(
    verdict: Verdict, verdicts: list[Verdict], outcomes: dict[Case, Outcome]
) -> Verdict:
    """Return a verdict; only if the output is right, can for example its gradients be wrong."""
    case = verdict.case
    reads_heads = any(v.case.feature == "grouped heads" and v.status == OK for v in verdicts)
    if verdict.status == WRONG and case.feature == "three axes" and reads_heads:
        return replace(verdict, status=NOT_SUPPORTED, reason="it reads the heads from an axis")
    if verdict.status != WRONG or case.name not in FORWARD_PASSES:
        return verdict
    forward = next((v for v in verdicts if v.case.name == FORWARD_PASSES[case.name]), None)
    if forward is not None and forward.status != OK:
        return replace(
            verdict, status=NOT_SUPPORTED, reason=f"its output differs in {forward.case.name}"
        )
    outcome = outcomes[case]
    is_nan = any(np.isnan(array).any() for array in outcome.results.values())
    if case.name == "gradients_hidden_row" and is_nan and not outcome.has_own_backward:
        reason = (
            "a row that sees no key has gradients of NaN, as if NaN is replaced after the softmax"
        )
        return replace(verdict, status=ON_PURPOSE, reason=reason)
    return verdict


def check_positions(worker: Worker, interface: Interface, require: tuple[str, ...]) -> Report:
    """Check a function that makes positions, adds them or rotates by them."""
    verdicts = []
    failures: list[str] = []
    for start, dtype in (
        positions.STARTS if interface.positions == "rotation" else positions.STARTS[:1]
    ):
        returned = []
        for library in interface.libraries:
            known = replace(interface, library=library, dtype="float32")
            for call in positions.calls(
                interface.positions,
                interface.parameters,
                interface.defaults,
                interface.position_width,
                start,
            ):
                call = replace(call, dtype=dtype)
                told = worker.settings.layout or interface.stated_layout
                if told in (None, call.layout) or told not in positions.LAYOUTS:
                    name = interface.positions + (f"_from_{start}" if start else "")
                    name += "" if dtype == "float32" else f"_{dtype}"
                    case = Case(name, "positions", POSITION_ASPECTS[interface.positions], call)
                    outcome = worker.run(case, known)
                    if outcome.failure:
                        failures.append(outcome.failure)
                    else:
                        returned.append((known, case, tuple(outcome.results.values())))
            if returned:
                break
        if returned:
            verdict, known = judge_positions(returned)
            verdicts.append(verdict)
            interface = replace(known, layout=verdict.case.call.layout)
    if not verdicts:
        raise LoadError(f"{worker.target} cannot be called: {failures[0]}")
    return Report(worker.target, interface, verdicts, require)


def judge_positions(
    returned: list[tuple[Interface, Case, tuple[Array, ...]]],
) -> tuple[Verdict, Interface]:
    """Return the verdict on the form of a call that explains most: right, a mistake, or neither."""
    explanations = [positions.explanation(case.call, results) for _, case, results in returned]
    for i, name in enumerate(explanations):
        if name == "":
            return Verdict(returned[i][1], OK), returned[i][0]
    for i, name in enumerate(explanations):
        if name:
            mistake = positions.MISTAKES[name]
            reason = f"its output is that of {mistake.summary}"
            return Verdict(returned[i][1], WRONG, reason, (mistake,)), returned[i][0]
    interface, case, results = returned[0]
    _, expected = next(positions.expected_results(case.call, len(results)))
    if len(expected) != len(results) or results[0].size != expected[0].size:
        reason = f"its output has shape {results[0].shape}; expected {expected[0].shape}"
    else:
        errors = np.abs(results[0].reshape(expected[0].shape) - expected[0])
        index = tuple(int(i) for i in np.unravel_index(errors.argmax(), errors.shape))
        mismatch = shrinking.format_mismatch(
            results[0].reshape(errors.shape)[index], expected[0][index]
        )
        reason = f"its output at {list(index)} is {mismatch}"
    return Verdict(case, WRONG, reason), interface


def with_explanations(report: Report, outcomes: dict[Case, Outcome], worker: Worker) -> Report:
    """Return the report with the reasons of its wrong verdicts, and the smallest failing call."""
    interface, verdicts = report.interface, report.verdicts
    first_wrong = next(iter(report.verdicts_with(WRONG)), None)
    nondeterminism = describe_nondeterminism(worker, interface, outcomes, first_wrong)
    if nondeterminism:
        # Neither a mistake nor a smaller call can explain an output that changes.
        index = verdicts.index(first_wrong) if first_wrong else 0
        verdicts[index] = replace(verdicts[index], status=WRONG, reason=nondeterminism)
        return report
    if first_wrong is None:
        return report
    explainable = [
        verdict
        for verdict in verdicts
        if not verdict.reason and not verdict.case.compares_gradients
    ]
    with_mistakes = explaining.MistakeSearch(explainable, outcomes, interface).run()
    hints = hints_of(verdicts)
    explained = []
    for verdict in verdicts:
        case = verdict.case
        if case.name in with_mistakes:
            verdict = with_mistakes[case.name]
        elif verdict.status == WRONG and not verdict.reason:
            reason = explaining.locate(case, outcomes[case], worker, interface, hints)
            verdict = replace(verdict, reason=reason)
        explained.append(verdict)
    outcome = outcomes[first_wrong.case]
    case = shrinking.smallest_failing_case(first_wrong.case, outcome, worker, interface)
    example = shrinking.example_code(worker.target, case, worker.run(case, interface), interface)
    return replace(report, verdicts=explained, example=example, traceback=outcome.traceback)


def judge(
    case: Case,
    outcome: Outcome,
    interface: Interface,
    failed_cases: set[str],
    expect: str | None = None,
) -> Verdict:
    """Return the verdict on the outcome of a case.

    `failed_cases` are the names of all cases without a result. A verdict on wrong numbers has no
    reason yet: `with_explanations` finds it.
    """

    if outcome.failure:
        has_bug = is_bug(case, outcome, interface, failed_cases)
        return Verdict(case, WRONG if has_bug else NOT_SUPPORTED, outcome.failure)
    problem = comparing.shape_problem(case, outcome.results, interface)
    if problem and case.name in OPTIONAL_CASES:  # it reads the axes in another way
        return Verdict(case, NOT_SUPPORTED, problem)
    problem = problem or "; ".join(outcome.problems)
    if problem:
        return Verdict(case, WRONG, problem)
    if comparing.is_right(case, outcome, interface):
        if outcome.mismatch and case.dtype:
            return Verdict(case, WRONG if expect else ON_PURPOSE, outcome.mismatch)
        return Verdict(case, OK)
    for conventions in comparing.possible_conventions(case):
        if comparing.changes_output(case, conventions) and comparing.explains(
            case, outcome, conventions, interface
        ):
            reason = "; ".join(convention.summary for convention in conventions)
            is_expected = not expect or all(
                c.name in EXPECTED_CONVENTIONS[expect] for c in conventions
            )
            return Verdict(case, ON_PURPOSE if is_expected else WRONG, reason)
    if "scaled_late" in case.conventions:
        # Whatever it makes of infinity afterwards, such as zeros in place of NaN.
        reason = "its products exceed the range of float16, because it scales after the product"
        return Verdict(case, WRONG if expect else ON_PURPOSE, reason)
    return Verdict(case, WRONG)


def is_bug(
    case: Case,
    outcome: Outcome,
    interface: Interface,
    failed_cases: set[str],
) -> bool:
    """Whether a failed call shows a bug, and not that the function lacks what the case needs."""
    if outcome.kind == "died" or any(name in outcome.failure for name in TYPO_ERRORS):
        return True
    if case.dtype in (
        "float16",
        "bfloat16",
    ):  # few functions take them, and an error is no wrong number
        return False
    if outcome.kind != "raised" or any(word in outcome.failure for word in REFUSAL_PHRASES):
        return False
    if interface.are_assumed and "TypeError" in outcome.failure:  # it has no such argument
        return False
    if case.name in OPTIONAL_CASES:
        return False
    if case.compares_gradients and "does not require grad" in outcome.failure:
        return False
    if case.name in ("grouped_heads", "gradients_grouped") and "grouped" not in interface.names:
        return False
    if COMBINED_FEATURES.get(case.name, set()) & failed_cases:  # it lacks one of the features
        return False
    call = case.call
    if isinstance(call, Call):  # it may want an argument in another form than the call has
        has_one_mask = interface.names.get("bias") == interface.names.get("mask")
        may_want_boolean = call.bias is not None and has_one_mask
        may_want_both_limits = call.window is not None and None in call.window
        may_want_number = case.name == "window"
        return not (may_want_boolean or may_want_both_limits or may_want_number)
    return True


def describe_nondeterminism(
    worker: Worker,
    interface: Interface,
    outcomes: dict[Case, Outcome],
    first_wrong: Verdict | None,
) -> str:
    """Describe randomness, or a state that is kept between calls; "" if there is neither."""
    case = next(iter(outcomes))
    if first_wrong and not outcomes[first_wrong.case].failure and not first_wrong.reason:
        case = first_wrong.case
    first_outcome = outcomes[case]
    second_outcome = worker.run(case, interface)
    if first_outcome.failure or second_outcome.failure:
        return ""

    def differ(outcome: Outcome, other: Outcome, case: Case = case) -> bool:
        """Whether two outcomes of a case differ by more than rounding."""
        results = comparing.first_wrong_result(case, outcome.results, other.results, interface)
        return not (outcome.failure or other.failure) and results is not None

    # Of many weights, dropout drops some others in each call.
    large = max((c for c in outcomes if not outcomes[c].failure), key=lambda c: c.call.query.size)
    if differ(worker.run(large, interface), worker.run(large, interface), large):
        return "its output differs from call to call, so turn off randomness such as dropout"
    if first_wrong and first_wrong.case is case:
        worker.stop()  # the next call starts a process without earlier calls
        new_outcome = worker.run(case, interface)
        is_right = comparing.is_right(case, new_outcome, interface)
        later_outcome = new_outcome if is_right else second_outcome
    else:
        # A call with other inputs changes the state, if there is one.
        worker.run(replace(case, call=recipe.with_inputs(case.call, np.negative)), interface)
        later_outcome = worker.run(case, interface)
    if later_outcome.failure or differ(later_outcome, first_outcome):
        return (
            "its output depends on earlier calls, so look for a state that it keeps, such as a "
            "cache with too few keys"
        )
    return ""


def hints_of(verdicts: list[Verdict]) -> list[str]:
    """Say where to look if a number of keys or the strides of arrays tell right from wrong."""

    def key_counts(status: str) -> list[int]:
        return [
            verdict.case.call.key.shape[-2]
            for verdict in verdicts
            if verdict.status == status and verdict.case.feature in ("formula", "lengths")
        ]

    hints = []
    right_counts = key_counts(OK)
    wrong_counts = key_counts(WRONG)
    if right_counts and wrong_counts and max(right_counts) < min(wrong_counts):
        largest = max(right_counts)
        hints.append(f"it is right up to {largest} keys, so look at how blocks of keys are merged")
    if all(verdict.case.is_strided for verdict in verdicts if verdict.status == WRONG):
        hints.append("it is right if its arrays are contiguous, so look at how it uses strides")
    return hints
