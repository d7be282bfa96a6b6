"""Attention in one kernel: cuDNN's, for 16-bit arrays on a GPU.

cuDNN takes a graph: the memory layout of the arrays, and the operations on them. It compiles a
kernel for each graph, which takes some tenths of a second and serves one shape only; so graphs are
cached. They run on the addresses of the arrays and copy none of them. The kernel works in blocks,
accumulates in float32, and rounds the weights of a block to 16 bits before it multiplies them by
the values.

Source: Dao et al. 2022, Dao 2023 (FlashAttention); cuDNN's front end, "Scaled Dot Product
Attention".
"""

import importlib
import math
import threading
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, NamedTuple

from array_api_compat import is_cupy_namespace

from attention_docs.arrays import Array, dtype_name, is_16_bit
from attention_docs.inputs import Arguments, Inputs

HEAD_DIMS = range(8, 257, 8)  # the dimensions of a key or a value that there are kernels for
ALIGNMENT = 16  # bytes: of each address, and of each stride but the last
QUERY, KEY, VALUE, OUTPUT = range(1, 5)  # the identifiers of the arrays in a graph

# Sizes and strides, (batch, heads, rows, columns).
Layout = tuple[tuple[int, ...], tuple[int, ...]]

running = threading.Lock()  # cuDNN does not promise that a plan may run twice at once


class GraphKey(NamedTuple):
    """All that a graph depends on: calls with equal keys share one.

    Attributes:
        device: the number of the GPU.
        dtype: `float16` or `bfloat16`.
        query: the layout of the queries in memory.
        key: the layout of the keys.
        value: the layout of the values.
        scale: what the scores are multiplied by.
        left: how many positions before its own a query sees; None for all.
        right: how many after its own; None for all.
    """

    device: int
    dtype: str
    query: Layout
    key: Layout
    value: Layout
    scale: float
    left: int | None
    right: int | None


def is_available(xp: ModuleType) -> bool:
    """Whether a library has the kernel: it is cuDNN's, for arrays of CuPy."""
    return is_cupy_namespace(xp) and cudnn() is not None


@cache
def cudnn() -> ModuleType | None:
    """Return cuDNN's front end, or None if it, or the library that it loads, is missing."""
    try:
        front_end = importlib.import_module("cudnn")
        front_end.backend_version()
    except (ImportError, OSError, RuntimeError):
        return None
    return front_end


def may_serve(arguments: Arguments) -> bool:
    """Whether 16-bit arrays should stay as they are, because the kernel may take them.

    It takes no mask, which may hide every key of a query: the output is to be zero then, and cuDNN
    does not promise that.
    """
    xp, query = arguments.xp, arguments.query
    if arguments.attn_mask is not None or arguments.softcap is not None:
        return False
    return is_16_bit(xp, query.dtype) and is_available(xp)


def serves(inputs: Inputs) -> bool:
    """Whether the kernel can take these inputs; the first call for each key builds the graph."""
    key = graph_key(inputs)
    if key is None:
        return False
    with inputs.query.device:
        return graph(key) is not None


def graph_key(inputs: Inputs) -> GraphKey | None:
    """Describe inputs for cuDNN, or return None if the kernel cannot take them.

    Every query must see a key, for the reason that `may_serve` gives. So a window with a left limit
    is refused if there are more queries than keys: the last queries may lie beyond every key.
    """
    if not is_16_bit(inputs.xp, inputs.query.dtype):
        return None
    arrays = inputs.query, inputs.key, inputs.value
    queries, keys = inputs.query.shape[-2], inputs.key.shape[-2]
    left = None if inputs.left is None or inputs.left >= queries - 1 else inputs.left
    right = None if inputs.right is None or inputs.right >= keys - 1 else inputs.right
    if any(array.shape[-1] not in HEAD_DIMS or array.data.ptr % ALIGNMENT for array in arrays):
        return None
    if left is not None and queries > keys:
        return None
    query, key, value = (layout(array, inputs.batch) for array in arrays)
    if query is None or key is None or value is None:
        return None
    if query[0][1] != math.prod(
        inputs.batch[-1:]
    ):  # cuDNN broadcasts the heads of keys, not of queries
        return None
    name = dtype_name(inputs.dtype)
    return GraphKey(inputs.query.device.id, name, query, key, value, inputs.scale, left, right)


