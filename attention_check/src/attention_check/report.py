"""Verdicts, and their report as text, for terminals and failing tests, and as JSON."""

import contextlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from textwrap import fill, indent

from attention_check.calling import WITHOUT_DROPOUT, Interface
from attention_check.cases import Case
from attention_check.comparing import Mistakes

OK, NOT_SUPPORTED, ON_PURPOSE, WRONG = "ok", "not supported", "on purpose", "wrong"


@dataclass(frozen=True)
class Verdict:
    """The verdict on one case.

    Attributes:
        status: `ok`, `not supported`, `on purpose` or `wrong`.
    """

    case: Case
    status: str
    reason: str = ""
    mistakes: Mistakes = ()

    @property
    def is_doubtful(self) -> bool:
        """Whether a case that should show one of its mistakes does not."""
        return ", but not in " in self.reason


@dataclass(frozen=True, repr=False)
class Report:
    """The result of a check.

    Attributes:
        interface: how it was called.
        required: the features that must have been checked.
        example: the smallest failing call, as code.
        traceback: where it raised, if it did.
    """

    target: str
    interface: Interface
    verdicts: list[Verdict] = field(default_factory=list)
    required: tuple[str, ...] = ()
    example: str = ""
    traceback: str = ""

    def __repr__(self) -> str:
        """Return one line: a notebook shows what `check` returns."""
        return f"{self.target}: {totals(self)}"

    def __str__(self) -> str:
        """Return the whole report, as the command prints it."""
        return format_report(self)

    @property
    def unasked(self) -> list[str]:
        """The names of arguments that no case passes."""
        interface = self.interface
        asked = {*interface.names.values(), *WITHOUT_DROPOUT}
        return [name for name in interface.parameters if name not in asked]

    def verdicts_with(self, *statuses: str) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.status in statuses]

    def features(self, *statuses: str) -> list[str]:
        """Return the features with a case of one of these statuses, in order of their cases."""
        verdicts = self.verdicts_with(*statuses)
        return list(dict.fromkeys(verdict.case.feature for verdict in verdicts))

    @property
    def missing(self) -> list[str]:
        """The required features that no case checked."""
        return [name for name in self.required if name not in self.features(OK, ON_PURPOSE)]

    @property
    def is_correct(self) -> bool:
        """Whether no case is wrong, at least one is right, and each required feature is checked."""
        return not self.features(WRONG) and bool(self.features(OK)) and not self.missing


INDENT = 4 * " "
LINE_WIDTH = 88
LIBRARY_NAMES = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "jax": "JAX",
    "cupy": "CuPy",
}
MASK_LABELS = {
    "keep": "True takes part",
    "hide": "True hides",
    "additive": "numbers to add",
    "ones": "1 takes part",
    "lengths": "numbers of keys",
}


def format_report(report: Report, verbose: bool = False) -> str:
    """Format a report as text, in which the wrong cases come before the right ones."""
    wrong_features = report.features(WRONG)
    ok_features = [name for name in report.features(OK) if name not in wrong_features]
    lines = [
        heading(report),
        *wrong_lines(report, verbose),
        *group_by_reason(ON_PURPOSE, report.verdicts_with(ON_PURPOSE)),
        *([f"{OK}: {', '.join(ok_features)}"] if ok_features else []),
    ]
    checked_features = report.features(OK, ON_PURPOSE, WRONG)
    lacking = [name for name in report.features(NOT_SUPPORTED) if name not in checked_features]
    if verbose:
        lines += group_by_reason(NOT_SUPPORTED, report.verdicts_with(NOT_SUPPORTED))
    elif lacking:
        lines.append(f"not asked: {', '.join(lacking)} (--verbose says why)")
    if report.unasked:
        asks_cache = any(re.search("cache|past", name.lower()) for name in report.unasked)
        hint = " (check_cache asks for a cache)" if asks_cache else ""
        lines.append(f"not asked: its arguments {', '.join(report.unasked)}{hint}")
    return "\n".join([*lines, totals(report)])


def wrong_lines(report: Report, verbose: bool) -> list[str]:
    """Format what is wrong: reasons, fixes, the smallest failing call and missing features.

    Of the cases whose reason differs from the first one, those that a known mistake explains come
    first, with their reasons. Of all others, only the names are listed, unless verbose.
    """
    lines = []
    wrong = sorted(report.verdicts_with(WRONG), key=lambda verdict: verdict.is_doubtful)
    if wrong:
        first_reason, *other_reasons = group_by_reason(WRONG, wrong)
        lines += [first_reason, *fixes(wrong)]
        if report.example:
            lines += ["smallest failing call:", indent(report.example, INDENT)]
        if report.traceback:
            lines += ["where it raised:", report.traceback.rstrip()]
        others = [verdict for verdict in wrong if verdict.reason != wrong[0].reason]
        if verbose:
            lines += other_reasons
        else:
            lines += group_by_reason(WRONG, [verdict for verdict in others if verdict.mistakes])
            unexplained = [verdict.case.name for verdict in others if not verdict.mistakes]
            if unexplained:
                lines.append(f"also {WRONG} (--verbose says how):\n{case_list(unexplained)}")
    if report.missing:
        lines.append(f"{WRONG}: required, but not checked: {', '.join(report.missing)}")
    return lines


