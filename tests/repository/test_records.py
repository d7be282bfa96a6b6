"""The records in `results/`: each number that follows from others is the one that follows."""

import re
from collections import Counter

from attention_docs.lookup import load_results


def percent(part, whole):
    return 100 * part / whole


def test_counts_of_bugs_are_those_of_the_list():
    record = load_results("bugs")
    verdicts = Counter(
        re.fullmatch(r"(?:(misnamed|located|missed): )?.*", bug["reason"])[1] or "named"
        for bug in record["bugs"].values()
    )
    projects = {re.match(r"\[(\S+)#", thread)[1] for thread in record["bugs"]}
    counts = record["count"]
    assert {verdict: counts[verdict] for verdict in record["before"]} == dict.fromkeys(
        record["before"], 0
    ) | verdicts
    assert (counts["bugs"], counts["projects"]) == (verdicts.total(), len(projects))
    assert sum(record["before"].values()) == counts["bugs"]


def test_summaries_of_foreign_functions_count_their_cases():
    record = load_results("foreign")
    totals = set()
    for title, summary in record["summary"].items():
        statuses = Counter(case["status"] for case in record["cases"][title].values())
        ok = summary["ok"]
        counts = {"not supported": 0, "on purpose": 0, "wrong": 0} | statuses
        assert summary == {"version": summary["version"], "ok": ok} | counts, title
        totals.add(ok + statuses.total())
    of_layers = {12, 13}
    fewer, all_cases = sorted(totals - of_layers)
    assert all_cases - fewer == 2, "all functions have the same cases, but some no three axes"
