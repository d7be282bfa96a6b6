"""Operations of attention for each byte of the cache, and what a card does in the same time.

For one query token and one token of the cache, `operations` counts multiplications and additions,
`bytes` what is read, and `intensity` is their quotient. `prefill` is the intensity of a prompt
under a causal mask, with the heads of the second row.

`ridge` is the intensity at which a card's arithmetic takes as long as its memory, and
`sparse_ridge` what it becomes with the peak for sparse matrices. `share` is the largest part of
each card's arithmetic that a query token can keep busy. `experts_read` is the part of a layer's
experts that at least one token of a pass chooses, if each chooses at random.

>>> show(computed(steps))
operations [16384 16384 32768 32768 278528]
bytes [16384 4096 4096 512 1152]
intensity [1 4 8 64 241.7778]
prefill [4 8 256 16386]
ridge [295.2239 206.0417 292.2078]
sparse_ridge [590.4478 412.0833 584.4156]
share 5 x 3
[[0.0034 0.0049 0.0034]
 [0.0135 0.0194 0.0137]
 [0.0271 0.0388 0.0274]
 [0.2168 0.3106 0.2190]
 [0.8190      1 0.8274]]
experts_read [0.0312 0.2243 0.6379 0.9828]
"""

import numpy

TITLE = "Arithmetic intensity of attention"
SOURCE = "our own example; the cards' numbers are those of the sources that the page names"

# Heads of keys and values for all or some query heads, and a latent that is key and value at once.
QUERY_HEADS, KEY_HEADS = [32, 32, 64, 64, 128], [32, 8, 8, 1, 1]
KEY_FEATURES, VALUE_FEATURES = [128, 128, 128, 128, 576], [128, 128, 128, 128, 512]
SHARED_FEATURES = [0, 0, 0, 0, 512]
BYTES_PER_NUMBER = 2
PROMPTS = [1, 3, 127, 8192]
EXPERTS, CHOSEN, TOKENS = 256, 8, [1, 8, 32, 128]
TERAFLOPS, TERABYTES = [989, 989, 2250], [3.35, 4.8, 7.7]  # for each second

KINDS = ["MHA", "GQA", "GQA, more query heads", "MQA", "MLA"]
CARDS = ["H100", "H200", "B200"]
LABELS = {
    "query_heads key_heads operations bytes intensity": (KINDS,),
    "prefill": ([f"{prompt} tokens" for prompt in PROMPTS],),
    "teraflops terabytes ridge sparse_ridge": (CARDS,),
    "share": (KINDS, CARDS),
    "tokens experts_read": ([f"{tokens} tokens" for tokens in TOKENS],),
}


def steps(xp=numpy):
    """Return the intensity of five kinds of heads, and that of three cards."""
    query_heads, key_heads, key_features, value_features, shared = (
        xp.asarray(sizes, dtype=xp.float64)
        for sizes in (QUERY_HEADS, KEY_HEADS, KEY_FEATURES, VALUE_FEATURES, SHARED_FEATURES)
    )
    prompts, tokens, teraflops, terabytes = (
        xp.asarray(sizes, dtype=xp.float64) for sizes in (PROMPTS, TOKENS, TERAFLOPS, TERABYTES)
    )
    # A multiplication and an addition for each feature of the score and of the output.
    operations = 2 * query_heads * (key_features + value_features)
    read = BYTES_PER_NUMBER * key_heads * (key_features + value_features - shared)
    intensity = operations / read
    pairs = prompts * (prompts + 1) / 2
    ridge = teraflops / terabytes
    share = intensity[:, None] / ridge[None, :]
    return {
        "query_heads": query_heads,
        "key_heads": key_heads,
        "operations": operations,
        "bytes": read,
        "intensity": intensity,
        "prefill": operations[1] * pairs / (read[1] * prompts),
        "teraflops": teraflops,
        "terabytes": terabytes,
        "ridge": ridge,
        "sparse_ridge": 2 * ridge,
        "share": xp.where(share < 1, share, 1.0),
        "tokens": tokens,
        "experts_read": 1 - (1 - CHOSEN / EXPERTS) ** tokens,
    }
