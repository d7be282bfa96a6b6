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
from functools import partial
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
# The axes of rotated rows that are tried.
LAYOUTS = ("bhnd", "bnhd", "bnd", "nbd", "nhd", "nd")
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
    """

    kind: str
    arguments: Mapping[str, Any]
    layout: str
    start: int = 0
    width: int = WIDTH
    rotated: int = WIDTH
    has_keys: bool = False
    base: float = BASE


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
        yield PositionCall(kind, arguments, layout, start, width, rotated, has_keys, known_base)


def angle_arguments(
    lower: Mapping[str, str], required: set[str], start: int
) -> Iterator[dict[str, Any]]:
    """Yield the forms of the arguments that hold positions or angles, by the function's names."""
    positions = start + np.arange(LENGTH)
    frequencies = BASE ** (-2 * np.arange(WIDTH // 2) / WIDTH)
    angles = positions[:, None] * frequencies
    if "freqs_cis" in lower:
        yield {lower["freqs_cis"]: np.exp(1j * angles)}
    elif {"cos", "sin"} <= lower.keys():
        if required & POSITIONS:  # rows of a table that begins at 0
            angles = np.arange(start + LENGTH)[:, None] * frequencies
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
            yield {name: np.broadcast_to(positions, (SIZES["b"], LENGTH)).copy()}
        elif offset:
            yield {offset: start}
        elif not start:
            yield {}


def sinusoids(
    length: int,
    width: int,
    layout: str = "interleaved",
    start: int = 0,
    base: float = BASE,
    exponent: Callable[[Array], Array] = lambda column: 2 * (column // 2),
) -> Array:
    """Return a (length, width) table of sines and cosines."""
    columns = np.arange(width)
    powers = exponent(columns) / (width - 2 if layout == "halves to the last" else width)
    angles = (start + np.arange(length))[:, None] * base**-powers
    table = np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))
    return table if layout == "interleaved" else np.hstack([table[:, ::2], table[:, 1::2]])


def wrong_tables() -> dict[str, Callable[..., Array]]:
    """Return functions of wrong tables by the names of their mistakes."""

    def all_sines(length: int, width: int, layout: str) -> Array:
        table = sinusoids(length, width, "interleaved")
        sines = table[:, ::2].repeat(2, axis=-1)
        return sines if layout == "interleaved" else np.hstack([table[:, ::2]] * 2)

    return {
        "exponent_doubled": partial(sinusoids, exponent=lambda column: 2 * column),
        "exponent_halved": partial(sinusoids, exponent=lambda column: column // 2),
        "cosine_exponent_of_next_column": partial(sinusoids, exponent=lambda column: column),
        "exponent_positive": partial(sinusoids, exponent=lambda column: -2 * (column // 2)),
        "frequency_constant": partial(sinusoids, exponent=lambda column: 0 * column),
        "starts_at_one": partial(sinusoids, start=1),
        "starts_at_minus_one": partial(sinusoids, start=-1),
        "positions_lost": lambda length, width, layout: np.tile(
            sinusoids(1, width, layout), (length, 1)
        ),
        "all_sines": all_sines,
    }


def rotate(
    rows: Array,
    angles: Array,
    pairs: str,
    change: str = "",
) -> Array:
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
    return rows * cos + turned * (-sin if change == "rotation_reversed" else sin)


def rotated_rows(call: PositionCall, rows: Array, pairs: str, change: str = "") -> Array:
    """Return rows in the layout of a call, rotated, perhaps with a mistake."""
    axis = call.layout.index("n")
    if change == "positions_along_heads":
        axis = call.layout.index("h") if "h" in call.layout else axis
    if change == "positions_along_batch":
        axis = call.layout.index("b") if "b" in call.layout else axis
    moved = np.moveaxis(rows, axis, -2)
    length = moved.shape[-2]
    width = call.width if change == "frequencies_of_whole_width" else call.rotated
    exponents = 2 * np.arange(call.rotated // 2) / width
    scale = {"exponent_doubled": 2, "exponent_halved": 0.5, "exponent_positive": -1}.get(change, 1)
    start = call.start + {"starts_at_one": 1, "starts_at_minus_one": -1}.get(change, 0)
    if change == "offset_ignored":
        start = 0
    positions = start + np.arange(length)
    if change == "positions_lost":
        positions = 0 * positions
    base = 1.0 if change == "frequency_constant" else call.base
    angles = positions[:, None] * base ** (-scale * exponents)
    part = slice(-call.rotated, None) if change == "other_features_rotated" else slice(call.rotated)
    result = moved.copy()
    result[..., part] = rotate(moved[..., part], angles, pairs, change)
    return np.moveaxis(result, -2, axis)


def expected_results(call: PositionCall, count: int) -> Iterator[tuple[str, tuple[Array, ...]]]:
    """Yield the right results of a call in every layout, after "", then those of each mistake."""
    if call.kind == "table" and count == 2:  # cosines and sines, or the parts of complex numbers
        for name, angles in angle_tables(call):
            for form in (angles, np.tile(angles, 2), np.repeat(angles, 2, axis=-1)):
                yield name, (np.cos(form), np.sin(form))
    elif call.kind in ("table", "addition"):
        variants = ("interleaved", "halves", "halves to the last")
        right = partial(sinusoids, base=call.base)
        tables = [("", right), *wrong_tables().items()]
        tables += [("base_wrong", partial(sinusoids, base=base)) for base in OTHER_BASES]
        if call.kind == "addition":
            tables.append(("positions_along_batch", right))
        for (name, table), layout in itertools.product(tables, variants):
            yield name, added(call, table(LENGTH, call.width, layout=layout), name)
    else:
        yield from expected_rotations(call)


def expected_rotations(call: PositionCall) -> Iterator[tuple[str, tuple[Array, ...]]]:
    """Yield the right results of a rotation of each kind of pairs, then those of each mistake."""
    rows = [array for array in call.arguments.values() if is_rows(array, call)]
    for name, pairs in itertools.product(("", *MISTAKES), ("halves", "adjacent")):
        if name == "keys_unrotated":
            if call.has_keys:
                yield name, (rotated_rows(call, rows[0], pairs), rows[1])
        elif name == "base_wrong":
            for base in OTHER_BASES:
                other = replace(call, base=base)
                yield name, tuple(rotated_rows(other, array, pairs) for array in rows)
        else:
            yield name, tuple(rotated_rows(call, array, pairs, name) for array in rows)


def is_rows(value: Any, call: PositionCall) -> bool:
    shape = tuple(call.width if axis == "d" else SIZES[axis] for axis in call.layout)
    return isinstance(value, np.ndarray) and value.shape == shape and value.dtype != complex


def added(call: PositionCall, table: Array, change: str) -> tuple[Array, ...]:
    """Return a table, or for an addition the rows with the table added."""
    if call.kind == "table":
        return (table,)
    (rows,) = call.arguments.values()
    axis = call.layout.index("n")
    if change == "positions_along_batch" and "b" in call.layout:
        axis = call.layout.index("b")
    shape = [1] * rows.ndim
    shape[axis], shape[-1] = rows.shape[axis], call.width
    return (rows + table[: rows.shape[axis]].reshape(shape),)


def explanation(call: PositionCall, results: tuple[Array, ...]) -> str | None:
    """Return "" if results are right, the name of the mistake that gives them, or None."""
    for name, expected in expected_results(call, len(results)):
        if len(expected) == len(results) and all(
            actual.size == array.size and np.allclose(actual.reshape(array.shape), array, atol=1e-4)
            for actual, array in zip(results, expected, strict=True)
        ):
            return name
    return None


def angle_tables(call: PositionCall) -> Iterator[tuple[str, Array]]:
    """Yield the (n, d/2) angles of positions, after "", then those of each mistake."""
    pairs = np.arange(WIDTH // 2)
    changes = {
        "": (2 * pairs, 0, call.base),
        "exponent_doubled": (4 * pairs, 0, call.base),
        "exponent_halved": (pairs, 0, call.base),
        "exponent_positive": (-2 * pairs, 0, call.base),
        "frequency_constant": (0 * pairs, 0, call.base),
        "starts_at_one": (2 * pairs, 1, call.base),
    }.items()
    others = [("base_wrong", (2 * pairs, 0, base)) for base in OTHER_BASES]
    for name, (exponents, start, base) in [*changes, *others]:
        yield name, (start + np.arange(LENGTH))[:, None] * base ** (-exponents / WIDTH)


def call_function(
    function: Callable[..., Any], call: PositionCall, library: str
) -> dict[str, Array]:
    """Call a function with the arrays of its library, and return what it returns by index."""
    dtype = "float32"
    arguments = {}
    for name, value in call.arguments.items():
        if isinstance(value, np.ndarray):
            kind = {"c": "complex64", "i": "int64"}.get(value.dtype.kind, dtype)
            value = libraries.to_library_array(value, library, kind)
        arguments[name] = value
    returned = function(**arguments)
    items = returned if isinstance(returned, tuple | list) else [returned]
    results: list[Array] = []
    for item in items:
        array = np.asarray(item.detach().cpu() if hasattr(item, "detach") else item)
        results += [array.real, array.imag] if array.dtype.kind == "c" else [array]
    return {str(i): array.astype(float) for i, array in enumerate(results)}
