"""Public bugs, replayed: the record on the page is what the check says, and each fix is right."""

import json

import pytest

import replay


@pytest.mark.thorough
def test_recorded_verdicts_on_public_bugs_are_current():
    recorded = json.loads(replay.RECORD.read_text(encoding="utf-8"))
    assert recorded == replay.record(), "run python tests/replay.py"


@pytest.mark.thorough
@pytest.mark.parametrize("bug", replay.BUGS.values(), ids=replay.BUGS.keys())
def test_mended_function_passes(bug):
    assert replay.check(bug, replay.mended(bug)).is_correct
