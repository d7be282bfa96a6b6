"""Detect how to call a function by trying: its library, layout, sizes, precision and masks."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Description, Settings
from attention_docs.diagnosis.cases import (
    FULLY_MASKED_ROW,
    NO_LIMITS,
    Case,
    Limits,
    cases_within,
    layer_cases,
)
from attention_docs.diagnosis.comparing import (
    Mistakes,
    coarser_precision,
    explaining_mistakes,
    explains,
    first_wrong_result,
    float32_at_best,
    shape_problem,
)
from attention_docs.diagnosis.libraries import LoadError
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.shrinking import shortened
from attention_docs.diagnosis.worker import Outcome, Worker

WIDTHS = (16, 32, 64, 128)
# From no limits to strict ones. The first limits with which a call succeeds are used.
LIMITS = (
    NO_LIMITS,
    Limits(equal_widths=True),
    Limits(equal_widths=True, equal_lengths=True),
    Limits(equal_widths=True, widths=WIDTHS),
    Limits(equal_widths=True, equal_lengths=True, widths=WIDTHS),
    Limits(equal_widths=True, equal_lengths=True, multiple=16, widths=WIDTHS),
    Limits(equal_widths=True, equal_lengths=True, multiple=128, widths=WIDTHS[2:]),
)
# Axes on which packed arguments are stacked, each with the layout of the other axes.
PACKED_LAYOUTS = ((2, "bnhd"), (0, "bhnd"), (1, "bhnd"), (0, "bnhd"), (1, "bnhd"), (2, "bhnd"))


class Attempt(NamedTuple):
    """A first call of the function with some settings.

    Attributes:
        case: the case it was called with.
        outcome: the outcome of the call.
        settings: how it was called, and which item of what it returned is the output.
        problem: why there is no result of the right shape; "" if there is one.
    """

    case: Case
    outcome: Outcome
    settings: Settings
    problem: str


def detect(worker: Worker, description: Description, settings: Settings) -> Settings:
    """Return settings with which a first call gives a result of the right shape.

    Raises:
        LoadError: if there are none; the message says which to pass.
    """
    failed_attempts: list[Attempt] = []
    for candidates in settings_to_try(description, settings):
        attempts = [attempt_call(worker, description, trial) for trial in candidates]
        fitting_attempts = [attempt for attempt in attempts if not attempt.problem]
        if fitting_attempts:
            best = min(fitting_attempts, key=rank)
            detected = detect_causality(best.case, best.outcome, description, best.settings)
            detected = detect_precision(best.case, best.outcome, detected)
            return detect_mask(worker, description, detected, best.case, best.outcome)
        failed_attempts += attempts
    raise LoadError(describe_failed_attempts(worker.target, failed_attempts))


def attempt_call(worker: Worker, description: Description, settings: Settings) -> Attempt:
    """Call the function for the first time with some settings.

    The settings of the result say where in the returned value the call found the output.

    Raises:
        LoadError: if the call ends the process, or exceeds the time limit.
    """
    case = first_case(description, settings)
    outcome = worker.run(case, description, settings)
    if outcome.kind == "died":
        raise LoadError(
            f"{worker.target} cannot be checked: {outcome.failure}; call it by itself to see why, "
            "or raise the time limit with --limit"
        )
    problem = outcome.failure or shape_problem(case, outcome.results, settings)
    return Attempt(case, outcome, replace(settings, output_item=outcome.item), problem)


def describe_failed_attempts(target: str, attempts: list[Attempt]) -> str:
    """Describe why a function cannot be called, with the layouts in which each problem occurs.

    Attempts with limited sizes are left out, because attempts without limits came before them.
    """
    layouts_by_problem: dict[str, list[str]] = {}
    for attempt in attempts:
        if attempt.settings.limits == NO_LIMITS:
            layout = attempt.settings.layout or ""
            layouts = layouts_by_problem.setdefault(attempt.problem, [])
            if layout not in layouts:
                layouts.append(layout)
    reasons = []
    for problem, layouts in layouts_by_problem.items():
        is_in_every_layout = len(layouts) == len(calling.LAYOUTS)
        layout_list = "every layout" if is_in_every_layout else ", ".join(layouts)
        reasons.append(f"in {layout_list} {problem}")
    message = (
        f"{target} cannot be called: {'; '.join(reasons)}; say with --layout and --names how to "
        "call it"
    )
    tracebacks = [attempt.outcome.traceback for attempt in attempts if attempt.outcome.traceback]
    return "\n".join([message, *tracebacks[:1]])


def settings_to_try(description: Description, settings: Settings) -> Iterator[list[Settings]]:
    """Yield lists of settings to try; from the first list in which any fits, the best is taken.

    Settings without limits of the sizes come first, and among those with the same limits, the ones
    with the most axes and the widest dtypes.

    Raises:
        LoadError: `--layout` names none of the layouts.
    """
    layout_groups = layouts_to_try(description, settings)
    limits_to_try = (NO_LIMITS,) if description.is_layer else LIMITS
    is_packed = bool({"packed", "packed_key"} & description.names.keys())
    for limits, library in itertools.product(limits_to_try, description.libraries):
        for layouts, dtype in itertools.product(layout_groups, dtypes_of(library)):
            trial = replace(settings, library=library, limits=limits, dtype=dtype)
            if is_packed:
                yield [
                    replace(trial, layout=layout, stack_axis=axis)
                    for axis, layout in PACKED_LAYOUTS
                    if layout in layouts
                ]
            else:
                yield [replace(trial, layout=layout) for layout in layouts]


def layouts_to_try(description: Description, settings: Settings) -> list[tuple[str, ...]]:
    """Return groups of layouts with the same number of axes, or only the layout of the settings.

    Raises:
        LoadError: `--layout` names none of the layouts.
    """
    if description.is_layer:
        kind = "a layer with weights"
        groups: list[tuple[str, ...]] = [calling.LAYER_LAYOUTS]
    else:
        kind = "attention without weights"
        groups = [("bhnd", "bnhd"), ("bnd", "nhd"), ("nd",)]
    if settings.layout is None:
        return groups
    layouts = list(itertools.chain(*groups))
    if settings.layout not in layouts:
        raise LoadError(
            f"--layout is {settings.layout}; expected one of {', '.join(layouts)} for {kind}"
        )
    return [(settings.layout,)]


def dtypes_of(library: str) -> tuple[str, ...]:
    """Return the dtypes to try with a library, the widest first."""
    if library == "jax":
        return ("float32",)
    if library == "array_api_strict":
        return ("float64", "float32")
    return ("float64", "float32", "float16", "bfloat16")


def first_case(description: Description, settings: Settings) -> Case:
    """Return the first case to call a function with: one that has all axes of the layout."""
    if description.is_layer:
        return layer_cases(description.layer)[0]
    if settings.layout == "nd":
        return case_within(settings.limits, "distinct_sizes")
    case = case_within(settings.limits, "batch_and_heads")
    if settings.layout == "bnd":
        return with_first_of_axis(case, "h")
    if settings.layout == "nhd":
        return with_first_of_axis(case, "b")
    return case


def case_within(limits: Limits, name: str) -> Case:
    """Return the case of plain attention with a name, in sizes within the limits."""
    return next(case for case in cases_within(limits) if case.name == name)


def with_first_of_axis(case: Case, axis: str) -> Case:
    """Return the case with its first head only (axis h), or with its first sequence only (b)."""
    assert isinstance(case.call, Call)
    return replace(case, call=shortened(case.call, axis, 1))


def rank(attempt: Attempt) -> int:
    """Rank an attempt: 0 if its result is right, 1 if a mistake explains it, else 2."""
    if is_right_in_some_precision(attempt.case, attempt.outcome, attempt.settings):
        return 0
    has_explanation = any(explaining_mistakes(attempt.case, attempt.outcome, attempt.settings))
    return 1 if has_explanation else 2


def is_right(case: Case, outcome: Outcome, settings: Settings) -> bool:
    """Whether a call gives the expected result, up to rounding in float32 or a coarser dtype."""
    if outcome.failure:
        return False
    settings = float32_at_best(settings)
    return first_wrong_result(case, outcome.results, case.expected(), settings) is None


def is_right_in_some_precision(case: Case, outcome: Outcome, settings: Settings) -> bool:
    """Whether a result is right, or would be if it was computed in a coarser dtype."""
    return is_right(case, outcome, settings) or bool(coarser_precision(case, outcome, settings))


def is_explained(case: Case, outcome: Outcome, settings: Settings, mistakes: Mistakes) -> bool:
    """Whether the mistakes explain a result; without any, whether it is right."""
    if mistakes:
        return explains(case, outcome, mistakes, settings)
    return is_right(case, outcome, settings)


def causal_case(case: Case) -> Case:
    """Return the case with a causal mask, for a function that is causal in every call."""
    conventions = {*case.conventions, "bottom_right", *FULLY_MASKED_ROW}
    return replace(
        case, call=replace(case.call, is_causal=True), conventions=tuple(sorted(conventions))
    )


def detect_causality(
    case: Case, outcome: Outcome, description: Description, settings: Settings
) -> Settings:
    """Return the settings, with `is_always_causal` if a causal mask explains the outcome.

    A function that has an argument for a causal mask is not always causal.
    """
    if "is_causal" in description.names or is_right(case, outcome, settings):
        return settings
    causal = causal_case(case)
    variants = [causal]
    if not description.is_layer:
        variants.append(replace(causal, call=bottom_right_call(causal)))
    is_always_causal = any(
        is_right_in_some_precision(variant, outcome, settings) for variant in variants
    )
    return replace(settings, is_always_causal=is_always_causal)


def detect_precision(case: Case, outcome: Outcome, settings: Settings) -> Settings:
    """Return the settings, with the precision if it is coarser than the dtype of the arguments."""
    if settings.is_always_causal:
        case = causal_case(case)
    if first_wrong_result(case, outcome.results, case.expected(), settings) is None:
        return settings
    return replace(settings, precision=coarser_precision(case, outcome, settings))


def bottom_right_call(case: Case) -> Call:
    """Return the call with a causal mask in which the last query sees every key."""
    assert isinstance(case.call, Call)
    shift = case.call.key.shape[-2] - case.call.query.shape[-2]
    return replace(case.call, is_causal=False, mask=case.call.distance <= shift)


def detect_mask(
    worker: Worker, description: Description, settings: Settings, case: Case, outcome: Outcome
) -> Settings:
    """Return the settings with what a mask means: its shape, and what True or a number does.

    A case with a mask is called with one kind of mask after the other. The first kind with which
    the result is right is taken. A function that is wrong without a mask, too, need not be right:
    its result may have the mistakes that explain the case without a mask.

    Args:
        worker: calls the function.
        description: the function.
        settings: how to call it, but for the mask.
        case: a case without a mask.
        outcome: the outcome of that case, which may be wrong because of mistakes.
    """
    names = description.names
    if description.is_layer or not {"mask", "padding"} & names.keys():
        return settings
    kinds = (settings.mask,) if settings.mask else calling.MASKS
    explanations: list[Mistakes] = [()]
    if not is_right(case, outcome, settings):
        explanations += explaining_mistakes(case, outcome, settings)
    unexplained = []  # settings with which the function gives a result that nothing explains
    for takes_key_mask, mask_case in cases_with_mask(names, settings):
        for kind in kinds:
            trial = replace(settings, mask=kind, takes_key_mask=takes_key_mask)
            mask_outcome = worker.run(mask_case, description, trial)
            mistakes = first_explanation(mask_case, mask_outcome, trial, explanations)
            if mistakes is None:
                if not mask_outcome.failure:
                    unexplained.append(trial)
                continue
            # A function that takes both kinds may hide the wrong keys by a boolean mask.
            may_be_boolean = kind == "additive" and not settings.mask
            if may_be_boolean and hides_wrong_keys(worker, description, trial, mask_case, mistakes):
                return replace(trial, mask="keep")
            adds_masks = not takes_ones(worker, description, trial, mask_case, mistakes)
            trial = replace(trial, adds_masks=adds_masks)
            return detect_full_masks(worker, description, trial, mistakes)
    if unexplained:
        return unexplained[0]
    return replace(settings, mask=kinds[0], takes_key_mask="mask" not in names)


def first_explanation(
    case: Case, outcome: Outcome, settings: Settings, explanations: list[Mistakes]
) -> Mistakes | None:
    """Return the first mistakes that explain an outcome, () if it is right; None if none do."""
    for mistakes in explanations:
        if is_explained(case, outcome, settings, mistakes):
            return mistakes
    return None


def hides_wrong_keys(
    worker: Worker,
    description: Description,
    settings: Settings,
    mask_case: Case,
    mistakes: Mistakes,
) -> bool:
    """Whether a function that adds float masks hides keys by a boolean mask, but the wrong ones.

    Otherwise it refuses boolean masks, or adds them, too, where True counts as 1.

    Args:
        worker: calls the function.
        description: the function.
        settings: how to call it with a float mask.
        mask_case: a case with a boolean mask.
        mistakes: the mistakes of the function without a mask.
    """
    outcome = worker.run(mask_case, description, replace(settings, mask="keep"))
    if outcome.failure:
        return False
    return not is_explained(with_mask_added(mask_case), outcome, settings, mistakes)


def takes_ones(
    worker: Worker,
    description: Description,
    settings: Settings,
    mask_case: Case,
    mistakes: Mistakes,
) -> bool:
    """Whether a mask of 1 for visible keys and 0 for others hides keys, instead of being added.

    Only a function whose boolean masks keep keys may take both, so no other one is called.
    """
    if settings.mask != "keep":
        return settings.mask == "ones"
    settings = replace(settings, mask="ones")
    outcome = worker.run(mask_case, description, settings)
    return is_explained(mask_case, outcome, settings, mistakes)


def cases_with_mask(names: Mapping[str, str], settings: Settings) -> list[tuple[bool, Case]]:
    """Return cases that tell what a mask means, each after whether its mask is for keys only.

    A mask is for each query and key, or like padding for the keys of a sequence. An argument that
    is recognised as `mask` may take either.

    Args:
        names: the function's argument names, keyed by ours.
        settings: how to call the function.
    """
    layout = settings.layout or ""
    mask_cases = []
    if "mask" in names:
        mask_cases.append((False, case_within(settings.limits, "boolean_mask")))
    if "b" in layout:
        padding = case_within(settings.limits, "padding")
        mask_cases.append((True, padding if "h" in layout else with_first_of_axis(padding, "h")))
    if settings.is_always_causal:
        return [(is_for_keys, causal_case(case)) for is_for_keys, case in mask_cases]
    return mask_cases


def detect_full_masks(
    worker: Worker, description: Description, settings: Settings, mistakes: Mistakes
) -> Settings:
    """Return the settings, with `needs_full_masks` if the function fails with a smaller mask."""
    if settings.takes_key_mask or settings.layout not in ("bhnd", "bnhd"):
        return settings
    case = case_within(settings.limits, "mask_per_sequence")
    if settings.is_always_causal:
        case = causal_case(case)
    if not worker.run(case, description, settings).failure:
        return settings
    full_settings = replace(settings, needs_full_masks=True)
    outcome = worker.run(case, description, full_settings)
    return full_settings if is_explained(case, outcome, full_settings, mistakes) else settings


def with_mask_added(case: Case) -> Case:
    """Return the case with its boolean mask as a float mask, which adds 1 where it is True."""
    assert isinstance(case.call, Call)
    assert case.call.mask is not None
    return replace(case, call=replace(case.call, mask=None, bias=case.call.mask.astype(float)))
