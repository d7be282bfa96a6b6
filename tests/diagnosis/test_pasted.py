"""The diagnosis of pasted outputs, as NumPy, PyTorch and JAX print them."""

import io
import json

import numpy as np
import pytest

from attention_docs.__main__ import main
from attention_docs.diagnosis import pasted
from attention_docs.diagnosis.mistakes import mistake_named
from attention_docs.diagnosis.pasted import diagnose, known_outputs
from tests.diagnosis.pasted_outputs import FORMATS, OVERFLOWING, RIGHT, UNKNOWN, WRONG, format_rows


@pytest.fixture
def stdin(monkeypatch):
    """Return a function that sets what the command line reads."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


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
