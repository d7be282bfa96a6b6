"""Measure the largest error of attention for every dtype, array library and kind of call.

The dtype represents the arguments exactly. The reference is the formula in NumPy's longdouble,
which has 64 bits of precision on x86 and 53 on some other machines.
"""

import importlib
import importlib.util

import ml_dtypes
import numpy as np

import results
from attention_docs import scaled_dot_product_attention as ours
from attention_docs import window_mask
from results import NOT_MEASURED

DTYPES = ("float64", "float32", "float16", "bfloat16")
LIBRARIES = {
    "NumPy": "numpy",
    "array-api-strict": "array_api_strict",
    "PyTorch": "torch",
    "CuPy": "cupy",
}
# The shapes of query, key and value, and the options.
CASES = {
    "self": ((2, 4, 160, 64), (2, 4, 160, 64), (2, 4, 160, 64), {}),
    "cross": ((2, 4, 150, 64), (2, 4, 220, 64), (2, 4, 220, 48), {}),
    "causal": ((2, 4, 160, 64), (2, 4, 160, 64), (2, 4, 160, 64), {"is_causal": True}),
    "windowed": ((2, 4, 160, 64), (2, 4, 160, 64), (2, 4, 160, 64), {"window": (16, 4)}),
    "grouped": ((2, 8, 160, 64), (2, 2, 160, 64), (2, 2, 160, 64), {"enable_gqa": True}),
    "long": ((1, 1, 64, 64), (1, 1, 16384, 64), (1, 1, 16384, 64), {}),
    "extreme scores": ((2, 4, 160, 64), (2, 4, 160, 64), (2, 4, 160, 64), {"scale": 100.0}),
}


def main():
    result = results.metadata()
    result["reference_epsilon"] = float(np.finfo(np.longdouble).eps)
    errors = {}
    for dtype in DTYPES:
        errors[dtype] = {case: measure_errors(dtype, *CASES[case]) for case in CASES}
    result["largest_error"] = errors
    results.write(result)


def measure_errors(dtype, query_shape, key_shape, value_shape, options):
    """Return the largest error of attention in each library, or a text that says why there is none.

    `PyTorch` is our function on PyTorch's arrays, and `PyTorch's own` is PyTorch's function.
    """
    generator = np.random.default_rng(0)
    shapes = (query_shape, key_shape, value_shape)
    arrays = [round_to(generator.standard_normal(shape), dtype) for shape in shapes]
    exact = formula(*(array.astype(np.longdouble) for array in arrays), **options)
    outputs = {
        name: our_output(library, dtype, arrays, options) for name, library in LIBRARIES.items()
    }
    # If our output has not been computed, PyTorch's is not measured for the same reason.
    has_torch = not isinstance(outputs["PyTorch"], str)
    outputs["PyTorch's own"] = (
        torch_output(dtype, arrays, options) if has_torch else outputs["PyTorch"]
    )
    return {name: largest_error(output, exact) for name, output in outputs.items()}


def largest_error(output, exact):
    """Return the largest difference, or the text that an output is if there is none."""
    return output if isinstance(output, str) else float(np.abs(output - exact).max())


def round_to(array, dtype):
    return array.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype).astype("float64")


def formula(query, key, value, is_causal=False, window=None, enable_gqa=False, scale=None):
    """Compute attention by its formula, in the arguments' dtype, with all scores in memory."""
    group_size = query.shape[-3] // key.shape[-3]
    key, value = key.repeat(group_size, axis=-3), value.repeat(group_size, axis=-3)
    scores = query @ key.swapaxes(-1, -2)
    scores = scores * scale if scale else scores / np.sqrt(np.longdouble(query.shape[-1]))
    left, right = window or (None, None)
    visible = window_mask(*scores.shape[-2:], left=left, right=0 if is_causal else right)
    scores = np.where(visible, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ value


def our_output(library, dtype, arrays, options):
    if importlib.util.find_spec(library) is None:
        return NOT_MEASURED
    xp = importlib.import_module(library)
    if library == "cupy" and not xp.cuda.is_available():
        return NOT_MEASURED
    if dtype == "bfloat16" and supports_ml_dtypes(xp):
        xp_dtype = ml_dtypes.bfloat16
    elif hasattr(xp, dtype):
        xp_dtype = getattr(xp, dtype)
    else:
        return "no such dtype"
    output = ours(*(xp.asarray(array, dtype=xp_dtype) for array in arrays), **options)
    return to_float64(library, output)


def supports_ml_dtypes(xp):
    """Whether a library has no bfloat16 of its own, but computes with ml_dtypes' bfloat16."""
    if xp.__name__ == "cupy":
        return int(xp.__version__.partition(".")[0]) >= 14
    return xp.__name__ == "numpy"


def to_float64(library, output):
    """Return an output of a library as a NumPy array in float64; CuPy's is copied from the GPU."""
    if library == "torch":
        return output.double().numpy()
    if library == "cupy":
        return output.get().astype("float64")
    return np.asarray(output).astype("float64")


def torch_output(dtype, arrays, options):
    """Return the output of PyTorch's own function as float64, with a mask for our `window`."""
    import torch

    query, key, value = (torch.asarray(array, dtype=getattr(torch, dtype)) for array in arrays)
    torch_options = dict(options)
    if "window" in torch_options:
        left, right = torch_options.pop("window")
        mask = window_mask(query.shape[-2], left=left, right=right)
        torch_options["attn_mask"] = torch.from_numpy(mask)
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(query, key, value, **torch_options).double().numpy()


if __name__ == "__main__":
    main()
