"""What choosing keys saves, in multiplications for one token and layer of DeepSeek-V3.2.

Counted are the products with keys and values, not the projections. In latent attention, a generated
token multiplies the query of each of the `heads` with the latent and the rotary part of each key,
and its weights with the latents. The indexer computes one dot product for each of its heads and
keys. In millions, `dense` attends to all keys, `indexer` scores all keys, and `sparse` attends to
the `chosen` keys. In contexts longer than `break_even`, `together` is less than `dense`.

Steps with `prompt` compare with attention that computes the keys and values of all heads, which is
cheaper for a prompt. `indexer_share` divides the indexer's work for a key by that of both forms.

>>> show(computed(steps))
dense [285.2127 1140.8507 4563.4028 18253.6110]
indexer [16.7772 67.1089 268.4355 1073.7418]
sparse [285.2127]
together [301.9899 352.3215 553.6481 1358.9545]
saving [0.9444 3.2381 8.2424 13.4321]
break_even [2176]
prompt_saving [0.2778 0.9524 2.4242 3.9506]
prompt_break_even [8704]
indexer_share [0.0588 0.2000]
"""

import numpy

TITLE = "What choosing keys saves"
SOURCE = "the configuration of DeepSeek-V3.2-Exp; the formulas are our own"

HEADS, LATENT, ROTARY = [128], [512], [64]
KEY_AND_VALUE = [256]  # the features of a head's key and value, without the rotary part
INDEX_HEADS, INDEX_FEATURES, CHOSEN = [64], [128], [2048]
CONTEXTS = [2048, 8192, 32768, 131072]
LABELS = {"indexer_share": (["generated token", "prompt"],)}


def steps(xp=numpy):
    """Count the multiplications with all keys and with chosen keys, in millions."""
    heads, latent_features, rotary_features, key_and_value, index_heads, index_features = (
        xp.asarray(size, dtype=xp.float64)
        for size in (HEADS, LATENT, ROTARY, KEY_AND_VALUE, INDEX_HEADS, INDEX_FEATURES)
    )
    chosen, contexts = (xp.asarray(lengths, dtype=xp.float64) for lengths in (CHOSEN, CONTEXTS))
    # A score multiplies a latent and a rotary key, and a weight then multiplies the latent again.
    attention_per_key = heads * (latent_features + rotary_features + latent_features)
    prompt_per_key = heads * (key_and_value + rotary_features)
    indexer_per_key = index_heads * index_features
    dense = attention_per_key * contexts
    indexer = indexer_per_key * contexts
    # Each query chooses other keys, so these are read as latents, in a prompt as well.
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
        "prompt_saving": prompt_per_key * contexts / (indexer + sparse),
        "prompt_break_even": sparse / (prompt_per_key - indexer_per_key),
        "indexer_share": indexer_per_key / xp.concat([attention_per_key, prompt_per_key]),
    }
