"""What an explanation says is true: its numbers give the value, and its parts are all that matters."""

import json
import re

import pytest

from tests.conftest import ROOT
from tests.live.graphs import page_graph, page_graphs
from tests.live.running import in_node

EXPLANATIONS = (ROOT / "tests" / "live" / "explanations.js").as_uri()


def plain(text):
    """Write a formula of an explanation as a reader sees it, with its numbers as `#`."""
    return "".join(piece if isinstance(piece, str) else piece.get("step", "#") for piece in text)


@pytest.mark.thorough
def test_numbers_give_the_value_and_parts_are_all_it_depends_on():
    found = in_node(
        f"""await (async () => {{
            const {{ examine }} = await import({json.dumps(EXPLANATIONS)});
            return Object.fromEntries(Object.entries(data).map(([name, json]) => [name, examine(json)]));
        }})()""",
        page_graphs(),
    )
    faults = [f"{name}: {fault}" for name, each in found.items() for fault in each["faults"]]
    assert not faults
    for name, each in found.items():
        assert each["counts"]["explained"] >= len(page_graph(name)["steps"]), name
    assert sum(each["counts"]["lines"] for each in found.values()) > 1000


READINGS = [
    ("self_attention", "Q", [0, 1], "row 1, column 2", "Q = X W_Q"),
    ("self_attention", "scores", [0, 1], "score of query 1 on key 2", "scores = Q Kᵀ"),
    ("self_attention", "weights", [2, 0], "weight of query 3 on key 1", "weights = softmax(scaled)"),
    ("self_attention", "output", [1, 0], "output of query 2, feature 1", "output = weights V"),
    ("self_attention", "scaled", [1, 1], "scaled score of query 2 on key 2", "scaled = scores × #"),
    ("multi_head", "Q_2", [0, 0], "row 1, column 1", "Q_2 = X_q W_Q at row 1, column 4"),
    ("multi_head", "scores_2", [0, 3], "score of query 1 on key 4, head 2", "scores_2 = Q_2 K_2ᵀ"),
    ("multi_head", "added_2", [0, 0], "row 1, column 1", "added_2 = head_2 W_O[4:8]"),
    ("batch_of_two", "weights_2", [3, 1], "weight of query 4 on key 2, sequence 2",
     "weights_2 = softmax(Q_2 K_2ᵀ × #)"),
    ("grouped_queries", "weights", [3, 1], "weight of query 1 on key 2, head 4",
     "weights = softmax(Q K_2ᵀ × #)"),
    ("grouped_queries", "wrong", [2], "output of query 1, feature 1, head 3",
     "wrong = softmax(Q K_1ᵀ × #) V at row 1, column 1"),
    ("backward", "expected", [], "",
     "expected = # × (# + sum((dW_Q)²) + sum((dW_K)²) + sum((dW_V)²))"),
    ("column_vectors", "A", [0, 1], "row 1, column 2", "A = Kᵀ Q"),
    ("column_vectors", "Q_rows", [3, 0], "row 4, column 1", "Q_rows = Qᵀ"),
    ("column_vectors", "weights", [0, 0], "row 1, column 1", "weights = softmax(A, axis=0)"),
    ("course_mask", "masked", [0, 4], "masked score of query 1 on key 5",
     "masked = scaled where mask, else #"),
    ("course_order", "X_swapped", [0, 0], "row 1, column 1", "X_swapped = X at row 3, column 1"),
    ("causal_padding", "causal", [0, 1], "row 1, column 2", "causal = causal_mask(queries=4)"),
    ("softmax_saturation", "gaps", [0], "element 1", "gaps = z[1] − z[0]"),
]  # fmt: skip


def test_places_and_formulas_read_as_the_page_writes_them():
    found = explained(*(case[:3] for case in READINGS))
    read = [(each["description"], plain(each["formula"])) for each in found]
    assert read == [case[3:] for case in READINGS]


def test_a_softmax_is_explained_by_powers_and_their_sum():
    (found,) = explained(("self_attention", "weights", [2, 0]))
    assert [plain(line) for line in found["numbers"]] == [
        "exp(# − #) / (exp(# − #) + exp(# − #) + exp(# − #))",
        "# / (# + # + #)",
        "# / #",
        "#",
    ]
    assert found["dependencies"] == [{"step": "scaled", "index": [2, key]} for key in range(3)]


def test_number_that_is_its_own_formula_is_written_once():
    (found,) = explained(("tiles", "rescale", [0]))
    assert plain(found["formula"]) == "rescale = #"
    assert found["numbers"] == []


def test_divisor_with_a_power_of_ten_is_in_parentheses():
    (found,) = explained(("course_order", "drink_scores", [0]))
    assert plain(found["formula"]).endswith(" / (#) at row 2, column 1")
    assert [plain(line) for line in found["numbers"]] == ["# / (#)", "#"]


def test_a_mask_says_whether_a_position_takes_part():
    hidden, seen = explained(*(("course_mask", "masked", [0, key]) for key in (1, 0)))
    assert plain(hidden["note"]) == "#: the position takes no part"
    assert hidden["dependencies"] == [{"step": "mask", "index": [0, 1]}]
    assert plain(seen["note"]) == "#: the position takes part"
    assert {"step": "scaled", "index": [0, 0]} in seen["dependencies"]


def test_a_literal_input_names_the_file_of_its_example():
    (found,) = explained(("self_attention", "X", [0, 0]))
    file = re.search(r"\S+\.py", plain(found["note"]))[0]
    assert (ROOT / file).is_file()
    assert not found["formula"]
    assert not found["dependencies"]


def explained(*numbers):
    """Explain each number, which is given by its example, step and index."""
    return in_node(
        """data.numbers.map(([example, step, index]) => {
            const parsed = graph.parse(data.graphs[example]);
            return explain.explain(parsed, parsed.values, step, index);
        })""",
        {"numbers": numbers, "graphs": {name: page_graph(name) for name, *_ in numbers}},
    )
