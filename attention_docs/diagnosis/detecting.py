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
    float32_at_best,
    shape_problem,
    worst_difference,
)
from attention_docs.diagnosis.libraries import LoadError
from attention_docs.diagnosis.recipe import Call, LayerCall
from attention_docs.diagnosis.worker import Outcome, Worker

LAYOUTS = calling.LAYOUTS
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
# The axis on which packed arguments are stacked, for each layout.
STACKED = ((2, "bnhd"), (0, "bhnd"), (1, "bhnd"), (0, "bnhd"), (1, "bnhd"), (2, "bhnd"))


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
    failed: list[Attempt] = []
    for candidates in settings_to_try(description, settings):
        attempts = [attempt_call(worker, description, trial) for trial in candidates]
        fitting = [attempt for attempt in attempts if not attempt.problem]
        if fitting:
            best = min(fitting, key=rank)
            detected = detect_causality(best.case, best.outcome, description, best.settings)
            return detect_mask(worker, description, detected, best.case, best.outcome)
        failed += attempts
    raise LoadError(describe_failed_attempts(worker.target, failed))


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


def describe_failed_attempts(target: str, failed: list[Attempt]) -> str:
    """Describe why a function cannot be called, with the layouts in which each problem occurs.

    Only attempts without limits of the sizes are described; the others repeat them.
    """
    layouts_by_problem: dict[str, list[str]] = {}
    for attempt in failed:
        layout = attempt.settings.layout or ""
        layouts = layouts_by_problem.setdefault(attempt.problem, [])
        if attempt.settings.limits == NO_LIMITS and layout not in layouts:
            layouts.append(layout)
    reasons = [
        f"in {'every layout' if len(layouts) == len(LAYOUTS) else ', '.join(layouts)} {problem}"
        for problem, layouts in layouts_by_problem.items()
        if layouts
    ]
    tracebacks = [attempt.outcome.traceback for attempt in failed if attempt.outcome.traceback]
    first_traceback = f"\n{tracebacks[0]}" if tracebacks else ""
    return (
        f"{target} cannot be called: {'; '.join(reasons)}; say with --layout and --names how to "
        f"call it{first_traceback}"
    )


def settings_to_try(description: Description, settings: Settings) -> Iterator[list[Settings]]:
    """Yield lists of settings to try: the most axes and the widest dtypes come first.

    Raises:
        LoadError: `--layout` names none of the layouts.
    """
    layouts: tuple[tuple[str, ...], ...] = (("bhnd", "bnhd"), ("bnd", "nhd"), ("nd",))
    limits: tuple[Limits, ...] = LIMITS
    if description.is_layer:
        layouts, limits = (calling.LAYER_LAYOUTS,), LIMITS[:1]
    if settings.layout is not None:
        if settings.layout not in itertools.chain(*layouts):
            kind = "a layer with weights" if description.is_layer else "attention without weights"
            expected = ", ".join(itertools.chain(*layouts))
            raise LoadError(f"--layout is {settings.layout}; expected one of {expected} for {kind}")
        layouts = ((settings.layout,),)
    for limit, library in itertools.product(limits, description.libraries):
        for group, dtype in itertools.product(layouts, dtypes_of(library)):
            base = replace(settings, library=library, limits=limit, dtype=dtype)
            if {"packed", "packed_key"} & description.names.keys():
                pairs = [(axis, layout) for axis, layout in STACKED if layout in group]
                yield [replace(base, layout=layout, stack_axis=axis) for axis, layout in pairs]
            else:
                yield [replace(base, layout=layout) for layout in group]


def dtypes_of(library: str) -> tuple[str, ...]:
    """Return the dtypes to try with a library, the widest first."""
    if library == "jax":
        return ("float32",)
    if library == "array_api_strict":
        return ("float64", "float32")
    return ("float64", "float32", "float16", "bfloat16")


def first_case(description: Description, settings: Settings) -> Case:
    """Return the case with which a layout is tried."""
    if description.is_layer:
        return layer_cases(description.layer)[0]
    cases = {case.name: case for case in cases_within(settings.limits)}
    case = cases["batch_and_heads"]
    assert isinstance(case.call, Call)
    if settings.layout == "bnd":
        return replace(case, call=first_head(case.call))
    if settings.layout == "nhd":
        arrays = (a[:1] for a in (case.call.query, case.call.key, case.call.value))
        return replace(case, call=Call(*arrays))
    return cases["distinct_sizes"] if settings.layout == "nd" else case


def rank(attempt: Attempt) -> int:
    """Rank an attempt: 0 if the result is right, 1 if a mistake explains it, else 2.

    A result that is right in a coarser precision counts as right.
    """
    case, outcome, settings, _ = attempt
    if is_right(case, outcome, settings) or coarser_precision(case, outcome, settings):
        return 0
    return 1 if any(explaining_mistakes(case, outcome, settings)) else 2


def is_right(case: Case, outcome: Outcome, settings: Settings, mistakes: Mistakes = ()) -> bool:
    """Whether the result is right; if mistakes are given, whether they explain the result."""
    if outcome.failure:
        return False
    if mistakes:
        return explains(case, outcome, mistakes, settings)
    return (
        worst_difference(case, outcome.results, case.expected(), float32_at_best(settings)) is None
    )


def always_causal(case: Case) -> Case:
    """Return the case for a function that is always causal."""
    conventions = {*case.conventions, "bottom_right", *FULLY_MASKED_ROW}
    return replace(
        case, call=replace(case.call, is_causal=True), conventions=tuple(sorted(conventions))
    )


