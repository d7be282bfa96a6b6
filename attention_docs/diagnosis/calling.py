"""Translate a case's arguments to the layout and the names of a reader's function."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis.cases import NO_LIMITS, Limits
from attention_docs.diagnosis.libraries import UnsupportedError
from attention_docs.diagnosis.recipe import Call, LayerCall

# The axes of arrays in this package: batch, heads, positions and features.
AXES = "bhnd"
LAYER_AXES = "bnd"
LAYOUTS = ("bhnd", "bnhd", "bnd", "nhd", "nd")
LAYER_LAYOUTS = ("bnd", "nbd")
LIBRARIES = ("torch", "jax", "cupy", "array_api_strict", "numpy")
MASKS = ("keep", "hide", "additive", "ones")

# The values that turn off randomness, by argument name.
WITHOUT_DROPOUT = {
    **dict.fromkeys(("dropout", "dropout_p", "attn_dropout", "dropout_rate"), 0.0),
    **dict.fromkeys(("training", "train"), False),
}
# The default of a required argument. As a boolean it is true.
NO_DEFAULT = inspect.Parameter.empty


@dataclass(frozen=True)
class Settings:
    """What a reader says of the function; whatever is left out is detected.

    Attributes:
        layout: the order of the axes: b (batch), h (heads), n (positions) and d (features).
        mask: what its mask means, one of `MASKS`.
        names: the function's argument names, keyed by ours; q, k and v abbreviate query, key and
            value.
    """

    library: str | None = None
    layout: str | None = None
    mask: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Interface:
    """How to call the function: what its signature says, and what first calls detect.

    Attributes:
        names: the function's argument names, keyed by ours.
        by_position: its names of query, key and value in its order, if they are its first three
            arguments; otherwise empty.
        layer: for a module, a call with its own weights and sizes.
        libraries: the array libraries that its arguments may have, the likeliest first.
        layout: the order of the axes: b (batch), h (heads), n (positions) and d (features).
        dtype: the dtype of the arrays, where a case does not specify one.
        precision: the dtype it computes in, if coarser than its arguments' dtype.
        stack_axis: the axis on which queries, keys and values are stacked, if one argument holds
            them.
        output_item: the index, key or attribute of the output in what the function returns; None
            if it returns the output itself.
        is_always_causal: whether it is causal and has no argument for it.
        mask: one of `MASKS`: True keeps a key, True hides it, the mask is added to the scores, or
            1 keeps and 0 hides; None if it is not called with masks.
        takes_key_mask: whether its mask is (b, n), one for all queries.
        adds_masks: whether a mask may hold numbers to add.
        needs_full_masks: whether a mask needs the shape of the scores, because it is not broadcast.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    by_position: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    layer: LayerCall | None = None
    libraries: tuple[str, ...] = ()
    library: str = "numpy"
    layout: str = "bhnd"
    dtype: str = "float64"
    precision: str | None = None
    limits: Limits = NO_LIMITS
    stack_axis: int | None = None
    output_item: Any = None
    is_always_causal: bool = False
    mask: str | None = None
    takes_key_mask: bool = False
    adds_masks: bool = True
    needs_full_masks: bool = False

    @property
    def is_layer(self) -> bool:
        """Whether the function projects its inputs into heads."""
        return self.layer is not None or bool({"W_Q", "W_packed"} & self.names.keys())

    @property
    def output_layout(self) -> str:
        """The layout of the output; functions of the package transformers return (b, n, h, d)."""
        return "bnhd" if "module" in self.names else self.layout

    def default(self, name: str) -> Any:
        """Return the default of an argument; `NO_DEFAULT` if required, None if it is lacking."""
        return self.defaults.get(self.names[name], NO_DEFAULT) if name in self.names else None

    def is_required(self, name: str) -> bool:
        return self.default(name) is NO_DEFAULT


