"""The diagnosis of pasted outputs, as NumPy, PyTorch and JAX print them."""

import io
import json

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.__main__ import main
from attention_docs.diagnosis import pasted
from attention_docs.diagnosis.cases import example_call
from attention_docs.diagnosis.mistakes import mistake_named
from attention_docs.diagnosis.pasted import diagnose, known_outputs
from attention_docs.diagnosis.recipe import attend

RIGHT = examples.steps("distinct_sizes")["output"]
WRONG = attend(example_call(), mistake_named("softmax_over_queries").changes)[0, 0]
UNKNOWN = RIGHT.copy()
UNKNOWN[1, 2] += 0.5

OVERFLOWING = "1e400 1 1"  # 1e400 is read as infinity


@pytest.fixture
def stdin(monkeypatch):
    """Return a function that sets what the command line reads."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def format_as_torch(array):
    """Format an array as `print(tensor)` does: with four decimals, one row per line."""
    rows = ",\n        ".join(str([float(f"{x:.4f}") for x in row]) for row in array)
    return f"tensor([[{rows}]], dtype=torch.float64, grad_fn=<SqueezeBackward1>)"


def format_rows(rows, number_format=".4f"):
    """Format one row per line, without brackets."""
    return "\n".join(" ".join(format(x, number_format) for x in row) for row in rows)


FORMATS = {
    "NumPy, printed": str,
    "NumPy, repr": repr,
    "NumPy, float32": lambda array: repr(array.astype(np.float32)),
    "NumPy, two decimals": lambda array: np.array2string(array, precision=2),
    "PyTorch": format_as_torch,
    "JAX": lambda array: repr(array.astype(np.float32)).replace("array", "Array"),
    "JSON": lambda array: json.dumps(array.tolist()),
    "JSON with batch and head": lambda array: json.dumps([[array.tolist()]]),
    "a list of NumPy's numbers": lambda array: repr([list(row) for row in array]),
    "PyTorch, after its shape": lambda array: f"torch.Size([4, 3]) {format_as_torch(array)}",
    "one line": lambda array: str(array).replace("\n", " "),
    "no brackets": format_rows,
    "typographic minus": lambda array: str(array).replace("-", "−"),
    "powers of ten": lambda array: format_rows(array, ".5e"),
}


@pytest.mark.parametrize("to_text", FORMATS.values(), ids=FORMATS.keys())
def test_right_output_is_recognised_in_format(to_text):
    assert diagnose(to_text(RIGHT)).match.summary.startswith("the right output of this call")


@pytest.mark.parametrize("to_text", FORMATS.values(), ids=FORMATS.keys())
def test_mistake_is_recognised_in_format(to_text):
    diagnosis = diagnose(to_text(WRONG))
    assert diagnosis.match.summary == "a softmax over the queries"
    assert diagnosis.first_wrong == (0, 0)


@pytest.mark.parametrize("output", known_outputs(), ids=lambda output: output.summary)
def test_four_decimals_identify_each_known_output(output):
    assert diagnose(format_rows(output.rows)).match == output


def test_unknown_output_reports_first_wrong_number():
    diagnosis = diagnose(str(UNKNOWN))
    assert diagnosis.match is None
    assert diagnosis.first_wrong == (1, 2)


@pytest.mark.parametrize(
    ("reshaped", "size"),
    [
        (RIGHT[:1], "1 x 3"),
        (np.vstack([RIGHT, RIGHT[:1]]), "5 x 3"),
        (np.hstack([RIGHT, RIGHT]), "4 x 6"),
        (RIGHT.reshape(1, 12), "1 x 12"),
    ],
)
def test_right_numbers_in_wrong_shape_are_not_right(reshaped, size, stdin, capsys):
    stdin(repr(reshaped))
    assert main(["diagnose"]) == 1
    output = capsys.readouterr().out
    assert output == f"No known mistake gives this.\nIt is {size}; expected 4 x 3.\n"


def test_overflowing_number_is_wrong():
    assert diagnose(OVERFLOWING).first_wrong == (0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows"),
        ("[[1, 2], [3]]", "no rows of equal length"),
        ("[[1, 2, ..., 9]]", "left out"),
        ("no numbers here", "no rows"),
    ],
)
def test_unparsable_text_is_refused_in_one_line(text, message, stdin, capsys):
    stdin(text)
    assert main(["diagnose"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_diagnose_command_prints_the_mistake_and_its_fix(stdin, capsys):
    stdin(str(WRONG))
    assert main(["diagnose"]) == 1
    output = capsys.readouterr().out
    mistake = mistake_named("softmax_over_queries")
    first_wrong = f"{WRONG[0, 0]:.6g} at [0, 0]; expected {RIGHT[0, 0]:.4g}"
    assert "This is the output of a softmax over the queries." in output
    assert f"The first wrong number is {first_wrong}." in output
    assert mistake.fix in output
    assert mistake.section in output


def test_diagnose_command_recognises_the_right_output(stdin, capsys):
    stdin(str(RIGHT))
    assert main(["diagnose"]) == 0
    assert capsys.readouterr().out.startswith("This is the right output of this call, which says")


def test_page_data_is_json_with_unique_outputs():
    data = json.loads(json.dumps(pasted.as_data(), allow_nan=False))
    assert len({json.dumps(output["rows"]) for output in data}) == len(known_outputs())
