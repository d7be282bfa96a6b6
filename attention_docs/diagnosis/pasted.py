"""Diagnose a printed output of the example `distinct_sizes`.

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
from attention_docs.diagnosis.cases import example_call, expected_steps
from attention_docs.diagnosis.mistakes import MISTAKES, Mistake
from attention_docs.diagnosis.recipe import Call
from attention_docs.diagnosis.report import fix_lines

# For example dtype=torch.float64, grad_fn=<MmBackward0>, size=(4, 3), torch.Size([4, 3]).
KEYWORD_ARGUMENT = re.compile(r"\w+\s*=\s*(?:<[^>]*>|\([^)]*\)|[^,()\[\]\n]*)|Size\([^)]*\)")
# For example np.float64( before a number.
FUNCTION_NAME = re.compile(r"[A-Za-z_][\w.]*\(")
ROW = re.compile(r"\[([^\[\]]*)\]")
NUMBER = re.compile(r"[-+]?(?:\d+\.?(?P<decimals>\d*)(?:[eE](?P<power>[-+]?\d+))?|(?:nan|inf)\b)")
# Largest rounding error of an output that was computed in float32.
FLOAT32_ERROR = 4e-6


class PrintedNumber(NamedTuple):
    """A printed number, with a bound on its error from rounding to decimals and to float32."""

    number: float
    tolerance: float

    def is_close(self, exact: float) -> bool:
        if math.isfinite(self.number) and math.isfinite(exact):
            return abs(self.number - exact) <= self.tolerance
        return str(self.number) == str(exact)  # as strings, because nan differs from itself


@dataclass(frozen=True)
class KnownOutput:
    """A known output of the example.

    Attributes:
        summary: a noun phrase for what is printed, or for the mistake.
        mistake: the mistake that gives this output; None if it is right.
    """

    summary: str
    rows: list[list[float]]
    mistake: Mistake | None = None

    @property
    def is_correct(self) -> bool:
        return self.mistake is None


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of a printed output.

    Attributes:
        match: the known output that they match, if any.
        first_wrong: row and column of the first number that differs from the right output, if any.
    """

    rows: list[list[float]]
    match: KnownOutput | None
    first_wrong: tuple[int, int] | None


def diagnose(text: str) -> Diagnosis:
    """Diagnose an output printed by NumPy, PyTorch or JAX, or written as JSON.

    >>> diagnosis = diagnose('''tensor([[ 0.1195,  5.7551, -1.7367], [ 2.4708, -4.3867,  4.8735],
    ...    [ 5.8931, -0.0014,  5.9122], [ 2.9851,  1.9375,  2.7257]], dtype=torch.float64)''')
    >>> diagnosis.match.summary
    'unscaled scores'
    >>> diagnosis.first_wrong
    (0, 0)
    """
    printed_rows = parse_rows(text)
    matches = (output for output in known_outputs() if is_match(printed_rows, output.rows))
    return Diagnosis(
        rows=[[cell.number for cell in row] for row in printed_rows],
        match=next(matches, None),
        first_wrong=first_difference(printed_rows, right_output().rows),
    )


def parse_rows(text: str) -> list[list[PrintedNumber]]:
    """Parse rows of numbers, which are in brackets or on separate lines.

    >>> [[cell.number for cell in row] for row in parse_rows("array([[1.5, 2.], [-3e-1, 0.25]])")]
    [[1.5, 2.0], [-0.3, 0.25]]
    """
    text = text.replace("−", "-").replace("NaN", "nan").replace("Infinity", "inf")
    # The digits in words such as dtype=torch.float64 are no numbers of the array.
    text = KEYWORD_ARGUMENT.sub("", text)
    text = FUNCTION_NAME.sub("(", text)
    if "..." in text or "…" in text:
        raise ValueError("some numbers are left out (...); print all of them")
    row_texts = ROW.findall(text) if "[" in text else text.splitlines()
    rows = [list(NUMBER.finditer(row)) for row in row_texts if NUMBER.search(row)]
    if len({len(row) for row in rows}) != 1:
        raise ValueError("the text has no rows of equal length; paste a printed array")
    # NumPy drops trailing zeros, so the longest number tells the precision of all.
    decimals = max(len(cell["decimals"] or "") for row in rows for cell in row)
    return [[parse_number(cell, decimals) for cell in row] for row in rows]


def parse_number(cell: re.Match[str], decimals: int) -> PrintedNumber:
    """Return a number with a tolerance for rounding to its last decimal and to float32.

    Args:
        decimals: how many decimals the number is rounded to, of which trailing zeros may be left
            out. In scientific notation, they are the decimals before the exponent.
    """
    exponent = int(cell["power"] or 0) - decimals
    last_decimal = float(f"1e{exponent}")  # not 10.0**exponent, which raises where this is infinite
    # Half of the last decimal, and a little more for the rounding of this comparison.
    return PrintedNumber(float(cell[0]), 0.51 * last_decimal + FLOAT32_ERROR)


