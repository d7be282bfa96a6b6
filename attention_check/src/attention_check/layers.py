"""Read the weights, sizes and norms of a layer of PyTorch, flax.nnx or Keras, or of an object."""

import inspect
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from attention_check import recipe
from attention_check.cases import irregular_array
from attention_check.libraries import LoadError, to_numpy
from attention_check.recipe import Array, LayerCall, Norm
from attention_check.tables import names_of

# Parts of a submodule's name that do not tell which projection it is: `q_proj` and `to_q` are Q.
COMMON_AFFIXES = re.compile(
    r"proj(ection)?s?|linears?|lin|layer|net|dense|weights?|kernel|^fc|^to|^w|[\d._]"
)
# The letters of the projections in a submodule, by its name without the common affixes.
PROJECTIONS = {
    name: letters for letters, names in names_of("projection").items() for name in names
} | {"": "O"}
# Packed projections of this name are often packed by head: Q, K and V of the first one, and so on.
PACKED_BY_HEAD = "querykeyvalue"
# Attributes that hold the number of heads, and the width of one.
HEAD_COUNTS, HEAD_WIDTHS = names_of("attribute").values()
# The rows of a layer's angles, which are more than the positions of any case of a layer.
MAX_POSITIONS = 64


class Parameter(NamedTuple):
    """An array of a layer, such that rows are multiplied from the left.

    Attributes:
        owner: the path of the projection or norm that has it.
        module: that projection or norm.
    """

    owner: str
    name: str
    array: Array
    module: Any = None


def is_layer(function: Any) -> bool:
    """Whether an object has weights of its own, so that it projects its inputs."""
    if inspect.isroutine(function) or isinstance(function, type) or hasattr(function, "func"):
        return False
    return any(True for _ in parameters_of(function))


def read_layer(module: Any, scale: float | None) -> tuple[LayerCall, ...]:
    """Return calls of a layer with its own weights, the likeliest first.

    There are several if the number of heads is not told, or how packed projections are packed.
    """
    if hasattr(module, "eval"):
        module.eval()
    projections: dict[str, Array] = {}
    biases: dict[str, Array] = {}
    norms: dict[str, Norm] = {}
    extra_rows: dict[str, Array] = {}
    packed_by_head: list[str] = []
    unknown = []
    list_heads = 1
    for parameter in parameters_of(module):
        letters = projections_of(parameter.owner)
        is_bias = "bias" in parameter.name
        if parameter.name in ("bias_k", "bias_v"):
            extra_rows[parameter.name[-1].upper()] = parameter.array.reshape(1, -1)
        elif (norm := norm_of(module, parameter)) is not None:
            norms.update(norm)
        elif letters and parameter.array.ndim == (1 if is_bias else 2):
            arrays = biases if is_bias else projections
            is_of_next_head = letters in arrays  # in a list of heads
            before = [arrays[letters]] if is_of_next_head else []
            arrays[letters] = np.concatenate([*before, parameter.array], axis=-1)
            list_heads += is_of_next_head and letters == "Q" and not is_bias
            if PACKED_BY_HEAD in COMMON_AFFIXES.sub("", parameter.owner.lower()):
                packed_by_head.append(letters)
        else:
            unknown.append(f"{parameter.owner}.{parameter.name}".strip("."))
    found = "".join(projections)
    missing = [letter for letter in "QKV" if letter not in found]
    if getattr(module, "qk_norm", False) and not {"Q", "K"} & norms.keys():
        unknown.append("qk_norm")
    if unknown or missing:
        names = unknown or [p.owner or p.name for p in parameters_of(module)]
        raise LoadError(
            f"its parameter{'s' * (len(names) > 1)} {', '.join(names[:4])} "
            f"{'are' if len(names) > 1 else 'is'} not recognised as a projection; check its "
            "attention as a function of query, key and value"
        )
    # Q may be packed with narrower K and V, but the output projection has its width.
    width = projections["O"].shape[0] if "O" in projections else None
    if "Q" in projections:
        width = projections["Q"].shape[1]
    counts = [list_heads] if list_heads > 1 else head_counts(module, projections, width)
    calls = []
    for heads, by_head in itertools.product(counts, (True, False) if packed_by_head else (False,)):
        d_k = width // heads if width else 0
        try:
            weights, own_biases = (
                unpacked(arrays, heads, d_k, by_head) for arrays in (projections, biases)
            )
            call = layer_call(module, heads, weights, own_biases)
            recipe.attend_in_heads(call)
        except ValueError:  # the shapes do not fit
            continue
        calls.append(call)
    if not calls:
        raise LoadError("the number of its heads is not recognised; name it num_heads")
    if getattr(module, "add_zero_attn", False):
        zeros = np.zeros((1, calls[0].weights["K"].shape[1]))
        extra_rows = {k: np.concatenate([extra_rows.get(k, zeros[:0]), zeros]) for k in "KV"}
    calls = [rotated for call in calls for rotated in with_rotations(module, call)]
    # A norm of the layer is one of its inputs, which may be added to its output before or after.
    places = (("x", False), ("out", True), ("x", True)) if "x" in norms else (("x", False),)
    return tuple(
        replace(
            call,
            norms={place if name == "x" else name: norm for name, norm in norms.items()},
            is_residual=is_residual,
            extra_rows=extra_rows,
            default_scale=scale,
        )
        for call in calls
        for place, is_residual in places
    )


