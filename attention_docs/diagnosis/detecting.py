"""Detect how to call a function by trying: its library, layout, sizes, precision and masks."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from attention_docs.diagnosis import calling, cases, comparing
from attention_docs.diagnosis.calling import Interface, Settings
from attention_docs.diagnosis.cases import NO_LIMITS, SIGNIFICAND_BITS, Case, Limits
from attention_docs.diagnosis.comparing import Mistakes, explains
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
# Where a library lacks some of them: the dtypes to try, the widest first.
DTYPES = {"jax": ("float32",), "array_api_strict": ("float64", "float32")}


class Attempt(NamedTuple):
    """A first call of the function.

    Attributes:
        interface: how it was called, and which item of what it returned is the output.
        problem: why there is no result of the right shape; "" if there is one.
    """

    case: Case
    outcome: Outcome
    interface: Interface
    problem: str


def detect(worker: Worker) -> Interface:
    failed_attempts: list[Attempt] = []
    for candidates in interfaces_to_try(worker.describe(), worker.settings):
        attempts = [attempt_call(worker, interface) for interface in candidates]
        fitting_attempts = [attempt for attempt in attempts if not attempt.problem]
        if fitting_attempts:
            best = min(fitting_attempts, key=rank)
            return detect_mask(
                worker, best._replace(interface=detect_causality_and_precision(best))
            )
        failed_attempts += attempts
    raise LoadError(describe_failed_attempts(worker.target, failed_attempts))


def attempt_call(worker: Worker, interface: Interface) -> Attempt:
    """Call the function with an interface, on a case that has all axes of the layout."""
    if interface.is_layer:
        case = case_named("layer", interface)
    elif interface.layout == "nd":
        case = case_named("distinct_sizes", interface)
    else:
        case = case_named("batch_and_heads", interface)
        if interface.layout == "bnd":
            case = with_first_of_axis(case, "h")
        elif interface.layout == "nhd":
            case = with_first_of_axis(case, "b")
    outcome = worker.run(case, interface)
    if outcome.kind == "died":
        raise LoadError(
            f"{worker.target} cannot be checked: {outcome.failure}; call it by itself to see why, "
            "or raise the time limit with --limit"
        )
    problem = outcome.failure or comparing.shape_problem(case, outcome.results, interface)
    return Attempt(case, outcome, replace(interface, output_item=outcome.item), problem)


def describe_failed_attempts(target: str, attempts: list[Attempt]) -> str:
    """Describe why a function cannot be called, with the layouts in which each problem occurs."""
    layouts_by_problem: dict[str, list[str]] = {}
    for attempt in attempts:
        if attempt.interface.limits == NO_LIMITS:  # such attempts came first
            layout = attempt.interface.layout
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


def interfaces_to_try(interface: Interface, settings: Settings) -> Iterator[list[Interface]]:
    """Yield lists of interfaces; from the first list in which any fits, the best is taken.

    Those without limits of the sizes come first, and among those with the same limits, the ones
    with the most axes and the widest dtypes.
    """
    if interface.is_layer:
        kind = "a layer with weights"
        limits_to_try: tuple[Limits, ...] = (NO_LIMITS,)
        layout_groups: list[tuple[str, ...]] = [calling.LAYER_LAYOUTS]
    else:
        kind = "attention without weights"
        limits_to_try = LIMITS
        layout_groups = [("bhnd", "bnhd"), ("bnd", "nhd"), ("nd",)]
    if settings.layout is not None:
        known_layouts = list(itertools.chain(*layout_groups))
        if settings.layout not in known_layouts:
            raise LoadError(
                f"--layout is {settings.layout}; expected one of {', '.join(known_layouts)} "
                f"for {kind}"
            )
        layout_groups = [(settings.layout,)]
    is_packed = bool({"packed", "packed_key"} & interface.names.keys())
    for limits, library in itertools.product(limits_to_try, interface.libraries):
        dtypes = DTYPES.get(library, tuple(SIGNIFICAND_BITS))
        for layouts, dtype in itertools.product(layout_groups, dtypes):
            trial = replace(interface, library=library, limits=limits, dtype=dtype)
            if is_packed:
                yield [
                    replace(trial, layout=layout, stack_axis=axis)
                    for axis, layout in PACKED_LAYOUTS
                    if layout in layouts
                ]
            else:
                yield [replace(trial, layout=layout) for layout in layouts]


def cases_for(interface: Interface) -> list[Case]:
    """Return the cases for a function: within its limits, and in the dtypes that it takes."""
    is_layer = interface.is_layer
    found = cases.layer_cases(interface.layer) if is_layer else cases.cases_within(interface.limits)
    if interface.is_always_causal:
        # The causal case of a layer would repeat its first case.
        found = tuple(causal_case(case) for case in found if case.name != "layer_causal")
    bits = SIGNIFICAND_BITS[interface.dtype]
    return [case for case in found if case.dtype is None or SIGNIFICAND_BITS[case.dtype] <= bits]


def case_named(name: str, interface: Interface) -> Case:
    return next(case for case in cases_for(interface) if case.name == name)


def with_first_of_axis(case: Case, axis: str) -> Case:
    """Return the case with its first head only (axis h), or with its first sequence only (b)."""
    assert isinstance(case.call, Call)
    return replace(case, call=shortened(case.call, axis, 1))


def rank(attempt: Attempt) -> int:
    """Rank an attempt: 0 if its result is right, 1 if a mistake explains it, else 2."""
    case, outcome, interface, _ = attempt
    if is_right_in_some_precision(case, outcome, interface):
        return 0
    return 1 if any(comparing.explaining_mistakes(case, outcome, interface)) else 2


def is_right_in_some_precision(case: Case, outcome: Outcome, interface: Interface) -> bool:
    """Whether a result is right, or would be if it was computed in a coarser dtype."""
    if explains(case, outcome, (), interface):
        return True
    return comparing.coarser_precision(case, outcome, interface) is not None


def causal_case(case: Case) -> Case:
    conventions = {*case.conventions, "bottom_right", *cases.FULLY_MASKED_ROW}
    return replace(
        case, call=replace(case.call, is_causal=True), conventions=tuple(sorted(conventions))
    )


def detect_causality_and_precision(attempt: Attempt) -> Interface:
    """Return the interface with its precision, and always causal if that explains the outcome."""
    case, outcome, interface, _ = attempt
    # A function that has an argument for a causal mask is not always causal.
    if "is_causal" not in interface.names and not explains(case, outcome, (), interface):
        causal = causal_case(case)
        variants = [causal]
        if isinstance(case.call, Call):  # or the last query sees every key
            shift = case.call.key.shape[-2] - case.call.query.shape[-2]
            bottom_right = replace(case.call, mask=case.call.distance <= shift)
            variants.append(replace(causal, call=bottom_right))
        if any(is_right_in_some_precision(variant, outcome, interface) for variant in variants):
            case, interface = causal, replace(interface, is_always_causal=True)
    if comparing.is_right(case, outcome, interface):
        return interface
    precision = comparing.coarser_precision(case, outcome, interface)
    return replace(interface, precision=precision)


def detect_mask(worker: Worker, attempt: Attempt) -> Interface:
    """Return the interface with what a mask means: its shape, and what True or a number does.

    A case with a mask is called with one kind of mask after the other. The first kind with which
    the result is right is taken. A function that is wrong without a mask, too, need not be right:
    its result may have the mistakes that explain the case without a mask.
    """
    case, outcome, interface, _ = attempt
    if interface.is_layer or not {"mask", "padding"} & interface.names.keys():
        return interface
    kinds = (interface.mask,) if interface.mask else calling.MASKS
    explanations: list[Mistakes] = [()]
    if not explains(case, outcome, (), interface):
        explanations += comparing.explaining_mistakes(case, outcome, interface)
    unexplained = []  # interfaces with which the function gives a result that nothing explains
    for takes_key_mask, mask_case in cases_with_mask(interface):
        for kind in kinds:
            trial = replace(interface, mask=kind, takes_key_mask=takes_key_mask)
            mask_outcome = worker.run(mask_case, trial)
            # The explanation () holds if the outcome is right.
            holding = (m for m in explanations if explains(mask_case, mask_outcome, m, trial))
            mistakes = next(holding, None)
            if mistakes is None:
                if not mask_outcome.failure:
                    unexplained.append(trial)
                continue
            # A function that takes both kinds may hide the wrong keys by a boolean mask.
            may_be_boolean = kind == "additive" and not interface.mask
            if may_be_boolean and hides_wrong_keys(worker, trial, mask_case, mistakes):
                return replace(trial, mask="keep")
            takes_ones = kind == "ones"
            if kind == "keep":  # only such a function may hide keys by ones and zeros, too
                trial_with_ones = replace(trial, mask="ones")
                outcome_with_ones = worker.run(mask_case, trial_with_ones)
                takes_ones = explains(mask_case, outcome_with_ones, mistakes, trial_with_ones)
            trial = replace(trial, adds_masks=not takes_ones)
            return detect_full_masks(worker, trial, mistakes)
    if unexplained:
        return unexplained[0]
    return replace(interface, mask=kinds[0], takes_key_mask="mask" not in interface.names)


def hides_wrong_keys(
    worker: Worker, interface: Interface, mask_case: Case, mistakes: Mistakes
) -> bool:
    """Whether a function that adds float masks hides keys by a boolean mask, but the wrong ones."""
    outcome = worker.run(mask_case, replace(interface, mask="keep"))
    if outcome.failure:  # it refuses boolean masks
        return False
    # It may also add them, where True counts as 1.
    call = mask_case.call
    assert isinstance(call, Call)
    assert call.mask is not None
    added = replace(mask_case, call=replace(call, mask=None, bias=call.mask.astype(float)))
    return not explains(added, outcome, mistakes, interface)


def cases_with_mask(interface: Interface) -> list[tuple[bool, Case]]:
    """Return cases that tell what a mask means, each after whether its mask is for keys only."""
    mask_cases = []
    if "mask" in interface.names:
        mask_cases.append((False, case_named("boolean_mask", interface)))
    if "b" in interface.layout:
        padding = case_named("padding", interface)
        has_heads = "h" in interface.layout
        mask_cases.append((True, padding if has_heads else with_first_of_axis(padding, "h")))
    return mask_cases


def detect_full_masks(worker: Worker, interface: Interface, mistakes: Mistakes) -> Interface:
    """Return the interface, with `needs_full_masks` if the function fails with a smaller mask."""
    if interface.takes_key_mask or interface.layout not in ("bhnd", "bnhd"):
        return interface
    case = case_named("mask_per_sequence", interface)
    if not worker.run(case, interface).failure:
        return interface
    full = replace(interface, needs_full_masks=True)
    return full if explains(case, worker.run(case, full), mistakes, full) else interface
