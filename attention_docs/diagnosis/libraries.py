"""What differs between array libraries: making arrays, reading them, gradients, weights."""

import importlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from attention_docs.arrays import Array, readable
from attention_docs.diagnosis.calling import UnsupportedError
from attention_docs.diagnosis.recipe import LayerCall


def to_library(array: Array, library: str, dtype: str) -> Any:
    """Return an array of a library; a mask stays boolean.

    Raises:
        UnsupportedError: if the library has no such dtype.
    """
    name = "bool" if array.dtype == bool else dtype
    if library == "torch":
        torch = importlib.import_module("torch")
        return torch.from_numpy(array).to(getattr(torch, name))
    if library == "jax" and name == "int64":
        name = "int32"  # unless it is told otherwise, JAX has no wider integers
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


def strided(array: Any) -> Any:
    """Return the same numbers as a view whose last two axes lie the other way round in memory."""
    if hasattr(array, "mT") and hasattr(array, "contiguous"):
        return array.mT.contiguous().mT
    if isinstance(array, np.ndarray):
        return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    raise UnsupportedError("its arrays are always contiguous")


def to_numpy(result: Any) -> Array:
    """Return a result as float64 on the host.

    Raises:
        UnsupportedError: if it holds no real numbers.
    """
    if hasattr(result, "detach"):  # PyTorch
        result = result.detach().cpu()
        return np.asarray(result.double().numpy())
    if type(result).__module__.startswith("jax"):
        return np.asarray(result).astype(np.float64)
    try:
        return readable("its result", result).astype(np.float64)
    except TypeError as error:
        raise UnsupportedError(str(error)) from None


def gradients(
    function: Callable[..., Any],
    library: str,
    arguments: dict[str, Any],
    names: list[str],
    upstream: Any,
) -> dict[str, Any]:
    """Return the gradients of the sum of output times `upstream`, for some of the arguments.

    Raises:
        UnsupportedError: if the library has none.
    """
    if library == "torch":
        inputs = [arguments[name].requires_grad_() for name in names]
        (function(**arguments) * upstream).sum().backward()
        return {name: array.grad for name, array in zip(names, inputs, strict=True)}
    if library == "jax":
        jax = importlib.import_module("jax")
        others = {name: value for name, value in arguments.items() if name not in names}
        taken = {name: arguments[name] for name in names}
        slopes = jax.grad(lambda x: (function(**x, **others) * upstream).sum())
        found: dict[str, Any]
        try:
            found = jax.jit(slopes)(taken)  # compiled as one, and not operation by operation
        except jax.errors.JAXTypeError:  # the function looks at the numbers, which jit forbids
            found = slopes(taken)
        return found
    raise UnsupportedError("its library has no gradients")


# What is left of a projection's name without the words that all of them share.
SHARED_WORDS = re.compile(r"proj(ection)?|linear|lin|layer|dense|weights?|^to|^w|[\d._]")
LETTERS = {
    **dict.fromkeys(("q", "query", "queries"), "Q"),
    **dict.fromkeys(("k", "key", "keys"), "K"),
    **dict.fromkeys(("v", "value", "values"), "V"),
    **dict.fromkeys(("", "c", "o", "out", "output", "fcout"), "O"),
    **dict.fromkeys(("in", "qkv", "cattn"), "QKV"),
}


def set_weights(module: Any, call: LayerCall, dtype: str) -> None:
    """Give a module of PyTorch the weights of a case; `Linear` keeps the transpose of ours.

    Raises:
        UnsupportedError: if a parameter's name or shape says nothing.
    """
    torch = importlib.import_module("torch")
    module.to(getattr(torch, dtype)).eval()
    biases = {letter: call.biases.get(letter, np.zeros(6)) for letter in "QKVO"}
    for name, parameter in module.named_parameters():
        owner, _, kind = name.replace("in_proj_", "in_proj.").rpartition(".")
        letters = LETTERS.get(SHARED_WORDS.sub("", owner.rpartition(".")[2].lower()))
        if owner.endswith(".0"):  # the first of a Sequential, as in to_out.0
            letters = LETTERS.get(SHARED_WORDS.sub("", owner.split(".")[-2].lower()))
        if not letters:
            raise UnsupportedError(f"its parameter {name} has no known name")
        source = biases if kind == "bias" else call.weights
        packed = np.concatenate([source[letter] for letter in letters], axis=-1)
        stored = packed if kind == "bias" or is_rows(module, name) else packed.T
        if tuple(parameter.shape) != stored.shape:
            raise UnsupportedError(
                f"its parameter {name} has shape {tuple(parameter.shape)}; "
                f"expected {stored.shape}: make it with 6 features and 3 heads"
            )
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(stored)))
    if call.biases and not any(name.endswith("bias") for name, _ in module.named_parameters()):
        raise UnsupportedError("it has no biases")


def is_rows(module: Any, name: str) -> bool:
    """Whether a weight is multiplied from the right as it is, as in the Conv1D of GPT-2."""
    owner = module.get_submodule(name.rpartition(".")[0])
    return type(owner).__name__ == "Conv1D"
