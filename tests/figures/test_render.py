"""Formats of results: the rounding rules, and formats that other programs read."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import MultiHeadAttention
from attention_docs.render.code import json_steps, numpy_steps
from attention_docs.render.latex import latex, latex_name
from attention_docs.render.numbers import LARGE, number
from attention_docs.render.text import as_text

STEPS = {"Q": np.array([[0.1, -np.inf]]), "mask": np.array([[True, False]])}
# With a margin for rounding errors of floats.
HALF_OF_FOURTH_DECIMAL = 5.001e-5


@given(st.floats(-LARGE, LARGE, exclude_min=True, exclude_max=True))
def test_number_is_rounded_to_four_decimals_and_only_integers_look_exact(value):
    shown = number(value)
    assert float(shown) == pytest.approx(value, abs=HALF_OF_FOURTH_DECIMAL, rel=0)
    assert (float(shown) == 0) == (value == 0)
    assert shown.lstrip("-").isdigit() == value.is_integer()
    assert shown != "-0"


@given(st.floats(LARGE, 1e300) | st.floats(-1e300, -LARGE))
def test_mantissa_of_large_number_is_rounded_to_four_decimals(value):
    assert float(number(value)) == pytest.approx(value, rel=HALF_OF_FOURTH_DECIMAL)


def test_integers_below_a_billion_have_all_digits():
    assert [number(10**9 - 1), number(10**9)] == ["999999999", "1.0000e+09"]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (np.array([]), "[]"),
        (np.zeros((2, 0)), "[[]\n []]"),
        (np.array([True, False]), "[True False]"),
        (
            {"a": np.array([[1.0, -2.0], [0.5, 0.0]]), "b": np.array(7)},
            "a [[1 -2] [0.5000 0]]\nb 7",
        ),
        (
            {"n": 2.5, "large": 10**30, "none": np.zeros((2, 0))},
            "n 2.5000\nlarge 1.0000e+30\nnone [[] []]",
        ),
        ({"inline": np.zeros(46)}, f"inline [{'0 ' * 45}0]"),
        ({"in_rows": np.zeros(46)}, f"in_rows 46\n[{'0 ' * 45}0]"),
        ({}, ""),
    ],
)
def test_as_text_of_unusual_results(result, expected):
    assert as_text(result) == expected


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "result has dtype object; expected real numbers or booleans"),
        ([[1], [2, 3]], "result is a list of unequal rows; expected an array"),
        ({"Q": "a"}, "result['Q'] has dtype <U1; expected real numbers or booleans"),
    ],
)
def test_as_text_refuses_non_numeric_results(result, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        as_text(result)


def test_as_text_names_arrays_of_nested_named_tuples():
    rows = np.ones((2, 4))
    steps = MultiHeadAttention.seeded(4, num_heads=2, seed=0).steps(rows, rows, rows)
    headings = [line.split()[0] for line in as_text(steps).splitlines()]
    assert headings[:5] == ["Q", "K", "V", "attention.scores", "attention.scaled"]


def test_as_text_is_equal_for_arrays_of_every_library(xp):
    assert as_text(xp.asarray([[0.25, 2.0]], dtype=xp.float32)) == "[[0.2500 2]]"
    assert as_text(xp.asarray([True, False])) == "[True False]"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("scaled_scores", r"\text{scaled scores}"),
        ("K_rows", r"K_{\text{rows}}"),
        ("z_times_four_k", r"z_{\text{times four},k}"),
    ],
)
def test_latex_names(name, expected):
    assert latex_name(name) == expected


def test_latex_of_powers_and_non_finite_numbers():
    tex = latex(np.array([-1.4e-11, -np.inf, np.nan]))
    assert tex == r"\begin{bmatrix} -1.4 \times 10^{-11} & -\infty & \text{nan} \end{bmatrix}"


def test_json_keeps_every_digit():
    steps = {**STEPS, "not_finite": np.array([np.inf, np.nan])}
    expected = {"Q": [[0.1, "-inf"]], "mask": [[True, False]], "not_finite": ["inf", "nan"]}
    assert json.loads(json_steps(steps)) == expected


def test_numpy_code_reproduces_the_arrays():
    steps = {**STEPS, "not_finite": np.array([np.nan, 1.0])}
    namespace = {}
    exec(numpy_steps(steps), namespace)
    for name, array in steps.items():
        np.testing.assert_allclose(namespace[name], array, rtol=1e-15, atol=0)
