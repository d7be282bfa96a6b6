"""Check functions that make sinusoidal positions, add them, or rotate features by them.

Three kinds are told apart by their arguments: a *table* takes a length and a width, an *addition* a
module that adds its table to rows, and a *rotation* takes rows and maybe positions, cosines and
sines, or complex numbers. Each is called in every form that its arguments allow, and is right if in
one of them it gives the right numbers of a common layout.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention_check import libraries
from attention_check.cases import irregular_array
from attention_check.mistakes import Mistake
from attention_check.recipe import Array
from attention_check.tables import names_of, rows_of

NAMES = names_of("position")
LENGTHS, WIDTHS, ROWS, KEYS, POSITIONS, BASES = map(set, NAMES.values())
BASE = 10000.0
OTHER_BASES = (1000.0, 100.0, 100000.0, 10.0, 2.0, math.e, 1e6, 500000.0)
SIZES = {"b": 2, "h": 3, "n": 5, "d": 8}
LENGTH, WIDTH = SIZES["n"], SIZES["d"]
SHIFT = 2  # positions between the beginnings of two sequences
# The first position and the dtype of a rotation's calls. In bfloat16, 301 is not exact.
STARTS = ((0, "float32"), (3, "float32"), (301, "float32"), (301, "bfloat16"))
TOLERANCES = {"float32": 1e-4, "bfloat16": 0.06}
# The axes of rotated rows that are tried.
LAYOUTS = ("bhnd", "bnhd", "bnd", "nbd", "nhd", "nd")
# What mistakes add to the positions, and what they multiply the exponents of the base by.
SHIFTS = {"starts_at_one": 1, "starts_at_minus_one": -1}
EXPONENT_FACTORS = {
    "exponent_doubled": 2,
    "exponent_of_column_doubled": 2,
    "exponent_halved": 0.5,
    "exponent_positive": -1,
    "frequency_constant": 0,
}
# Where a cosine has the exponent of its own column, and not that of the sine beside it.
COSINES_OF_NEXT_COLUMN = ("cosine_exponent_of_next_column", "exponent_of_column_doubled")
MISTAKES = {row["name"]: Mistake(changes={}, **row) for row in rows_of("positions.csv")}


@dataclass(frozen=True, eq=False)
class PositionCall:
    """One form of calling a function of positions.

    Attributes:
        kind: `table`, `addition` or `rotation`.
        arguments: by the function's names; arrays of the function's library, or numbers.
        layout: the axes of rows: b, h, n and d.
        starts: the first position.
        width: the number of features.
        rotated: how many features are rotated, the first ones.
        has_keys: whether a rotation takes queries and keys.
        is_shifted: whether each sequence begins `SHIFT` positions after the one before.
        dtype: that of the rows.
    """

    kind: str
    arguments: Mapping[str, Any]
    layout: str
    start: int = 0
    width: int = WIDTH
    rotated: int = WIDTH
    has_keys: bool = False
    base: float = BASE
    is_shifted: bool = False
    dtype: str = "float32"


def kind_of(names: tuple[str, ...], defaults: Mapping[str, Any], is_module: bool) -> str:
    """Return the kind of function with these arguments; "" if it is none of positions."""
    lower = [name.lower() for name in names]
    required = {name.lower() for name in names if name not in defaults}
    first, second = set(lower[:1]), set(lower[1:2])
    if (first <= LENGTHS and second & WIDTHS) or (first <= WIDTHS and second & LENGTHS):
        return "table"
    options = KEYS | POSITIONS | BASES | {"cos", "sin", "freqs_cis", "rotary_dim"}
    if first <= ROWS and required - first <= options:
        return "addition" if is_module and len(required) == 1 else "rotation"
    return ""


def calls(
    kind: str,
    names: tuple[str, ...],
    defaults: Mapping[str, Any],
    width: int = WIDTH,
    start: int = 0,
) -> Iterator[PositionCall]:
    """Yield the forms in which a function of a kind can be called, the likeliest first."""
    lower = {name.lower(): name for name in names}
    base = next((lower[name] for name in BASES if name in lower), None)
    default = defaults.get(base) if base else None
    known_base = float(default) if isinstance(default, int | float) else BASE
    given_base = {base: BASE} if base and base not in defaults else {}
    if kind == "table":
        length, size = names[:2] if names[1].lower() in WIDTHS else (names[1], names[0])
        for positions in (LENGTH, np.arange(LENGTH)):
            arguments = {length: positions, size: WIDTH, **given_base}
            yield PositionCall("table", arguments, "nd", base=known_base)
        return
    required = {name.lower() for name in names if name not in defaults}
    layouts = ("bnd", "nbd", "nd") if kind == "addition" else LAYOUTS
    has_keys = len(names) > 1 and names[1].lower() in KEYS
    for layout, angles in itertools.product(layouts, angle_arguments(lower, required, start)):
        shape = [width if axis == "d" else SIZES[axis] for axis in layout]
        arguments = {names[0]: irregular_array(*shape, start=1)}
        if has_keys:
            arguments[names[1]] = irregular_array(*shape, start=2)
        rotated = width
        if "rotary_dim" in lower:
            rotated = width // 2
            arguments[lower["rotary_dim"]] = rotated
        arguments |= angles | given_base
        is_shifted = any(n.lower() in POSITIONS and np.ndim(a) == 2 for n, a in angles.items())
        yield PositionCall(
            kind, arguments, layout, start, width, rotated, has_keys, known_base, is_shifted
        )


def angle_arguments(
    lower: Mapping[str, str], required: set[str], start: int
) -> Iterator[dict[str, Any]]:
    """Yield the forms of the arguments that hold positions or angles, by the function's names."""
    positions = start + np.arange(LENGTH)
    exponents = np.arange(0, WIDTH, 2) / WIDTH
    angles = angles_of(LENGTH, exponents, BASE, start)
    if "freqs_cis" in lower:
        yield {lower["freqs_cis"]: np.exp(1j * angles)}
    elif {"cos", "sin"} <= lower.keys():
        if required & POSITIONS:  # rows of a table that begins at 0
            angles = angles_of(start + LENGTH, exponents, BASE)
        tiled, repeated = np.tile(angles, 2), np.repeat(angles, 2, axis=-1)
        given = {name: positions[None].repeat(SIZES["b"], 0) for name in required & POSITIONS}
        given = {lower[name]: array for name, array in given.items()}
        for form in (tiled, repeated, angles, tiled[None], tiled[:, None], tiled[None, None]):
            yield {lower["cos"]: np.cos(form), lower["sin"]: np.sin(form), **given}
    else:
        name = next((lower[name] for name in POSITIONS if name in lower), None)
        offset = lower.get("offset", lower.get("start_pos"))
        if name:
            yield {name: positions}
            yield {name: positions + SHIFT * np.arange(SIZES["b"])[:, None]}
        elif offset:
            yield {offset: start}
        elif not start:
            yield {}


