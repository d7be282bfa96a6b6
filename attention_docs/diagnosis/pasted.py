"""Name the mistake in a printed output of the example in which all sizes are distinct.

`docs/assets/diagnose.js` does the same in a reader's browser, with the same data.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from attention_docs.arrays import Array
from attention_docs.diagnosis import recipe
from attention_docs.diagnosis.cases import from_example, steps
from attention_docs.diagnosis.mistakes import MISTAKES
from attention_docs.diagnosis.recipe import Call

# Such as dtype=torch.float64, grad_fn=<MmBackward0>, size=(4, 3), torch.Size([4, 3]).
SETTING = re.compile(r"\w+\s*=\s*(?:<[^>]*>|\([^)]*\)|[^,()\[\]\n]*)|Size\([^)]*\)")
# Such as np.float64( before a number.
CALL = re.compile(r"[A-Za-z_][\w.]*\(")
ROW = re.compile(r"\[([^\[\]]*)\]")
NUMBER = re.compile(r"[-+]?(?:\d+\.?(?P<decimals>\d*)(?:[eE](?P<power>[-+]?\d+))?|(?:nan|inf)\b)")
# How far a 32-bit output, all of whose digits are printed, may be from the exact one.
FLOAT32 = 4e-6


class Printed(NamedTuple):
    """A number as it was printed, and how far from it the number that was meant may be."""

    number: float
    tolerance: float

    def may_be(self, other: float) -> bool:
        if math.isfinite(self.number) and math.isfinite(other):
            return abs(self.number - other) <= self.tolerance
        return str(self.number) == str(other)


@dataclass(frozen=True)
class Known:
    """An output that is known for the example: the right one, or that of a mistake.

    Attributes:
        words: what it is.
        right: whether it is no mistake.
        rows: the numbers.
        fix: the line that fixes it.
        address: where it is explained, below `docs/`.
        anchor: that of its row in the catalogue.
    """

    words: str
    right: bool
    rows: list[list[float]]
    fix: str = ""
    address: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """What a printed output is.

    Attributes:
        rows: the numbers that were read.
        known: what they are; nothing if they are in no catalogue.
        first: row and column of the first number that differs from the right output, if any.
        expected: the right number there.
        sizes: how many rows and columns it has, and how many the right output.
    """

    rows: list[list[float]]
    known: Known | None
    first: tuple[int, int] | None
    expected: float | None
    sizes: tuple[tuple[int, int], tuple[int, int]]


def diagnose(text: str) -> Diagnosis:
    """Say what an output is that NumPy, PyTorch or JAX printed, or that is written as JSON.

    Raises:
        ValueError: if there are no equal rows of numbers in it; the message says what to do.

    >>> found = diagnose('''tensor([[ 0.1195,  5.7551, -1.7367], [ 2.4708, -4.3867,  4.8735],
    ...    [ 5.8931, -0.0014,  5.9122], [ 2.9851,  1.9375,  2.7257]], dtype=torch.float64)''')
    >>> found.known.words
    'scores that are not scaled'
    >>> found.first, round(found.expected, 4)
    ((0, 0), 0.2739)
    """
    printed, right = read(text), known_outputs()[0].rows
    known = next((known for known in known_outputs() if agrees(printed, known.rows)), None)
    first = first_difference(printed, right)
    rows = [[cell.number for cell in row] for row in printed]
    expected = right[first[0]][first[1]] if first else None
    return Diagnosis(rows, known, first, expected, (size(rows), size(right)))


def read(text: str) -> list[list[Printed]]:
    """Read rows of numbers; those without brackets stand on lines of their own.

    >>> [[cell.number for cell in row] for row in read("array([[1.5, 2.], [-3e-1, 0.25]])")]
    [[1.5, 2.0], [-0.3, 0.25]]
    """
    plain = text.replace("−", "-").replace("NaN", "nan").replace("Infinity", "inf")
    plain = CALL.sub("(", SETTING.sub("", plain))
    if "..." in plain or "…" in plain:
        raise ValueError("some numbers are left out (...); print all of them")
    lines = ROW.findall(plain) if "[" in plain else plain.splitlines()
    rows = [cells for line in lines if (cells := list(NUMBER.finditer(line)))]
    if len({len(row) for row in rows}) != 1:
        raise ValueError("there are no rows of equally many numbers; paste a printed array")
    # NumPy leaves out zeros at the end, so all numbers have the decimals of the longest.
    decimals = max(len(cell["decimals"] or "") for row in rows for cell in row)
    return [[read_number(cell, decimals) for cell in row] for row in rows]


def read_number(cell: re.Match[str], decimals: int) -> Printed:
    unit = float(f"1e{int(cell['power'] or 0) - decimals}")
    return Printed(float(cell[0]), 0.51 * unit + FLOAT32)


def agrees(printed: list[list[Printed]], known: list[list[float]]) -> bool:
    return size(printed) == size(known) and first_difference(printed, known) is None


def size(rows: Sequence[Sequence[object]]) -> tuple[int, int]:
    """Return how many rows and how many columns there are."""
    return len(rows), len(rows[0])


def first_difference(
    printed: list[list[Printed]], known: list[list[float]]
) -> tuple[int, int] | None:
    """Return row and column of the first number that differs, as far as both have numbers."""
    for i, (row, right) in enumerate(zip(printed, known, strict=False)):
        for j, (cell, expected) in enumerate(zip(row, right, strict=False)):
            if not cell.may_be(expected):
                return i, j
    return None


@cache
def known_outputs() -> tuple[Known, ...]:
    """Return what is known for the example, the right output first, and no digits twice."""
    known: dict[str, Known] = {}
    for candidate in candidates(from_example()):
        known.setdefault(str(as_numbers(candidate.rows)), candidate)
    return tuple(known.values())


def candidates(call: Call) -> Iterator[Known]:
    """Yield what is right, and then each mistake, without a causal mask and with one."""
    right, causal = steps(call), replace(call, is_causal=True)
    yield Known("the right output", True, matrix(right.output))
    yield Known("the right output with a causal mask", True, matrix(steps(causal).output))
    yield Known("the right output, transposed", True, matrix(right.output.swapaxes(-1, -2)))
    yield Known("the matrix of the right scores, before the scale", True, matrix(right.scores))
    yield Known(
        "the matrix of the right scaled scores, before the softmax", True, matrix(right.scaled)
    )
    yield Known(
        "the matrix of the right weights, before the sum of the values", True, matrix(right.weights)
    )
    for mistake in MISTAKES:
        for called, besides in ((call, ""), (causal, ", with a causal mask")):
            try:
                rows = matrix(recipe.attend(called, mistake.changes))
            except ValueError:  # the arrays do not fit
                continue
            explanation = mistake.fix, mistake.address, mistake.anchor
            yield Known(mistake.words + besides, False, rows, *explanation)


def matrix(array: Array) -> list[list[float]]:
    """Return the only matrix of a (1, 1, m, n) array."""
    rows: list[list[float]] = array[0, 0].tolist()
    return rows


def as_numbers(rows: list[list[float]]) -> list[list[float | str]]:
    """Round to what float32 can tell apart; JSON has no number for NaN and infinity."""
    return [[round(x, 6) + 0.0 if math.isfinite(x) else str(x) for x in row] for row in rows]


def as_data() -> list[dict[str, Any]]:
    """Return what is known as JSON can hold it."""
    return [
        {"words": k.words, "right": k.right, "fix": k.fix, "anchor": k.anchor}
        | {"rows": as_numbers(k.rows)}
        for k in known_outputs()
    ]