def detect_causality(
    case: Case, outcome: Outcome, description: Description, settings: Settings
) -> Settings:
    """Detect whether a function without the argument is always causal, and its precision."""
    if "is_causal" not in description.names and not is_right(case, outcome, settings):
        causal = always_causal(case)
        variants = [causal]
        if not description.is_layer:
            variants.append(replace(causal, call=bottom_right_call(causal)))
        if any(
            is_right(variant, outcome, settings) or coarser_precision(variant, outcome, settings)
            for variant in variants
        ):
            settings, case = replace(settings, is_always_causal=True), causal
    if worst_difference(case, outcome.results, case.expected(), settings) is None:
        return settings
    return replace(settings, precision=coarser_precision(case, outcome, settings))


def bottom_right_call(case: Case) -> Call:
    """Return the call with a causal mask that is aligned bottom-right."""
    assert isinstance(case.call, Call)
    shift = case.call.key.shape[-2] - case.call.query.shape[-2]
    return replace(case.call, is_causal=False, mask=case.call.distance <= shift)


def detect_mask(
    worker: Worker, description: Description, settings: Settings, case: Case, outcome: Outcome
) -> Settings:
    """Detect what a mask means: for pairs of positions or for keys, and what True or 1 does.

    Args:
        worker: calls the function.
        description: the function.
        settings: how to call it, but for the mask.
        case: a case without a mask.
        outcome: the outcome of that case, which may be wrong because of a mistake. Then the outcome
            of a case with a mask only has to be wrong in the same way.
    """
    names = description.names
    if description.is_layer or not {"mask", "padding"} & names.keys():
        return settings
    kinds = (settings.mask,) if settings.mask else calling.MASKS
    explanations: list[Mistakes] = [()]
    if not is_right(case, outcome, settings):
        explanations += explaining_mistakes(case, outcome, settings)
    callable_settings = []
    for keys_only, mask_case in mask_cases(names, settings):
        outcomes: dict[str, Outcome] = {}
        for kind in kinds:
            trial = replace(settings, mask=kind, takes_key_mask=keys_only)
            result = outcomes[kind] = worker.run(mask_case, description, trial)
            mistakes = next(
                (m for m in explanations if is_right(mask_case, result, trial, m)), None
            )
            if mistakes is None:
                if not result.failure:
                    callable_settings.append(trial)
                continue
            if kind == "additive" and hides_wrong_keys(
                mask_case, outcomes.get("keep"), trial, mistakes
            ):
                return replace(trial, mask="keep")
            adds_masks = not takes_ones(worker, description, trial, mask_case, mistakes)
            trial = replace(trial, adds_masks=adds_masks)
            return detect_full_masks(worker, description, trial, mistakes)
    fallback = replace(settings, mask=kinds[0], takes_key_mask="mask" not in names)
    return next(iter(callable_settings), fallback)


def hides_wrong_keys(
    mask_case: Case, boolean: Outcome | None, settings: Settings, mistakes: Mistakes
) -> bool:
    """Whether a function that adds float masks hides keys by a boolean mask, but the wrong ones.

    Otherwise it refuses boolean masks, or adds them, too, where True counts as 1.

    Args:
        mask_case: a case with a boolean mask.
        boolean: its wrong outcome; None if it was not called with a boolean mask.
        settings: how the function was called.
        mistakes: the mistakes of the function without a mask.
    """
    if boolean is None or boolean.failure:
        return False
    return not is_right(with_mask_added(mask_case), boolean, settings, mistakes)


def takes_ones(
    worker: Worker,
    description: Description,
    settings: Settings,
    mask_case: Case,
    mistakes: Mistakes,
) -> bool:
    """Whether a function keeps keys by numbers that are not 0, so that it cannot add a mask."""
    if settings.mask != "keep":
        return settings.mask == "ones"
    ones = replace(settings, mask="ones")
    return is_right(mask_case, worker.run(mask_case, description, ones), ones, mistakes)


def mask_cases(names: Mapping[str, str], settings: Settings) -> list[tuple[bool, Case]]:
    """Return the cases that tell what a mask means, as pairs of whether it is per key and the case.

    A mask is for each query and key, or for keys only, as padding is.

    Args:
        names: the function's argument names, keyed by ours.
        settings: how to call the function.
    """
    layout = settings.layout or ""
    cases = {case.name: case for case in cases_within(settings.limits)}
    pairs, padding = cases["boolean_mask"], cases["padding"]
    if "h" not in layout:
        padding = replace(padding, call=first_head(padding.call))
    if settings.is_always_causal:
        pairs, padding = always_causal(pairs), always_causal(padding)
    for_pairs = [(False, pairs)] if "mask" in names else []
    for_keys = [(True, padding)] if "b" in layout else []
    return for_pairs + for_keys


def detect_full_masks(
    worker: Worker, description: Description, settings: Settings, mistakes: Mistakes
) -> Settings:
    """Detect whether a function takes only masks of the full shape of the scores."""
    if settings.takes_key_mask or settings.layout not in ("bhnd", "bnhd"):
        return settings
    cases = {case.name: case for case in cases_within(settings.limits)}
    case = cases["mask_per_sequence"]
    case = always_causal(case) if settings.is_always_causal else case
    if not worker.run(case, description, settings).failure:
        return settings
    full = replace(settings, needs_full_masks=True)
    takes_full_masks = is_right(case, worker.run(case, description, full), full, mistakes)
    return full if takes_full_masks else settings


def with_mask_added(case: Case) -> Case:
    """Return the case with its boolean mask as a float mask, which adds 1 where it is True."""
    assert isinstance(case.call, Call)
    assert case.call.mask is not None
    return replace(case, call=replace(case.call, mask=None, bias=case.call.mask.astype(float)))


def first_head(call: Call | LayerCall) -> Call:
    """Return a call with the first head only."""
    assert isinstance(call, Call)
    query, key, value = (array[:, :1] for array in (call.query, call.key, call.value))
    return replace(call, query=query, key=key, value=value)
