"""Examples recorded as graphs: the same numbers, calls, checks and messages as in Python."""

import gzip
import itertools
import json
import os
import subprocess
import sys

import array_api_compat
import numpy as np
import pytest

from attention_docs import examples, padding_mask, softmax
from attention_docs.arrays import namespace
from attention_docs.examples import self_attention
from attention_docs.live.graph import text
from attention_docs.live.library import Tape, UnknownOperationError
from attention_docs.live.literals import shared_literals
from attention_docs.live.recording import attempt, record, recorded_names
from tests.conftest import ROOT
from tests.live.edits import cases
from tests.live.evaluate import evaluate, numbers, refusal, shown
from tests.live.graphs import graph, page_graph
from tests.live.replay import replay

NAMES = recorded_names()


def assert_same_bits(one, other):
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


# Why a page cannot compute these.
DRAWN = {
    "score_variance": "measured on 5 million drawn numbers",
    "source_experiment": "measured on 60000 drawn numbers",
    # With the trained matrices as inputs, the weights that the page shows could be recorded. But
    # their digits have no pattern: compressed, those of the three stages take 13.6 KB.
    "learning_reverse": "trained on 3200 drawn sequences, measured on 256",
    # Likewise 15.2 KB.
    "learning_induction": "trained on 8000 drawn sequences, measured on 256",
    "learning_mistakes": "losses alone, each measured on 256 drawn sequences",
}


def test_all_examples_but_those_drawn_in_bulk_are_recorded():
    assert set(examples.names()) - set(NAMES) == set(DRAWN)


@pytest.mark.thorough
@pytest.mark.parametrize("name", DRAWN)
def test_results_of_what_is_drawn_in_bulk_come_with_a_formula_each(name):
    written = text(graph(name))
    assert len(gzip.compress(written.encode())) <= 6_000
    found = json.loads(written)
    values = evaluate(found, {})
    expected = examples.steps(name)
    assert list(found["steps"]) == list(expected) == list(found["formulas"])
    assert set(examples.load(name).FORMULAS) == set(expected)
    for step, array in expected.items():
        assert_same_bits(values[found["steps"][step]], np.asarray(array))


@pytest.mark.parametrize("name", NAMES)
def test_recorded_steps_equal_numpy_to_the_last_bit(name):
    recorded, expected = record(name).steps, examples.steps(name)
    assert list(recorded) == list(expected)
    for step, array in expected.items():
        assert_same_bits(recorded[step].value, array)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_graph_alone_gives_the_steps_to_the_last_bit(name):
    found = page_graph(name)
    values = evaluate(found, {})
    for step, array in examples.steps(name).items():
        np.testing.assert_array_equal(values[found["steps"][step]], array)
    assert refusal(found, values) is None


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_graph_with_edited_inputs_gives_the_digits_and_the_refusals_of_python(name):
    found = page_graph(name)
    dtypes = {step: found["nodes"][i][2]["dtype"] for step, i in literals(found).items()}
    for case in cases(name, count=10):
        edits = {step: numbers(value, dtypes[step]) for step, value in case["edits"].items()}
        values = evaluate(found, edits)
        assert refusal(found, values) == case.get("refusal")
        for step, digits in case.get("steps", {}).items():
            assert shown(values[found["steps"][step]].tolist()) == digits


def literals(found):
    steps = {step: found["steps"][step] for step in found["inputs"]}
    return {**steps, **found["shared"]}


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_graph_is_small_and_in_order(name):
    written = text(graph(name))
    assert len(gzip.compress(written.encode())) <= 6_000
    found = json.loads(written)
    for number, (_, inputs, *_) in enumerate(found["nodes"]):
        assert all(0 < back <= number for back in inputs)
    guards = [guard["node"] for guard in found["guards"]]
    assert guards == sorted(set(guards)), "each is kept once, in the order of the nodes"


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_scopes_are_nested_and_name_nodes_of_the_graph(name):
    found = graph(name)
    for scope in found["scopes"]:
        assert 0 <= scope["first"] <= scope["last"] < len(found["nodes"])
        assert set(scope["results"].values()) <= set(range(len(found["nodes"])))
    for one, other in itertools.combinations(found["scopes"], 2):
        apart = one["last"] < other["first"] or other["last"] < one["first"]
        within = one["first"] <= other["first"] and other["last"] <= one["last"]
        assert apart or within, "an inner call comes after the outer one that it was made in"


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_every_guard_depends_on_an_input_and_has_a_message(name):
    found = graph(name)
    edited = set(literals(found).values())
    depends = []
    for number, (_, inputs, *_) in enumerate(found["nodes"]):
        depends.append(number in edited or any(depends[number - back] for back in inputs))
    for guard in found["guards"]:
        assert depends[guard["node"]]
        error, message = guard["refusal"]
        assert error == "ValueError"
        assert [type(part) for part in message] == [str, dict, str]


def test_weights_of_attention_are_computed_in_its_softmax():
    found = graph("self_attention")
    attention, normalised = found["scopes"]
    steps = found["steps"]
    assert [attention["call"], normalised["call"]] == ["attention_steps", "softmax"]
    assert attention["arguments"] == {
        "query": {"node": steps["Q"]},
        "key": {"node": steps["K"]},
        "value": {"node": steps["V"]},
    }
    assert attention["results"]["output"] == steps["output"]
    assert normalised["arguments"] == {"scores": {"node": steps["scaled"]}}
    assert normalised["results"] == {"": steps["weights"]}


