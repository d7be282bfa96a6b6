"""Create and read arrays, compute gradients and set weights in each array library."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from attention_check.recipe import Array


class LoadError(Exception):
    """The function cannot be loaded or called; the message says in one line what to do."""


class UnsupportedError(Exception):
    """The function does not support a case; the message says why."""


def to_library_array(array: Array, library: str, dtype: str) -> Any:
    """Convert a NumPy array to another library and dtype; boolean arrays stay boolean."""
    dtype_name = "bool" if array.dtype == bool else dtype
    if library == "numpy" and dtype_name == "bool":
        return array  # NumPy 1 has no `numpy.bool`
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
        array = np.asarray(result.get() if hasattr(result, "get") else result)  # CuPy
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise UnsupportedError(f"its result cannot be copied to NumPy: {error}") from None
    if array.dtype.kind not in "biufV" or (
        array.dtype.kind == "V" and "float" not in array.dtype.name
    ):
        raise UnsupportedError(f"its result has dtype {array.dtype}; expected real numbers")
    return array.astype(np.float64)


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
        function(**arguments).backward(gradient=upstream)
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


def has_own_backward(output: Any) -> bool:
    """Whether a tensor of PyTorch comes from an `autograd.Function` that someone has written."""
    nodes, seen = [getattr(output, "grad_fn", None)], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if any(base.__name__ == "BackwardCFunction" for base in type(node).__mro__):
            return True
        nodes += [parent for parent, _ in node.next_functions]
    return False
