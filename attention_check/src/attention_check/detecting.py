"""Detect how to call a function by trying: its library, layout, sizes, precision and masks."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from attention_check import calling, cases, comparing, recipe
from attention_check.calling import Interface, Settings
from attention_check.cases import NO_LIMITS, SIGNIFICAND_BITS, Case, Limits
from attention_check.comparing import Mistakes, explains
from attention_check.libraries import LoadError
from attention_check.recipe import Array, Call
from attention_check.shrinking import shortened
from attention_check.worker import Outcome, Worker

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
    """A first call of the function.

    Attributes:
        interface: how it was called, and which item of what it returned is the output.
        problem: why there is no result of the right shape; "" if there is one.
    """

    case: Case
    outcome: Outcome
    interface: Interface
    problem: str


def detect(worker: Worker, described: Interface) -> Interface:
    """Return how to call a function that is described by its signature, by trying."""
    failed_attempts: list[Attempt] = []
    for candidates in interfaces_to_try(described, worker.settings):
        attempts = [attempt_call(worker, interface) for interface in candidates]
        fitting_attempts = [attempt for attempt in attempts if not attempt.problem]
        if fitting_attempts:
            fitting_attempts = with_causality(worker, fitting_attempts)
            best = min(fitting_attempts, key=rank)
            if described.is_backward:
                mask = worker.settings.mask or described.stated_mask or "keep"
                return replace(best.interface, mask=mask if "mask" in described.names else None)
            best = best._replace(interface=without_refused_names(worker, best.interface))
            other = None
            if rank(best) and best.interface.layout == described.stated_layout:
                other = layout_that_is_right(worker, best.interface)
                best = best._replace(interface=replace(best.interface, right_layout=other))
            layer = best.interface.layer
            variant = "a norm" if layer and layer.norms else described.variant
            if variant and rank(best) == 2 and other is None:
                raise LoadError(
                    f"{worker.target} differs from plain attention, and its code has {variant}; "
                    "check the attention without it"
                )
            best = best._replace(interface=with_precision(best))
            return with_kind_of_window(worker, detect_masks(worker, best))
        failed_attempts += attempts
    raise LoadError(describe_failed_attempts(worker.target, failed_attempts))


def with_kind_of_window(worker: Worker, interface: Interface) -> Interface:
    """Return the interface, with a window of one number if the function takes no two."""
    if "window" not in interface.names or interface.is_required("window") or interface.is_layer:
        return interface
    case = case_named("window_causal", interface)
    with_number = replace(interface, takes_window_number=True)
    takes_two = not worker.run(case, interface).failure
    return interface if takes_two or worker.run(case, with_number).failure else with_number


def layout_that_is_right(worker: Worker, interface: Interface) -> str | None:
    """Return another layout with as many axes in which a function is right, if there is one."""
    layouts = calling.LAYER_LAYOUTS if interface.is_layer else calling.LAYOUTS
    for layout, layer in itertools.product(layouts, interface.layers or (interface.layer,)):
        if len(layout) == len(interface.layout) and layout != interface.layout:
            attempt = attempt_call(worker, replace(interface, layout=layout, layer=layer))
            if not attempt.problem and rank(attempt) == 0:
                return layout
    return None


def attempt_call(worker: Worker, interface: Interface) -> Attempt:
    """Call the function with an interface, on a case that has all axes of the layout."""
    if interface.is_backward:
        case = case_named("gradients", interface)
    elif interface.is_layer:
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
        # Without limits, as the first attempts were, and not in bfloat16, which NumPy may lack.
        if attempt.interface.limits == NO_LIMITS and attempt.interface.dtype != "bfloat16":
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
        layout_groups: list[tuple[str, ...]] = [("bnd", "nbd"), ("nd",)]
    else:
        kind = "attention without weights"
        limits_to_try = LIMITS
        layout_groups = [("bhnd", "bnhd", "nbhd"), ("bnd", "nhd"), ("nd",)]
    if settings.layout is not None:
        known_layouts = list(itertools.chain(*layout_groups))
        if settings.layout not in known_layouts:
            raise LoadError(
                f"--layout is {settings.layout}; expected one of {', '.join(known_layouts)} "
                f"for {kind}"
            )
        layout_groups = [(settings.layout,)]
    elif interface.stated_layout and interface.stated_layout in sum(layout_groups, ()):
        layout_groups = [(interface.stated_layout,), *layout_groups]
    variants = [interface]
    if interface.is_backward and "is_causal" not in interface.names:
        variants.append(replace(interface, is_always_causal=True))
    if interface.is_required("window"):
        variants = [
            replace(interface, takes_window_number=is_number) for is_number in (True, False)
        ]
    if interface.is_required("mask") and interface.mask is None:  # None may not do
        variants += [
            replace(variant, mask=kind, mask_axes=axes, needs_mask=True)
            for kind in calling.MASKS
            for axes in (("bhmn", "bmn", "bn") if interface.is_layer else ("bhmn",))
            for variant in variants
        ]
    is_packed = not interface.is_layer and {"packed", "packed_key"} & interface.names.keys()
    for limits, library in itertools.product(limits_to_try, interface.libraries):
        dtypes = ("float32",) if library == "jax" else tuple(SIGNIFICAND_BITS)
        for layouts, dtype in itertools.product(layout_groups, dtypes):
            trials = [replace(x, library=library, limits=limits, dtype=dtype) for x in variants]
            if is_packed:
                yield [
                    replace(trial, layout=layout, stack_axis=axis)
                    for trial, (axis, layout) in itertools.product(trials, PACKED_LAYOUTS)
                    if layout in layouts
                ]
            else:
                layers = interface.layers or (None,)
                yield [
                    replace(trial, layer=layer, layout=layout)
                    for trial, layer, layout in itertools.product(trials, layers, layouts)
                ]


def cases_for(interface: Interface) -> list[Case]:
    """Return the cases for a function: within its limits, and in the dtypes that it takes."""
    is_layer = interface.is_layer
    found = cases.layer_cases(interface.layer) if is_layer else cases.cases_within(interface.limits)
    if is_layer and interface.layer is None:
        has = [name in interface.names for name in ("heads", "W_O")]
        found = tuple(for_function_of_layer(case, *has) for case in found)
    if is_layer and "b" not in interface.layout:
        found = tuple(with_first_of_axis(case, "b") for case in found)
    elif not is_layer:
        for axis in {"b", "h"} - set(interface.layout):
            found = tuple(without_axis(case, axis) for case in found)
    has_four_axes = "module" in interface.names or interface.stated_layout == "bhnd"
    if interface.layout != "bhnd" or has_four_axes:
        found = tuple(case for case in found if case.feature != "three axes")
    if interface.is_always_causal:
        # The causal case of a layer would repeat its first case.
        found = tuple(causal_case(case) for case in found if case.name != "layer_causal")
    elif "is_causal" in interface.names:  # with which a layer may take no mask
        found = tuple(case for case in found if case.name != "layer_padding_causal")
    if interface.is_always_causal or "module" in interface.names:
        found = tuple(with_convention(case, "mask_replaces_causal") for case in found)
    if interface.takes_window_number:
        found = tuple(with_convention(case, "window_before_itself") for case in found)
    if interface.scale is not None:
        found = tuple(with_default_scale(case, interface.scale) for case in found)
    if interface.is_backward:
        found = tuple(case for case in found if case.compares_gradients)
    bits = SIGNIFICAND_BITS[interface.dtype]
    return [case for case in found if case.dtype is None or SIGNIFICAND_BITS[case.dtype] <= bits]


@cache
def for_function_of_layer(case: Case, has_heads: bool, has_output_weights: bool) -> Case:
    """Return a case for a function of a layer that may take neither heads nor W_O."""
    call = case.call if has_heads else replace(case.call, heads=1)
    if not has_output_weights:
        weights, biases = (
            {letter: array for letter, array in arrays.items() if letter != "O"}
            for arrays in (call.weights, call.biases)
        )
        call = replace(call, weights=weights, biases=biases)
    return replace(case, call=call)


@cache
def without_axis(case: Case, axis: str) -> Case:
    """Return the case with its first head or sequence, unless it is about heads or sequences."""
    is_about_axis = case.feature in ("heads", "grouped heads") or "per_head" in case.name
    if is_about_axis or case.name == "gradients_grouped":
        return case
    return with_first_of_axis(case, axis)


@cache
def with_convention(case: Case, name: str) -> Case:
    """Return a case with a convention, if it has a causal mask and what the convention is about."""
    call = case.call
    about = ("window",) if name == "window_before_itself" else ("mask", "bias")
    has_it = any(getattr(call, attribute, None) is not None for attribute in about)
    if not (has_it and call.is_causal):
        return case
    return replace(case, conventions=(*case.conventions, name))


@cache
def with_default_scale(case: Case, scale: float) -> Case:
    return replace(case, call=replace(case.call, default_scale=scale))


def case_named(name: str, interface: Interface) -> Case:
    return next(case for case in cases_for(interface) if case.name == name)


def with_first_of_axis(case: Case, axis: str) -> Case:
    """Return the case with its first head only (axis h), or with its first sequence only (b)."""
    if not isinstance(case.call, Call):
        call = recipe.with_inputs(case.call, lambda rows: rows[:1])
        return replace(case, call=replace(call, mask=None if call.mask is None else call.mask[:1]))
    return replace(case, call=shortened(case.call, axis, 1))


def rank(attempt: Attempt) -> int:
    """Rank an attempt: 0 if its result is right, 1 if a mistake explains it, else 2."""
    case, outcome, interface, _ = attempt
    if is_right_in_some_precision(case, outcome, interface):
        return 0
    return 1 if any(comparing.explaining_mistakes(case, outcome, interface)) else 2


def is_right_in_some_precision(case: Case, outcome: Outcome, interface: Interface) -> bool:
    """Whether a result is right, or would be if it was computed in a coarser dtype."""
    if explains(case, outcome, (), interface) or comparing.is_right(case, outcome, interface):
        return True
    return comparing.coarser_precision(case, outcome, interface) is not None


def causal_case(case: Case) -> Case:
    conventions = {*case.conventions, "bottom_right", *cases.FULLY_MASKED_ROW}
    return replace(
        case, call=replace(case.call, is_causal=True), conventions=tuple(sorted(conventions))
    )


def without_refused_names(worker: Worker, interface: Interface) -> Interface:
    """Return the interface without the assumed arguments that the function refuses."""
    if not interface.are_assumed or interface.is_layer:
        return interface
    names = dict(interface.names)
    trials = {"is_causal": "causal", "scale": "scale", "mask": "boolean_mask"}
    for name, case_name in trials.items():
        trial = replace(interface, mask="keep")
        outcome = worker.run(case_named(case_name, interface), trial)
        if name in names and "TypeError" in outcome.failure:
            names = {ours: theirs for ours, theirs in names.items() if theirs != names[name]}
    return replace(interface, names=names)


def with_causality(worker: Worker, attempts: list[Attempt]) -> list[Attempt]:
    """Return attempts, as those of a causal function if none is right and later keys do nothing.

    A function that has an argument for a causal mask is not always causal.
    """
    first = attempts[0].interface
    has_argument = "is_causal" in without_refused_names(worker, first).names
    if (
        has_argument
        or first.is_backward
        or any(explains(case, outcome, (), i) for case, outcome, i, _ in attempts)
    ):
        return attempts
    causal_attempts = []
    for case, outcome, interface, problem in attempts:
        if ignores_later_keys(worker, interface):
            causal = replace(interface, is_always_causal=True)
            attempt = Attempt(causal_case(case), outcome, causal, problem)
            if isinstance(case.call, Call) and not is_known(attempt.case, outcome, causal):
                # It is for self-attention: its mask may be wrong where m and n differ.
                square = replace(causal, limits=replace(causal.limits, equal_lengths=True))
                other = attempt_call(worker, square)
                if not other.problem and is_known(other.case, other.outcome, square):
                    attempt = other
            causal_attempts.append(attempt)
    return causal_attempts or attempts


def with_precision(attempt: Attempt) -> Interface:
    """Return the interface with the precision in which the function computes."""
    case, outcome, interface, _ = attempt
    if comparing.is_right(case, outcome, interface):
        return interface
    precision = comparing.coarser_precision(case, outcome, interface)
    return replace(interface, precision=precision)


def is_known(case: Case, outcome: Outcome, interface: Interface) -> bool:
    """Whether a result is right, follows a convention of its case, or is that of a mistake."""
    return (
        is_right_in_some_precision(case, outcome, interface)
        or any(explains(case, outcome, c, interface) for c in comparing.possible_conventions(case))
        or any(comparing.explaining_mistakes(case, outcome, interface))
    )


def ignores_later_keys(worker: Worker, interface: Interface) -> bool:
    """Whether the last key has no effect on the second query, and the first key one on the last.

    Not the first query, which sees no key if its own position is hidden by mistake.
    """
    case = case_named("layer" if interface.is_layer else "square", interface)

    def rows_changed_by(position: int) -> Array:
        """Return the positions whose rows change when the numbers at a position do."""

        def changed(array: Array) -> Array:
            array = array.copy()
            array[..., position, :] *= -1
            return array

        call = recipe.with_inputs(case.call, changed)
        if not interface.is_layer:
            call = replace(call, query=case.call.query)
        outcome = worker.run(replace(case, call=call), interface)
        if outcome.failure or outcome.results["output"].shape != output.shape:
            return np.zeros(0)
        differs = comparing.absolute_errors(outcome.results["output"], output) > 1e-6
        return np.argwhere(differs)[:, -2]

    first_outcome = worker.run(case, interface)
    if first_outcome.failure:
        return False
    output = first_outcome.results["output"]
    last = case.call.query.shape[-2] - 1
    return 1 not in rows_changed_by(last) and last in rows_changed_by(0)


def detect_masks(worker: Worker, attempt: Attempt) -> Interface:
    """Return the interface with what its masks mean: their axes, and what True or a number does.

    A case with a mask is called with one form of mask after the other. The first with which the
    result is right is taken. A function that is wrong without a mask, too, need not be right: its
    result may have the mistakes that explain the case without a mask.
    """
    case, outcome, interface, _ = attempt
    explanations: list[Mistakes] = [()]
    if not explains(case, outcome, (), interface):
        explanations += comparing.explaining_mistakes(case, outcome, interface)
    if "padding" in interface.names:
        interface = detect_padding(worker, interface, explanations)
    if "mask" in interface.names:
        interface = detect_mask(worker, interface, explanations)
    return interface


def detect_padding(worker: Worker, interface: Interface, explanations: list[Mistakes]) -> Interface:
    """Return the interface with what its argument for padding means."""
    if "b" not in interface.layout:
        return interface
    name = interface.names["padding"].lower()
    is_module = interface.layer is not None and "O" in interface.layer.weights
    is_of_pytorch = name == "key_padding_mask" and interface.library == "torch" and is_module
    stated = "hide" if is_of_pytorch else interface.stated_mask
    kinds = kinds_of_mask(worker.settings.mask, stated)
    if interface.names["padding"].lower() in calling.LENGTHS:
        kinds = ("lengths",)
    case = padding_case(interface)
    returned = []
    for kind in kinds:
        trial = replace(interface, padding=kind, mask=None)
        outcome = worker.run(case, trial)
        if any(explains(case, outcome, mistakes, trial) for mistakes in explanations):
            return replace(interface, padding=kind)
        if not outcome.failure:
            returned.append(kind)
    return replace(interface, padding=returned[0] if returned else kinds[0])


def kinds_of_mask(told: str | None, stated: str | None) -> tuple[str, ...]:
    """Return the kinds of masks to try: what the reader tells, or the docstring leaves open."""
    if told:
        return (told,)
    return {"keep": ("keep", "ones"), "hide": ("hide",)}.get(stated or "", calling.MASKS)


def detect_mask(worker: Worker, interface: Interface, explanations: list[Mistakes]) -> Interface:
    """Return the interface with what its argument for a mask means."""
    told = worker.settings.mask
    kinds = kinds_of_mask(told, interface.stated_mask)
    # Calls that give a result that nothing explains.
    returned: list[tuple[Interface, Case, Outcome]] = []
    for axes, mask_case in cases_with_mask(interface):
        for kind in kinds:
            # Without the argument for padding, which a mask of keys would go to.
            trial = replace(interface, mask=kind, mask_axes=axes, padding=None)
            mask_outcome = worker.run(mask_case, trial)
            # The explanation () holds if the outcome is right.
            holding = (m for m in explanations if explains(mask_case, mask_outcome, m, trial))
            mistakes = next(holding, None)
            if mistakes is None:
                if not mask_outcome.failure:
                    returned.append((trial, mask_case, mask_outcome))
                continue
            # A function that takes both kinds may hide the wrong keys by a boolean mask.
            may_be_boolean = kind == "additive" and not told
            if may_be_boolean and hides_wrong_keys(worker, trial, mask_case, mistakes):
                return replace(trial, mask="keep", padding=interface.padding)
            takes_ones = kind == "ones"
            if kind in ("keep", "hide"):  # such a function may hide keys by ones and zeros, too
                trial_with_ones = replace(trial, mask="ones" if kind == "keep" else "hiding ones")
                outcome_with_ones = worker.run(mask_case, trial_with_ones)
                takes_ones = explains(mask_case, outcome_with_ones, mistakes, trial_with_ones)
            trial = replace(trial, adds_masks=not takes_ones)
            trial = detect_full_masks(worker, trial, mistakes)
            return replace(trial, padding=interface.padding)
    if returned and interface.is_layer and not told:
        # A layer may take a mask in a form that is not tried, which is no mistake of its.
        for trial, mask_case, mask_outcome in returned:
            if any(comparing.explaining_mistakes(mask_case, mask_outcome, trial)):
                return replace(trial, padding=interface.padding)
        return interface if interface.needs_mask else replace(interface, mask=None)
    if returned:
        return replace(returned[0][0], padding=interface.padding)
    return replace(interface, mask=kinds[0])


def hides_wrong_keys(
    worker: Worker, interface: Interface, mask_case: Case, mistakes: Mistakes
) -> bool:
    """Whether a function that adds float masks hides keys by a boolean mask, but the wrong ones."""
    outcome = worker.run(mask_case, replace(interface, mask="keep"))
    call = mask_case.call
    if outcome.failure or not isinstance(call, Call):  # it refuses boolean masks
        return False
    # It may also add them, where True counts as 1.
    bias = np.asarray(call.mask, dtype=float)
    added = replace(mask_case, call=replace(call, mask=None, bias=bias))
    return not explains(added, outcome, mistakes, interface)


def cases_with_mask(interface: Interface) -> list[tuple[str, Case]]:
    """Return cases that tell what a mask means, each after the axes of its mask."""
    if interface.is_layer:
        case = case_named("layer_mask", interface)
        shared = replace(case, call=replace(case.call, mask=case.call.mask[:1]))
        padding = padding_case(interface)
        return [("bhmn", case), ("bmn", case), ("mn", shared), ("bn", padding), ("hmn", case)]
    case = case_named("boolean_mask", interface)
    mask_cases = [("bhmn", case)]
    if len(interface.layout) == 4:
        mask_cases += [("bmn", case), ("mn", case)]
    if "b" in interface.layout:
        mask_cases.append(("bn", padding_case(interface)))
    return mask_cases


def padding_case(interface: Interface) -> Case:
    if interface.is_layer:
        return case_named("layer_padding", interface)
    case = case_named("padding", interface)
    return case if "h" in interface.layout else with_first_of_axis(case, "h")


def detect_full_masks(worker: Worker, interface: Interface, mistakes: Mistakes) -> Interface:
    """Return the interface, with `needs_full_masks` if the function fails with a smaller mask."""
    is_full = interface.mask_axes != "bhmn" or interface.layout not in ("bhnd", "bnhd")
    if interface.is_layer or is_full:
        return interface
    case = case_named("mask_per_sequence", interface)
    if not worker.run(case, interface).failure:
        return interface
    full = replace(interface, needs_full_masks=True)
    return full if explains(case, worker.run(case, full), mistakes, full) else interface
