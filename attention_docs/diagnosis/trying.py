"""Find out by trying how a function is called: dtype, layout, widths, and what a mask means."""

import itertools
from dataclasses import replace

from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Description, LoadError, Settings
from attention_docs.diagnosis.cases import Case, with_equal_widths
from attention_docs.diagnosis.comparing import differing, explains, shape_problem, single_mistakes
from attention_docs.diagnosis.mistakes import MASK_ADDED
from attention_docs.diagnosis.worker import Outcome, Worker


def callable_settings(
    worker: Worker, description: Description, settings: Settings, cases: list[Case]
) -> Settings:
    """Find a dtype and a layout with which a case has a result of the right shape.

    The first case tells the layouts apart. Functions that take equal widths only, or whose
    arguments are swapped, need a plainer one.

    Raises:
        LoadError: if there is none; the message says what to tell.
    """
    dtypes = ("float32",) if description.library == "jax" else ("float64", "float32")
    layouts = layouts_to_try(description, settings)
    plainer = [case for case in cases if case.name == "square"]
    problems: dict[str, list[str]] = {}
    # A layer's case has equal widths already.
    tried_cases = dict.fromkeys([cases[0], with_equal_widths(cases[0]), *plainer])
    for case, dtype in itertools.product(tried_cases, dtypes):
        possible = []
        for layout in layouts:
            tried = replace(settings, dtype=dtype, layout=layout)
            outcome = worker.run(case, description, tried)
            if outcome.broken:
                raise LoadError(
                    f"{worker.target} cannot be checked: {outcome.failure}; call it by itself to "
                    "see why, or give it longer with --limit"
                )
            problem = outcome.failure or shape_problem(case, outcome.results, tried)
            if not problem:
                possible.append((tried, outcome))
            elif case is cases[0] and dtype == dtypes[0]:
                problems.setdefault(problem, []).append(layout)
        if possible:
            # Of several layouts, one whose result is right, or that of a known mistake.
            found, outcome = min(possible, key=lambda pair: plausibility(case, *pair))
            return with_precision(case, found, outcome)
    said = "; ".join(
        f"in {'every layout' if those == list(layouts) else ', '.join(those)} {problem}"
        for problem, those in problems.items()
    )
    raise LoadError(
        f"{worker.target} cannot be called: {said}; say with --layout and --names how to call it"
    )


def layouts_to_try(description: Description, settings: Settings) -> tuple[str, ...]:
    """Return the layout that was told, or else all that a function of its kind may have.

    Raises:
        LoadError: if the one that was told is not among them.
    """
    known = calling.LAYER_LAYOUTS if description.is_layer else calling.LAYOUTS
    if settings.layout is None:
        return known
    if settings.layout not in known:
        kind = "a layer with weights" if description.is_layer else "attention without weights"
        raise LoadError(f"--layout {settings.layout}: {kind} has one of {', '.join(known)}")
    return (settings.layout,)


def with_precision(case: Case, settings: Settings, outcome: Outcome) -> Settings:
    """Note if a result of float64 has the errors of float32: some compute so inside."""
    narrow = replace(settings, precision="float32")
    if differing(case, outcome.results, case.right(), settings) is None:
        return settings
    near = differing(case, outcome.results, case.right(), narrow) is None
    return narrow if near else settings


def plausibility(case: Case, settings: Settings, outcome: Outcome) -> int:
    """Rank a way to call: 0 if the result is right, 1 if a mistake is known, else 2."""
    for precision in (settings.precision, "float32"):
        known = replace(settings, precision=precision)
        if differing(case, outcome.results, case.right(), known) is None:
            return 0
    return 1 if any(single_mistakes(case, outcome, settings)) else 2


def equal_widths(worker: Worker, description: Description, settings: Settings, case: Case) -> bool:
    """Whether the function takes values only if they are as wide as keys."""
    if not worker.run(case, description, settings).failure:
        return False
    return not worker.run(with_equal_widths(case), description, settings).failure


def mask_settings(
    worker: Worker, description: Description, settings: Settings, cases: list[Case]
) -> Settings:
    """Find out what a mask means to the function: True keeps, True hides, or numbers to add."""
    if settings.mask or description.is_layer or "mask" not in description.names:
        return settings
    case = next(case for case in cases if case.name == "boolean_mask")
    for kind in calling.MASKS:
        tried = replace(settings, mask=kind)
        outcome = worker.run(case, description, tried)
        if kind == "keep":
            keeps = outcome
        takes_no_booleans = keeps.failure and not keeps.broken
        if kind == "additive" and not (
            takes_no_booleans or explains(case, keeps, (MASK_ADDED,), settings)
        ):
            break  # it does something else with True and False, and wrongly
        if not outcome.failure and differing(case, outcome.results, case.right(), settings) is None:
            return tried
    return replace(settings, mask="keep")
