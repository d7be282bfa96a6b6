"""Entries in a field are parsed as by Python's `float`, or refused with a reason."""

import math
import random
import re

import pytest

from tests.live.page_modules.nodejs import digits, in_node

# Properties of every JavaScript object.
INHERITED = [
    *("constructor", "__proto__", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toLocaleString", "toString", "valueOf", "__defineGetter__", "__lookupSetter__"),
]
# Characters that often occur in numbers come twice.
ALPHABET = "0123456789" * 2 + "..eE++--−−/_,x '"
# Refused although Python's float accepts 1_000.
REFUSED = re.compile(r"[_x']|\s")
DTYPES = ["float64", "int64", "bool"]


def parse_entries(texts, dtype):
    """Return the number (as text, or None) and the problem of each entry."""
    entries = in_node(
        """data[0].map((text) => {
            const { value, problem } = entries.parse(text, data[1]);
            return [value === null ? null : Object.is(value, -0) ? "-0.0" : String(value), problem];
        })""",
        [texts, dtype],
    )
    return [(value and digits(value), problem) for value, problem in entries]


def python_number(text, dtype):
    """Return the finite number of a dtype that Python parses, or None."""
    typed = text.strip(" ").replace("−", "-")
    if REFUSED.search(typed):
        return None
    try:
        value = float(typed)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    if dtype == "int64":  # which has no negative zero
        return float(int(value)) if value.is_integer() else None
    return value


@pytest.mark.parametrize("dtype", DTYPES)
def test_inherited_property_names_are_refused(dtype):
    for name, (value, problem) in zip(INHERITED, parse_entries(INHERITED, dtype), strict=True):
        assert value is None, name
        assert f"“{name}”" in problem


def test_both_minus_signs_are_accepted():
    typed = {"−1e−3": -0.001, "-1e−3": -0.001, "−.5e-1": -0.05, "−∞": -math.inf, "−inf": -math.inf}
    values = [float(value) for value, _ in parse_entries(list(typed), "float64")]
    assert values == list(typed.values())


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_random_entries_are_parsed_as_in_python(dtype):
    draw = random.Random(17)
    texts = [
        "".join(draw.choice(ALPHABET) for _ in range(draw.randint(0, 6))) for _ in range(20_000)
    ]
    expected = [python_number(text, dtype) for text in texts]
    assert sum(number is not None for number in expected) > 1000
    entries = parse_entries(texts, dtype)
    for text, number, (parsed, problem) in zip(texts, expected, entries, strict=True):
        assert parsed == (None if number is None else digits(number)), text
        assert bool(problem) == (number is None), text
