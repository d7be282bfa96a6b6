"""Format reports as text, for terminals and failing tests, and as JSON."""

import json
from collections import Counter
from importlib import metadata
from typing import Any

from attention_docs.diagnosis.pasted import Diagnosis
from attention_docs.diagnosis.verdicts import NOT_SUPPORTED, OK, ON_PURPOSE, WRONG, Report, Verdict

LIBRARY_NAMES = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "jax": "JAX",
    "cupy": "CuPy",
    "array_api_strict": "array-api-strict",
}
MASK_LABELS = {"keep": "True takes part", "hide": "True hides", "additive": "numbers to add"}


def as_text(report: Report) -> str:
    """Format a report; correct cases are listed by name only."""
    lines = [heading(report), *ok_line(report)]
    for status in (NOT_SUPPORTED, ON_PURPOSE, WRONG):
        lines += group_by_reason(
            status, [verdict for verdict in report.verdicts if verdict.status == status]
        )
    lines += fixes(report.verdicts)
    notes = {note for verdict in report.verdicts for note in verdict.notes}
    lines += [f"note: it {note}" for note in sorted(notes)]
    return "\n".join([*lines, totals(report)])


def heading(report: Report) -> str:
    """Format the function and how it was called."""
    settings = report.settings
    library = settings.library or ""
    labels = [LIBRARY_NAMES.get(library, library), settings.dtype]
    if settings.precision:
        labels.append(f"computed in {settings.precision}")
    labels.append(f"layout {settings.layout}")
    if settings.mask:
        labels.append(f"mask: {MASK_LABELS[settings.mask]}")
    return f"{report.target} ({', '.join(labels)})"


def ok_line(report: Report) -> list[str]:
    """Format the names of the correct cases; no line if there are none."""
    names = [verdict.case.name for verdict in report.verdicts if verdict.status == OK]
    return [f"{OK}: {', '.join(names)}"] if names else []


def group_by_reason(status: str, verdicts: list[Verdict]) -> list[str]:
    """Format each reason as one line with the cases that have it."""
    names_by_reason: dict[str, list[str]] = {}
    for verdict in verdicts:
        names_by_reason.setdefault(verdict.reason, []).append(verdict.case.name)
    return [f"{status}: {', '.join(names)}: {reason}" for reason, names in names_by_reason.items()]


def format_verdict(verdict: Verdict) -> str:
    """Format the reason and the fixes of one case."""
    reason = f"{verdict.case.name} ({verdict.case.isolates}): {verdict.reason}"
    return "\n".join([reason, *fixes([verdict])])


def fixes(verdicts: list[Verdict]) -> list[str]:
    """Format the fix of each mistake and the page that explains it, without repetition."""
    mistakes = {mistake for verdict in verdicts for mistake in verdict.mistakes}
    return [
        f"fix {mistake.summary}:\n    {mistake.fix}\n    {page_address(mistake.address)}"
        for mistake in sorted(mistakes, key=lambda mistake: mistake.name)
    ]


def totals(report: Report) -> str:
    counts = Counter(verdict.status for verdict in report.verdicts)
    return (
        f"{counts[OK]} ok, {counts[NOT_SUPPORTED]} not supported, "
        f"{counts[ON_PURPOSE]} different on purpose, {counts[WRONG]} wrong"
    )


def format_diagnosis(diagnosis: Diagnosis) -> str:
    """Format the diagnosis of a printed output, with the first number that is wrong."""
    match, shape, expected_shape = diagnosis.match, diagnosis.shape, diagnosis.expected_shape
    if match and match.is_correct:
        return f"This is {match.summary}."
    lines = [f"This is the output of {match.summary}." if match else "No known mistake gives this."]
    if shape != expected_shape:
        sizes = "{} x {}; expected {} x {}".format(*shape, *expected_shape)
        lines.append(f"It is {sizes}.")
    if diagnosis.first_wrong:
        i, j = diagnosis.first_wrong
        lines.append(
            f"The first wrong number is {diagnosis.rows[i][j]:g} at [{i}, {j}]; "
            f"expected {diagnosis.expected:.4f}."
        )
    if match:
        lines += [f"    {match.fix}", f"    {page_address(match.address)}"]
    return "\n".join(lines)


def page_address(address: str) -> str:
    """Return the URL of a page, or its path in `docs/` if the site's address is unknown."""
    page, _, anchor = address.partition("#")
    site = site_address()
    if site is None:
        return f"docs/{address}"
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
            "cases": [verdict_as_dict(verdict) for verdict in report.verdicts],
        },
        indent=1,
        ensure_ascii=False,
    )


def verdict_as_dict(verdict: Verdict) -> dict[str, Any]:
    return {
        "case": verdict.case.name,
        "status": verdict.status,
        "words": verdict.reason,
        "notes": list(verdict.notes),
        "mistakes": [
            {
                "name": mistake.name,
                "fix": mistake.fix,
                "address": page_address(mistake.address),
            }
            for mistake in verdict.mistakes
        ],
    }