def heading(report: Report) -> str:
    interface = report.interface
    labels = [LIBRARY_NAMES.get(interface.library or "", ""), interface.dtype]
    if interface.precision:
        labels.append(f"computed in {interface.precision}")
    labels.append(f"layout {interface.layout}")
    if interface.is_always_causal:
        labels.append("always causal")
    if interface.output_item is not None:
        labels.append(f"output: item {interface.output_item!r}")
    limits = interface.limits
    if limits.equal_widths:
        labels.append("only d_v = d_k")
    if limits.equal_lengths:
        labels.append("only m = n")
    if limits.widths:
        labels.append(f"only widths such as {limits.widths[0]}")
    if limits.multiple > 1:
        labels.append(f"only lengths in multiples of {limits.multiple}")
    if interface.mask:
        is_full = interface.needs_full_masks or interface.mask_axes != "bhmn"
        axes = {"hmn": "b h, m, n"}.get(interface.mask_axes, ", ".join(interface.mask_axes))
        shape = f" ({axes})" if is_full else ""  # any that broadcasts
        labels.append(f"mask{shape}: {MASK_LABELS[interface.mask]}")
    if interface.padding:
        labels.append(f"{interface.names['padding']}: {MASK_LABELS[interface.padding]}")
    return f"{report.target} ({', '.join(labels)})"


def group_by_reason(status: str, verdicts: list[Verdict]) -> list[str]:
    """Format each reason as a line that begins with the status, above the cases that have it."""
    names_by_reason: dict[str, list[str]] = {}
    for verdict in verdicts:
        names_by_reason.setdefault(verdict.reason, []).append(verdict.case.name)
    return [f"{status}: {reason}\n{case_list(names)}" for reason, names in names_by_reason.items()]


def case_list(names: list[str]) -> str:
    return fill(", ".join(names), LINE_WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)


def format_verdict(verdict: Verdict) -> str:
    """Format the name, aspect and reason of one case, above the fixes of its mistakes."""
    reason = f"{verdict.case.name} ({verdict.case.aspect}): {verdict.reason}"
    return "\n".join([reason, *fixes([verdict])])


def fixes(verdicts: list[Verdict]) -> list[str]:
    """Format each mistake of the verdicts once, with the fix and the page that explains it.

    The mistake of most verdicts comes first. One that is doubtful in all of them has no fix, unless
    all are.
    """
    named = [verdict for verdict in verdicts if verdict.mistakes]
    certain = [verdict for verdict in named if not verdict.is_doubtful] or named
    counts = Counter(mistake for verdict in certain for mistake in verdict.mistakes)
    lines = []
    for mistake in sorted(counts, key=lambda mistake: (-counts[mistake], mistake.name)):
        url = page_url(mistake.address)  # "" if the page cannot be linked
        lines += [f"fix {mistake.summary}:", *(f"{INDENT}{x}" for x in (mistake.fix, url) if x)]
    return lines


def counts(report: Report) -> dict[str, int]:
    """Return how many cases have each status."""
    number = Counter(verdict.status for verdict in report.verdicts)
    return {status: number[status] for status in (OK, NOT_SUPPORTED, ON_PURPOSE, WRONG)}


def totals(report: Report) -> str:
    number = counts(report)
    return (
        f"{number[OK]} ok, {number[NOT_SUPPORTED]} not supported, "
        f"{number[ON_PURPOSE]} different on purpose, {number[WRONG]} wrong"
    )


def page_url(address: str) -> str:
    """Return the URL of a page of the site, given by its path below `docs/` and perhaps an anchor.

    The site is on GitHub Pages, beside the repository that the package's metadata names. Without
    any, it is the path in a clone, or "" if the package is installed without one.
    """
    page, _, anchor = address.partition("#")
    urls = []
    with contextlib.suppress(metadata.PackageNotFoundError):
        urls = metadata.metadata("attention-check").get_all("Project-URL") or []
    for label_and_url in urls:  # such as "Repository, https://github.com/owner/name"
        label, _, repository = label_and_url.partition(", ")
        if label == "Repository":
            owner, name = repository.rstrip("/").split("/")[-2:]
            url = f"https://{owner.lower()}.github.io/{name}/{page.removesuffix('.md')}/"
            return f"{url}#{anchor}" if anchor else url
    is_in_clone = (Path(__file__).parents[3] / "docs" / page).is_file()
    return f"docs/{address}" if is_in_clone else ""


def as_github_annotation(report: Report) -> str:
    """Format the first wrong case as an annotation, which GitHub shows beside the code."""
    wrong = report.verdicts_with(WRONG)
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
    return json.dumps(
        {
            "target": report.target,
            "library": report.interface.library,
            "dtype": report.interface.dtype,
            "precision": report.interface.precision,
            "layout": report.interface.layout,
            "mask": report.interface.mask,
            "right": report.is_correct,
            "status": 0 if report.is_correct else 1,
            "counts": counts(report),
            "arguments not asked": report.unasked,
            "checked": report.features(OK, ON_PURPOSE),
            "not checked": report.missing,
            "example": report.example,
            "cases": [
                {
                    "case": verdict.case.name,
                    "feature": verdict.case.feature,
                    "status": verdict.status,
                    "reason": verdict.reason,
                    "mistakes": [
                        {
                            "name": mistake.name,
                            "fix": mistake.fix,
                            "address": page_url(mistake.address),
                        }
                        for mistake in verdict.mistakes
                    ],
                }
                for verdict in report.verdicts
            ],
        },
        indent=1,
        ensure_ascii=False,
    )
