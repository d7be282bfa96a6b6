"""What a reader types is read as Python's `float` reads it, or refused with a reason."""

import math
import random
import re

import pytest

from tests.live.running import digits, in_node

# Names that each object of JavaScript has.
INHERITED = [
    *("constructor", "__proto__", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toLocaleString", "toString", "valueOf", "__defineGetter__", "__lookupSetter__"),
]
ALPHABET = "0123456789" * 2 + "..eE++--−−/_,x '"
KEPT_OUT = re.compile(r"[_x']|\s")  # Python reads 1_000, and strips within no number
DTYPES = ["float64", "int64", "bool"]


def read(texts, dtype):
    """Read texts: the number of each, written as `digits` does, or None, and what is wrong."""
    entries = in_node(
        """data[0].map((text) => {
            const { value, problem } = entries.parse(text, data[1]);
            return [value === null ? null : Object.is(value, -0) ? "-0.0" : String(value), problem];
        })""",
        [texts, dtype],
    )
    return [(value and digits(value), problem) for value, problem in entries]


def expected(text):
    """The finite float that Python reads, if the text is one."""
    typed = text.strip(" ").replace("−", "-")
    try:
        value = math.nan if KEPT_OUT.search(typed) else float(typed)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


@pytest.mark.parametrize("dtype", DTYPES)
def test_inherited_property_names_are_no_entries(dtype):
    for name, (value, problem) in zip(INHERITED, read(INHERITED, dtype), strict=True):
        assert value is None, name
        assert f"“{name}”" in problem


def test_each_minus_sign_is_read():
    typed = {"−1e−3": -0.001, "-1e−3": -0.001, "−.5e-1": -0.05, "−∞": -math.inf, "−inf": -math.inf}
    values = [float(value) for value, _ in read(list(typed), "float64")]
    assert values == list(typed.values())


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_random_entries_are_read_as_python_reads_them(dtype):
    draw = random.Random(17)
    texts = [
        "".join(draw.choice(ALPHABET) for _ in range(draw.randint(0, 6))) for _ in range(20_000)
    ]
    wanted = [expected(text) for text in texts]
    if dtype == "int64":
        whole = [value is not None and value.is_integer() for value in wanted]
        wanted = [
            value + 0 if is_whole else None for value, is_whole in zip(wanted, whole, strict=True)
        ]
    assert sum(value is not None for value in wanted) > 1000
    for text, value, (found, problem) in zip(texts, wanted, read(texts, dtype), strict=True):
        assert found == (None if value is None else digits(value)), text
        assert bool(problem) == (value is None), text