def to_layout(array: Array, layout: str) -> Array:
    """Convert a (b, h, n, d) array, or (b, n, d) rows of a layer, to a layout."""
    axes = axes_of(array.shape)
    sizes = dict(zip(axes, array.shape, strict=True))
    for axis, name in (("h", "heads"), ("b", "the batch")):
        if axis not in layout and sizes.get(axis, 1) > 1:
            raise UnsupportedError(f"layout {layout} has no axis of {name}")
    missing_axes = tuple(i for i, axis in enumerate(axes) if axis not in layout)
    remaining_axes = [axis for axis in axes if axis in layout]
    return array.squeeze(missing_axes).transpose([remaining_axes.index(axis) for axis in layout])


def from_layout(array: Array, layout: str, axes: str = AXES) -> Array:
    """Convert a result in a layout to (b, h, n, d) or other axes; the inverse of `to_layout`."""
    if array.ndim != len(layout):  # `shape_problem` will report it
        return array
    missing_axes = tuple(i for i, axis in enumerate(axes) if axis not in layout)
    transposed = array.transpose([layout.index(axis) for axis in axes if axis in layout])
    return np.expand_dims(transposed, missing_axes)


def axes_of(shape: tuple[int, ...]) -> str:
    """Return the axes of an array of this package; the rows of a layer have no axis of heads."""
    return AXES if len(shape) == len(AXES) else LAYER_AXES


def mask_to_layout(mask: Array, layout: str) -> Array:
    """Return a mask that broadcasts to the scores in a layout."""
    if layout in ("bhnd", "bnhd"):
        return mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    return mask[:, 0] if mask.ndim == 4 else mask


def translate_arguments(call: Call | LayerCall, interface: Interface) -> dict[str, Any]:
    """Return the arguments of a call in the function's layout, by the function's own names."""
    names = interface.names
    if isinstance(call, LayerCall):
        arguments = layer_arguments(call, interface)
    else:
        arguments = attention_arguments(call, interface)
    for name in arguments:
        if name not in names:
            raise UnsupportedError(
                f"it has no argument recognised as {name}; if there is one, pass --names {name}=..."
            )
    without_dropout = {
        name: value for name, value in WITHOUT_DROPOUT.items() if name in interface.defaults
    }
    return without_dropout | {names[name]: value for name, value in arguments.items()}


def attention_arguments(call: Call, interface: Interface) -> dict[str, Any]:
    names, layout = interface.names, interface.layout
    arguments: dict[str, Any] = {
        name: to_layout(getattr(call, name), layout) for name in ("query", "key", "value")
    }
    if interface.stack_axis is not None:  # one argument holds several of them
        packed_arrays = [arguments.pop(name) for name in list(arguments) if name not in names]
        packed_name = "packed" if "packed" in names else "packed_key"
        arguments[packed_name] = np.stack(packed_arrays, axis=interface.stack_axis)
    mask, bias = call.mask, call.bias
    if interface.needs_full_masks:
        # The last axis stays, because a mask may lack columns for the last keys.
        mask, bias = (
            None if x is None else np.broadcast_to(x, (*call.query.shape[:3], x.shape[-1]))
            for x in (mask, bias)
        )
    if mask is not None:
        arguments |= boolean_mask_argument(mask, interface)
    elif interface.is_required("mask"):
        arguments["mask"] = None
    if bias is not None:
        takes_both_as_one = names.get("bias") == names.get("mask")
        if takes_both_as_one and not interface.adds_masks:
            raise UnsupportedError("its masks are boolean, so that each nonzero number is True")
        arguments["bias"] = mask_to_layout(bias, layout)
    arguments |= option_arguments(call, interface)
    if interface.is_required("out"):  # an array that the function writes its output to
        shape = (*call.query.shape[:-1], call.value.shape[-1])
        arguments["out"] = to_layout(np.zeros(shape), layout)
    if interface.is_required("module"):  # as in the package transformers
        group_size = call.query.shape[1] // call.key.shape[1]
        arguments["module"] = SimpleNamespace(training=False, num_key_value_groups=group_size)
    return arguments


