"""Detect a function's dtype, layout, widths and kind of mask by trial calls."""

import itertools
from dataclasses import replace

from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Description, LoadError, Settings
from attention_docs.diagnosis.cases import Case, with_equal_widths
from attention_docs.diagnosis.comparing import (
    explaining_mistakes,
    explains,
    first_difference,
    shape_problem,
)
from attention_docs.diagnosis.mistakes import MASK_ADDED
from attention_docs.diagnosis.worker import Outcome, Worker


def detect_call_settings(
    worker: Worker, description: Description, settings: Settings, cases: list[Case]
) -> Settings:
    """Detect a dtype and a layout with which a case returns a result of the right shape.

    Raises:
        LoadError: if there is none; the message says which settings to pass.
    """
    dtypes = ("float32",) if description.library == "jax" else ("float64", "float32")
    layouts = layouts_to_try(description, settings)
    problems: dict[str, list[str]] = {}
    for case, dtype in itertools.product(trial_cases(cases), dtypes):
        candidates = []
        for layout in layouts:
            trial = replace(settings, dtype=dtype, layout=layout)
            outcome = worker.run(case, description, trial)
            if outcome.is_fault:
                raise LoadError(
                    f"{worker.target} cannot be checked: {outcome.failure}; call it by itself to "
                    "see why, or raise the time limit with --limit"
                )
            problem = outcome.failure or shape_problem(case, outcome.results, trial)
            if not problem:
                candidates.append((trial, outcome))
            elif case is cases[0] and dtype == dtypes[0]:
                problems.setdefault(problem, []).append(layout)
        if candidates:
            best, outcome = min(candidates, key=lambda candidate: rank(case, *candidate))
            return detect_precision(case, best, outcome)
    reasons = [
        f"in {'every layout' if failed == list(layouts) else ', '.join(failed)} {problem}"
        for problem, failed in problems.items()
    ]
    raise LoadError(
        f"{worker.target} cannot be called: {'; '.join(reasons)}; say with --layout and --names "
        "how to call it"
    )


def trial_cases(cases: list[Case]) -> list[Case]:
    """Return the first case, which distinguishes the layouts, and simpler ones.

    The simpler ones are for functions that require d_v = d_k, or whose arguments are swapped.
    """
    square = [case for case in cases if case.name == "square"]
    # Without duplicates: the first case of a layer has equal widths already.
    return list(dict.fromkeys([cases[0], with_equal_widths(cases[0]), *square]))


def layouts_to_try(description: Description, settings: Settings) -> tuple[str, ...]:
    """Return the layout of the settings, or else all layouts of this kind of function.

    Raises:
        LoadError: if the layout of the settings is not among them.
    """
    layouts = calling.LAYER_LAYOUTS if description.is_layer else calling.LAYOUTS
    if settings.layout is None:
        return layouts
    if settings.layout not in layouts:
        kind = "a layer with weights" if description.is_layer else "attention without weights"
        raise LoadError(f"--layout {settings.layout}: {kind} has one of {', '.join(layouts)}")
    return (settings.layout,)


def detect_precision(case: Case, settings: Settings, outcome: Outcome) -> Settings:
    """Set the precision to float32 if the result is right only within that precision."""
    single = replace(settings, precision="float32")
    if is_right(case, outcome, single) and not is_right(case, outcome, settings):
        return single
    return settings


def is_right(case: Case, outcome: Outcome, settings: Settings) -> bool:
    """Whether the call succeeded and its result is right within the precision of the settings."""
    if outcome.failure:
        return False
    return first_difference(case, outcome.results, case.expected(), settings) is None


def rank(case: Case, settings: Settings, outcome: Outcome) -> int:
    """Rank candidate settings: 0 if the result is right, 1 if a mistake explains it, else 2."""
    single = replace(settings, precision="float32")
    if is_right(case, outcome, settings) or is_right(case, outcome, single):
        return 0
    return 1 if any(explaining_mistakes(case, outcome, settings)) else 2


def requires_equal_widths(
    worker: Worker, description: Description, settings: Settings, case: Case
) -> bool:
    """Whether the function fails unless d_v = d_k."""
    if not worker.run(case, description, settings).failure:
        return False
    return not worker.run(with_equal_widths(case), description, settings).failure


def detect_mask(
    worker: Worker, description: Description, settings: Settings, cases: list[Case]
) -> Settings:
    """Detect the kind of mask: True keeps, True hides, or numbers to add."""
    if settings.mask or description.is_layer or "mask" not in description.names:
        return settings
    case = next(case for case in cases if case.name == "boolean_mask")
    keep, hide, additive = (replace(settings, mask=kind) for kind in ("keep", "hide", "additive"))
    outcome = worker.run(case, description, keep)
    if is_right(case, outcome, keep):
        return keep
    if is_right(case, worker.run(case, description, hide), hide):
        return hide
    rejects_booleans = outcome.failure and not outcome.is_fault
    adds_booleans = explains(case, outcome, (MASK_ADDED,), settings)
    if rejects_booleans or adds_booleans:
        outcome = worker.run(case, description, additive)
        if is_right(case, outcome, additive):
            return additive
    return keep
