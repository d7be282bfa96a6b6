"""The records in `results/`: each number that follows from others is the one that follows."""

import re
from collections import Counter

import numpy as np

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
    of_layers = {4, 5}
    assert len(totals - of_layers) == 1, "every function is called in the same cases"


def test_percentages_of_mutants_are_those_of_their_counts():
    record, judged = load_results("mutants"), load_results("judged_mutants")
    assert record["found_percent"] == percent(record["found"], record["living"])
    assert record["named_percent"] == percent(record["named"], record["in_catalogue"])
    assert record["in_catalogue"] == len(judged["in the catalogue"])


def test_results_of_the_pronoun_head_are_those_of_its_trial():
    pronoun = load_results("real_model")["pronoun"]
    trial = {sentence: right > other for sentence, (_, right, other) in pronoun["trial"].items()}
    stands_first = {
        sentence: sentence.split()[1] == noun for sentence, (noun, *_) in pronoun["trial"].items()
    }

    def right_if(is_first):
        return percent(
            *np.sum([(trial[s], 1) for s in trial if stands_first[s] == is_first], axis=0)
        )

    assert pronoun["right"]["this head"] == percent(sum(trial.values()), len(trial))
    assert pronoun["wrong"] == [sentence for sentence, is_right in trial.items() if not is_right]
    assert [pronoun["right_if_first"], pronoun["right_if_second"]] == [
        right_if(True),
        right_if(False),
    ]
    weights = np.mean([row[1:] for row in pronoun["trial"].values()], axis=0)
    np.testing.assert_allclose(pronoun["mean_weights"], weights, atol=2e-4)


def test_losses_and_sizes_of_the_real_model_are_those_of_its_lists():
    record = load_results("real_model")
    losses, induction, sizes = record["induction"]["losses"], record["induction"], record["sizes"]
    middle = (
        len(losses) // 2
    )  # the first token of the copy, which cannot be foreseen, has this loss
    np.testing.assert_allclose(induction["first"], np.mean(losses[:middle]), atol=1e-3)
    np.testing.assert_allclose(induction["second"], np.mean(losses[middle + 1 :]), atol=1e-3)
    assert sizes["all_heads"] == sizes["layers"] * sizes["heads"]
    assert len(record["sinks"]["by_layer"]) == sizes["layers"]
    assert record["strongest"]["pronoun"]["1"][:2] == record["pronoun"]["best"]
    np.testing.assert_allclose(np.sum(record["sentence"]["weights"], axis=1), 1, atol=1e-3)
