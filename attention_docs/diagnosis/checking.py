"""The check: find out how to call a function, call it with every case, and name what is wrong."""

import itertools
from dataclasses import replace

from attention_docs.diagnosis import calling
from attention_docs.diagnosis.calling import Description, LoadError, Settings
from attention_docs.diagnosis.cases import CASES, Case, with_equal_widths
from attention_docs.diagnosis.comparing import (
    changed,
    conventions_of,
    differing,
    shape_problem,
    single_mistakes,
)
from attention_docs.diagnosis.findings import NOT_SUPPORTED, OK, ON_PURPOSE, WRONG, Finding, Report
from attention_docs.diagnosis.locating import (
    first_cell,
    first_wrong_step,
    with_values_that_show_weights,
)
from attention_docs.diagnosis.mistakes import MASK_ADDED, TRUE_HIDES
from attention_docs.diagnosis.naming import named
from attention_docs.diagnosis.recipe import Call, LayerCall
from attention_docs.diagnosis.worker import Outcome, Worker


def check(target: str, settings: Settings | None = None, limit: float = 10.0) -> Report:
    """Call a function with every case and say what it gets wrong.

    Args:
        target: `module:function` or `path/to/file.py:function`.
        settings: what is known of it; the rest is found out.
        limit: seconds that a case may take.

    Raises:
        LoadError: if there is no such function, or it cannot be called at all.
    """
    with Worker(target, limit) as worker:
        return check_with(worker, settings or Settings())


def check_with(worker: Worker, settings: Settings) -> Report:
    """Check the function of a worker."""
    description = worker.describe(settings)
    settings = replace(settings, library=description.library)
    cases = [case for case in CASES.values() if fits(case, description)]
    settings = callable_settings(worker, description, settings, cases)
    if equal_widths(worker, description, settings, cases[0]):
        cases = [with_equal_widths(case) for case in cases]
    told = settings.mask
    settings = mask_settings(worker, description, settings, cases)
    outcomes = {case: worker.run(case, description, settings) for case in cases}
    findings = [judge(case, outcome, settings) for case, outcome in outcomes.items()]
    if settings.mask == "hide" and not told:
        findings = [with_polarity(finding) for finding in findings]
    findings = named(findings, outcomes, settings)
    findings = [explained(f, outcomes[f.case], worker, description, settings) for f in findings]
    return Report(worker.target, settings, findings)


def with_polarity(finding: Finding) -> Finding:
    """Say of the case of a boolean mask that True hides, where nobody has told so."""
    if finding.case.name != "boolean_mask" or finding.status != OK:
        return finding
    return replace(finding, status=ON_PURPOSE, words=TRUE_HIDES.words)


def fits(case: Case, description: Description) -> bool:
    """Whether a case is for functions of this kind: a layer with weights, or attention itself."""
    return isinstance(case.call, LayerCall) == description.is_layer


def callable_settings(
    worker: Worker, description: Description, settings: Settings, cases: list[Case]
) -> Settings:
    """Find a dtype and a layout with which a case has a result of the right shape.

    Of several layouts, take one in which the result is right, or is that of a known mistake. The
    first case tells the layouts apart, but if arguments are swapped, only the square one fits.

    Raises:
        LoadError: if there is none; the message says what to tell.
    """
    dtypes = ("float32",) if description.library == "jax" else ("float64", "float32")
    all_layouts = calling.LAYER_LAYOUTS if description.is_layer else calling.LAYOUTS
    layouts = (settings.layout,) if settings.layout else all_layouts
    failures: dict[str, str] = {}
    cases = [case for case in cases if case in cases[:1] or case.name == "square"]
    for case, dtype in itertools.product(cases, dtypes):
        possible = []
        for layout in layouts:
            tried = replace(settings, dtype=dtype, layout=layout)
            outcome = worker.run(case, description, tried)
            if outcome.broken:
                raise LoadError(f"called with {case.name}, {outcome.failure}")
            if problem := outcome.failure or shape_problem(case, outcome.results):
                failures.setdefault(layout, problem)
            else:
                possible.append((tried, outcome))
        if possible:
            found, outcome = min(possible, key=lambda pair: plausibility(case, *pair))
            return with_precision(case, found, outcome)
    said = "; ".join(f"{layout}: {problem}" for layout, problem in failures.items())
    raise LoadError(
        f"it cannot be called; say its --layout and --names, if they are others. {said}"
    )


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
        if kind == "additive" and not (keeps.failure or adds_mask(case, keeps, settings)):
            break  # it does something else with True and False, and wrongly
        if not outcome.failure and differing(case, outcome.results, case.right(), settings) is None:
            return tried
    return replace(settings, mask="keep")


def adds_mask(case: Case, outcome: Outcome, settings: Settings) -> bool:
    """Whether a function adds True and False to the scores, as one and zero."""
    expected = {"output": changed(case, MASK_ADDED)}
    return differing(case, outcome.results, expected, settings) is None


def judge(case: Case, outcome: Outcome, settings: Settings) -> Finding:
    """Say what came of a case, without a name for what is wrong."""
    if outcome.failure:
        status = WRONG if outcome.broken else NOT_SUPPORTED
        return Finding(case, status, outcome.failure, notes=outcome.notes)
    if problem := shape_problem(case, outcome.results):
        return Finding(case, WRONG, problem, notes=outcome.notes)
    if differing(case, outcome.results, case.right(), settings) is None:
        return Finding(case, OK, notes=outcome.notes)
    for convention in conventions_of(case):
        if (
            differing(case, outcome.results, {"output": changed(case, convention)}, settings)
            is None
        ):
            return Finding(case, ON_PURPOSE, convention.words, notes=outcome.notes)
    return Finding(case, WRONG, notes=outcome.notes)


def explained(
    finding: Finding, outcome: Outcome, worker: Worker, description: Description, settings: Settings
) -> Finding:
    """Say in words what is wrong: the mistake, or where it first shows."""
    if finding.status != WRONG or finding.words:
        return finding
    if finding.case.dtype == "int64":
        words = "it rounds whole numbers to whole numbers on the way, so pass floats"
        return replace(finding, status=ON_PURPOSE, words=words, mistakes=())
    if finding.mistakes:
        words = " and ".join(mistake.words for mistake in finding.mistakes)
        return replace(finding, words=f"its output is that of {words}")
    words = first_cell(finding.case, outcome, settings)
    if isinstance(finding.case.call, Call) and not finding.case.gradients:
        probe = with_values_that_show_weights(finding.case)
        shown = worker.run(probe, description, settings)
        words += f"; {first_wrong_step(finding.case, outcome, probe, shown, settings)}"
    return replace(finding, words=words)
