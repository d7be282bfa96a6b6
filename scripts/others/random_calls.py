"""Random calls of the functions that mutants.py changes: all sizes, masks and options they take."""

import importlib

import numpy as np

COUNT = 1000
# How far apart two answers may be, in parts of the largest number, that differ by rounding alone.
ROUNDING = {"float64": 1e-6, "float32": 1e-4, "float16": 3e-2, "bfloat16": 2e-1}


def random_calls(package):
    """Return the arguments of calls, the same each time."""
    random = np.random.RandomState(0)
    return [ARGUMENTS[package](random) for _ in range(COUNT)]


def of_onnx(random):
    b, heads, shared, m, n, d, e = sizes(random)
    mask = some_mask(random, (b, shared * heads), m, n)
    if mask is not None and n > 1 and random.random_sample() < 0.1:
        mask = mask[..., : random.randint(1, n)]  # it fills up a mask that is too short
    arrays = {
        "query": numbers(random, b, shared * heads, m, d),
        "key": numbers(random, b, heads, n, d),
        "value": numbers(random, b, heads, n, e),
        "attn_mask": mask,
    }
    open_or_not = (None, 0, 1, 2, 3)
    window = one_of(random, None, (one_of(random, *open_or_not), one_of(random, *open_or_not)))
    return in_dtype(arrays, one_of(random, "float64", "float32", "float16")) | {
        "is_causal": one_of(random, True, False),
        "scale": one_of(random, None, 0.25, 0.7, 1.0),
        "softcap": one_of(random, None, None, 0.0, 0.75, 30.0),  # zero means none
        "window": window,
    }


def of_keras(random):
    b, heads, _, m, n, d, e = sizes(random)
    bias = some_mask(random, (b, heads), m, n)
    arrays = {
        "query": numbers(random, b, m, heads, d),
        "key": numbers(random, b, n, heads, d),
        "value": numbers(random, b, n, heads, e),
        "bias": None if bias is None or bias.dtype == bool else bias,
        "mask": one_of(random, None, seen(random, (b, 1), m, n)),
    }
    dtype = one_of(random, "float64", "float32", "float16", "bfloat16")
    return in_dtype(arrays, dtype) | {
        "is_causal": one_of(random, True, False),
        "scale": one_of(random, None, 0.25, 1.0, -1.0),
    }


def of_timm(random):
    torch = importlib.import_module("torch")
    b, n = random.randint(1, 4), random.randint(1, 8)
    arrays = {"x": numbers(random, b, n, 6), "attn_mask": some_mask(random, (b, 3), n, n)}
    arrays = in_dtype(arrays, "float64")
    given = {name: None if a is None else torch.from_numpy(a) for name, a in arrays.items()}
    return given | {"is_causal": given["attn_mask"] is None and one_of(random, True, False)}


ARGUMENTS = {"onnx": of_onnx, "keras": of_keras, "timm": of_timm}


def sizes(random):
    """Return numbers of sequences, heads, queries for each, queries, keys, and two of features."""
    return (*random.randint(1, 4, size=3), *random.randint(1, 7, size=4))


def numbers(random, *shape):
    return one_of(random, 0.3, 1.0, 4.0) * random.normal(size=shape)


def one_of(random, *choices):
    return choices[random.randint(len(choices))]


def seen(random, leading, m, n):
    """Return a boolean mask; one in five hides all keys from a query."""
    shape = (*leading, m, n)
    mask = random.random_sample(shape) < 0.7
    mask[..., random.randint(n)] = True
    if random.random_sample() < 0.2:
        mask[..., 0, :] = False
    return mask


def some_mask(random, leading, m, n):
    """Return no mask, or one of booleans, of numbers or of infinities, of any shape that fits."""
    axes = one_of(random, (), (1, 1), (leading[0], 1), (1, leading[1]), leading)
    mask = seen(random, axes, one_of(random, m, 1) if axes else m, n)
    infinite = np.where(mask, 0.0, -np.inf)
    return one_of(random, None, mask, infinite, numbers(random, *mask.shape))


def in_dtype(arrays, name):
    dtype = importlib.import_module("ml_dtypes").bfloat16 if name == "bfloat16" else name
    return {
        key: array if array is None or array.dtype == bool else array.astype(dtype)
        for key, array in arrays.items()
    }


def answer(function, given):
    """Return the output as NumPy has it, or the error that the function raised."""
    copies = {name: a.copy() if isinstance(a, np.ndarray) else a for name, a in given.items()}
    try:
        output = function(**copies)
    except Exception as error:  # a mutant may raise anything
        return error
    return output.detach().numpy() if hasattr(output, "detach") else output


def same(one, other):
    """Whether two answers differ by rounding alone, or both are errors."""
    if isinstance(one, Exception) or isinstance(other, Exception):
        return isinstance(one, Exception) and isinstance(other, Exception)
    if one.shape != other.shape:
        return False
    allowed = ROUNDING[str(one.dtype)]
    one, other = one.astype(float), other.astype(float)
    largest = np.abs(one).max(initial=1.0, where=np.isfinite(one))
    return np.allclose(one, other, rtol=0, atol=allowed * largest, equal_nan=True)
