"""How long a pass of a model takes for its bytes, and how long for its arithmetic.

A pass computes `queries` new tokens of each of `texts` texts, each with `length` tokens in its
cache. `weight_gigabytes` are read once and `cache_gigabytes` for each text. `teraoperations` counts
the multiplications and additions of all new tokens. At first, the sizes are those of Llama 3 8B, in
16 bits, and of an H100. `waits` is the time for the bytes divided by that for the arithmetic.

>>> show(computed(steps))
weight_gigabytes [16]
cache_gigabytes [1.0737]
gigabytes [17.0737]
teraoperations [0.0203]
memory_milliseconds [5.0966]
arithmetic_milliseconds [0.0205]
tokens_per_second [196.2077]
waits [248.3658]
"""

import numpy

from attention_docs.arrays import check_positive

TITLE = "The time of a pass, from memory and from arithmetic"
SOURCE = "our own example; the sizes and the card are those of the sources that the page names"

PARAMETERS, LAYERS, HEADS, KEY_HEADS, FEATURES = [8], [32], [32], [8], [128]  # parameters in 10^9
LENGTH, TEXTS, QUERIES, NUMBER_BYTES, CACHE_BYTES = [8192], [1], [1], [2], [2]
TERAFLOPS, TERABYTES = [989], [3.35]  # for each second


def steps(xp=numpy):
    """Return the bytes, the operations and the times of a pass."""
    sizes = {
        "parameters": PARAMETERS,
        "layers": LAYERS,
        "heads": HEADS,
        "key_heads": KEY_HEADS,
        "features": FEATURES,
        "length": LENGTH,
        "texts": TEXTS,
        "queries": QUERIES,
        "number_bytes": NUMBER_BYTES,
        "cache_bytes": CACHE_BYTES,
        "teraflops": TERAFLOPS,
        "terabytes": TERABYTES,
    }
    inputs = {name: xp.asarray(size, dtype=xp.float64) for name, size in sizes.items()}
    check_positive(xp, **inputs)
    layers, features, length, texts, queries = (
        inputs[name] for name in ("layers", "features", "length", "texts", "queries")
    )
    weights = inputs["parameters"] * inputs["number_bytes"]
    numbers = 2 * inputs["key_heads"] * features * layers * length * texts
    cache = numbers * inputs["cache_bytes"] / 1e9
    # Each parameter is multiplied and added once for each new token, which meets the whole cache.
    per_token = 2 * inputs["parameters"] * 1e9
    per_token = per_token + 4 * inputs["heads"] * features * layers * length
    teraoperations = per_token * texts * queries / 1e12
    memory = (weights + cache) / inputs["terabytes"]
    arithmetic = 1000 * teraoperations / inputs["teraflops"]
    longer = xp.where(memory > arithmetic, memory, arithmetic)
    return {
        **inputs,
        "weight_gigabytes": weights,
        "cache_gigabytes": cache,
        "gigabytes": weights + cache,
        "teraoperations": teraoperations,
        "memory_milliseconds": memory,
        "arithmetic_milliseconds": arithmetic,
        "tokens_per_second": 1000 * texts * queries / longer,
        "waits": memory / arithmetic,
    }
