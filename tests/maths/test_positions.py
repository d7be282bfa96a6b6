"""Positions: the definition, the rotation, and what attention makes of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import position_rotation, sinusoidal_positions
from tests.conftest import to_numpy

sizes = st.integers(1, 6).map(lambda half: 2 * half)
bases = st.floats(0.5, 1e5)


@given(st.integers(0, 9), sizes, bases)
def test_positions_are_their_definition(length, d_model, base):
    positions = sinusoidal_positions(length, d_model, base)
    assert positions.shape == (length, d_model)
    for t in range(length):
        for feature in range(d_model):
            angle = t / base ** (feature // 2 * 2 / d_model)
            wave = math.cos if feature % 2 else math.sin
            assert positions[t, feature] == pytest.approx(wave(angle), abs=1e-13)


@given(st.integers(0, 30), sizes, bases)
def test_a_shift_is_the_same_rotation_at_every_position(shift, d_model, base):
    positions = sinusoidal_positions(40, d_model, base)
    rotation = position_rotation(shift, d_model, base)
    moved = positions[: 40 - shift] @ rotation.T
    np.testing.assert_allclose(moved, positions[shift:], rtol=0, atol=1e-13)


@given(st.floats(-50, 50), st.floats(-50, 50), sizes)
def test_rotations_keep_lengths_and_add_their_shifts(one, other, d_model):
    rotation = position_rotation(one, d_model)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(d_model), atol=1e-14)
    assert np.linalg.det(rotation) == pytest.approx(1)
    both = position_rotation(one + other, d_model)
    np.testing.assert_allclose(rotation @ position_rotation(other, d_model), both, atol=1e-13)


@given(sizes, st.integers(2, 20))
def test_the_product_of_two_positions_depends_on_their_distance_alone(d_model, length):
    positions = sinusoidal_positions(length, d_model)
    products = positions @ positions.T
    for distance in range(length):
        diagonal = np.diagonal(products, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=0, atol=1e-12)


def test_every_library_gives_the_same_numbers(xp):
    positions = sinusoidal_positions(5, 6, xp=xp)
    assert type(positions) is type(xp.asarray([1.0]))
    np.testing.assert_allclose(to_numpy(positions), sinusoidal_positions(5, 6), atol=1e-15)
    rotation = position_rotation(-3, 6, xp=xp)
    np.testing.assert_allclose(to_numpy(rotation), position_rotation(-3, 6), atol=1e-15)


def test_the_base_is_that_of_the_source_unless_another_is_given(xp):
    np.testing.assert_array_equal(sinusoidal_positions(9, 6), sinusoidal_positions(9, 6, 10000))
    np.testing.assert_array_equal(position_rotation(9, 6), position_rotation(9, 6, 10000))
    whole = sinusoidal_positions(9, 6, 10, xp=xp)
    np.testing.assert_allclose(to_numpy(whole), sinusoidal_positions(9, 6, 10.0), atol=1e-14)


def test_are_made_on_the_device_asked_for(strict):
    device = strict.Device("device1")
    assert sinusoidal_positions(5, 6, xp=strict, device=device).device == device
    assert position_rotation(5, 6, xp=strict, device=device).device == device


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: sinusoidal_positions(-1, 4), ValueError, "length is -1; expected 0 or more"),
        (lambda: sinusoidal_positions(2.5, 4), TypeError, "length is 2.5; expected a whole number"),
        (lambda: sinusoidal_positions(3, 5), ValueError, "d_model is 5; expected an even number of 2 or more"),
        (lambda: position_rotation(1, 0), ValueError, "d_model is 0; expected an even number of 2 or more"),
        (lambda: position_rotation(1, "4"), TypeError, "d_model is '4'; expected a whole number"),
        (lambda: position_rotation(math.nan, 4), ValueError, "shift is nan; expected a finite number"),
        (lambda: position_rotation(-math.inf, 4), ValueError, "shift is -inf; expected a finite number"),
        (lambda: position_rotation(np.ones(2), 4), TypeError, "shift is array([1., 1.]); expected a real number"),
        (lambda: position_rotation(1e308, 4, base=1e-9), ValueError, "shift is 1e+308; expected angles that fit float64"),
        (lambda: position_rotation(1, 4, base=math.nan), ValueError, "base is nan; expected a positive number"),
        (lambda: sinusoidal_positions(3, 400, base=5e-324), ValueError, "base is 5e-324; expected frequencies that fit float64"),
        (lambda: sinusoidal_positions(3, 4, base=0), ValueError, "base is 0; expected a positive number"),
    ],
)  # fmt: skip
def test_refuses_with_the_argument_what_was_expected_and_what_came(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value) == message