def angles_of(
    length: int, exponents: Array, base: float, start: int = 0, change: str = ""
) -> Array:
    """Return the angles of positions for each exponent of the base, perhaps with a mistake."""
    positions = start + SHIFTS.get(change, 0) + np.arange(length)
    if change == "positions_lost":
        positions = 0 * positions
    return positions[:, None] * base ** (-EXPONENT_FACTORS.get(change, 1) * exponents)


def sinusoids(
    length: int,
    width: int,
    layout: str = "interleaved",
    change: str = "",
    base: float = BASE,
) -> Array:
    """Return a (length, width) table of sines and cosines, perhaps with a mistake."""
    whole_width = width - 2 if layout == "halves to the last" else width
    columns = np.arange(0, width, 2)
    sines = np.sin(angles_of(length, columns / whole_width, base, change=change))
    columns = columns + (change in COSINES_OF_NEXT_COLUMN)
    cosines = np.cos(angles_of(length, columns / whole_width, base, change=change))
    if change == "all_sines":
        cosines = sines
    if layout == "interleaved":
        return np.stack([sines, cosines], axis=-1).reshape(length, width)
    return np.hstack([sines, cosines])


def rotate(rows: Array, angles: Array, pairs: str, change: str = "") -> Array:
    """Rotate the features of (..., n, d) rows by (n, d/2) angles, perhaps with a mistake."""
    half = rows.shape[-1] // 2
    if pairs == "halves":
        first, second = rows[..., :half], rows[..., half:]
        both = np.concatenate([angles, angles], axis=-1)
    else:
        first, second = rows[..., ::2], rows[..., 1::2]
        both = np.repeat(angles, 2, axis=-1)
    if change == "pairs_mixed":
        both = np.repeat(angles, 2, axis=-1) if pairs == "halves" else np.tile(angles, 2)
    sign = 1.0 if change == "half_not_negated" else -1.0
    parts = [sign * second, first]
    turned = (
        np.concatenate(parts, axis=-1) if pairs == "halves"
        else np.stack(parts, axis=-1).reshape(rows.shape)
    )  # fmt: skip
    cos, sin = np.cos(both), np.sin(both)
    if change == "sine_and_cosine_swapped":
        cos, sin = sin, cos
    result = rows * cos + turned * (-sin if change == "rotation_reversed" else sin)
    if pairs == "adjacent to halves":  # as DeepSeek's, which changes no product of query and key
        return np.concatenate([result[..., ::2], result[..., 1::2]], axis=-1)
    return result


