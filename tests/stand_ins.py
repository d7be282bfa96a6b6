"""Stand-ins for CuPy and cuDNN, so that what runs on a GPU is tested on any machine.

The arrays are NumPy's, with an address and a device as CuPy's have them. cuDNN's front end takes
the same calls as the real one, checks what the real one refuses, and computes in NumPy what its
documentation says, from addresses, sizes and steps alone.
"""

import ctypes
from types import ModuleType, SimpleNamespace

import numpy as np

DIMENSION_WITHOUT_KERNEL = 96  # as if there were none on this GPU


class Device:
    """The one GPU. As CuPy's, it is equal to itself and no key of a dict."""

    id = 0

    def __eq__(self, other):
        return isinstance(other, Device)

    __hash__ = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class OnDevice(np.ndarray):
    """A NumPy array that says where it is in CuPy's words."""

    device = property(lambda self: Device())
    data = property(lambda self: SimpleNamespace(ptr=self.__array_interface__["data"][0]))


def on_device(array):
    return np.asarray(array).view(OnDevice)


def cupy_namespace():
    """Return NumPy's namespace under CuPy's name; new arrays are on the device."""
    xp = ModuleType("array_api_compat.cupy")
    vars(xp).update({n: v for n, v in vars(np).items() if n[0] != "_"})

    def made_on_device(make):
        return lambda *args, device=None, **options: on_device(make(*args, **options))

    for name in ("arange", "asarray", "empty", "full", "ones", "zeros"):
        setattr(xp, name, made_on_device(getattr(xp, name)))
    xp.cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=7))
    return xp


class NotSupportedError(Exception):
    pass


class Tensor(SimpleNamespace):
    def __getattr__(self, name):
        """`set_dim(x)` and its kin set an attribute and return the tensor."""
        if not name.startswith("set_"):
            raise AttributeError(name)

        def setter(value):
            setattr(self, name.removeprefix("set_"), value)
            return self

        return setter


class Graph:
    def __init__(self, library, io_data_type, intermediate_data_type, compute_data_type, handle):
        assert intermediate_data_type == compute_data_type == "float32"
        assert handle == "handle"
        library.graphs.append(self)
        self.dtype, self.tensors = io_data_type, []

    def tensor(self, dim, stride, data_type, uid):
        assert data_type == self.dtype
        self.tensors.append(Tensor(dim=dim, stride=stride, uid=uid))
        return self.tensors[-1]

    def sdpa(self, q, k, v, generate_stats, diagonal_alignment, **options):
        assert [q, k, v] == self.tensors
        assert generate_stats is False
        assert diagonal_alignment == "top left"
        assert type(options["attn_scale"]) is float
        self.options = options
        self.tensors.append(Tensor())
        return self.tensors[-1], None

    def build(self, heuristics):
        assert heuristics == ["A"]
        query, key, _, output = self.tensors
        left = self.options["diagonal_band_left_bound"]
        assert output.output
        assert left is None or query.dim[2] <= key.dim[2]
        for tensor in self.tensors:
            *steps, last = tensor.stride
            assert last == 1
            assert all(step >= 0 and step % 8 == 0 for step in steps)
        if query.dim[3] == DIMENSION_WITHOUT_KERNEL:
            raise NotSupportedError

    def get_workspace_size(self):
        return 256

    def execute(self, addresses, workspace, handle):
        assert handle == "handle"
        assert workspace % 16 == 0
        query, key, value, output = (self.read(t, addresses[t.uid]) for t in self.tensors)
        key, value = (
            array.repeat(query.shape[1] // array.shape[1], axis=1) for array in (key, value)
        )
        wide = (array.astype("float32") for array in (query, key, value))
        output[...] = attention(*wide, **self.options)

    def read(self, tensor, address):
        assert address % 16 == 0
        dtype = np.dtype(self.dtype)
        steps = [step * dtype.itemsize for step in tensor.stride]
        end = sum((size - 1) * step for size, step in zip(tensor.dim, steps, strict=True))
        memory = (ctypes.c_char * (end + dtype.itemsize)).from_address(address)
        return np.ndarray(tensor.dim, dtype, memory, strides=steps)


def attention(query, key, value, attn_scale, diagonal_band_left_bound, diagonal_band_right_bound):
    """Attend as cuDNN documents it: columns at or before row - left, or beyond row + right, hide."""
    scores = query @ key.swapaxes(-1, -2) * attn_scale
    row, column = np.indices(scores.shape[-2:])
    if diagonal_band_left_bound is not None:
        scores = np.where(column <= row - diagonal_band_left_bound, -np.inf, scores)
    if diagonal_band_right_bound is not None:
        scores = np.where(column > row + diagonal_band_right_bound, -np.inf, scores)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


def cudnn_front_end(bfloat16=None):
    """Return a module like cuDNN's front end; it lists its graphs and the streams it was set to."""
    library = SimpleNamespace(graphs=[], streams=[])
    library.data_type = SimpleNamespace(HALF="float16", BFLOAT16=bfloat16, FLOAT="float32")
    library.diagonal_alignment = SimpleNamespace(TOP_LEFT="top left")
    library.heur_mode = SimpleNamespace(A="A")
    library.cudnnGraphNotSupportedError = NotSupportedError
    library.create_handle = lambda: "handle"
    library.set_stream = lambda handle, stream: library.streams.append((handle, stream))
    library.pygraph = lambda **options: Graph(library, **options)
    return library
