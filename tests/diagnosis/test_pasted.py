"""Printed outputs: read from what NumPy, PyTorch and JAX print, and named."""

import io
import json

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.__main__ import main
from attention_docs.diagnosis import pasted
from attention_docs.diagnosis.cases import from_example
from attention_docs.diagnosis.mistakes import named
from attention_docs.diagnosis.pasted import diagnose, known_outputs, read
from attention_docs.diagnosis.recipe import attend

RIGHT = examples.steps("distinct_sizes")["output"]
WRONG = attend(from_example(), named("softmax_over_queries").changes)[0, 0]


def torch_prints(array):
    """As `print(tensor)` does: four decimals, and a row a line."""
    rows = ",\n        ".join(str([float(f"{x:.4f}") for x in row]) for row in array)
    return f"tensor([[{rows}]], dtype=torch.float64, grad_fn=<SqueezeBackward1>)"


PRINTED = {
    "NumPy, printed": str,
    "NumPy, repr": repr,
    "NumPy, float32": lambda array: repr(array.astype(np.float32)),
    "NumPy, two decimals": lambda array: np.array2string(array, precision=2),
    "PyTorch": torch_prints,
    "JAX": lambda array: repr(array.astype(np.float32)).replace("array", "Array"),
    "JSON": lambda array: json.dumps(array.tolist()),
    "JSON with batch and head": lambda array: json.dumps([[array.tolist()]]),
    "a list of NumPy's numbers": lambda array: repr([list(row) for row in array]),
    "PyTorch, after its shape": lambda array: f"torch.Size([4, 3]) {torch_prints(array)}",
    "one line": lambda array: str(array).replace("\n", " "),
    "no brackets": lambda array: "\n".join(" ".join(f"{x:.4f}" for x in row) for row in array),
    "typographic minus": lambda array: str(array).replace("-", "−"),
    "powers of ten": lambda array: "\n".join(" ".join(f"{x:.5e}" for x in row) for row in array),
}


@pytest.mark.parametrize("form", PRINTED)
def test_each_way_to_print_is_understood(form):
    assert diagnose(PRINTED[form](RIGHT)).known.words == "the right output"
    found = diagnose(PRINTED[form](WRONG))
    assert found.known.words == "a softmax over the queries"
    assert found.first == (0, 0)
    assert found.expected == RIGHT[0, 0]


@pytest.mark.parametrize("known", known_outputs(), ids=lambda known: known.words)
def test_four_decimals_tell_each_known_output_from_all_others(known):
    printed = "\n".join(" ".join(f"{x:.4f}" for x in row) for row in known.rows)
    assert diagnose(printed).known == known


def test_what_is_in_no_catalogue_is_said_with_the_first_wrong_number():
    changed = RIGHT.copy()
    changed[2, 1] += 0.5
    found = diagnose(str(changed))
    assert found.known is None
    assert found.first == (2, 1)


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        (RIGHT[:1], "1 x 3"),
        (np.vstack([RIGHT, RIGHT[:1]]), "5 x 3"),
        (np.hstack([RIGHT, RIGHT]), "4 x 6"),
        (RIGHT.reshape(1, 12), "1 x 12"),
    ],
)
def test_right_numbers_of_another_size_are_not_called_right(rows, size, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(repr(rows)))
    assert main(["diagnose"]) == 1
    said = capsys.readouterr().out
    assert said == f"No known mistake gives this.\nIt is {size}; expected 4 x 3.\n"


def test_a_power_of_ten_beyond_all_floats_is_a_wrong_number():
    assert diagnose("1e400 1 1").first == (0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows"),
        ("[[1, 2], [3]]", "no rows of equally many"),
        ("[[1, 2, ..., 9]]", "left out"),
        ("no numbers here", "no rows"),
    ],
)
def test_what_is_no_array_is_refused_in_one_line(text, message, monkeypatch, capsys):
    with pytest.raises(ValueError, match=message):
        read(text)
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["diagnose"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_command_line_names_the_mistake_and_the_line_that_fixes_it(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(str(WRONG)))
    assert main(["diagnose"]) == 1
    said = capsys.readouterr().out
    assert "This is the output of a softmax over the queries." in said
    assert "The first wrong number is -0.805196 at [0, 0]; expected 0.2739." in said
    assert "softmax(scores, axis=-1)" in said
    assert "mechanisms/common_mistakes.md#softmax-over-the-other-axis" in said
    monkeypatch.setattr("sys.stdin", io.StringIO(str(RIGHT)))
    assert main(["diagnose"]) == 0
    assert capsys.readouterr().out == "This is the right output.\n"


def test_the_data_of_the_page_are_json_and_tell_all_outputs_apart():
    data = json.loads(json.dumps(pasted.as_data(), allow_nan=False))
    assert len({json.dumps(known["rows"]) for known in data}) == len(known_outputs())