def layer_call(
    module: Any, heads: int, weights: dict[str, Array], biases: dict[str, Array]
) -> LayerCall:
    d_model, width = weights["Q"].shape
    d_k = width // heads
    inputs = irregular_array(2, 5, d_model, start=5)  # two sequences of five tokens
    widths = [len(weights[letter]) for letter in "QKV"]
    keys, values = inputs, None
    if len(set(widths)) > 1:  # of tokens of other widths
        keys = irregular_array(2, 5, widths[1], start=6)
        values = irregular_array(2, 5, widths[2], start=7) if widths[2] != widths[1] else None
    rotation = None
    if "position_embeddings" in signature_of(module).parameters:
        # Features i and i + d_k/2 are a pair, whose angle grows by 2^-i radians per position.
        angles_per_position = 0.5 ** np.arange(d_k // 2)
        rotation = np.arange(MAX_POSITIONS)[:, None] * np.tile(angles_per_position, 2)
    key_heads = max(weights["K"].shape[1] // d_k, 1)
    return LayerCall(
        inputs, keys, heads, weights, biases, key_heads=key_heads, rotation=rotation, value=values
    )


def with_rotations(module: Any, call: LayerCall) -> Iterator[LayerCall]:
    """Yield a call, and if the layer seems to rotate by itself, calls with the usual rotations.

    A rotation of adjacent features is one of halves after the columns of each head are reordered.
    """
    yield call
    names = [name for name, _ in getattr(module, "named_modules", lambda: ())()]
    names.append(source_of(type(module)))
    if call.rotation is not None or not re.search(r"rot|rope|freq", " ".join(names).lower()):
        return
    d_k = call.weights["Q"].shape[1] // call.heads
    if d_k % 2:
        return
    frequencies = 10000.0 ** (-2 * np.arange(d_k // 2) / d_k)
    rotation = np.arange(MAX_POSITIONS)[:, None] * np.tile(frequencies, 2)
    yield replace(call, rotation=rotation)
    order = np.concatenate([np.arange(0, d_k, 2), np.arange(1, d_k, 2)])

    def reordered(arrays: dict[str, Array]) -> dict[str, Array]:
        return arrays | {
            letter: arrays[letter]
            .reshape(*arrays[letter].shape[:-1], -1, d_k)[..., order]
            .reshape(arrays[letter].shape)
            for letter in "QK"
            if letter in arrays
        }

    weights, biases = reordered(call.weights), reordered(call.biases)
    yield replace(call, weights=weights, biases=biases, rotation=rotation)


def source_of(owner: Any) -> str:
    """Return the code of a class or function; "" where it is not to be had."""
    try:
        return inspect.getsource(owner)
    except (OSError, TypeError):
        return ""


def signature_of(module: Any) -> inspect.Signature:
    for name in ("forward", "call", "__call__"):
        if hasattr(module, name):
            try:
                return inspect.signature(getattr(module, name))
            except (TypeError, ValueError):
                continue
    return inspect.Signature()


def parameters_of(module: Any, path: str = "") -> Iterator[Parameter]:
    """Yield the arrays of a layer's weights, such that rows are multiplied from the left.

    PyTorch's Linear keeps the transpose, and GPT-2's Conv1D does not. Kernels of Keras and flax
    may have an axis of heads.
    """
    if hasattr(module, "named_parameters"):
        for full_name, parameter in module.named_parameters():
            # MultiheadAttention names its packed parameters `in_proj_weight` and `in_proj_bias`.
            path, _, name = re.sub(r"(in|q|k|v)_proj_", r"\1_proj.", full_name).rpartition(".")
            owner_path = full_name.rpartition(".")[0]
            owner = module.get_submodule(owner_path)
            parent, _, index = owner_path.rpartition(".")
            siblings = module.get_submodule(parent)
            if type(siblings).__name__ == "ModuleList" and len(siblings) in (3, 4):
                path = "qkvo"[int(index)]  # in a list, as in the Annotated Transformer
            array = to_numpy(parameter)
            is_transposed = (
                name == "weight" and array.ndim == 2 and type(owner).__name__ != "Conv1D"
            )
            yield Parameter(path or name, name, array.T if is_transposed else array, owner)
        return
    if not hasattr(module, "__dict__"):
        return
    for name, child in vars(module).items():
        letters = projections_of(name)
        if not letters:
            continue
        if getattr(child, "ndim", 0) in (1, 2) and hasattr(child, "shape"):
            yield Parameter(name, "bias" if np.ndim(child) == 1 else "weight", to_numpy(child))
            continue
        kernel, bias = getattr(child, "kernel", None), getattr(child, "bias", None)
        if kernel is None and getattr(getattr(child, "weight", None), "ndim", 0) == 2:
            kernel = child.weight.T  # of equinox, which keeps the transpose
        if kernel is not None:
            array = array_of(kernel)
            is_output = letters == "O"
            yield Parameter(
                name, "weight",
                array.reshape(-1, array.shape[-1]) if is_output else array.reshape(len(array), -1),
            )  # fmt: skip
            if bias is not None:
                yield Parameter(name, "bias", array_of(bias).reshape(-1))


def array_of(variable: Any) -> Array:
    """Return the array of a variable of flax or Keras."""
    for name in ("value", "raw_value"):
        variable = getattr(variable, name, variable)
    return to_numpy(variable)


def norm_of(module: Any, parameter: Parameter) -> dict[str, Norm] | None:
    """Return the norm that a parameter of PyTorch belongs to, by the letter of what it norms."""
    owner = parameter.module
    kind = type(owner).__name__.lower()
    if "norm" not in kind or owner is module:
        return None
    weight = to_numpy(owner.weight)
    bias = getattr(owner, "bias", None)
    # Where a norm has no such attribute, its formula adds nothing.
    named = (getattr(owner, name, None) for name in ("eps", "variance_epsilon", "epsilon"))
    epsilon = next((value for value in named if isinstance(value, float)), 0.0)
    short = re.sub(r"layer|norm|ln|[_\d]", "", parameter.owner.lower().rpartition(".")[2])
    letter = {"q": "Q", "query": "Q", "k": "K", "key": "K"}.get(short, "x")
    bias_array = np.zeros_like(weight) if bias is None else to_numpy(bias)
    return {letter: Norm(weight, bias_array, epsilon, "rms" not in kind)}


def head_counts(module: Any, projections: dict[str, Array], width: int | None) -> Iterator[int]:
    """Yield the number of heads that a layer has, or else each that its width allows."""
    owners = (module, getattr(module, "config", None))
    for name in HEAD_COUNTS:
        for owner in owners:
            count = getattr(owner, name, None)
            if isinstance(count, int) and count > 0:
                yield count
                return
    if width is None:
        packed = projections.get("QKV")
        width = (
            len(projections["O"]) if "O" in projections or packed is None else packed.shape[1] // 3
        )
    for name in HEAD_WIDTHS:
        for owner in owners:
            head_width = getattr(owner, name, None)
            if isinstance(head_width, int) and head_width > 0 and width % head_width == 0:
                # Some name the number of heads so.
                yield from dict.fromkeys((width // head_width, head_width))
                return
    yield from (count for count in range(1, width + 1) if width % count == 0)


def split_columns(array: Array, letters: str, heads: int, d_k: int) -> list[Array]:
    """Split packed columns, in which keys and values may have fewer heads than queries."""
    width = array.shape[-1]
    if letters == "QKV" and d_k and width != 3 * heads * d_k:
        key_width = (width - heads * d_k) // 2
        return np.split(array, [heads * d_k, heads * d_k + key_width], axis=-1)
    return np.split(array, len(letters), axis=-1)


def unpacked(arrays: dict[str, Array], heads: int, d_k: int, by_head: bool) -> dict[str, Array]:
    """Return matrices or biases by single letters, with packed ones split."""
    single: dict[str, Array] = {}
    for letters, array in arrays.items():
        if len(letters) == 1:
            single[letters] = array
        elif by_head and array.shape[-1] == len(letters) * heads * d_k:
            parts = array.reshape(*array.shape[:-1], heads, len(letters), -1)
            for i, letter in enumerate(letters):
                single[letter] = parts[..., i, :].reshape(*array.shape[:-1], -1)
        else:
            single.update(zip(letters, split_columns(array, letters, heads, d_k), strict=True))
    return single


def projections_of(submodule: str) -> str | None:
    """Return the letters of the projections in a submodule, such as Q or QKV, by its name.

    Return None if the name is not recognised.

    >>> [projections_of(name) for name in ("q_proj", "to_out.0", "attn.c_attn", "norm")]
    ['Q', 'O', 'QKV', None]
    """
    parts = [COMMON_AFFIXES.sub("", part) for part in submodule.lower().split(".")]
    # The first layer of a Sequential, such as `to_out.0`, or a part of one, such as `query.linear`.
    if parts[-1] or len(parts) == 1:
        return PROJECTIONS.get(parts[-1])
    return PROJECTIONS.get(parts[-2], "O")
