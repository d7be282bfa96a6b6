"""What attention costs in a model of given sizes: its cache and its multiplications.

At first, the sizes are the sizes of Llama 3 8B. The cache holds the keys and values of all layers;
`token_kibibytes` is its size for one token, and `cache_gibibytes` for `length` tokens. `token` is
the number of multiplications, in 10^9, of Q K^T and A V in all layers for one more token with this
cache.

>>> show(computed(steps))
cache_gibibytes [1]
token [2.1475]
"""

import numpy

from attention_docs.arrays import check_positive, describe_first

TITLE = "Memory and work of attention in a model of chosen sizes"
SOURCE = "Llama 3 8B's published configuration, which the page cites; the formulas are our own"

LAYERS, HEADS, KEY_HEADS, FEATURES = [32], [32], [8], [128]
LENGTH, NUMBER_BYTES = [8192], [2]


def steps(xp=numpy):
    """Return the size of the cache, and the multiplications for one more token, in 10^9."""
    layers, heads, key_heads, features, length, number_bytes = (
        xp.asarray(size, dtype=xp.float64)
        for size in (LAYERS, HEADS, KEY_HEADS, FEATURES, LENGTH, NUMBER_BYTES)
    )
    sizes = {"layers": layers, "heads": heads, "key_heads": key_heads, "features": features}
    check_positive(xp, **sizes, length=length, number_bytes=number_bytes)
    shared_unevenly = heads % key_heads != 0
    if xp.any(shared_unevenly):
        element = describe_first(xp, shared_unevenly, key_heads)
        raise ValueError(f"key_heads holds {element}; expected a divisor of heads")
    token_bytes = 2 * key_heads * features * layers * number_bytes  # keys and values
    token_multiplications = 2 * length * features * heads * layers  # Q K^T and A V
    return {
        **sizes,
        "length": length,
        "number_bytes": number_bytes,
        "token_kibibytes": token_bytes / 2**10,
        "cache_gibibytes": token_bytes * length / 2**30,
        "token": token_multiplications / 1e9,
    }
