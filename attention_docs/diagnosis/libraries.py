"""Create and read arrays, compute gradients and set weights in each array library."""

import importlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from attention_docs.arrays import Array, displayable
from attention_docs.diagnosis.calling import UnsupportedError
from attention_docs.diagnosis.recipe import LayerCall


def to_library_array(array: Array, library: str, dtype: str) -> Any:
    """Convert a NumPy array to another library and dtype; boolean arrays stay boolean.

    Raises:
        UnsupportedError: if the library lacks the dtype.
    """
    name = "bool" if array.dtype == bool else dtype
    if library == "torch":
        torch = importlib.import_module("torch")
        return torch.from_numpy(array).to(getattr(torch, name))
    if library == "jax" and name == "int64":
        name = "int32"  # JAX disables 64-bit integers by default
    module = {"jax": "jax.numpy"}.get(library, library)
    xp = importlib.import_module(module)
    return xp.asarray(array, dtype=dtype_of(xp, name))


def dtype_of(xp: Any, name: str) -> Any:
    if xp.__name__ in ("numpy", "cupy") and name == "bfloat16":
        try:
            return importlib.import_module("ml_dtypes").bfloat16
        except ImportError:
            raise UnsupportedError("NumPy has no bfloat16 without the package ml_dtypes") from None
    if not hasattr(xp, name):
        raise UnsupportedError(f"{xp.__name__} has no {name}")
    return getattr(xp, name)


def with_transposed_memory(array: Any) -> Any:
    """Return a view with the same numbers whose last two axes are transposed in memory."""
    if hasattr(array, "mT") and hasattr(array, "contiguous"):
        return array.mT.contiguous().mT
    if isinstance(array, np.ndarray):
        return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    raise UnsupportedError("its arrays are always contiguous")


def to_numpy(result: Any) -> Array:
    """Return a result as a float64 NumPy array.

    Raises:
        UnsupportedError: if it does not hold real numbers.
    """
    if hasattr(result, "detach"):  # PyTorch
        result = result.detach().cpu()
        return np.asarray(result.double().numpy())
    if type(result).__module__.startswith("jax"):
        return np.asarray(result).astype(np.float64)
    try:
        return displayable("its result", result).astype(np.float64)
    except TypeError as error:
        raise UnsupportedError(str(error)) from None


def gradients(
    function: Callable[..., Any],
    library: str,
    arguments: dict[str, Any],
    names: list[str],
    upstream: Any,
) -> dict[str, Any]:
    """Return the gradients of `sum(output * upstream)` with respect to the named arguments.

    Raises:
        UnsupportedError: if the library has no automatic differentiation.
    """
    if library == "torch":
        tensors = [arguments[name].requires_grad_() for name in names]
        (function(**arguments) * upstream).sum().backward()
        return {name: tensor.grad for name, tensor in zip(names, tensors, strict=True)}
    if library == "jax":
        jax = importlib.import_module("jax")
        constants = {name: value for name, value in arguments.items() if name not in names}
        inputs = {name: arguments[name] for name in names}
        gradient = jax.grad(lambda x: (function(**x, **constants) * upstream).sum())
        results: dict[str, Any]
        try:
            results = jax.jit(gradient)(inputs)  # faster than compiling each operation
        except jax.errors.JAXTypeError:  # the function branches on values, which jit forbids
            results = gradient(inputs)
        return results
    raise UnsupportedError("its library has no gradients")


# Parts of a projection's name that do not tell which projection it is.
COMMON_AFFIXES = re.compile(r"proj(ection)?|linear|lin|layer|dense|weights?|^to|^w|[\d._]")
# The projections by what remains of the name.
LETTERS = {
    **dict.fromkeys(("q", "query", "queries"), "Q"),
    **dict.fromkeys(("k", "key", "keys"), "K"),
    **dict.fromkeys(("v", "value", "values"), "V"),
    **dict.fromkeys(("", "c", "o", "out", "output", "fcout"), "O"),
    **dict.fromkeys(("in", "qkv", "cattn"), "QKV"),
}


def set_weights(module: Any, call: LayerCall, dtype: str) -> None:
    """Set the weights of a PyTorch module to those of a case; `Linear` stores our transpose.

    Raises:
        UnsupportedError: if the name or shape of a parameter is unknown.
    """
    torch = importlib.import_module("torch")
    module.to(getattr(torch, dtype)).eval()
    biases = {letter: call.biases.get(letter, np.zeros(6)) for letter in "QKVO"}
    for name, parameter in module.named_parameters():
        owner, _, kind = name.replace("in_proj_", "in_proj.").rpartition(".")
        letters = LETTERS.get(COMMON_AFFIXES.sub("", owner.rpartition(".")[2].lower()))
        if owner.endswith(".0"):  # first of a Sequential, such as to_out.0
            letters = LETTERS.get(COMMON_AFFIXES.sub("", owner.split(".")[-2].lower()))
        if not letters:
            raise UnsupportedError(f"its parameter {name} has no known name")
        values = biases if kind == "bias" else call.weights
        packed = np.concatenate([values[letter] for letter in letters], axis=-1)
        stored = packed if kind == "bias" or is_stored_untransposed(module, name) else packed.T
        if tuple(parameter.shape) != stored.shape:
            raise UnsupportedError(
                f"its parameter {name} has shape {tuple(parameter.shape)}; "
                f"expected {stored.shape}: make it with 6 features and 3 heads"
            )
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(stored)))
    if call.biases and not any(name.endswith("bias") for name, _ in module.named_parameters()):
        raise UnsupportedError("it has no biases")


def is_stored_untransposed(module: Any, name: str) -> bool:
    """Whether the layer computes `x @ weight`, as GPT-2's Conv1D does, and not `x @ weight.T`."""
    owner = module.get_submodule(name.rpartition(".")[0])
    return type(owner).__name__ == "Conv1D"
