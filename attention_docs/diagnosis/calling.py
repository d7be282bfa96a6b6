"""Translate a case's arguments to the layout and the names of a reader's function."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis.cases import NO_LIMITS, Limits
from attention_docs.diagnosis.libraries import UnsupportedError
from attention_docs.diagnosis.recipe import Call, LayerCall

LAYOUTS = ("bhnd", "bnhd", "bnd", "nhd", "nd")
LAYER_LAYOUTS = ("bnd", "nbd")
LIBRARIES = ("torch", "jax", "cupy", "array_api_strict", "numpy")
MASKS = ("keep", "hide", "additive", "ones")

# The values that turn off randomness, by argument name.
WITHOUT_DROPOUT = {
    **dict.fromkeys(("dropout", "dropout_p", "attn_dropout", "dropout_rate"), 0.0),
    **dict.fromkeys(("training", "train"), False),
}
# The default of a required argument. It is truthy.
NO_DEFAULT = inspect.Parameter.empty


@dataclass(frozen=True)
class Settings:
    """How to call the function; None means that it is detected.

    Attributes:
        library: the array library of its arguments.
        layout: the order of the axes: b (batch), h (heads), n (positions) and d (features).
        mask: one of `MASKS`: True keeps a key, True hides it, the mask is added to the scores, or
            1 keeps and 0 hides.
        names: the function's argument names, keyed by ours; q, k and v abbreviate query, key and
            value.
        dtype: the dtype of the arrays, where a case does not specify one.
        precision: the dtype it computes in, if coarser than its arguments' dtype.
        limits: the sizes that it takes.
        stack_axis: the axis on which queries, keys and values are stacked, if one argument holds
            them.
        output_item: the index, key or attribute of the output in what the function returns; None
            if it returns the output itself.
        is_always_causal: whether it is causal and has no argument for it.
        takes_key_mask: whether its mask is (b, n), one for all queries.
        adds_masks: whether a mask may hold numbers to add.
        needs_full_masks: whether a mask needs the shape of the scores, because it is not broadcast.
    """

    library: str | None = None
    layout: str | None = None
    mask: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    dtype: str = "float64"
    precision: str | None = None
    limits: Limits = NO_LIMITS
    stack_axis: int | None = None
    output_item: Any = None
    is_always_causal: bool = False
    takes_key_mask: bool = False
    adds_masks: bool = True
    needs_full_masks: bool = False


@dataclass(frozen=True)
class Description:
    """Properties of the function, determined by inspection.

    Attributes:
        libraries: the array libraries that its arguments may have, the likeliest first.
        names: the function's argument names, keyed by ours.
        by_position: its names of query, key and value in its order, if they are its first three
            arguments; otherwise empty.
        defaults: the defaults of its optional arguments.
        layer: for a module, a call with its own weights and sizes.
    """

    libraries: tuple[str, ...]
    names: Mapping[str, str]
    by_position: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    layer: LayerCall | None = None

    @property
    def is_layer(self) -> bool:
        """Whether the function projects its inputs into heads."""
        return self.layer is not None or bool({"W_Q", "W_packed"} & self.names.keys())

    def is_required(self, ours: str) -> bool:
        """Whether the function requires an argument, given by our name for it."""
        return ours in self.names and self.names[ours] not in self.defaults


def to_layout(array: Array, layout: str) -> Array:
    """Convert a (b, h, n, d) array to a layout.

    Raises:
        UnsupportedError: if the layout lacks an axis that is longer than 1.
    """
    batch, heads = array.shape[:2]
    if "h" not in layout and heads > 1:
        raise UnsupportedError(f"layout {layout} has no axis of heads")
    if "b" not in layout and batch > 1:
        raise UnsupportedError(f"layout {layout} has no axis of the batch")
    dropped = tuple(i for i, axis in enumerate("bhnd") if axis not in layout)
    kept = [axis for axis in "bhnd" if axis in layout]
    return array.squeeze(dropped).transpose([kept.index(axis) for axis in layout])


def from_layout(array: Array, layout: str) -> Array:
    """Convert a result in a layout to (b, h, n, d); the inverse of `to_layout`.

    A result with another number of axes is returned as it is, and is reported as of wrong shape.
    """
    if array.ndim != len(layout):
        return array
    kept = [axis for axis in "bhnd" if axis in layout]
    missing = tuple(i for i, axis in enumerate("bhnd") if axis not in layout)
    return np.expand_dims(array.transpose([layout.index(axis) for axis in kept]), missing)


def output_layout(description: Description, settings: Settings) -> str:
    """Return the layout of the output.

    It is the layout of the arguments, except for the functions of the package transformers, whose
    first argument is a module: they return (b, n, h, d).
    """
    return "bnhd" if "module" in description.names else settings.layout or "bhnd"


def mask_to_layout(mask: Array, layout: str) -> Array:
    """Return a mask that broadcasts to the scores in a layout.

    Raises:
        UnsupportedError: if the layout lacks an axis of the batch that is longer than 1.
    """
    if layout in ("bhnd", "bnhd"):
        return mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    if mask.ndim < 4:
        return mask
    if "b" not in layout and mask.shape[0] > 1:
        raise UnsupportedError(f"layout {layout} has no axis of the batch")
    return mask[:, 0] if layout == "bnd" else mask[0, 0]


def translate_arguments(
    call: Call | LayerCall, description: Description, settings: Settings
) -> dict[str, Any]:
    """Return the arguments of a call in the function's layout, by the function's own names.

    Raises:
        UnsupportedError: if the function lacks one of the arguments.
    """
    names = description.names
    if isinstance(call, LayerCall):
        values = layer_arguments(call, description, settings)
    else:
        values = attention_arguments(call, description, settings)
    for name in values:
        if name not in names:
            raise UnsupportedError(
                f"it has no argument recognised as {name}; if there is one, pass --names {name}=..."
            )
    without_dropout = {
        name: value
        for name, value in WITHOUT_DROPOUT.items()
        if name in description.defaults or name in names.values()
    }
    return without_dropout | {names[name]: value for name, value in values.items()}


def attention_arguments(call: Call, description: Description, settings: Settings) -> dict[str, Any]:
    """Return the arguments of a plain attention call, by our names."""
    layout, names = settings.layout or "bhnd", description.names
    if settings.needs_full_masks:
        call = with_full_masks(call)
    values: dict[str, Any] = {
        name: to_layout(getattr(call, name), layout) for name in ("query", "key", "value")
    }
    if settings.stack_axis is not None:
        packed = [values.pop(name) for name in ("query", "key", "value") if name not in names]
        stack_name = "packed" if "packed" in names else "packed_key"
        values[stack_name] = np.stack(packed, axis=settings.stack_axis)
    if call.mask is not None:
        values |= mask_arguments(call.mask, names, settings)
    elif description.is_required("mask"):
        values["mask"] = None
    if call.bias is not None:
        if not settings.adds_masks and names.get("bias") == names.get("mask"):
            raise UnsupportedError("its masks are boolean, so that each nonzero number is True")
        values["bias"] = mask_to_layout(call.bias, layout)
    values |= option_arguments(call, description, settings)
    if description.is_required("out"):
        shape = (*call.query.shape[:-1], call.value.shape[-1])
        values["out"] = to_layout(np.zeros(shape), layout)
    if description.is_required("module"):
        values["module"] = SimpleNamespace(
            training=False, num_key_value_groups=call.query.shape[1] // call.key.shape[1]
        )
    return values


def option_arguments(call: Call, description: Description, settings: Settings) -> dict[str, Any]:
    """Return the arguments of a plain attention call that are not arrays, by our names."""
    names, values = description.names, dict[str, Any]()
    defaults = {
        name: description.defaults.get(names.get(name, ""), NO_DEFAULT)
        for name in ("is_causal", "scale", "window")
    }
    if call.is_causal and not settings.is_always_causal:
        values["is_causal"] = True
    elif "is_causal" in names and defaults["is_causal"]:
        values["is_causal"] = False  # where it is required, or True by default
    if call.scale is not None:
        values["scale"] = call.scale
    elif "scale" in names and defaults["scale"] is not None:
        values["scale"] = call.key.shape[-1] ** -0.5  # where it is required, or another by default
    if call.query.shape[1] != call.key.shape[1] and "grouped" in names:
        values["grouped"] = True
    if call.softcap is not None:
        values["softcap"] = call.softcap
    if call.window is not None:
        open_side = -1 if defaults["window"] == (-1, -1) else None
        values["window"] = tuple(open_side if side is None else side for side in call.window)
    return values


def with_full_masks(call: Call) -> Call:
    """Return a call whose masks have the axes of the scores, and a row for each query."""

    def full(mask: Array | None) -> Array | None:
        if mask is None:
            return None
        return np.broadcast_to(mask, (*call.query.shape[:3], mask.shape[-1]))

    return replace(call, mask=full(call.mask), bias=full(call.bias))


def mask_arguments(mask: Array, names: Mapping[str, str], settings: Settings) -> dict[str, Any]:
    """Return a mask as the function's argument: for each query and key, or for keys only.

    Raises:
        UnsupportedError: if the function only takes a mask for keys, and this one differs between
            queries or heads.
    """
    converted = convert_mask(mask, settings.mask)
    if "mask" in names and not settings.takes_key_mask:
        return {"mask": mask_to_layout(converted, settings.layout or "bhnd")}
    if mask.ndim < 4 or mask.shape[1:3] != (1, 1):
        raise UnsupportedError("its mask hides keys from all queries alike")
    return {"mask" if "mask" in names else "padding": converted[:, 0, 0]}


def convert_mask(mask: Array, kind: str | None) -> Array:
    """Convert a mask in which True keeps a key to a kind in `MASKS`; None is `keep`."""
    if kind == "hide":
        return ~mask
    if kind == "additive":
        return np.where(mask, 0.0, -np.inf)
    if kind == "ones":
        return mask.astype(float)
    return mask


def layer_arguments(
    call: LayerCall, description: Description, settings: Settings
) -> dict[str, Any]:
    """Return the arguments of a layer call, by our names."""
    layout, names = settings.layout or "bnd", description.names
    query, key = (layer_to_layout(rows, layout) for rows in (call.query, call.key))
    values: dict[str, Any] = {"query": query, "key": key}
    if "value" in names:
        values["value"] = key
    if "query" not in names:
        if call.query is not call.key:
            raise UnsupportedError("it takes only one sequence, so no cross-attention")
        values = {"x": query}
    if call.is_causal and not settings.is_always_causal:
        values["is_causal"] = True
    if description.is_required("mask"):
        values["mask"] = None
    if call.rotation is not None:
        b, n, _ = call.query.shape
        angles = np.broadcast_to(call.rotation[:n], (b, n, call.rotation.shape[1]))
        values["rotation"] = (np.cos(angles), np.sin(angles))
    has_own_weights = description.layer is not None
    return values if has_own_weights else values | weight_arguments(call, description)


def weight_arguments(call: LayerCall, description: Description) -> dict[str, Any]:
    """Return the weights, biases and number of heads of a layer call, by our names."""
    names = description.names
    values: dict[str, Any] = {f"W_{letter}": matrix for letter, matrix in call.weights.items()}
    if "W_packed" in names:
        packed = [values.pop(f"W_{letter}") for letter in "QKV"]
        values["W_packed"] = np.concatenate(packed, axis=1)
    required = {letter for letter in "QKVO" if description.is_required(f"b_{letter}")}
    zeros = dict.fromkeys(required, np.zeros(call.query.shape[-1]))
    values |= {f"b_{letter}": bias for letter, bias in (zeros | call.biases).items()}
    if "heads" in names:
        values["heads"] = call.heads
    return values


def layer_to_layout(rows: Array, layout: str) -> Array:
    """Convert (b, n, d) rows to a layout, or back, as a swap of two axes is its own inverse.

    Raises:
        UnsupportedError: if the layout has no axis of the batch.
    """
    if layout == "nd":
        raise UnsupportedError("layout nd has no axis of the batch")
    return rows.swapaxes(0, 1) if layout == "nbd" else rows


def index_in_layout(index: tuple[int, ...], layout: str, call: Call | LayerCall) -> list[int]:
    """Convert an index of a (b, h, n, d) or (b, n, d) result to the reader's layout."""
    order = "bnd" if isinstance(call, LayerCall) else "bhnd"
    axes = dict(zip(order, index, strict=True))
    return [int(axes[axis]) for axis in layout if axis in axes]
