"""Random calls of the functions that mutants.py mutates, covering sizes, masks and options.

There are m queries and n keys; keys have d_k features, values d_v.
"""

import importlib

import numpy as np

CALLS = 1000
# Tolerance for rounding, relative to the largest number.
TOLERANCES = {"float64": 1e-6, "float32": 1e-4, "float16": 3e-2, "bfloat16": 2e-1}


def random_calls(package):
    """Draw arguments for `CALLS` calls of a package's attention, the same in every run."""
    random = np.random.RandomState(0)
    return [ARGUMENTS[package](random) for _ in range(CALLS)]


def onnx_arguments(random):
    """Draw arguments for ONNX's attention."""
    batch, key_heads, group_size, m, n, d_k, d_v = sizes(random)
    query_heads = group_size * key_heads
    mask = any_mask(random, (batch, query_heads), m, n)
    if mask is not None and n > 1 and random.random_sample() < 0.1:
        mask = mask[..., : random.randint(1, n)]  # ONNX pads a mask that is too short
    arrays = {
        "query": numbers(random, batch, query_heads, m, d_k),
        "key": numbers(random, batch, key_heads, n, d_k),
        "value": numbers(random, batch, key_heads, n, d_v),
        "attn_mask": mask,
    }
    limits = (None, 0, 1, 2, 3)
    window = one_of(random, None, (one_of(random, *limits), one_of(random, *limits)))
    return in_dtype(arrays, one_of(random, "float64", "float32", "float16")) | {
        "is_causal": one_of(random, True, False),
        "scale": one_of(random, None, 0.25, 0.7, 1.0),
        "softcap": one_of(random, None, None, 0.0, 0.75, 30.0),  # 0 means none to ONNX, too
        "window": window,
    }


def keras_arguments(random):
    """Draw arguments for Keras' attention."""
    batch, heads, _, m, n, d_k, d_v = sizes(random)
    bias = any_mask(random, (batch, heads), m, n)
    arrays = {
        "query": numbers(random, batch, m, heads, d_k),
        "key": numbers(random, batch, n, heads, d_k),
        "value": numbers(random, batch, n, heads, d_v),
        "bias": None if bias is None or bias.dtype == bool else bias,
        "mask": one_of(random, None, boolean_mask(random, (batch, 1), m, n)),
    }
    dtype = one_of(random, "float64", "float32", "float16", "bfloat16")
    return in_dtype(arrays, dtype) | {
        "is_causal": one_of(random, True, False),
        "scale": one_of(random, None, 0.25, 1.0, -1.0),
    }


def timm_arguments(random):
    """Draw arguments for timm's attention layer."""
    torch = importlib.import_module("torch")
    batch, n = random.randint(1, 4), random.randint(1, 8)
    features, heads = 6, 3  # of the layer in mutants.py
    x = numbers(random, batch, n, features)
    mask = any_mask(random, (batch, heads), n, n)
    if mask is None:
        return {
            "x": torch.from_numpy(x),
            "attn_mask": None,
            "is_causal": one_of(random, True, False),
        }
    return {"x": torch.from_numpy(x), "attn_mask": torch.from_numpy(mask), "is_causal": False}


ARGUMENTS = {"onnx": onnx_arguments, "keras": keras_arguments, "timm": timm_arguments}


def sizes(random):
    """Return the batch size, key heads, query heads per key head, m, n, d_k and d_v."""
    return (*random.randint(1, 4, size=3), *random.randint(1, 7, size=4))


def numbers(random, *shape):
    """Draw normally distributed numbers of one of three sizes."""
    return one_of(random, 0.3, 1.0, 4.0) * random.normal(size=shape)


def one_of(random, *choices):
    """Choose one of the values, all equally likely."""
    return choices[random.randint(len(choices))]


def boolean_mask(random, leading, m, n):
    """Return a boolean mask; every fifth has a fully masked row."""
    shape = (*leading, m, n)
    mask = random.random_sample(shape) < 0.7
    mask[..., random.randint(n)] = True
    if random.random_sample() < 0.2:
        mask[..., 0, :] = False
    return mask


def any_mask(random, leading, m, n):
    """Return None, a boolean mask, or one that is added, in any shape that broadcasts.

    Args:
        random: the generator.
        leading: the batch size and the number of heads.
        m: the number of queries.
        n: the number of keys.
    """
    batch, heads = leading
    axes = one_of(random, (), (1, 1), (batch, 1), (1, heads), (batch, heads))
    rows = one_of(random, m, 1) if axes else m
    mask = boolean_mask(random, axes, rows, n)
    infinite = np.where(mask, 0.0, -np.inf)
    finite = numbers(random, *mask.shape)
    return one_of(random, None, mask, infinite, finite)


def in_dtype(arrays, name):
    """Return arrays with their numbers in a dtype; masks stay boolean, and None stays None."""
    dtype = importlib.import_module("ml_dtypes").bfloat16 if name == "bfloat16" else name
    return {
        key: array if array is None or array.dtype == bool else array.astype(dtype)
        for key, array in arrays.items()
    }


def output_or_error(function, arguments):
    """Return the output as a NumPy array, or the exception that the function raised."""
    copies = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    try:
        output = function(**copies)
    except Exception as error:  # a mutant may raise anything
        return error
    return output.detach().numpy() if hasattr(output, "detach") else output


def is_equal(first, second):
    """Whether two outputs are equal up to rounding, or both are errors."""
    if isinstance(first, Exception) or isinstance(second, Exception):
        return isinstance(first, Exception) and isinstance(second, Exception)
    if first.shape != second.shape:
        return False
    tolerance = TOLERANCES[str(first.dtype)]
    first, second = first.astype(float), second.astype(float)
    largest = np.abs(first).max(initial=1.0, where=np.isfinite(first))
    return np.allclose(first, second, rtol=0, atol=tolerance * largest, equal_nan=True)
