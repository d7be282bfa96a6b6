"""What choosing keys saves, in multiplications for one token and layer of DeepSeek-V3.2.

In latent attention, each of the `heads` multiplies its query with the latent and the rotary part of
each key, and its weights with the latents. The indexer computes one dot product for each of its
heads and keys. In millions of multiplications, `dense` attends to all keys, `indexer` scores all
keys, and `sparse` attends to the `chosen` keys.

>>> show(steps())
heads 1
[128]
index_heads 1
[64]
index_features 1
[128]
contexts 4
[2048 8192 32768 131072]
chosen 1
[2048]
dense 4
[285.2127 1140.8507 4563.4028 18253.6110]
indexer 4
[16.7772 67.1089 268.4355 1073.7418]
sparse 1
[285.2127]
together 4
[301.9899 352.3215 553.6481 1358.9545]
saving 4
[0.9444 3.2381 8.2424 13.4321]
break_even 1
[2176]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array

TITLE = "What choosing keys saves"
SOURCE = "the configuration of DeepSeek-V3.2-Exp; the formulas are our own"

HEADS, LATENT, ROTARY = [128], [512], [64]
INDEX_HEADS, INDEX_FEATURES, CHOSEN = [64], [128], [2048]
CONTEXTS = [2048, 8192, 32768, 131072]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    """Count the multiplications with all keys and with chosen keys, in millions.

    `together` is the sum of `indexer` and `sparse`. It is less than `dense` in contexts longer than
    `break_even`.
    """
    heads = xp.asarray(HEADS, dtype=xp.float64)
    latent_features = xp.asarray(LATENT, dtype=xp.float64)
    rotary_features = xp.asarray(ROTARY, dtype=xp.float64)
    index_heads = xp.asarray(INDEX_HEADS, dtype=xp.float64)
    index_features = xp.asarray(INDEX_FEATURES, dtype=xp.float64)
    chosen = xp.asarray(CHOSEN, dtype=xp.float64)
    contexts = xp.asarray(CONTEXTS, dtype=xp.float64)
    # A score multiplies a latent and a rotary key, and a weight then multiplies the latent again.
    attention_per_key = heads * (latent_features + rotary_features + latent_features)
    indexer_per_key = index_heads * index_features
    dense = attention_per_key * contexts
    indexer = indexer_per_key * contexts
    sparse = attention_per_key * chosen
    million = 1e6
    return {
        "heads": heads,
        "index_heads": index_heads,
        "index_features": index_features,
        "contexts": contexts,
        "chosen": chosen,
        "dense": dense / million,
        "indexer": indexer / million,
        "sparse": sparse / million,
        "together": (indexer + sparse) / million,
        "saving": dense / (indexer + sparse),
        "break_even": sparse / (attention_per_key - indexer_per_key),
    }