def test_options_and_fields_of_a_layer_are_arguments_of_its_call():
    (masked, *_) = graph("course_mask")["scopes"]
    assert masked["arguments"]["is_causal"] is True
    assert "dropout_p" not in masked["arguments"], "it has its default"
    found = graph("multi_head")
    layer = next(scope for scope in found["scopes"] if scope["call"] == "MultiHeadAttention.steps")
    assert layer["arguments"]["num_heads"] == 2
    assert layer["arguments"]["W_Q"] == {"node": found["steps"]["W_Q"]}
    assert layer["results"]["output"] == found["steps"]["output"]
    assert "attention.weights" in layer["results"]


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (np.inf, "query holds inf at [0, 0]; expected finite numbers only"),
        (
            1e160,
            "the scores of query and key hold inf at [0, 0]; expected products that fit float64",
        ),
    ],
)
def test_bad_input_is_refused_in_the_words_of_python(number, message):
    edits = {"X_q": np.full((4, 6), 0.0), "X_kv": np.full((5, 6), 1e160)}
    edits["X_q"][0, 0] = number
    found = graph("distinct_sizes")
    values = evaluate(found, edits)
    error = replay("distinct_sizes", edits).error
    assert str(error).startswith(message.split(" hold")[0])
    assert refusal(found, values) == [type(error).__name__, str(error)]


def test_a_fully_masked_row_is_no_error():
    hidden = np.full(3, -np.inf)
    found = graph("softmax_overflow")
    values = evaluate(found, {"small": hidden})
    assert refusal(found, values) is None
    np.testing.assert_array_equal(values[found["steps"]["small_stable"]], 0.0)


def test_literals_with_the_same_numbers_are_edited_apart():
    assert self_attention.W_Q == self_attention.W_V
    steps = replay("self_attention", {"W_Q": np.zeros((4, 2))}).steps
    assert not np.any(steps["Q"])
    np.testing.assert_array_equal(steps["V"], examples.steps("self_attention")["V"])
    found = graph("self_attention")["steps"]
    assert found["W_Q"] != found["W_V"]


def test_literal_is_edited_wherever_an_example_takes_it_up():
    edits = {"course_sentence.W_1": np.zeros((7, 1))}
    assert "course_sentence.W_1" in shared_literals().values()
    before = replay("course_block", edits).steps["before"]
    np.testing.assert_array_equal(before, -3.0)


def test_literal_of_several_steps_is_one_input():
    found = graph("word_order")
    assert found["steps"]["V"] == found["steps"]["X_english"]
    assert found["inputs"] == ["X_japanese", "X_english"]


def test_recorded_array_is_one_of_the_standard():
    tape = Tape()
    x = tape.xp.asarray([[1.0, 2.0]])
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x) is tape.xp
    assert array_api_compat.device(x) == "cpu"
    assert namespace(query=x, key=2 * x) is tape.xp
    with pytest.raises(TypeError, match="key is a numpy array"):
        namespace(query=x, key=np.ones(2))


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("svd", lambda xp, x: xp.svd(x)),
        ("multiply", lambda xp, x: x * np.ones(2)),
        ("multiply", lambda xp, x: np.ones(2) * x),
        ("add", lambda xp, x: x + "1"),
        ("xp.where", lambda xp, x: x.__setitem__(0, 1.0)),
        ("xp.take", lambda xp, x: x[x > 1]),
        ("xp.stack", lambda xp, x: xp.asarray([x, x])),
    ],
)
def test_what_cannot_be_recorded_is_named(name, operation):
    tape = Tape()
    with pytest.raises(UnknownOperationError, match=name):
        operation(tape.xp, tape.xp.asarray([1.0, 2.0]))


def test_unknown_operation_is_named_with_its_example(monkeypatch):
    monkeypatch.setattr(self_attention, "steps", lambda xp: {"X": xp.svd(xp.asarray([[1.0]]))})
    record.cache_clear()
    with pytest.raises(UnknownOperationError, match="example 'self_attention': svd cannot be"):
        record("self_attention")


def test_answers_to_python_are_remembered():
    tape = Tape()
    x = tape.xp.asarray([2.0, 3.0])
    assert (bool(x[0] > 1), int(x[0]), float(x[1]), [0, 1, 2, 3][tape.xp.asarray(3)]) == (
        *(True, 2, 3.0),
        3,
    )
    assert [read.answer for read in tape.reads] == [True, 2, 3.0, 3]


def test_turned_answer_leads_to_the_other_branch():
    tape = Tape(turned=1)
    scores = tape.xp.asarray([1.0, 2.0])
    assert bool(scores[0] < 2)
    with pytest.raises(ValueError, match=r"scores holds 1\.0 at"):
        softmax(scores)


def test_a_check_of_what_is_no_input_is_no_guard():
    recorded = attempt("causal_padding")
    assert any(read.answer is False for read in recorded.tape.reads), "padding_mask asked"
    refused = {guard["refusal"][1][0] for guard in graph("causal_padding")["guards"]}
    assert "query holds " in refused
    assert not any("lengths" in message for message in refused)
    assert padding_mask(np.asarray(3), 4).shape == (1, 4)


@pytest.mark.thorough
def test_graph_is_the_same_in_another_process():
    names = ["self_attention", "encoder_decoder", "course_block"]
    program = "import sys; from attention_docs.live.graph import graph, text\n"
    program += "for name in sys.argv[1:]: print(text(graph(name)))"
    done = subprocess.run(
        [sys.executable, "-c", program, *names],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.splitlines() == [text(graph(name)) for name in names]
