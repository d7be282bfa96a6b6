"""A report in words, for a terminal and for a test that fails, and as JSON."""

import json
from importlib import metadata
from typing import Any

from attention_docs.diagnosis.findings import NOT_SUPPORTED, OK, ON_PURPOSE, WRONG, Finding, Report
from attention_docs.diagnosis.pasted import Diagnosis

LIBRARY_NAMES = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "jax": "JAX",
    "cupy": "CuPy",
    "array_api_strict": "array-api-strict",
}
MASK_WORDS = {"keep": "True takes part", "hide": "True hides", "additive": "numbers to add"}


def text(report: Report) -> str:
    """Write a report in words, the cases that are right by their names only."""
    lines = [heading(report), *summary(report)]
    for status in (NOT_SUPPORTED, ON_PURPOSE, WRONG):
        lines += grouped(status, [f for f in report.findings if f.status == status])
    lines += fixes(report.findings)
    lines += sorted({f"note: it {note}" for f in report.findings for note in f.notes})
    return "\n".join([*lines, verdict(report)])


def heading(report: Report) -> str:
    known = report.settings
    parts = [LIBRARY_NAMES.get(known.library or "", known.library or ""), known.dtype]
    if known.precision:
        parts.append(f"computed in {known.precision}")
    parts.append(f"layout {known.layout}")
    if known.mask:
        parts.append(f"mask: {MASK_WORDS[known.mask]}")
    return f"{report.target} ({', '.join(parts)})"


def summary(report: Report) -> list[str]:
    names = [finding.case.name for finding in report.findings if finding.status == OK]
    return [f"{OK}: {', '.join(names)}"] if names else []


def grouped(status: str, findings: list[Finding]) -> list[str]:
    """Write cases that differ for the same reason as one line, with what the first isolates."""
    reasons: dict[str, list[Finding]] = {}
    for finding in findings:
        reasons.setdefault(finding.words, []).append(finding)
    return [
        f"{status}: {', '.join(finding.case.name for finding in alike)}: {words}"
        for words, alike in reasons.items()
    ]


def of_finding(finding: Finding) -> str:
    """Say what is wrong in one case, and how to fix it."""
    heading = f"{finding.case.name} ({finding.case.isolates}): {finding.words}"
    return "\n".join([heading, *fixes([finding])])


def fixes(findings: list[Finding]) -> list[str]:
    """Say for each mistake once which line fixes it and where it is explained."""
    made = {mistake for finding in findings for mistake in finding.mistakes}
    return [
        f"fix {mistake.words}:\n    {mistake.fix}\n    {full(mistake.address)}"
        for mistake in sorted(made, key=lambda mistake: mistake.name)
    ]


def verdict(report: Report) -> str:
    count = {s: sum(f.status == s for f in report.findings) for s in (OK, NOT_SUPPORTED, WRONG)}
    purpose = len(report.findings) - sum(count.values())
    return (
        f"{count[OK]} ok, {count[NOT_SUPPORTED]} not supported, "
        f"{purpose} different on purpose, {count[WRONG]} wrong"
    )


def of_pasted(diagnosis: Diagnosis) -> str:
    """Say what a printed output is, and mark the first number that differs from the right one."""
    known, (found, expected) = diagnosis.known, diagnosis.sizes
    if known and known.right:
        return f"This is {known.words}."
    lines = [f"This is the output of {known.words}." if known else "No known mistake gives this."]
    if found != expected:
        lines.append(f"It is {found[0]} x {found[1]}; expected {expected[0]} x {expected[1]}.")
    if diagnosis.first:
        i, j = diagnosis.first
        lines.append(
            f"The first wrong number is {diagnosis.rows[i][j]:g} at [{i}, {j}]; "
            f"expected {diagnosis.expected:.4f}."
        )
    if known:
        lines += [f"    {known.fix}", f"    {full(known.address)}"]
    return "\n".join(lines)


def full(address: str) -> str:
    """Return an address on the site, if the package knows where that is, or else in `docs/`."""
    page, _, anchor = address.partition("#")
    if home := home_page():
        return f"{home}{page.removesuffix('.md')}/{'#' + anchor if anchor else ''}"
    return f"docs/{address}"


def home_page() -> str | None:
    """Return the site's address, from that of the repository, which `scripts/repository` sets."""
    try:
        urls = metadata.metadata("attention-docs").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    found = [url.partition(", ")[2] for url in urls if url.startswith("Repository, ")]
    if not found:
        return None
    owner, name = found[0].rstrip("/").split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"


def as_json(report: Report) -> str:
    """Write a report as JSON, one object for each case."""
    return json.dumps(
        {
            "target": report.target,
            "library": report.settings.library,
            "dtype": report.settings.dtype,
            "precision": report.settings.precision,
            "layout": report.settings.layout,
            "mask": report.settings.mask,
            "right": report.right,
            "cases": [case_object(finding) for finding in report.findings],
        },
        indent=1,
        ensure_ascii=False,
    )


def case_object(finding: Finding) -> dict[str, Any]:
    return {
        "case": finding.case.name,
        "status": finding.status,
        "words": finding.words,
        "notes": list(finding.notes),
        "mistakes": [
            {"name": m.name, "fix": m.fix, "address": full(m.address)} for m in finding.mistakes
        ],
    }
