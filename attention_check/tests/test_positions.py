"""Functions that make, add or rotate by positions: right ones pass, and mistakes are named."""

import numpy as np
import pytest

from attention_check import checking, positions
from attention_check.calling import Settings


def report_on(function, **settings):
    return checking.check(function, Settings(library="numpy", **settings))


@pytest.mark.parametrize("layout", ["interleaved", "halves", "halves to the last"])
def test_right_table_passes(layout):
    def sinusoidal_encoding(length, d_model):
        return positions.sinusoids(length, d_model, layout)

    assert report_on(sinusoidal_encoding).is_correct


@pytest.mark.parametrize(
    "change",
    [
        *positions.EXPONENT_FACTORS,
        *positions.SHIFTS,
        "cosine_exponent_of_next_column",
        "positions_lost",
        "all_sines",
    ],
)
def test_mistake_of_a_table_is_named(change):
    def sinusoidal_encoding(n, d):
        return positions.sinusoids(n, d, change=change)

    (verdict,) = report_on(sinusoidal_encoding).verdicts
    (mistake,) = verdict.mistakes
    assert mistake.name == change.replace("of_column_", "")


def rotate_positions(x, start, pairs, change, base=positions.BASE):
    """Rotate (b, h, n, d) rows."""
    call = positions.PositionCall("rotation", {}, "bhnd", start, x.shape[-1])
    return positions.rotated_rows(call, x, pairs, change, base)


@pytest.mark.parametrize("pairs", ["halves", "adjacent", "adjacent to halves"])
def test_right_rotation_passes_from_any_position(pairs):
    def apply_rope(x, offset=0):
        return rotate_positions(x, offset, pairs, "")

    report = report_on(apply_rope)
    assert report.is_correct
    names = [verdict.case.name for verdict in report.verdicts]
    assert names[:3] == ["rotation", "rotation_from_3", "rotation_from_301"]


@pytest.mark.parametrize(
    "name",
    ["exponent_doubled", "starts_at_one", "pairs_mixed", "rotation_reversed", "half_not_negated"],
)
def test_mistake_of_a_rotation_is_named(name):
    def apply_rope(x):
        return rotate_positions(x, 0, "halves", name)

    (verdict,) = report_on(apply_rope).verdicts
    assert [mistake.name for mistake in verdict.mistakes] == [name]


def test_another_base_is_named():
    def apply_rope(x):
        return rotate_positions(x, 0, "halves", "", base=1000.0)

    (verdict,) = report_on(apply_rope).verdicts
    assert [mistake.name for mistake in verdict.mistakes] == ["base_wrong"]


def test_positions_along_the_heads_are_named_by_the_docstring():
    def apply_rope(x):
        """Rotate x of shape (batch, seq, heads, dim)."""
        return rotate_positions(x, 0, "halves", "")

    (verdict,) = report_on(apply_rope).verdicts
    assert [mistake.name for mistake in verdict.mistakes] == ["positions_along_heads"]


def test_offset_that_is_ignored_is_named():
    def apply_rope(x, positions):
        return rotate_positions(x, 0, "halves", "")

    verdicts = report_on(apply_rope).verdicts
    assert verdicts[0].status == "ok"
    assert [mistake.name for mistake in verdicts[1].mistakes] == ["offset_ignored"]


def test_unknown_table_is_located():
    def sinusoidal_encoding(n, d):
        return np.zeros((n, d))

    (verdict,) = report_on(sinusoidal_encoding).verdicts
    assert verdict.status == "wrong"
    assert verdict.reason.startswith("its output at [")


@pytest.mark.parametrize("is_of_each_sequence", [True, False])
def test_positions_are_those_of_each_sequence(is_of_each_sequence):
    def apply_rope(x, position_ids):
        starts = position_ids[:, 0] if is_of_each_sequence else [position_ids[0, 0]] * len(x)
        rows = zip(x, starts, strict=True)
        return np.concatenate([rotate_positions(r[None], s, "halves", "") for r, s in rows])

    verdicts = report_on(apply_rope).verdicts
    names = {mistake.name for verdict in verdicts for mistake in verdict.mistakes}
    assert names == (set() if is_of_each_sequence else {"positions_of_first_sequence"})