def layout(array: Array, batch: tuple[int, ...]) -> Layout | None:
    """Return the sizes and the strides, in elements, of (..., rows, columns) as four axes.

    The axes before the heads are merged into one. None if they are broadcast or their strides do
    not allow it, and if cuDNN cannot read the array in place: it needs a last stride of one, and
    others that are positive and whole vectors.

    >>> layout(np.zeros((2, 3, 5, 8), dtype=np.float16), batch=(2, 3))
    ((2, 3, 5, 8), (120, 40, 8, 1))
    """
    missing = max(3, len(batch) + 2) - array.ndim
    sizes = (1,) * missing + tuple(array.shape)
    strides = (0,) * missing + tuple(stride // array.itemsize for stride in array.strides)
    outer = merged(sizes[:-3], strides[:-3])
    if outer is None or outer[0] != math.prod(batch[:-1]):
        return None
    sizes, strides = (outer[0], *sizes[-3:]), [outer[1], *strides[-3:]]
    for axis in (2, 1, 0):
        if sizes[axis] == 1:  # its stride is never used, so NumPy may report any
            strides[axis] = sizes[axis + 1] * strides[axis + 1]
    vector = ALIGNMENT // array.itemsize
    if strides[3] != 1 or any(stride <= 0 or stride % vector for stride in strides[:3]):
        return None
    return sizes, tuple(strides)


def merged(sizes: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int] | None:
    """Return the size and the stride of several axes merged into one, or None.

    >>> merged((2, 3), (60, 20))
    (6, 20)
    >>> merged((2, 3), (20, 40))
    """
    merged_size, merged_stride = 1, 0
    for size, stride in reversed(list(zip(sizes, strides, strict=True))):
        if size == 1:
            continue
        if merged_size == 1:
            merged_stride = stride
        elif stride != merged_size * merged_stride:
            return None
        merged_size *= size
    return merged_size, merged_stride


@lru_cache(maxsize=256)
def graph(key: GraphKey) -> Any:
    """Build the graph of a key, or return None if cuDNN has no kernel for it on this GPU."""
    library: Any = cudnn()
    dtype = {"float16": library.data_type.HALF, "bfloat16": library.data_type.BFLOAT16}[key.dtype]
    built = library.pygraph(
        io_data_type=dtype,
        intermediate_data_type=library.data_type.FLOAT,
        compute_data_type=library.data_type.FLOAT,
        handle=handle(key.device),
    )
    q, k, v = (
        built.tensor(dim=list(sizes), stride=list(strides), data_type=dtype, uid=uid)
        for uid, (sizes, strides) in ((QUERY, key.query), (KEY, key.key), (VALUE, key.value))
    )
    output, _ = built.sdpa(
        q=q,
        k=k,
        v=v,
        attn_scale=key.scale,
        generate_stats=False,
        diagonal_alignment=library.diagonal_alignment.TOP_LEFT,
        diagonal_band_left_bound=None if key.left is None else key.left + 1,  # counts its own
        diagonal_band_right_bound=key.right,
    )
    (batch, heads, rows, _), columns = key.query[0], key.value[0][3]
    output.set_output(True).set_uid(OUTPUT).set_data_type(dtype)
    output.set_dim([batch, heads, rows, columns])
    output.set_stride([heads * rows * columns, rows * columns, columns, 1])
    try:
        built.build([library.heur_mode.A])
    except library.cudnnGraphNotSupportedError:
        return None
    return built


@cache
def handle(device: int) -> Any:
    """Open cuDNN on the current GPU; `device` is its number."""
    library: Any = cudnn()
    return library.create_handle()


def attend(inputs: Inputs) -> Array:
    """Return the (..., m, d_v) output of inputs that `serves` holds for.

    The kernel is queued on CuPy's current stream. Its workspace comes from CuPy's memory pool,
    which does not lend it to another stream before the kernel has finished.
    """
    xp = inputs.xp
    library: Any = cudnn()
    key: Any = graph_key(inputs)
    built = graph(key)
    shape = (*inputs.batch, inputs.query.shape[-2], inputs.value.shape[-1])
    with inputs.query.device, running:
        output = xp.empty(shape, dtype=inputs.dtype)
        workspace = xp.empty((built.get_workspace_size(),), dtype=xp.uint8)
        opened = handle(key.device)
        library.set_stream(opened, xp.cuda.get_current_stream().ptr)
        arrays = {QUERY: inputs.query, KEY: inputs.key, VALUE: inputs.value, OUTPUT: output}
        addresses = {uid: array.data.ptr for uid, array in arrays.items()}
        built.execute(addresses, workspace.data.ptr, opened)
    return output
