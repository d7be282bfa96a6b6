"""Translate a case's arguments to the layout and the names of a reader's function."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from attention_check.cases import NO_LIMITS, Limits, output_gradient
from attention_check.libraries import UnsupportedError
from attention_check.recipe import Array, Call, LayerCall
from attention_check.tables import names_of

# The axes of arrays in this package: batch, heads, positions and features.
AXES = "bhnd"
LAYER_AXES = "bnd"
LAYOUTS = ("bhnd", "bnhd", "nbhd", "bnd", "nhd", "nd")
LAYER_LAYOUTS = ("bnd", "nbd", "nd")
LIBRARIES = ("torch", "jax", "cupy", "numpy")
MASKS = ("keep", "hide", "additive", "ones")

# Names of an argument with the number of keys of each sequence.
(LENGTHS,) = names_of("lengths").values()
WHOLE_WINDOW = 4096  # more than any case has keys
NO_SOFTCAP = 2.0**30  # so large that the scores stay what they are
# Names of required arguments that repeat a size of the arrays, by what they count.
SIZES = names_of("size")

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
        scale: the factor of the scores that its configuration sets; None for 1/sqrt(d_k).
        names: the function's argument names, keyed by ours; q, k and v abbreviate query, key and
            value.
    """

    library: str | None = None
    layout: str | None = None
    mask: str | None = None
    scale: float | None = None
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Interface:
    """How to call the function: what its signature says, and what first calls detect.

    Attributes:
        names: the function's argument names, keyed by ours.
        by_position: its names of query, key and value in its order, if they are its first three
            arguments; otherwise empty.
        parameters: the names of all its arguments, in order.
        are_assumed: whether its arguments are not known, and the usual ones are tried.
        positions: the kind of function of positions, one of `positions.kind_of`; "" for attention.
        stated_layout: the layout that its docstring or a comment states.
        right_layout: another layout in which it is right.
        stated_mask: likewise whether True in its mask should `keep` or `hide` a key.
        variant: the word in its code that names a variant of attention; "" if there is none.
        position_width: the number of features of such a function.
        layers: for a layer, calls with its own weights and sizes, the likeliest first.
        layer: the one of them that is taken.
        scale: the factor of the scores that its configuration sets; None for 1/sqrt(d_k).
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
        mask_axes: the axes of its mask: bhmn, bmn, mn, bn, or hmn, the heads of all sequences.
        padding: likewise what its (b, n) mask of padding means, or `lengths`.
        adds_masks: whether a mask may hold numbers to add.
        takes_window_number: whether its window is one number, and not the numbers on both sides.
        needs_mask: whether a call without a mask must have one that hides nothing, and not None.
        needs_full_masks: whether a mask needs the shape of the scores, because it is not broadcast.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    by_position: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    are_assumed: bool = False
    positions: str = ""
    position_width: int = 8
    stated_layout: str | None = None
    stated_mask: str | None = None
    variant: str = ""
    right_layout: str | None = None
    layers: tuple[LayerCall, ...] = ()
    layer: LayerCall | None = None
    scale: float | None = None
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
    mask_axes: str = "bhmn"
    padding: str | None = None
    adds_masks: bool = True
    needs_mask: bool = False
    needs_full_masks: bool = False
    takes_window_number: bool = False

    @property
    def is_layer(self) -> bool:
        """Whether the function projects its inputs into heads."""
        return self.layer is not None or bool({"W_Q", "W_packed"} & self.names.keys())

    @property
    def is_backward(self) -> bool:
        """Whether the function takes the gradient of the output and returns those of the inputs."""
        return self.is_required("upstream")

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
    if layout == "nd":
        return mask.reshape(mask.shape[-2:])
    if len(layout) == 4:
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
    without_dropout: dict[str, Any] = {
        name: value
        for name, value in WITHOUT_DROPOUT.items()
        if isinstance(interface.defaults.get(name), int | float)  # and not None, or a module
    }
    if "dropout" in interface.parameters and "dropout" not in interface.defaults:
        without_dropout["dropout"] = None  # instead of a module
    named = {names[name]: value for name, value in arguments.items()}
    return without_dropout | required_sizes(call, interface) | named


def required_sizes(call: Call | LayerCall, interface: Interface) -> dict[str, int]:
    """Return the required arguments that repeat a size of the arrays, by the function's names."""
    if isinstance(call, LayerCall):
        counts = (len(call.query), call.heads, call.key_heads or call.heads)
        sizes = dict(zip("bhkmn", (*counts, call.query.shape[1], call.key.shape[1]), strict=True))
    else:
        sizes = dict(zip("bhmdkn", (*call.query.shape, *call.key.shape[1:3]), strict=True))
    required = [name for name in interface.parameters if name not in interface.defaults]
    return {
        name: sizes[letter]
        for name in required
        for letter, names in SIZES.items()
        if letter in sizes and name.lower() in names and name not in interface.names.values()
    }


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
        arguments |= boolean_mask_argument(
            mask, (*call.query.shape[:3], call.key.shape[2]), interface
        )
    else:
        arguments |= required_masks(interface, call.query.shape[:3], call.key.shape[2])
    if bias is not None:
        takes_both_as_one = names.get("bias") == names.get("mask")
        if takes_both_as_one and not interface.adds_masks:
            raise UnsupportedError("its masks are boolean, so that each nonzero number is True")
        arguments["bias"] = mask_to_layout(bias, layout)
    elif "bias" in arguments:
        arguments["bias"] = mask_to_layout(arguments["bias"], layout)
    arguments |= option_arguments(call, interface)
    if interface.is_backward:
        arguments["upstream"] = to_layout(output_gradient(call), interface.output_layout)
    if interface.is_required("sinks"):
        arguments["sinks"] = np.full(call.query.shape[1], -np.inf)  # no weight
    if interface.is_required("module"):  # as in the package transformers
        group_size = call.query.shape[1] // call.key.shape[1]
        arguments["module"] = SimpleNamespace(
            training=False,
            num_key_value_groups=group_size,
            head_dim=call.query.shape[-1],
            scaling=call.query.shape[-1] ** -0.5,
            sinks=np.full(call.query.shape[1], -np.inf),  # no weight
            config=SimpleNamespace(_attn_implementation="eager"),
        )
    return arguments


