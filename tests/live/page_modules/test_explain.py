"""Explanations of numbers: their arithmetic gives the value, and their dependencies are complete."""

import json
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.live.graphs import page_graph, page_graphs
from tests.live.page_modules.nodejs import in_node

EXPLANATIONS = Path(__file__).with_name("explanations.js").as_uri()


def displayed(text):
    """Return a line of an explanation as displayed, with its numbers as `#`."""
    return "".join(piece if isinstance(piece, str) else piece.get("step", "#") for piece in text)


@pytest.mark.thorough
def test_explanations_are_correct_and_complete():
    reports = in_node(
        f"""await (async () => {{
            const {{ check }} = await import({json.dumps(EXPLANATIONS)});
            return Object.fromEntries(Object.entries(data).map(([name, graph]) => [name, check(graph)]));
        }})()""",
        page_graphs(),
    )
    faults = [f"{name}: {fault}" for name, report in reports.items() for fault in report["faults"]]
    assert not faults
    for name, report in reports.items():
        assert report["counts"]["explained"] >= len(page_graph(name)["steps"]), name
    # Without any line, there would be no faults either.
    assert sum(report["counts"]["lines"] for report in reports.values()) > 1000


# Example, step and index; the description and the formula of its explanation.
EXPLANATION_CASES = [
    ("self_attention", "Q", [0, 1], "bird, air", "Q = X W_Q"),
    ("self_attention", "scores", [0, 1], "score of “bird” on “boat”", "S = Q Kᵀ"),
    ("self_attention", "weights", [2, 0], "weight of “seaplane” on “bird”", "A = softmax(Z)"),
    ("self_attention", "output", [1, 0], "boat, airborne", "O = A V"),
    ("tiles", "output", [1, 0], "output of query 2, feature 1", "O = A V"),
    ("distinct_sizes", "output", [1, 0], "query 2, column 1", "O = A V"),
    ("distinct_sizes", "scaled", [1, 1], "query 2, key 2", "Z = S / √2"),
    ("kv_cache", "V", [1, 2], "pass, column 3", "V = X W_V"),
    ("multi_head", "Q_2", [0, 0], "row 1, column 1", "Q_2 = X_q W_Q at row 1, column 4"),
    ("multi_head", "scores_2", [0, 3], "score of query 1 on key 4, head 2", "scores_2 = Q_2 K_2ᵀ"),
    ("multi_head", "added_2", [0, 0], "row 1, column 1", "added_2 = head_2 (rows 5–8 of W_O)"),
    ("batch_of_two", "weights_2", [3, 1], "weight of query 4 on key 2, sequence 2",
     "weights_2 = softmax(Q_2 K_2ᵀ / √3)"),
    ("grouped_queries", "weights", [3, 1], "weight of head 4 on “pass”",
     "weights = softmax(Q K_2ᵀ / √3)"),
    ("grouped_queries", "wrong", [2], "head 3",
     "wrong = softmax(Q K_1ᵀ / √3) V at row 1, column 1"),
    ("backward", "expected", [], "",
     "expected = # × (# + sum((dW_Q)²) + sum((dW_K)²) + sum((dW_V)²))"),
    ("column_vectors", "A", [0, 1], "row 1, column 2", "A = Kᵀ Q"),
    ("column_vectors", "Q_rows", [3, 0], "row 4, column 1", "Q_rows = Qᵀ"),
    ("column_vectors", "weights", [0, 0], "row 1, column 1", "weights = softmax(A, each column)"),
    ("course_mask", "masked", [0, 4], "birds, they",
     "Z = Q Kᵀ / √3, masked"),
    ("course_order", "X_swapped", [0, 0], "boats, air", "X_swapped = X at row 3, column 1"),
    ("causal_padding", "causal", [0, 1], "start, I", "causal = the causal mask"),
]  # fmt: skip


def test_explanation_describes_position_and_formula():
    numbers = [(example, step, index) for example, step, index, _, _ in EXPLANATION_CASES]
    explanations = explain(*numbers)
    for case, explanation in zip(EXPLANATION_CASES, explanations, strict=True):
        _, _, _, description, formula = case
        assert explanation["description"] == description
        assert displayed(explanation["formula"]) == formula


def test_softmax_explanation_has_exponentials_and_sum():
    (explanation,) = explain(("self_attention", "weights", [2, 0]))
    assert [displayed(line) for line in explanation["numbers"]] == [
        "exp(#) / (exp(#) + exp(#) + exp(#))",
        "# / (# + # + #)",
        "# / #",
        "#",
    ]
    assert explanation["dependencies"] == [
        {"step": "scaled", "index": [2, key]} for key in range(3)
    ]


def test_sum_shows_its_first_terms_without_zeros():
    score, mean = explain(("course_heads", "they_scores", [0, 0]), ("course_block", "mean", [4]))
    assert displayed(score["numbers"][0]) == "# × # + # × #"
    assert displayed(mean["numbers"][0]) == "(# + # + # + # + #) / 7"


def test_mask_explanation_states_visibility():
    visible, hidden = explain(("course_mask", "masked", [0, 0]), ("course_mask", "masked", [0, 1]))
    assert displayed(hidden["note"]) == "#: the position takes no part"
    assert hidden["dependencies"] == [{"step": "mask", "index": [0, 1]}]
    assert displayed(visible["note"]) == "#: the position takes part"
    assert {"step": "scaled", "index": [0, 0]} in visible["dependencies"]


def test_literal_explanation_names_source_file():
    (explanation,) = explain(("self_attention", "X", [0, 0]))
    file = re.search(r"\S+\.py", displayed(explanation["note"]))[0]
    assert (ROOT / file).is_file()
    assert not explanation["formula"]
    assert not explanation["dependencies"]


def explain(*numbers):
    """Return the explanation of each number, which is given by its example, step and index."""
    return in_node(
        """data.numbers.map(([example, step, index]) => {
            const parsed = graph.parse(data.graphs[example]);
            return explain.explain(parsed, parsed.values, step, index);
        })""",
        {"numbers": numbers, "graphs": {name: page_graph(name) for name, *_ in numbers}},
    )
