"""Positions: sinusoids, rotations and rotary embeddings, compared with definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import position_rotation, rotary, sinusoidal_positions
from tests.conftest import assert_raises, random_array, to_numpy
from tests.loops import rotate_pairs

sizes = st.integers(1, 6).map(lambda half: 2 * half)
bases = st.floats(0.5, 1e5)


@given(st.integers(0, 9), sizes, bases)
def test_sinusoids_equal_definition(length, d_model, base):
    positions = sinusoidal_positions(length, d_model, base)
    assert positions.shape == (length, d_model)
    for t in range(length):
        for feature in range(d_model):
            angle = t / base ** (feature // 2 * 2 / d_model)
            wave = math.cos if feature % 2 else math.sin
            assert positions[t, feature] == pytest.approx(wave(angle), abs=1e-13)


@given(st.integers(0, 30), sizes, bases)
def test_rotation_shifts_every_position(shift, d_model, base):
    length = 40
    positions = sinusoidal_positions(length, d_model, base)
    rotation = position_rotation(shift, d_model, base)
    shifted = positions[: length - shift] @ rotation.T
    np.testing.assert_allclose(shifted, positions[shift:], rtol=0, atol=1e-13)


@given(st.integers(1, 5), sizes, bases, st.booleans(), st.integers(-1000, 1000))
def test_rotary_equals_complex_multiplication(length, features, base, interleaved, start):
    x = random_array((length, features))
    positions = start + np.arange(length) / 4
    expected = [
        rotate_pairs(row, position, base, interleaved)
        for row, position in zip(x, positions, strict=True)
    ]
    np.testing.assert_allclose(rotary(x, positions, base, interleaved), expected, atol=1e-12)


@given(st.floats(-50, 50), sizes, bases)
def test_interleaved_rotary_equals_position_rotation(position, features, base):
    x = random_array((features,))
    rotated = rotary(x, np.array(position), base, interleaved=True)
    expected = x @ position_rotation(position, features, base)
    np.testing.assert_allclose(rotated, expected, atol=1e-13)


def test_rotary_broadcasts_positions_over_heads(xp):
    x = random_array((2, 3, 5, 4))
    rotated = rotary(xp.asarray(x), xp.arange(5))
    assert type(rotated) is type(xp.asarray([1.0]))
    expected = [[rotary(head, np.arange(5)) for head in sequence] for sequence in x]
    np.testing.assert_allclose(to_numpy(rotated), expected, atol=1e-15)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-7), ("float16", 1e-3)])
def test_rotary_angles_are_exact_at_far_positions(dtype, tolerance):
    x, far_position = np.array([[1.0, 2.0]]), np.array([1_000_001])
    rotated = rotary(x.astype(dtype), far_position)
    assert rotated.dtype == dtype
    np.testing.assert_allclose(rotated, rotary(x, far_position), rtol=tolerance)


def test_default_base_is_10000():
    np.testing.assert_array_equal(sinusoidal_positions(9, 6), sinusoidal_positions(9, 6, 10000))
    np.testing.assert_array_equal(position_rotation(9, 6), position_rotation(9, 6, 10000))


def test_result_is_on_requested_device(strict):
    device = strict.Device("device1")
    assert sinusoidal_positions(5, 6, xp=strict, device=device).device == device
    assert position_rotation(5, 6, xp=strict, device=device).device == device


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: sinusoidal_positions(-1, 4), ValueError, "length is -1; expected 0 or more"),
        (lambda: sinusoidal_positions(3, 5), ValueError, "d_model is 5; expected an even number of 2 or more"),
        (lambda: position_rotation(1, 0), ValueError, "d_model is 0; expected an even number of 2 or more"),
        (lambda: position_rotation(1e308, 4, base=1e-9), ValueError, "shift is 1e+308; expected angles that fit float64"),
        (lambda: sinusoidal_positions(3, 400, base=5e-324), ValueError, "base is 5e-324; expected frequencies that fit float64"),
        (lambda: sinusoidal_positions(3, 4, base=0), ValueError, "base is 0; expected a positive number"),
        (lambda: rotary(np.ones((3, 5)), np.arange(3)), ValueError, "x has shape (3, 5); expected (..., d) with an even d of 2 or more"),
        (lambda: rotary(np.ones((3, 4)), np.arange(2)), ValueError, "positions has shape (2,); expected one that broadcasts to (3,), the shape of x without its features"),
        (lambda: rotary(np.ones(4), np.array(1e300), base=1e-300), ValueError, "positions is too large for base 1e-300; expected angles that fit float64"),
        (lambda: rotary(np.full(4, 1.5e308), np.array(0.8)), ValueError, "the rotated x holds inf at [2]; expected products that fit float64"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(make, error, message):
    assert_raises(make, error, message)