def rotated_rows(
    call: PositionCall, rows: Array, pairs: str, change: str = "", base: float = BASE
) -> Array:
    """Return rows in the layout of a call, rotated, perhaps with a mistake."""
    if call.is_shifted and "b" in call.layout and change != "positions_of_first_sequence":
        b = call.layout.index("b")
        calls = [replace(call, is_shifted=False, start=call.start + SHIFT * i) for i in (0, 1)]
        parts = zip(calls, np.split(rows, 2, axis=b), strict=True)
        return np.concatenate([rotated_rows(c, x, pairs, change, base) for c, x in parts], axis=b)
    axis = axis_of_positions(call.layout, change)
    moved = np.moveaxis(rows, axis, -2)
    width = call.width if change == "frequencies_of_whole_width" else call.rotated
    start = 0 if change == "offset_ignored" else call.start
    exponents = np.arange(0, call.rotated, 2) / width
    angles = angles_of(moved.shape[-2], exponents, base, start, change)
    part = slice(-call.rotated, None) if change == "other_features_rotated" else slice(call.rotated)
    result = moved.copy()
    result[..., part] = rotate(moved[..., part], angles, pairs, change)
    return np.moveaxis(result, -2, axis)


def axis_of_positions(layout: str, change: str) -> int:
    """Return the index of the axis of positions, or of the one that a mistake takes for it."""
    letter = {"positions_along_heads": "h", "positions_along_batch": "b"}.get(change, "n")
    return layout.index(letter if letter in layout else "n")


def expected_results(call: PositionCall, count: int) -> Iterator[tuple[str, tuple[Array, ...]]]:
    """Yield the right results of a call in every layout, after "", then those of each mistake."""
    changes = [("", "", call.base), *((name, name, call.base) for name in MISTAKES)]
    changes.append(("exponent_doubled", "exponent_of_column_doubled", call.base))
    changes += [("base_wrong", "", base) for base in OTHER_BASES]
    for name, change, base in changes:
        if call.kind == "rotation":
            for pairs in ("halves", "adjacent", "adjacent to halves"):
                yield name, rotations(call, pairs, change, base)
        elif call.kind == "table" and count == 2:  # cosines and sines, or of complex numbers
            angles = angles_of(LENGTH, np.arange(0, WIDTH, 2) / WIDTH, base, change=change)
            for form in (angles, np.tile(angles, 2), np.repeat(angles, 2, axis=-1)):
                yield name, (np.cos(form), np.sin(form))
        else:
            for layout in ("interleaved", "halves", "halves to the last"):
                table = sinusoids(LENGTH, call.width, layout, change, base)
                yield name, (table if call.kind == "table" else added(call, table, change),)


def rotations(call: PositionCall, pairs: str, change: str, base: float) -> tuple[Array, ...]:
    """Return the rotated rows, or queries and keys, of a call."""
    rows = [array for array in call.arguments.values() if is_rows(array, call)]
    rotated = [rotated_rows(call, array, pairs, change, base) for array in rows]
    if change == "keys_unrotated" and call.has_keys:
        rotated[1] = rows[1]
    return tuple(rotated)


def is_rows(value: Any, call: PositionCall) -> bool:
    shape = tuple(call.width if axis == "d" else SIZES[axis] for axis in call.layout)
    return isinstance(value, np.ndarray) and value.shape == shape and value.dtype != complex


def added(call: PositionCall, table: Array, change: str) -> Array:
    """Return the rows of a call with a table added."""
    (rows,) = call.arguments.values()
    axis = axis_of_positions(call.layout, change)
    shape = [1] * rows.ndim
    shape[axis], shape[-1] = rows.shape[axis], call.width
    return rows + table[: rows.shape[axis]].reshape(shape)


def explanation(call: PositionCall, results: tuple[Array, ...]) -> str | None:
    """Return "" if results are right, the name of the mistake that gives them, or None."""
    for name, expected in expected_results(call, len(results)):
        if len(expected) == len(results) and all(
            actual.size == array.size
            and np.allclose(actual.reshape(array.shape), array, atol=TOLERANCES[call.dtype])
            for actual, array in zip(results, expected, strict=True)
        ):
            return name
    return None


def call_function(
    function: Callable[..., Any], call: PositionCall, library: str
) -> dict[str, Array]:
    """Call a function with the arrays of its library, and return what it returns by index."""
    arguments = {}
    for name, value in call.arguments.items():
        if isinstance(value, np.ndarray):
            kind = {"c": "complex64", "i": "int64"}.get(value.dtype.kind, call.dtype)
            value = libraries.to_library_array(value, library, kind)
        arguments[name] = value
    returned = function(**arguments)
    items = returned if isinstance(returned, tuple | list) else [returned]
    results: list[Array] = []
    for item in items:
        if hasattr(item, "detach"):  # of PyTorch, whose bfloat16 NumPy does not know
            item = item.detach().cpu()
            item = item.float() if call.dtype == "bfloat16" else item
        array = np.asarray(item)
        results += [array.real, array.imag] if array.dtype.kind == "c" else [array]
    return {str(i): array.astype(float) for i, array in enumerate(results)}