def option_arguments(call: Call, interface: Interface) -> dict[str, Any]:
    """Return the arguments of a plain attention call that are not arrays, by our names.

    What the call leaves open is passed, too, if the function requires it or has another default:
    no causal mask, and the scale 1/sqrt(d_k).
    """
    arguments: dict[str, Any] = {}
    if call.is_causal and not interface.is_always_causal:
        arguments["is_causal"] = True
    elif must_turn_off_causal(interface):
        arguments["is_causal"] = False
    if call.scale is not None:
        arguments["scale"] = call.scale
    elif interface.scale is not None and "scale" in interface.names:
        arguments["scale"] = interface.scale
    elif interface.default("scale") is not None:
        arguments["scale"] = call.key.shape[-1] ** -0.5
    if call.query.shape[1] != call.key.shape[1] and "grouped" in interface.names:
        arguments["grouped"] = True
    if call.softcap is not None:
        arguments["softcap"] = call.softcap
    elif interface.is_required("softcap"):
        arguments["softcap"] = NO_SOFTCAP
    if call.window is not None:
        no_limit = -1 if interface.default("window") == (-1, -1) else None
        arguments["window"] = tuple(no_limit if side is None else side for side in call.window)
        if interface.takes_window_number:
            left, right = call.window
            if left is None or right != 0 or not call.is_causal:
                raise UnsupportedError("its window is one number, of the keys before a query")
            arguments["window"] = left + 1
    elif interface.is_required("window"):
        arguments["window"] = WHOLE_WINDOW if interface.takes_window_number else None
    return arguments


def required_masks(
    interface: Interface, rows_shape: tuple[int, ...], key_count: int
) -> dict[str, Any]:
    """Return the masks that a function requires in a call without one, and which hide nothing."""
    arguments: dict[str, Any] = {}
    if interface.is_required("mask"):
        arguments["mask"] = None
        if interface.needs_mask:
            visible = np.ones((1, 1, 1, key_count), dtype=bool)
            whole = replace(interface, padding=None)
            arguments |= boolean_mask_argument(visible, (*rows_shape, key_count), whole)
    if interface.is_required("padding"):
        visible = np.ones((rows_shape[0], 1, 1, key_count), dtype=bool)
        known = replace(interface, padding=interface.padding or default_padding(interface))
        arguments |= boolean_mask_argument(visible, (*rows_shape, key_count), known)
    if interface.is_required("bias") and interface.names["bias"] != interface.names.get("mask"):
        arguments["bias"] = np.zeros((1,) * 2 + (rows_shape[2], key_count))
    return arguments


def default_padding(interface: Interface) -> str:
    """Return what an argument for padding means if nothing is known but its name."""
    name = interface.names["padding"].lower()
    return "lengths" if name in LENGTHS else "hide" if "pad" in name else "keep"


