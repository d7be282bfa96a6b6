"""Attention in one kernel: cuDNN's, for 16-bit arrays on a GPU.

cuDNN takes a graph: how the arrays lie in memory, and what is to be done with them. It compiles a
kernel for each graph, in some tenths of a second, and has none that serves several shapes; so
graphs are kept. They run on the addresses of the arrays and copy none of them. The kernel works in
blocks, adds up in float32, and rounds the weights of a block to 16 bits before they meet the
values.

Source: Dao et al. 2022, Dao 2023 (FlashAttention); cuDNN's front end, "Scaled Dot Product
Attention".
"""

import math
import threading
from functools import cache, lru_cache
from typing import Any, NamedTuple

from attention_docs.arrays import Array, cudnn, dtype_name, is_16_bit
from attention_docs.inputs import Inputs

HEAD_DIMS = range(8, 257, 8)  # the dimensions of a key or a value that there are kernels for
ALIGNMENT = 16  # bytes: of each address, and of each step but the last
QUERY, KEY, VALUE, OUTPUT = range(1, 5)  # what the graphs call their arrays

Layout = tuple[tuple[int, ...], tuple[int, ...]]  # sizes and steps, (batch, heads, rows, columns)

running = threading.Lock()  # cuDNN does not promise that a plan may run twice at once


class Call(NamedTuple):
    """All that a graph depends on: equal calls share one.

    Attributes:
        device: the number of the GPU.
        dtype: `float16` or `bfloat16`.
        query: how the queries lie in memory.
        key: likewise.
        value: likewise.
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


def serves(inputs: Inputs) -> bool:
    """Whether the kernel can take these inputs; the first call of its kind builds the graph."""
    described = call(inputs)
    if described is None:
        return False
    with inputs.query.device:
        return graph(described) is not None


def call(inputs: Inputs) -> Call | None:
    """Describe inputs for cuDNN, or return None where another way has to be taken.

    There must be a key for every query: where there is none, the output is to be zero, and cuDNN
    does not promise that. So masks are not for the kernel (`inputs.py` has widened the arrays
    then), nor are windows that a query can lie behind.
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
    if query[0][1] != math.prod(inputs.batch[-1:]):  # cuDNN spreads keys over heads, not queries
        return None
    name = dtype_name(inputs.dtype)
    return Call(inputs.query.device.id, name, query, key, value, inputs.scale, left, right)


def layout(array: Array, batch: tuple[int, ...]) -> Layout | None:
    """Return the sizes and steps, in numbers, of (..., rows, columns) as four axes.

    The axes before the heads become one. None where they are broadcast or their steps do not
    allow it, and where cuDNN cannot go along the array: it needs a last step of one, and others
    that are positive and whole vectors.

    >>> layout(np.zeros((2, 3, 5, 8), dtype=np.float16), batch=(2, 3))
    ((2, 3, 5, 8), (120, 40, 8, 1))
    """
    missing = max(3, len(batch) + 2) - array.ndim
    sizes = (1,) * missing + tuple(array.shape)
    steps = (0,) * missing + tuple(step // array.itemsize for step in array.strides)
    outer = as_one(sizes[:-3], steps[:-3])
    if outer is None or outer[0] != math.prod(batch[:-1]):
        return None
    sizes, steps = (outer[0], *sizes[-3:]), [outer[1], *steps[-3:]]
    for axis in (2, 1, 0):
        if sizes[axis] == 1:  # a step that is never taken may be anything
            steps[axis] = sizes[axis + 1] * steps[axis + 1]
    vector = ALIGNMENT // array.itemsize
    if steps[3] != 1 or any(step <= 0 or step % vector for step in steps[:3]):
        return None
    return sizes, tuple(steps)


def as_one(sizes: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, int] | None:
    """Return the size and the step of several axes taken as one, or None.

    >>> as_one((2, 3), (60, 20))
    (6, 20)
    >>> as_one((2, 3), (20, 40))
    """
    size, step = 1, 0
    for length, stride in reversed(list(zip(sizes, steps, strict=True))):
        if length == 1:
            continue
        if size == 1:
            step = stride
        elif stride != size * step:
            return None
        size *= length
    return size, step


@lru_cache(maxsize=256)
def graph(call: Call) -> Any:
    """Build the graph of a call, or return None where cuDNN has no kernel for it on this GPU."""
    library: Any = cudnn()
    dtype = {"float16": library.data_type.HALF, "bfloat16": library.data_type.BFLOAT16}[call.dtype]
    made = library.pygraph(
        io_data_type=dtype,
        intermediate_data_type=library.data_type.FLOAT,
        compute_data_type=library.data_type.FLOAT,
        handle=handle(call.device),
    )
    query, key, value = (
        made.tensor(dim=list(sizes), stride=list(steps), data_type=dtype, uid=uid)
        for uid, (sizes, steps) in ((QUERY, call.query), (KEY, call.key), (VALUE, call.value))
    )
    output, _ = made.sdpa(
        q=query,
        k=key,
        v=value,
        attn_scale=call.scale,
        generate_stats=False,
        diagonal_alignment=library.diagonal_alignment.TOP_LEFT,
        diagonal_band_left_bound=None if call.left is None else call.left + 1,  # its own counts
        diagonal_band_right_bound=call.right,
    )
    (batch, heads, rows, _), columns = call.query[0], call.value[0][3]
    output.set_output(True).set_uid(OUTPUT).set_data_type(dtype)
    output.set_dim([batch, heads, rows, columns])
    output.set_stride([heads * rows * columns, rows * columns, columns, 1])
    try:
        made.build([library.heur_mode.A])
    except library.cudnnGraphNotSupportedError:
        return None
    return made


@cache
def handle(device: int) -> Any:
    """Open cuDNN on the current GPU; `device` is its number."""
    library: Any = cudnn()
    return library.create_handle()


def attend(inputs: Inputs) -> Array:
    """Return the (..., m, d_v) output of inputs that `serves` holds for.

    The kernel is queued on CuPy's current stream; its workspace comes from CuPy's pool, which
    gives it to nobody on another stream before.
    """
    xp = inputs.xp
    library: Any = cudnn()
    described: Any = call(inputs)
    made = graph(described)
    shape = (*inputs.batch, inputs.query.shape[-2], inputs.value.shape[-1])
    with inputs.query.device, running:
        output = xp.empty(shape, dtype=inputs.dtype)
        workspace = xp.empty((made.get_workspace_size(),), dtype=xp.uint8)
        opened = handle(described.device)
        library.set_stream(opened, xp.cuda.get_current_stream().ptr)
        arrays = {QUERY: inputs.query, KEY: inputs.key, VALUE: inputs.value, OUTPUT: output}
        addresses = {uid: array.data.ptr for uid, array in arrays.items()}
        made.execute(addresses, workspace.data.ptr, opened)
    return output
