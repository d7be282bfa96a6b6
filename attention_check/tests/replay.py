"""Replay the public bugs of `bugs/`; `python tests/replay.py` writes results/bugs.json."""

import importlib
import json
import pkgutil
from pathlib import Path
from types import ModuleType

import bugs
from attention_check.calling import Settings
from attention_check.report import WRONG

from attention_check import checking, report

BUGS = {
    module.name: importlib.import_module(f"{bugs.__name__}.{module.name}")
    for module in pkgutil.iter_modules(bugs.__path__)
}
# How often the check gave each verdict when the list was written.
EARLIER_COUNTS = {"named": 29, "misnamed": 2, "located": 4, "missed": 4}
RECORD = Path(__file__).parents[1] / "results" / "bugs.json"


def mended(bug):
    """Return the module of a bug with its fault replaced by the fix."""
    text = Path(bug.__file__).read_text(encoding="utf-8")
    # The last occurrence is in the code; the first one is the constant `FAULT`.
    before, _, after = text.rpartition(bug.FAULT)
    module = ModuleType(bug.__name__)
    exec(compile(before + bug.FIX + after, bug.__file__, "exec"), vars(module))
    return module


def check(bug):
    """Return the report on the function of a bug, checked with the options that it asks for."""
    options = dict(getattr(bug, "OPTIONS", {}))
    settings = Settings(mask=options.pop("mask", None))
    return checking.check(bug.attention, settings, **options)


def judge(bug):
    """Return how well the check finds a bug, a key of `EARLIER_COUNTS`, and the reason it gives."""
    wrong_verdicts = [verdict for verdict in check(bug).verdicts if verdict.status == WRONG]
    if not wrong_verdicts:
        return "missed", ""
    first = wrong_verdicts[0]
    is_named = bug.EXPECTED in [mistake.name for mistake in first.mistakes]
    if is_named or bug.EXPECTED in report.format_verdict(first):
        return "named", first.reason
    return ("misnamed" if first.mistakes else "located"), first.reason


def record():
    """Return the counts of verdicts, now and earlier, and what the page says of each thread."""
    counts = dict.fromkeys(EARLIER_COUNTS, 0)
    rows = {}
    for bug in BUGS.values():
        verdict, reason = judge(bug)
        counts[verdict] += 1
        summary, _, _ = reason.removeprefix("its output is that of ").partition(", but not in")
        url = f"https://github.com/{bug.THREAD.replace('#', '/issues/')}"
        rows[f"[{bug.THREAD}]({url})"] = {
            "fault": bug.__doc__.strip(),
            "fix": f"`{bug.FIX}`",
            "reason": summary if verdict == "named" else f"{verdict}: {summary}",
        }
    projects = {thread.partition("#")[0] for thread in rows}
    counts |= {"bugs": len(rows), "projects": len(projects)}
    return {"count": counts, "before": EARLIER_COUNTS, "bugs": rows}


if __name__ == "__main__":
    text = json.dumps(record(), indent=1, ensure_ascii=False)
    RECORD.write_text(text + "\n", encoding="utf-8")
