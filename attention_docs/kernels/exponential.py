"""Exponentials as fast as a library and a processor allow."""

import math
from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
from array_api_compat import is_numpy_namespace

from attention_docs.arrays import Array


def fastest_exp(xp: ModuleType) -> tuple[Callable[..., Array], float]:
    """Return exp2 or exp, and the factor that turns a natural exponent into one for it.

    With vector instructions exp2 takes half the time of exp, without them twice. It is slow
    again where it underflows, so it is for exponents known to be moderate.
    """
    if is_numpy_namespace(xp) and _has_vector_exp2():
        return xp.exp2, math.log2(math.e)
    return xp.exp, 1.0


def exp_of_any(xp: ModuleType) -> Callable[..., Array]:
    """Return exp for exponents of any size, -inf included; on NumPy subnormal powers become 0.

    With subnormal weights, an Intel processor took up to a hundred times as long for the product
    with the values. They are smaller than the last digit of any sum that has an ordinary weight.
    """
    return _exp_without_subnormals if is_numpy_namespace(xp) else xp.exp


def _exp_without_subnormals(exponents: Array, out: Array | None = None) -> Array:
    lowest = math.log(np.finfo(exponents.dtype).smallest_normal)
    if exponents.min() < lowest:
        with np.errstate(divide="ignore"):  # division by False makes a low exponent -inf
            exponents = np.divide(exponents, exponents >= lowest, out=out)
    return np.exp(exponents, out=out)


@cache
def _has_vector_exp2() -> bool:
    """Whether this NumPy, on this processor, runs a version of exp2 above its baseline."""
    versions = np.lib.introspect.opt_func_info(func_name="^exp2$", signature="^float(32|64)")
    chosen = [version["current"] for version in versions.get("exp2", {}).values()]
    return bool(chosen) and not any(name.startswith("baseline") for name in chosen)
