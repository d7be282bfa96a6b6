"""Numbers are formatted in the browser as in Python, exact ties included."""

import numpy as np
import pytest

from attention_docs.render.numbers import drawn_number, html_number, number, short_number
from tests.live.page_modules.nodejs import digits, in_node

# Numbers at which the format changes, and the limits of floats.
EDGE_CASES = """
    0 1e-5 4.9e-5 5e-5 5.1e-5 0.99999 9999.95 0.1 1e-4 1e22 5e-324 1.7976931348623157e308 inf nan
    9007199254740992 9007199254740994 9223372036854775808 123456789.5 999999999.5 1e9
    999999999.99995 1e15 1e16 1e17 1.5e16 0.0001 0.00012345 2.2250738585072014e-308 1000050000
    9.99995e9
"""
COUNT = 40_000


def sample_floats():
    """Return floats of every size and both signs, many of them exact ties."""
    draw = np.random.default_rng(17)
    edge_cases = np.array(EDGE_CASES.split(), float)
    all_sizes = 10.0 ** draw.uniform(-12, 13, COUNT // 4) * draw.uniform(0.1, 1, COUNT // 4)
    any_bits = draw.integers(0, 2**63, COUNT // 8).view(np.float64)
    # Odd multiples of 1/32 are ties at the fourth decimal, and those of 1/8 at the second.
    ties = draw.integers(0, 2**40, COUNT // 4) / 32
    # Six digits of which the last is a 5 are ties if five digits are shown.
    six_digits = draw.integers(10_000, 100_000, COUNT // 8) * 10 + 5
    large_ties = six_digits * 10.0 ** draw.integers(4, 13, COUNT // 8)
    few_digits = np.round(draw.uniform(0, 100, COUNT // 4), 5)
    positive = np.concatenate([edge_cases, all_sizes, any_bits, ties, large_ties, few_digits])
    return np.concatenate([positive, -positive]).tolist()


@pytest.mark.thorough
def test_every_number_is_formatted_as_in_python():
    sample = sample_floats()
    assert len(sample) >= COUNT
    # A tie that a float holds exactly is an odd multiple of 1/32: its fifth decimal is the last 5.
    ties = sum((value * 32) % 2 == 1 for value in sample)
    assert ties > 1000, "too few ties at the fourth decimal"
    shown = in_node(
        "data.map(Number).map((x) => [show.number(x), show.html(x), show.python(x), show.short(x), show.drawn(x)])",
        [digits(value) for value in sample],
    )
    for value, (text, html, python, short, drawn) in zip(sample, shown, strict=True):
        assert (text, html, python) == (number(value), html_number(value), repr(value))
        assert (short, drawn) == (short_number(value), drawn_number(value))


def test_integers_and_booleans_are_formatted_as_in_python():
    booleans = in_node("data.map((x) => [show.number(x, 'bool'), show.html(x, 'bool')])", [1, 0])
    assert booleans == [[number(True), "T"], [number(False), "F"]]
    integers = [0, 7, -7, 999_999_999, 10**9, -(10**15)]
    shown = in_node("data.map((x) => [show.number(x, 'int64'), show.python(x, 'int64')])", integers)
    assert shown == [[number(value), repr(value)] for value in integers]
