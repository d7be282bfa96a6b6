"""Create and read arrays, compute gradients and set weights in each array library."""

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from attention_docs.arrays import Array, to_displayable
from attention_docs.diagnosis.cases import irregular_array
from attention_docs.diagnosis.recipe import LayerCall


class LoadError(Exception):
    """The function cannot be loaded or called; the message says in one line what to do."""


class UnsupportedError(Exception):
    """The function does not support a case; the message says why."""


def to_library_array(array: Array, library: str, dtype: str) -> Any:
    """Convert a NumPy array to another library and dtype; boolean arrays stay boolean."""
    dtype_name = "bool" if array.dtype == bool else dtype
    if library == "torch":
        torch = importlib.import_module("torch")
        return torch.from_numpy(array).to(getattr(torch, dtype_name))
    if library == "jax" and dtype_name == "int64":
        dtype_name = "int32"  # JAX disables 64-bit integers by default
    xp = importlib.import_module("jax.numpy" if library == "jax" else library)
    if library in ("numpy", "cupy") and dtype_name == "bfloat16":
        try:
            xp_dtype = importlib.import_module("ml_dtypes").bfloat16
        except ImportError:
            raise UnsupportedError("NumPy has no bfloat16 without the package ml_dtypes") from None
    elif hasattr(xp, dtype_name):
        xp_dtype = getattr(xp, dtype_name)
    else:
        raise UnsupportedError(f"{xp.__name__} has no {dtype_name}")
    return xp.asarray(array, dtype=xp_dtype)


def with_transposed_memory(array: Any) -> Any:
    """Return an equal array that is not contiguous, as two of its axes are transposed in memory.

    In a (b, h, n, d) array, they are the axes of heads and positions, as after the split of rows
    into heads. If one of these has length 1 or is missing, the last two axes are transposed.
    """
    is_split_into_heads = array.ndim == 4 and min(array.shape[1:3]) > 1
    axes = (1, 2) if is_split_into_heads else (-1, -2)
    if hasattr(array, "mT") and hasattr(array, "contiguous"):  # PyTorch
        return array.transpose(*axes).contiguous().transpose(*axes)
    if isinstance(array, np.ndarray):
        return np.ascontiguousarray(array.swapaxes(*axes)).swapaxes(*axes)
    raise UnsupportedError("its arrays are always contiguous")


def to_numpy(result: Any) -> Array:
    """Return a result as a float64 NumPy array, which may share the memory of a PyTorch tensor."""
    if hasattr(result, "detach"):  # PyTorch
        return np.asarray(result.detach().cpu().double().numpy())
    if type(result).__module__.startswith("jax"):
        return np.asarray(result).astype(np.float64)
    try:
        return to_displayable("its result", result).astype(np.float64)
    except TypeError as error:
        raise UnsupportedError(str(error)) from None


def gradients(
    library: str,
    function: Callable[..., Any],
    arguments: dict[str, Any],
    names: list[str],
    upstream: Any,
) -> dict[str, Any]:
    """Return the gradients of `sum(output * upstream)` by the names of these arguments."""
    variables = {name: arguments[name] for name in names}
    if library == "torch":
        for tensor in variables.values():
            tensor.requires_grad_()
        (function(**arguments) * upstream).sum().backward()
        detached = [name for name, tensor in variables.items() if tensor.grad is None]
        if detached:
            raise ValueError(f"the gradient of {' and '.join(detached)} is lost: it is detached")
        return {name: tensor.grad for name, tensor in variables.items()}
    if library != "jax":
        raise UnsupportedError("its library has no gradients")
    jax = importlib.import_module("jax")
    constants = {name: value for name, value in arguments.items() if name not in names}
    gradient = jax.grad(lambda x: (function(**x, **constants) * upstream).sum())
    results: dict[str, Any]
    try:
        results = jax.jit(gradient)(variables)  # faster than compiling each operation
    except jax.errors.JAXTypeError:  # the function branches on values, which jit forbids
        results = gradient(variables)
    return results


