"""Verdicts, and their report as text, for terminals and failing tests, and as JSON."""

import json
from collections import Counter
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from textwrap import fill, indent
from typing import Any

from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case, Limits
from attention_docs.diagnosis.comparing import Mistakes

OK, NOT_SUPPORTED, ON_PURPOSE, WRONG = "ok", "not supported", "on purpose", "wrong"


@dataclass(frozen=True)
class Verdict:
    """The verdict on one case.

    Attributes:
        case: the case.
        status: `ok`, `not supported`, `on purpose` or `wrong`.
        reason: why it is not `ok`.
        mistakes: the mistakes of the catalogue that explain a wrong result.
        notes: side effects of the call: prints, warnings.
    """

    case: Case
    status: str
    reason: str = ""
    mistakes: Mistakes = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of a check.

    Attributes:
        target: the function, as the user wrote it.
        settings: how it was called.
        verdicts: one for each case.
        required: the features that must have been checked.
        example: the smallest failing call, as code.
        traceback: where it raised, if it did.
    """

    target: str
    settings: Settings
    verdicts: list[Verdict] = field(default_factory=list)
    required: tuple[str, ...] = ()
    example: str = ""
    traceback: str = ""

    def features(self, *statuses: str) -> list[str]:
        """Return the features with a case of one of these statuses, in order."""
        verdicts = (verdict for verdict in self.verdicts if verdict.status in statuses)
        return list(dict.fromkeys(verdict.case.feature for verdict in verdicts))

    @property
    def missing(self) -> list[str]:
        """The required features that no case checked."""
        return [name for name in self.required if name not in self.features(OK, ON_PURPOSE)]

    @property
    def is_correct(self) -> bool:
        """Whether no case is wrong, at least one is right, and all that is required was checked."""
        return not self.features(WRONG) and bool(self.features(OK)) and not self.missing


INDENT = 4 * " "
LINE_WIDTH = 88
LIBRARY_NAMES = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "jax": "JAX",
    "cupy": "CuPy",
    "array_api_strict": "array-api-strict",
}
MASK_LABELS = {
    "keep": "True takes part",
    "hide": "True hides",
    "additive": "numbers to add",
    "ones": "1 takes part",
}


def format_report(report: Report, verbose: bool = False) -> str:
    """Format a report: the verdict, fixes, the smallest failing call, then the evidence."""
    wrong = [verdict for verdict in report.verdicts if verdict.status == WRONG]
    lines = [heading(report)]
    if wrong:
        reasons = group_by_reason(WRONG, wrong)
        lines += [*reasons[:1], *fixes(wrong)]
        if report.example:
            lines += ["smallest failing call:", indent(report.example, INDENT)]
        if report.traceback:
            lines += ["where it raised:", report.traceback.rstrip()]
        lines += reasons[1:] if verbose else also_wrong(wrong)
    if report.missing:
        lines.append(f"{WRONG}: required, but not checked: {', '.join(report.missing)}")
    on_purpose = [verdict for verdict in report.verdicts if verdict.status == ON_PURPOSE]
    lines += group_by_reason(ON_PURPOSE, on_purpose)
    unsupported = [verdict for verdict in report.verdicts if verdict.status == NOT_SUPPORTED]
    lines += ok_line(report)
    lines += unsupported_lines(report, unsupported, verbose)
    notes = {note for verdict in report.verdicts for note in verdict.notes}
    lines += [f"note: {note}" for note in sorted(notes)]
    return "\n".join([*lines, totals(report)])


def also_wrong(wrong: list[Verdict]) -> list[str]:
    """Format the wrong cases with another reason than the first; known mistakes come first."""
    rest = [verdict for verdict in wrong if verdict.reason != wrong[0].reason]
    named = [verdict for verdict in rest if verdict.mistakes]
    names = [verdict.case.name for verdict in rest if not verdict.mistakes]
    others = [f"also {WRONG} (--verbose says how):\n{case_list(names)}"] if names else []
    return [*group_by_reason(WRONG, named), *others]


def unsupported_lines(report: Report, verdicts: list[Verdict], verbose: bool) -> list[str]:
    """Format the unsupported features, with their reasons if verbose."""
    if verbose:
        return group_by_reason(NOT_SUPPORTED, verdicts)
    checked = report.features(OK, ON_PURPOSE, WRONG)
    features = [name for name in report.features(NOT_SUPPORTED) if name not in checked]
    return [f"not asked: {', '.join(features)} (--verbose says why)"] if features else []


def heading(report: Report) -> str:
    """Format the function and how it was called."""
    settings = report.settings
    library = settings.library or ""
    labels = [LIBRARY_NAMES.get(library, library), settings.dtype]
    if settings.precision:
        labels.append(f"computed in {settings.precision}")
    labels.append(f"layout {settings.layout}")
    if settings.always_causal:
        labels.append("always causal")
    if settings.item is not None:
        labels.append(f"output: item {settings.item!r}")
    labels += limit_labels(settings.limits)
    if settings.mask:
        labels.append(mask_label(settings.mask, settings))
    return f"{report.target} ({', '.join(labels)})"


def limit_labels(limits: Limits) -> list[str]:
    """Format the limits of the sizes that a function takes."""
    labels = []
    if limits.equal_widths:
        labels.append("only d_v = d_k")
    if limits.equal_lengths:
        labels.append("only m = n")
    if limits.widths:
        labels.append(f"only widths such as {limits.widths[0]}")
    if limits.multiple > 1:
        labels.append(f"only lengths in multiples of {limits.multiple}")
    return labels


def mask_label(kind: str, settings: Settings) -> str:
    """Format the shape of a mask, if it does not broadcast to the scores, and its meaning."""
    shape = ""
    if settings.keys_only:
        shape = " (b, n)"
    elif settings.full_masks:
        shape = " (b, h, m, n)"
    return f"mask{shape}: {MASK_LABELS[kind]}"


def ok_line(report: Report) -> list[str]:
    """Format the features without a wrong case; no line if there are none."""
    wrong = report.features(WRONG)
    names = [name for name in report.features(OK) if name not in wrong]
    return [f"{OK}: {', '.join(names)}"] if names else []


def group_by_reason(status: str, verdicts: list[Verdict]) -> list[str]:
    """Format each reason as a line, with the cases that have it below."""
    names_by_reason: dict[str, list[str]] = {}
    for verdict in verdicts:
        names_by_reason.setdefault(verdict.reason, []).append(verdict.case.name)
    return [f"{status}: {reason}\n{case_list(names)}" for reason, names in names_by_reason.items()]


def case_list(names: list[str]) -> str:
    """Format the names of cases as indented lines."""
    return fill(", ".join(names), LINE_WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)


def format_verdict(verdict: Verdict) -> str:
    """Format the reason and the fixes of one case."""
    reason = f"{verdict.case.name} ({verdict.case.isolates}): {verdict.reason}"
    return "\n".join([reason, *fixes([verdict])])


def fixes(verdicts: list[Verdict]) -> list[str]:
    """Format the fix of each mistake and the page that explains it, without repetition."""
    mistakes = {mistake for verdict in verdicts for mistake in verdict.mistakes}
    return [
        f"fix {mistake.summary}:\n    {mistake.fix}\n    {page_url(mistake.address)}".rstrip()
        for mistake in sorted(mistakes, key=lambda mistake: mistake.name)
    ]


def totals(report: Report) -> str:
    counts = Counter(verdict.status for verdict in report.verdicts)
    return (
        f"{counts[OK]} ok, {counts[NOT_SUPPORTED]} not supported, "
        f"{counts[ON_PURPOSE]} different on purpose, {counts[WRONG]} wrong"
    )


def page_url(address: str) -> str:
    """Return the URL of a page; without the site's address, its path in a clone, or "".

    Args:
        address: the path of the page below `docs/`, and perhaps an anchor.
    """
    page, _, anchor = address.partition("#")
    site = site_address()
    if site is None:
        in_clone = (Path(__file__).parents[2] / "docs" / page).is_file()
        return f"docs/{address}" if in_clone else ""
    url = f"{site}{page.removesuffix('.md')}/"
    return f"{url}#{anchor}" if anchor else url


def site_address() -> str | None:
    """Derive the site's address from the repository's, which `scripts/repository` sets.

    Return None if the package is not installed or its metadata has no repository.
    """
    try:
        urls = metadata.metadata("attention-docs").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    repositories = [url.partition(", ")[2] for url in urls if url.startswith("Repository, ")]
    if not repositories:
        return None
    owner, name = repositories[0].rstrip("/").split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"


def as_github_annotation(report: Report) -> str:
    """Format the first wrong case as an annotation, which GitHub shows beside the code.

    If no case is wrong, the annotation lists the required features that were not checked.
    """
    wrong = [verdict for verdict in report.verdicts if verdict.status == WRONG]
    if wrong:
        message = format_verdict(wrong[0])
    else:
        missing = ", ".join(report.missing) or "-"
        message = f"{totals(report)}; required, but not checked: {missing}"
    escaped = message.replace("%", "%25").replace("\n", "%0A")
    file, _, name = report.target.rpartition(":")
    location = f"file={file}," if file.endswith(".py") else ""
    return f"::error {location}title={name}::{escaped}"


def as_json(report: Report) -> str:
    """Format a report as JSON with one object for each case."""
    return json.dumps(
        {
            "target": report.target,
            "library": report.settings.library,
            "dtype": report.settings.dtype,
            "precision": report.settings.precision,
            "layout": report.settings.layout,
            "mask": report.settings.mask,
            "right": report.is_correct,
            "checked": report.features(OK, ON_PURPOSE),
            "not checked": report.missing,
            "example": report.example,
            "cases": [verdict_as_dict(verdict) for verdict in report.verdicts],
        },
        indent=1,
        ensure_ascii=False,
    )


def verdict_as_dict(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON-serialisable values."""
    return {
        "case": verdict.case.name,
        "feature": verdict.case.feature,
        "status": verdict.status,
        "reason": verdict.reason,
        "notes": list(verdict.notes),
        "mistakes": [
            {
                "name": mistake.name,
                "fix": mistake.fix,
                "address": page_url(mistake.address),
            }
            for mistake in verdict.mistakes
        ],
    }
