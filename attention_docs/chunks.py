"""Attention over Dask arrays: chunk by chunk along both sequences, merged in a fixed tree.

Dask computes the graph that is built here, on one machine or on many. Each tile needs one chunk of
queries and one of keys and values. The order of the merges depends on the chunks alone, so a tile
that is computed twice, because its worker was lost, changes no bit of the output, unless the second
worker's BLAS takes kernels for another processor, which round sums differently.
"""

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy
from array_api_compat import is_dask_array

from attention_docs.arrays import Array, namespace
from attention_docs.inputs import Inputs, Window
from attention_docs.tiles import TileState, merge

Tile = Callable[..., TileState]


def are_given(
    query: Array, key: Array, value: Array, attn_mask: Array | None, enable_gqa: bool
) -> bool:
    """Whether query, key or value is a Dask array.

    Raises:
        TypeError: if one is, and another is not.
        ValueError: if the size of a chunk is unknown, the features are in several chunks, or an
            option is not for Dask arrays.
    """
    arrays = {"query": query, "key": key, "value": value}
    if not any(map(is_dask_array, arrays.values())):
        return False
    namespace(**arrays)
    if attn_mask is not None:
        raise ValueError(
            "attn_mask was given with Dask arrays; expected is_causal or window in its place"
        )
    if enable_gqa is True:
        raise ValueError("enable_gqa is True with Dask arrays; expected as many heads in each")
    for name, array in arrays.items():
        _check_chunks(name, array)
        if array.shape[:-2] != query.shape[:-2]:
            raise ValueError(
                f"{name} has shape {array.shape}; expected the leading axes of query {query.shape}"
            )
    return True


def attend(inputs: Inputs, tile: Tile) -> Array:
    """Return the output as a Dask array; nothing is computed yet but the shapes.

    What only the numbers show, NaN for instance, is raised when they are computed.

    Args:
        inputs: with Dask arrays.
        tile: attends to a chunk of keys, as `attend_tile`.
    """
    query, key, value = inputs.query, inputs.key, inputs.value
    # Leading axes and keys are cut alike, so that one chunk of each makes a tile.
    leading = dict(enumerate(query.chunks[:-2]))
    key = key.rechunk(leading)
    value = value.rechunk({**leading, value.ndim - 2: key.chunks[-2]})
    dask_array = importlib.import_module("dask.array")
    delayed = importlib.import_module("dask").delayed
    queries, keys, values = (array.to_delayed() for array in (query, key, value))
    starts = [_starts(array.chunks[-2]) for array in (query, key)]
    outputs = numpy.empty(queries.shape, dtype=object)
    for index in numpy.ndindex(queries.shape):
        *lead, i, _ = index
        states = [
            delayed(_attend)(
                tile,
                queries[index],
                keys[(*lead, j, 0)],
                values[(*lead, j, 0)],
                (starts[0][i], starts[1][j]),
                (inputs.left, inputs.right),
                {"scale": inputs.scale, "softcap": inputs.softcap},
            )
            for j in _visible(inputs, starts, (query.chunks[-2], key.chunks[-2]), i)
        ]
        rows = [sizes[k] for sizes, k in zip(query.chunks[:-1], index, strict=False)]
        outputs[index] = dask_array.from_delayed(
            delayed(_output)(_merged(states, delayed(merge)), inputs.dtype),
            shape=(*rows, value.shape[-1]),
            dtype=inputs.dtype,
        )
    return dask_array.block(outputs.tolist())


def _check_chunks(name: str, array: Array) -> None:
    if any(math.isnan(size) for sizes in array.chunks for size in sizes):
        raise ValueError(
            f"{name} has chunks of unknown size; "
            f"expected known ones, for example {name}.compute_chunk_sizes()"
        )
    if array.ndim > 1 and array.numblocks[-1] > 1:
        raise ValueError(
            f"{name} has {array.numblocks[-1]} chunks of features; "
            f"expected one, for example {name}.rechunk({{-1: -1}})"
        )


def _starts(sizes: tuple[int, ...]) -> list[int]:
    """Return where each chunk begins."""
    return [sum(sizes[:i]) for i in range(len(sizes))]


def _visible(inputs: Inputs, starts: list[list[int]], sizes: tuple[Any, Any], i: int) -> list[int]:
    """Return the chunks of keys of which a chunk of queries may see something; one at least."""
    first, last = starts[0][i], starts[0][i] + sizes[0][i] - 1
    lowest = -math.inf if inputs.left is None else first - inputs.left
    highest = math.inf if inputs.right is None else last + inputs.right
    seen = [
        j
        for j, (start, size) in enumerate(zip(starts[1], sizes[1], strict=True))
        if start <= highest and start + size > lowest
    ]
    return seen or [0]


def _attend(
    tile: Tile,
    query: Array,
    key: Array,
    value: Array,
    start: tuple[int, int],
    window: Window,
    options: dict[str, Any],
) -> TileState:
    """Attend from one chunk of queries to one of keys, which begin at `start`."""
    try:
        return tile(query, key, value, _band(query, key, start, window), **options)
    except ValueError as error:
        raise ValueError(f"{error} (in the chunks that begin at {start})") from None


def _band(query: Array, key: Array, start: tuple[int, int], window: Window) -> Array | None:
    """Return the part of a window's mask for these chunks, or None if there is no window."""
    left, right = window
    if left is None and right is None:
        return None
    xp = namespace(query=query)
    i = start[0] + xp.arange(query.shape[-2], device=query.device)[:, None]
    j = start[1] + xp.arange(key.shape[-2], device=query.device)[None, :]
    mask = xp.ones((query.shape[-2], key.shape[-2]), dtype=xp.bool, device=query.device)
    if left is not None:
        mask = mask & (j >= i - left)
    return mask if right is None else mask & (j <= i + right)


def _merged(states: list[Any], merged: Callable[..., Any]) -> Any:
    """Merge neighbours, and what comes of them, until one is left."""
    while len(states) > 1:
        pairs = [merged(*states[i : i + 2]) for i in range(0, len(states) - 1, 2)]
        states = pairs + states[2 * len(pairs) :]
    return states[0]


def _output(state: TileState, dtype: Any) -> Array:
    xp = namespace(sums=state.sums)
    return xp.astype(state.output, dtype, copy=False)