# Parts of a submodule's name that do not tell which projection it is: `q_proj` and `to_q` are Q.
COMMON_AFFIXES = re.compile(r"proj(ection)?|linear|lin|layer|dense|weights?|^to|^w|[\d._]")
# The letters of the projections in a submodule, by its name without the common affixes.
PROJECTIONS = {
    **dict.fromkeys(("q", "query", "queries"), "Q"),
    **dict.fromkeys(("k", "key", "keys"), "K"),
    **dict.fromkeys(("v", "value", "values"), "V"),
    **dict.fromkeys(("", "c", "o", "out", "output", "fcout"), "O"),
    **dict.fromkeys(("in", "qkv", "cattn"), "QKV"),
}


# Attributes that hold the number of heads, in the modules of common packages.
HEAD_COUNT_ATTRIBUTES = ("num_heads", "n_head", "n_heads", "num_attention_heads", "heads", "nhead")
# The rows of a layer's angles, which are more than the positions of any case of a layer.
MAX_POSITIONS = 64


def read_layer(module: Any) -> LayerCall:
    """Return a call of a PyTorch module in evaluation mode, with its own weights and sizes."""
    module.eval()
    weights, biases = read_parameters(module)
    d_model, width = weights["Q"].shape
    head_counts = (
        getattr(owner, name, None)
        for owner in (module, getattr(module, "config", None))
        for name in HEAD_COUNT_ATTRIBUTES
    )
    heads = next((count for count in head_counts if isinstance(count, int)), None)
    if heads is None or width % heads:
        raise LoadError(
            f"the number of its heads is not recognised; expected one of {HEAD_COUNT_ATTRIBUTES}"
        )
    d_k = width // heads
    inputs = irregular_array(2, 5, d_model, start=5)  # two sequences of five tokens
    rotation = None
    if "position_embeddings" in inspect.signature(module.forward).parameters:
        # Features i and i + d_k/2 are a pair, whose angle grows by 2^-i radians per position.
        angles_per_position = 0.5 ** np.arange(d_k // 2)
        rotation = np.arange(MAX_POSITIONS)[:, None] * np.tile(angles_per_position, 2)
    key_heads = weights["K"].shape[1] // d_k
    return LayerCall(inputs, inputs, heads, weights, biases, key_heads=key_heads, rotation=rotation)


def read_parameters(module: Any) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the weights and the biases of a PyTorch module by the letters Q, K, V and O.

    A weight is multiplied from the right, `rows @ weight`. Packed projections are split.
    """
    weights: dict[str, Array] = {}
    biases: dict[str, Array] = {}
    for name, parameter in module.named_parameters():
        # MultiheadAttention names its packed parameters `in_proj_weight` and `in_proj_bias`.
        submodule, _, kind = name.replace("in_proj_", "in_proj.").rpartition(".")
        letters = projections_of(submodule)
        if not letters:
            raise LoadError(
                f"its parameter {name} is not recognised as a projection; pass make_inputs and "
                "reference to `check` in Python"
            )
        array = to_numpy(parameter)
        owner = module.get_submodule(name.rpartition(".")[0])
        if kind != "bias" and type(owner).__name__ != "Conv1D":
            array = array.T  # PyTorch's Linear keeps the transpose, and GPT-2's Conv1D does not
        parts = np.split(array, len(letters), axis=-1)
        parameters = biases if kind == "bias" else weights
        parameters.update(zip(letters, parts, strict=True))
    return weights, biases


def projections_of(submodule: str) -> str | None:
    """Return the letters of the projections in a submodule, such as Q or QKV, by its name.

    Return None if the name is not recognised.

    >>> [projections_of(name) for name in ("q_proj", "to_out.0", "attn.c_attn", "norm")]
    ['Q', 'O', 'QKV', None]
    """
    *parents, layer = submodule.lower().split(".")
    if layer == "0" and parents:  # the first layer of a Sequential, such as `to_out.0`
        layer = parents[-1]
    return PROJECTIONS.get(COMMON_AFFIXES.sub("", layer))
