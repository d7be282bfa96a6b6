"""Replay the public bugs of `bugs.py`; `python tests/replay.py` writes results/bugs.json."""

import inspect
import json
import re
from pathlib import Path

import bugs
from attention_check import checking, report
from attention_check.calling import Settings
from attention_check.report import WRONG
from faults import functions_of

BUGS = functions_of(bugs)
DOCSTRING = re.compile(r"(\S+): (.+) \[(.+)\]\s+`(.+)` -> `(.+)`", re.DOTALL)
VERDICTS = ("named", "misnamed", "located", "missed")
RECORD = Path(__file__).parents[1] / "results" / "bugs.json"


def parts_of(bug):
    """Return the thread of a bug, its fault in words, what is expected, the wrong code and its fix."""
    return DOCSTRING.match(bug.__doc__).groups()


def mended(bug):
    """Return the function of a bug with its fault replaced by the fix."""
    *_, wrong, fix = parts_of(bug)
    # The last occurrence is in the code; the first one is in the docstring.
    before, _, after = inspect.getsource(bug).rpartition(wrong)
    namespace = dict(vars(bugs))
    exec(before + fix + after, namespace)
    return namespace[bug.__name__]


def check(bug, function=None):
    """Return the report on the function of a bug, checked with the options that it asks for."""
    options = dict(getattr(bug, "options", {}))
    settings = Settings(mask=options.pop("mask", None))
    return checking.check(function or bug, settings, **options)


def judge(bug):
    """Return how well the check finds a bug, one of `VERDICTS`, and the reason it gives."""
    wrong_verdicts = [verdict for verdict in check(bug).verdicts if verdict.status == WRONG]
    if not wrong_verdicts:
        return "missed", ""
    first = wrong_verdicts[0]
    _, _, expected, _, _ = parts_of(bug)
    if expected in [
        mistake.name for mistake in first.mistakes
    ] or expected in report.format_verdict(first):
        return "named", first.reason
    return ("misnamed" if first.mistakes else "located"), first.reason


def record():
    """Return the counts of verdicts, and what the page says of each thread."""
    counts = dict.fromkeys(VERDICTS, 0)
    rows = {}
    for bug in BUGS.values():
        verdict, reason = judge(bug)
        counts[verdict] += 1
        summary, _, _ = reason.removeprefix("its output is that of ").partition(", but not in")
        thread, fault, _, _, fix = parts_of(bug)
        url = f"https://github.com/{thread.replace('#', '/issues/')}"
        rows[f"[{thread}]({url})"] = {
            "fault": fault,
            "fix": f"`{fix}`",
            "reason": summary if verdict == "named" else f"{verdict}: {summary}",
        }
    projects = {thread.partition("#")[0] for thread in rows}
    counts |= {"bugs": len(rows), "projects": len(projects)}
    return {"count": counts, "bugs": rows}


if __name__ == "__main__":
    text = json.dumps(record(), indent=1, ensure_ascii=False)
    RECORD.write_text(text + "\n", encoding="utf-8")