def must_turn_off_causal(interface: Interface) -> bool:
    """Whether a call without a causal mask must say so: by default, None may mean as configured."""
    default = interface.default("is_causal")
    return "is_causal" in interface.names and (
        default is True or (default is not False and not interface.are_assumed)
    )


def boolean_mask_argument(
    mask: Array, score_shape: tuple[int, ...], interface: Interface
) -> dict[str, Any]:
    """Return a mask that broadcasts to the scores as an argument of the function's kind."""
    b, h, m, n = score_shape
    is_of_keys = mask.ndim == 4 and mask.shape[1:3] == (1, 1)
    if is_of_keys and interface.padding:
        padding = np.broadcast_to(mask[:, 0, 0], (b, n))
        if interface.padding != "lengths":
            return {"padding": converted_mask(padding, interface.padding)}
        lengths = padding.sum(axis=-1)
        if np.array_equal(padding, np.arange(n) < lengths[:, None]):
            return {"padding": lengths}
    axes = interface.mask_axes
    if interface.mask is None:
        raise UnsupportedError(
            "it has no argument recognised as mask; if there is one, pass --names mask=..."
        )
    mask = converted_mask(mask, interface.mask)
    if axes == "bhmn":
        return {
            "mask": mask_to_layout(mask, interface.layout if not interface.is_layer else "bhnd")
        }
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    varies = {axis: size > 1 for axis, size in zip("bhm", mask.shape, strict=False)}
    if (varies["h"] and axes != "hmn") or (varies["m"] and axes == "bn"):
        raise UnsupportedError("its mask hides keys from all queries or heads alike")
    if axes == "mn" and varies["b"]:
        raise UnsupportedError("its mask is that of all sequences")
    shape = {"bn": (b, 1, 1, n), "bmn": (b, 1, m, n), "mn": (1, 1, m, n), "hmn": (b, h, m, n)}[axes]
    final = {"bn": (b, n), "bmn": (b, m, n), "mn": (m, n), "hmn": (b * h, m, n)}[axes]
    return {"mask": np.broadcast_to(mask, shape).reshape(final)}


def converted_mask(mask: Array, kind: str) -> Array:
    """Return a boolean mask, in which True keeps a key, as one of a kind of `MASKS`."""
    if kind == "hide":
        return ~mask
    if kind == "additive":
        return np.where(mask, 0.0, -np.inf)
    if kind == "hiding ones":
        return (~mask).astype(float)
    return mask.astype(float) if kind == "ones" else mask


def layer_arguments(call: LayerCall, interface: Interface) -> dict[str, Any]:
    names = interface.names
    is_self_attention = call.query is call.key
    query = to_layout(call.query, interface.layout)
    # The same object in self-attention, because some layers look.
    key = query if is_self_attention else to_layout(call.key, interface.layout)
    arguments: dict[str, Any] = {"query" if "query" in names else "x": query}
    given = {"key": key, "value": key}
    if call.value is not None:
        given["value"] = to_layout(call.value, interface.layout)
    given = {name: rows for name, rows in given.items() if name in names}
    if not given and not is_self_attention:
        raise UnsupportedError("it takes only one sequence, so no cross-attention")
    for name, rows in given.items():
        # A layer of one sequence may take another one, such as `context=None`.
        if not is_self_attention or interface.is_required(name) or "query" in names:
            arguments[name] = rows
    if call.is_causal and not interface.is_always_causal:
        arguments["is_causal"] = True
    elif must_turn_off_causal(interface):
        arguments["is_causal"] = False
    b, m, _ = call.query.shape
    n = call.key.shape[1]
    if call.mask is not None:
        arguments |= boolean_mask_argument(call.mask, (b, call.heads, m, n), interface)
    else:
        arguments |= required_masks(interface, (b, call.heads, m), n)
    # A module that takes no angles has its own.
    if call.rotation is not None and ("rotation" in names or interface.layer is None):
        angles = np.broadcast_to(call.rotation[:n], (b, n, call.rotation.shape[1]))
        arguments["rotation"] = (np.cos(angles), np.sin(angles))
    if "heads" in names and (interface.layer is None or interface.is_required("heads")):
        arguments["heads"] = call.heads
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
    return arguments


def index_in_layout(index: tuple[int, ...], layout: str) -> list[int]:
    """Convert an index of a (b, h, n, d), (b, n, d) or (b, n) result to the reader's layout."""
    index_by_axis = dict(zip(axes_of(index), index, strict=False))
    return [int(index_by_axis[axis]) for axis in layout if axis in index_by_axis]