def option_arguments(call: Call, interface: Interface) -> dict[str, Any]:
    """Return the arguments of a plain attention call that are not arrays, by our names.

    What the call leaves open is passed, too, if the function requires it or has another default:
    no causal mask, and the scale 1/sqrt(d_k).
    """
    arguments: dict[str, Any] = {}
    if call.is_causal and not interface.is_always_causal:
        arguments["is_causal"] = True
    elif interface.default("is_causal"):
        arguments["is_causal"] = False
    if call.scale is not None:
        arguments["scale"] = call.scale
    elif interface.default("scale") is not None:
        arguments["scale"] = call.key.shape[-1] ** -0.5
    if call.query.shape[1] != call.key.shape[1] and "grouped" in interface.names:
        arguments["grouped"] = True
    if call.softcap is not None:
        arguments["softcap"] = call.softcap
    if call.window is not None:
        no_limit = -1 if interface.default("window") == (-1, -1) else None
        arguments["window"] = tuple(no_limit if side is None else side for side in call.window)
    return arguments


def boolean_mask_argument(mask: Array, interface: Interface) -> dict[str, Any]:
    """Return a mask as the function's argument of its kind: for queries and keys, or keys only."""
    converted_mask = mask
    if interface.mask == "hide":
        converted_mask = ~mask
    elif interface.mask == "additive":
        converted_mask = np.where(mask, 0.0, -np.inf)
    elif interface.mask == "ones":
        converted_mask = mask.astype(float)
    takes_mask = "mask" in interface.names
    if takes_mask and not interface.takes_key_mask:
        return {"mask": mask_to_layout(converted_mask, interface.layout)}
    if mask.ndim < 4 or mask.shape[1:3] != (1, 1):
        raise UnsupportedError("its mask hides keys from all queries alike")
    return {"mask" if takes_mask else "padding": converted_mask[:, 0, 0]}


def layer_arguments(call: LayerCall, interface: Interface) -> dict[str, Any]:
    names = interface.names
    query = to_layout(call.query, interface.layout)
    key = to_layout(call.key, interface.layout)
    arguments: dict[str, Any] = {"query": query, "key": key}
    if "value" in names:
        arguments["value"] = key
    if "query" not in names:
        if call.query is not call.key:
            raise UnsupportedError("it takes only one sequence, so no cross-attention")
        arguments = {"x": query}
    if call.is_causal and not interface.is_always_causal:
        arguments["is_causal"] = True
    if interface.is_required("mask"):
        arguments["mask"] = None
    if call.rotation is not None:
        b, n, _ = call.query.shape
        angles = np.broadcast_to(call.rotation[:n], (b, n, call.rotation.shape[1]))
        arguments["rotation"] = (np.cos(angles), np.sin(angles))
    if interface.layer is not None:  # a module has weights of its own
        return arguments
    arguments |= {f"W_{letter}": matrix for letter, matrix in call.weights.items()}
    if "W_packed" in names:
        packed_matrices = [arguments.pop(f"W_{letter}") for letter in "QKV"]
        arguments["W_packed"] = np.concatenate(packed_matrices, axis=1)
    for letter in "QKVO":
        if letter in call.biases:
            arguments[f"b_{letter}"] = call.biases[letter]
        elif interface.is_required(f"b_{letter}"):
            arguments[f"b_{letter}"] = np.zeros(call.query.shape[-1])
    if "heads" in names:
        arguments["heads"] = call.heads
    return arguments


def index_in_layout(index: tuple[int, ...], layout: str) -> list[int]:
    """Convert an index of a (b, h, n, d) or (b, n, d) result to the reader's layout."""
    index_by_axis = dict(zip(axes_of(index), index, strict=True))
    return [int(index_by_axis[axis]) for axis in layout if axis in index_by_axis]
