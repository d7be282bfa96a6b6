"""Arithmetic intensity and speculative decoding, by counting and by going through every case."""

import itertools
import math
import operator

from tests import loops
from tests.examples.comparison import independent


@independent(
    "arithmetic_intensity",
    "counting the features of every head",
    fixed=[
        *("QUERY_HEADS", "KEY_HEADS", "KEY_FEATURES", "VALUE_FEATURES", "SHARED_FEATURES"),
        *("PROMPTS", "TOKENS"),
    ],
)
def arithmetic_intensity(literals):
    heads = [(32, 32), (32, 8), (64, 8), (64, 1), (128, 1)]
    # The slices of what is kept for a token that are its key and its value.
    kept = [(256, slice(0, 128), slice(128, 256))] * 4 + [(576, slice(0, 576), slice(0, 512))]
    operations, read = [], []
    for (query_heads, key_heads), (size, key, value) in zip(heads, kept, strict=True):
        numbers = list(range(size))
        # A multiplication and an addition for each.
        products = sum(2 for _ in range(query_heads) for _ in numbers[key] + numbers[value])
        operations.append(products)
        read.append(sum(2 for _ in range(key_heads) for _ in numbers))
    intensity = [count / size for count, size in zip(operations, read, strict=True)]
    unread = list(itertools.accumulate([248 / 256] * 128, operator.mul))
    peaks = list(zip(literals["TERAFLOPS"], literals["TERABYTES"], strict=True))
    return {
        "operations": operations,
        "bytes": read,
        "intensity": intensity,
        "prefill": [sum(4 * key for key in range(1, n + 1)) / n for n in (1, 3, 127, 8192)],
        "ridge": [arithmetic / memory for arithmetic, memory in peaks],
        "sparse_ridge": [(arithmetic + arithmetic) / memory for arithmetic, memory in peaks],
        "experts_read": [1 - unread[n - 1] for n in (1, 8, 32, 128)],
        "share": [[min(1, x * memory / peak) for peak, memory in peaks] for x in intensity],
    }


@independent("decode_time", "bytes and seconds, layer by layer")
def decode_time(literals):
    sizes = {name: value[0] for name, value in literals.items() if isinstance(value, list)}
    layers, heads, features = sizes["LAYERS"], sizes["HEADS"], sizes["FEATURES"]
    weights = sizes["PARAMETERS"] * 1e9 * sizes["NUMBER_BYTES"]
    keys = sizes["LENGTH"] * sizes["KEY_HEADS"] * features * sizes["CACHE_BYTES"]
    cache = sizes["TEXTS"] * layers * (keys + keys)
    pairs = sizes["TEXTS"] * sizes["QUERIES"] * sizes["LENGTH"]
    scores_and_blends = layers * heads * pairs * (features + features)
    parameters = sizes["TEXTS"] * sizes["QUERIES"] * sizes["PARAMETERS"] * 1e9
    operations = 2 * (parameters + scores_and_blends)
    memory_seconds = (weights + cache) / (sizes["TERABYTES"] * 1e12)
    arithmetic_seconds = operations / (sizes["TERAFLOPS"] * 1e12)
    seconds = max(memory_seconds, arithmetic_seconds)
    return {
        "weight_gigabytes": [weights / 1e9],
        "cache_gigabytes": [cache / 1e9],
        "gigabytes": [(weights + cache) / 1e9],
        "teraoperations": [operations / 1e12],
        "memory_milliseconds": [memory_seconds * 1e3],
        "arithmetic_milliseconds": [arithmetic_seconds * 1e3],
        "tokens_per_second": [sizes["TEXTS"] * sizes["QUERIES"] / seconds],
        "waits": [memory_seconds / arithmetic_seconds],
    }


