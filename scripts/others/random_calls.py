"""Random calls of the functions that mutants.py mutates, covering sizes, masks and options.

There are m queries and n keys; keys have d_k features, values d_v.
"""

import importlib

import numpy as np

CALLS = 1000
# The sizes of timm's layer.
TIMM_FEATURES, TIMM_HEADS = 6, 3
# Tolerance for rounding, relative to the largest number.
TOLERANCES = {"float64": 1e-6, "float32": 1e-4, "float16": 3e-2, "bfloat16": 2e-1}


def random_calls(package):
    """Draw arguments for `CALLS` calls of a package's attention, the same in every run."""
    random = np.random.RandomState(0)
    return [ARGUMENTS[package](random) for _ in range(CALLS)]


def onnx_arguments(random):
    batch, key_heads, group_size, m, n, d_k, d_v = draw_sizes(random)
    query_heads = group_size * key_heads
    mask = any_mask(random, batch, query_heads, m, n)
    if mask is not None and n > 1 and random.random_sample() < 0.1:
        mask = mask[..., : random.randint(1, n)]  # ONNX pads a mask that is too short
    arrays = {
        "query": numbers(random, batch, query_heads, m, d_k),
        "key": numbers(random, batch, key_heads, n, d_k),
        "value": numbers(random, batch, key_heads, n, d_v),
        "attn_mask": mask,
    }
    window_sizes = (None, 0, 1, 2, 3)  # keys on one side of a query; None is all
    window = (one_of(random, *window_sizes), one_of(random, *window_sizes))
    window_or_none = one_of(random, None, window)
    return in_dtype(arrays, one_of(random, "float64", "float32", "float16")) | {
        "is_causal": one_of(random, True, False),
        "scale": one_of(random, None, 0.25, 0.7, 1.0),
        "softcap": one_of(random, None, None, 0.0, 0.75, 30.0),  # 0 means none to ONNX, too
        "window": window_or_none,
    }


def keras_arguments(random):
    batch, heads, _, m, n, d_k, d_v = draw_sizes(random)
    bias = any_mask(random, batch, heads, m, n)
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
    """Draw arguments for timm's attention layer; a call has a mask or is causal, but not both."""
    torch = importlib.import_module("torch")
    batch = random.randint(1, 4)
    n = random.randint(1, 8)
    x = torch.from_numpy(numbers(random, batch, n, TIMM_FEATURES))
    mask = any_mask(random, batch, TIMM_HEADS, n, n)
    if mask is None:
        return {"x": x, "attn_mask": None, "is_causal": one_of(random, True, False)}
    return {"x": x, "attn_mask": torch.from_numpy(mask), "is_causal": False}


ARGUMENTS = {"onnx": onnx_arguments, "keras": keras_arguments, "timm": timm_arguments}


def draw_sizes(random):
    """Draw the numbers of sequences, key heads and query heads for each, then m, n, d_k and d_v."""
    return (*random.randint(1, 4, size=3), *random.randint(1, 7, size=4))


def numbers(random, *shape):
    """Draw normally distributed numbers of one of three sizes."""
    return one_of(random, 0.3, 1.0, 4.0) * random.normal(size=shape)


def one_of(random, *choices):
    return choices[random.randint(len(choices))]


def boolean_mask(random, batch_shape, m, n):
    """Draw a mask (*batch_shape, m, n) of seven in ten keys; one in five hides all from a row."""
    mask = random.random_sample((*batch_shape, m, n)) < 0.7
    mask[..., random.randint(n)] = True
    if random.random_sample() < 0.2:
        mask[..., 0, :] = False
    return mask


def any_mask(random, batch, heads, m, n):
    """Draw None, or a boolean or float mask that broadcasts to (batch, heads, m, n)."""
    batch_shape = one_of(random, (), (1, 1), (batch, 1), (1, heads), (batch, heads))
    rows = one_of(random, m, 1) if batch_shape else m
    mask = boolean_mask(random, batch_shape, rows, n)
    infinite_mask = np.where(mask, 0.0, -np.inf)
    finite_mask = numbers(random, *mask.shape)
    return one_of(random, None, mask, infinite_mask, finite_mask)


def in_dtype(arrays, name):
    """Return arrays with their numbers in a dtype; masks stay boolean, and None stays None."""
    dtype = importlib.import_module("ml_dtypes").bfloat16 if name == "bfloat16" else name
    return {
        key: array if array is None or array.dtype == bool else array.astype(dtype)
        for key, array in arrays.items()
    }


def output_or_error(function, arguments):
    """Return the output of a call as a NumPy array, or the exception that it raised."""
    # A mutant may change its arguments.
    copies = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    try:
        output = function(**copies)
    except Exception as error:  # a mutant may raise anything
        return error
    return output.detach().numpy() if hasattr(output, "detach") else output


def is_equal(expected, actual):
    """Whether two outputs are equal up to rounding, or both are exceptions of any kind."""
    errors = [output for output in (expected, actual) if isinstance(output, Exception)]
    if errors:
        return len(errors) == 2
    if expected.shape != actual.shape:
        return False
    tolerance = TOLERANCES[str(expected.dtype)]
    expected_numbers = expected.astype(float)
    largest = np.abs(expected_numbers).max(initial=1.0, where=np.isfinite(expected_numbers))
    return np.allclose(
        expected_numbers, actual.astype(float), rtol=0, atol=tolerance * largest, equal_nan=True
    )
