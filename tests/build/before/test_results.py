"""Formatting of measured results, and errors for unknown ones."""

import json
import re

import pytest

from attention_docs.publish.before.results import measured


@pytest.fixture
def folder(tmp_path):
    result = {
        "date": "2026-01-31",
        "ratio": [{"torch": 1.23456}],
        "bytes": 2608397,
        "small": 3.2e-7,
        "error": {"float64": {"self": {"ours": 1e-16, "theirs": "not measured"}}},
    }
    (tmp_path / "toy.json").write_text(json.dumps(result))
    return tmp_path


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("toy.ratio.0.torch", "1.23"),
        ("toy.bytes", "2,608,397"),
        ("toy.small", "3.2 × 10−7"),
        ("toy.date", "2026-01-31"),
        # Rows of a table, whose first cells are the keys.
        ("toy.error", "| float64 | self | 1 × 10−16 | not measured |"),
        ("toy.error.float64", "| self | 1 × 10−16 | not measured |"),
    ],
)
def test_measured_formats_results(folder, reference, expected):
    assert re.sub("<.*?>", "", measured(reference, folder)) == expected


@pytest.mark.parametrize(
    ("reference", "error", "message"),
    [
        ("tyo.ratio", LookupError, "result 'tyo' is unknown; expected one of toy"),
        ("toy.ratio.1", LookupError, "key '1' is unknown; expected one of 0"),
        ("toy.bytes.total", LookupError, "key 'total' is unknown; expected one of "),
        ("toy.size", LookupError, "key 'size' is unknown; expected one of date, ratio, bytes, small, error"),
        ("toy.ratio.0", ValueError, "expected a value or named rows; toy.ratio.0 has rows without names"),
    ],
)  # fmt: skip
def test_wrong_reference_error_says_what_was_expected(folder, reference, error, message):
    with pytest.raises(error) as caught:
        measured(reference, folder)
    assert caught.value.args[0] == message