@independent("speculative_sampling", "the probability of every draft, verdict and replacement")
def speculative_sampling(literals):
    p = shares(literals["TARGET_ODDS"])
    (sharpness,) = literals["SHARPNESS"]
    q = shares([odds**sharpness for odds in literals["DRAFT_ODDS"]])
    words = range(len(p))
    ratio = [min(1, p[word] / q[word]) for word in words]
    missing = [max(0, p[word] - q[word]) for word in words]
    residual = shares(missing) if any(missing) else p

    def write(sampled, resampled):
        """Return the probabilities of the accepted words, and of those in place of others."""
        accepted = [sampled[word] * ratio[word] for word in words]
        replaced = [0.0 for _ in words]
        for drafted in words:
            for word in words:
                replaced[word] += sampled[drafted] * (1 - ratio[drafted]) * resampled[word]
        return accepted, replaced

    def written(sampled, resampled):
        return [a + b for a, b in zip(*write(sampled, resampled), strict=True)]

    accepted, _ = write(q, residual)
    acceptance = math.fsum(accepted)

    def tokens(drafted):
        """Return the expected number of tokens of a pass with so many drafted ones."""
        return 1 if drafted == 0 else (1 - acceptance) * 1 + acceptance * (1 + tokens(drafted - 1))

    best = sorted(words, key=lambda word: -q[word])
    mistakes = [
        written(q, p),
        written([float(word == best[0]) for word in words], residual),
        written(shares([q[word] if word in best[:3] else 0 for word in words]), residual),
        q,
    ]
    return {
        "p": p,
        "q": q,
        "ratio": ratio,
        "accepted": accepted,
        "acceptance": acceptance,
        "residual": residual,
        "written": p,
        "expected": [tokens(drafted) for drafted in range(8)],
        "by_mistake": mistakes,
        "wrong_by": [math.fsum(max(0, row[word] - p[word]) for word in words) for row in mistakes],
    }


@independent("speculative_sampling", "one drafted token after another")
def drafted_tokens(literals):
    names = ("DRAFTED_P", "DRAFTED_Q", "DRAWS")
    ratios, passes, kept = [], [], []
    for p, q, draw in zip(*(literals[name] for name in names), strict=True):
        ratios.append(min(1, p / q))
        passes.append(int(draw * q < p))
        kept.append(int(all(passes)))
    return {
        "drafted_ratio": ratios,
        "passes": passes,
        "kept": kept,
        "tokens_written": 1 + sum(kept),
    }


def shares(odds):
    return [number / math.fsum(odds) for number in odds]


@independent("speculative_cache", "one query at a time, with the keys up to its own position")
def speculative_cache(literals):
    queries, keys, values = (literals[letter] for letter in "QKV")
    weights, outputs = [], []
    for query, seen in zip(queries, (5, 6, 7, 8), strict=False):
        ((row,), (output,)) = loops.attention([query], keys[:seen], values[:seen])
        weights.append(row + [0] * (8 - seen))
        outputs.append(output)
    kept = [0, 1, 2, 3, 4, 5, 8]
    rolled_back = ([rows[token] for token in kept] for rows in (keys, values))

    def estimate(states, tokens):
        """Return the output at the last pair of a hidden state and an embedding."""
        rows = [
            [a + (b if token >= 0 else 0) for a, b in zip(state, embeddings[token], strict=True)]
            for state, token in zip(states, tokens, strict=False)
        ]
        return loops.attention(rows[-1:], rows, rows)[1][0]

    def words(state):
        return loops.softmax_row(
            [sum(map(math.prod, zip(state, e, strict=True))) for e in embeddings]
        )

    embeddings, (*hidden, south) = literals["EMBEDDINGS"], literals["HIDDEN"]
    shifted = [1, 2, 3, 4, 5, 8]
    guessed = [*hidden[:4], estimate(hidden[:4], shifted), hidden[5]]
    pairs = [(hidden, shifted), (hidden, range(6)), (hidden, [-1, 2, 3, 4, 5, 8])]
    estimates = [estimate(*pair) for pair in [*pairs, (guessed, shifted)]]
    shared = [sum(map(min, words(south), words(state))) for state in estimates]
    return {
        "mask": [[int(weight > 0) for weight in row] for row in weights],
        "block_weights": weights,
        "block_output": outputs,
        "next_output": loops.attention(queries[4:], *rolled_back)[1],
        "stale_output": loops.attention(queries[4:], keys, values)[1],
        "acceptance": shared,
        "tokens": [sum(rate**drafts for drafts in range(4)) for rate in shared],
    }