def is_match(printed: list[list[PrintedNumber]], expected: list[list[float]]) -> bool:
    return shape(printed) == shape(expected) and first_difference(printed, expected) is None


def shape(rows: Sequence[Sequence[object]]) -> tuple[int, int]:
    return len(rows), len(rows[0])


def first_difference(
    printed: list[list[PrintedNumber]], expected: list[list[float]]
) -> tuple[int, int] | None:
    """Return the row and column of the first number that differs by more than rounding, if any.

    If the shapes differ, only the rows and columns that both have are compared.
    """
    for i, (printed_row, expected_row) in enumerate(zip(printed, expected, strict=False)):
        for j, (cell, exact) in enumerate(zip(printed_row, expected_row, strict=False)):
            if not cell.is_close(exact):
                return i, j
    return None


def right_output() -> KnownOutput:
    return known_outputs()[0]


@cache
def known_outputs() -> tuple[KnownOutput, ...]:
    """Return the known outputs of the example without duplicates, the right one first."""
    by_numbers: dict[str, KnownOutput] = {}
    for output in all_outputs(example_call()):
        by_numbers.setdefault(str(rounded_rows(output.rows)), output)
    return tuple(by_numbers.values())


def all_outputs(call: Call) -> Iterator[KnownOutput]:
    """Yield the right output and other right matrices of a call, then outputs with mistakes.

    Each mistake is made without and with a causal mask, unless the shapes do not fit.
    """
    causal_call = replace(call, is_causal=True)
    for summary, array in right_matrices(call, causal_call).items():
        yield KnownOutput(summary, as_rows(array))
    for mistake in MISTAKES:
        for variant, suffix in ((call, ""), (causal_call, ", with a causal mask")):
            try:
                output = recipe.attend(variant, mistake.changes)
            except ValueError:  # the shapes do not fit
                continue
            yield KnownOutput(mistake.summary + suffix, as_rows(output), mistake)


def right_matrices(call: Call, causal_call: Call) -> dict[str, Array]:
    """Return the matrices that are right to print, by what they are; the output comes first."""
    right = expected_steps(call)
    return {
        "the right output of this call, which says nothing of masks, heads or gradients": (
            right.output
        ),
        "the right output with a causal mask": expected_steps(causal_call).output,
        "the right output, transposed": right.output.swapaxes(-1, -2),
        "the matrix of the right scores, before the scale": right.scores,
        "the matrix of the right scaled scores, before the softmax": right.scaled,
        "the matrix of the right weights, before the sum of the values": right.weights,
    }


def as_rows(array: Array) -> list[list[float]]:
    rows: list[list[float]] = array[0, 0].tolist()
    return rows


def rounded_rows(rows: list[list[float]]) -> list[list[float | str]]:
    """Round numbers to six decimals; NaN and infinity become strings, because JSON lacks them."""

    def rounded(number: float) -> float | str:
        return round(number, 6) + 0.0 if math.isfinite(number) else str(number)  # -0.0 becomes 0.0

    return [[rounded(number) for number in row] for row in rows]


def as_data() -> list[dict[str, Any]]:
    """Return the known outputs as JSON-serialisable objects, for the page's script."""
    return [
        {
            "summary": output.summary,
            "right": output.is_correct,
            "fix": output.mistake.fix if output.mistake else "",
            "anchor": output.mistake.anchor if output.mistake else "",
            "rows": rounded_rows(output.rows),
        }
        for output in known_outputs()
    ]


def format_diagnosis(diagnosis: Diagnosis) -> str:
    """Format the diagnosis of a printed output: what it is, its first wrong number, and the fix."""
    match = diagnosis.match
    if match and match.is_correct:
        return f"This is {match.summary}."
    lines = [f"This is the output of {match.summary}." if match else "No known mistake gives this."]
    rows, columns = shape(diagnosis.rows)
    right_rows = right_output().rows
    expected_rows, expected_columns = shape(right_rows)
    if (rows, columns) != (expected_rows, expected_columns):
        lines.append(f"It is {rows} x {columns}; expected {expected_rows} x {expected_columns}.")
    if diagnosis.first_wrong:
        i, j = diagnosis.first_wrong
        lines.append(
            f"The first wrong number is {diagnosis.rows[i][j]:g} at [{i}, {j}]; "
            f"expected {right_rows[i][j]:.4f}."
        )
    if match and match.mistake:
        lines += fix_lines(match.mistake)
    return "\n".join(lines)
