"""Pooled keys by dictionaries of their tokens, and the costs of models layer by layer."""

import cmath
import math

from tests import loops
from tests.examples.comparison import independent

# The keys that each of the eight tokens sees in a window of four.
LAST_FOUR = [[s for s in range(8) if t - 4 < s <= t] for t in range(8)]


def blend(places):
    """Return the pooled vector of (vector, scores) pairs, and the weights of each place."""
    by_feature = [loops.softmax_row([scores[i] for _, scores in places]) for i in (0, 1)]
    entry = [
        sum(weight * vector[i] for weight, (vector, _) in zip(weights, places, strict=True))
        for i, weights in enumerate(by_feature)
    ]
    return entry, [list(row) for row in zip(*by_feature, strict=True)]


def place(literals, token, bias, stream=""):
    """Return a token's vector and its pooling scores at a place of a block."""
    scores = zip(literals["Z" + stream][token], literals["B"][bias], strict=True)
    return literals["C" + stream][token], [z + b for z, b in scores]


def of_four(literals, block):
    return blend([place(literals, 4 * block + i, i) for i in range(4)])


def of_two(literals, block):
    before = [place(literals, 2 * block - 2 + i, i, "_AHEAD") for i in (0, 1) if block]
    return blend(before + [place(literals, 2 * block + i, 2 + i) for i in (0, 1)])


def attend(literals, entries, seen_entries):
    """Return weights over entries and tokens, and outputs, with zeros for what is hidden."""
    weights, output = [], []
    both = [*entries, *literals["C"]]
    for query, of_entries, tokens in zip(literals["Q"], seen_entries, LAST_FOUR, strict=True):
        seen = [*of_entries, *[len(entries) + s for s in tokens]]
        scores = [loops.dot(query, both[j]) / math.sqrt(2) for j in seen]
        shares = dict(zip(seen, loops.softmax_row(scores), strict=True))
        weights.append([shares.get(j, 0) for j in range(len(both))])
        output.append([sum(shares[j] * both[j][i] for j in seen) for i in (0, 1)])
    return weights, output


@independent("compressed_keys", "a query for one token, with the vectors that it may read")
def needle(literals):
    query, tokens = literals["NEEDLE_Q"], literals["C"]
    gate = [list(row) for row in literals["Z"]]
    gate[3] = [score + literals["BOOST"][0] for score in gate[3]]

    def best(vectors):
        return sorted(vectors, key=lambda vector: loops.dot(query, vector))[-2:]

    def read(vectors):
        shares = loops.softmax_row([loops.dot(query, v) / math.sqrt(2) for v in vectors])
        return [loops.dot(shares, column) for column in zip(*vectors, strict=True)]

    outputs = [read(tokens), read(best(tokens)), read(tokens[4:])]
    for variant in (literals, {**literals, "Z": gate}):
        four = [of_four(variant, block)[0] for block in (0, 1)]
        two = best([of_two(variant, block)[0] for block in range(4)])
        outputs += [read(entries + tokens[4:]) for entries in (four, two)]
    return {"needle": outputs}


def ticks(lists, count):
    return [[j in row for j in range(count)] for row in lists]


def reached(size):
    """Return for each query the blocks whose last token is not after it."""
    return [[w for w in range(8 // size) if w * size + size - 1 <= t] for t in range(8)]


@independent("compressed_keys", "one block and one query at a time")
def compressed_keys(literals):
    pooled_4 = [of_four(literals, block) for block in (0, 1)]
    pooled_2 = [of_two(literals, block) for block in range(4)]
    entries_4, entries_2 = ([entry for entry, _ in pooled] for pooled in (pooled_4, pooled_2))
    index, chosen = [], []
    for query, done in zip(literals["INDEX_Q"], reached(2), strict=True):
        scores = [max(0, loops.dot(query, entries_2[w])) for w in done]
        index.append(scores + [-math.inf] * (4 - len(done)))
        best = sorted(done, key=lambda w, row=scores: (row[w], w), reverse=True)
        chosen.append(sorted(best[: literals["K"]]))
    weights_4, output_4 = attend(literals, entries_4, reached(4))
    weights_2, output_2 = attend(literals, entries_2, chosen)
    return {
        "pooling_4": [row for _, weights in pooled_4 for row in weights],
        "entries_4": entries_4,
        "pooling_2": pooled_2[-1][1],
        "entries_2": entries_2,
        "visible_4": ticks(reached(4), 2),
        "visible_2": ticks(reached(2), 4),
        "window": ticks(LAST_FOUR, 8),
        "index": index,
        "chosen": ticks(chosen, 4),
        "weights_4": weights_4,
        "output_4": output_4,
        "weights_2": weights_2,
        "output_2": output_2,
        "leak": attend(literals, entries_4, [[0, 1]] * 8)[1],
    }


@independent("compressed_keys", "mistakes by hand, turned as complex numbers")
def compression_mistakes(literals):
    block_alone = [
        blend([place(literals, 2 * block + i, 2 + i) for i in (0, 1)])[0] for block in range(4)
    ]
    padding = ([0, 0], literals["B"][3])
    query = complex(*literals["Q"][7]) * cmath.exp(7j)

    def scores(positions):
        entries = [complex(*of_four(literals, block)[0]) for block in (0, 1)]
        turned = [z * cmath.exp(1j * p) for z, p in zip(entries, positions, strict=True)]
        return [(query.conjugate() * key).real / math.sqrt(2) for key in turned]

    places = [(of_four(literals, 0)[0], 0), (of_four(literals, 1)[0], 4)]
    places += [(literals["C"][position], position) for position in range(4, 8)]
    vectors = [complex(*vector) * cmath.exp(1j * position) for vector, position in places]
    shares = loops.softmax_row([(query.conjugate() * v).real / math.sqrt(2) for v in vectors])
    output = sum(share * vector for share, vector in zip(shares, vectors, strict=True))
    turned_back = output * cmath.exp(-7j)

    return {
        "no_overlap": block_alone,
        "padded": blend([place(literals, 4 + i, i) for i in range(3)] + [padding])[0],
        "score_first": scores([0, 4]),
        "score_index": scores([0, 1]),
        "score_unturned": scores([0, 0]),
        "output_turned": [output.real, output.imag],
        "output_turned_back": [turned_back.real, turned_back.imag],
    }


@independent(
    "long_context_costs",
    "layer by layer, from the numbers of keys and values of each",
    fixed=["BASES", "LENGTH", "READ", "ROWS", "LAYERS", "KEPT", "WHOLE", "STATE_BYTES"],
)
def long_context_costs(literals):
    (n,) = literals["LENGTH"]
    keys_and_values = {"llama": 2 * 8 * 128, "gpt": 2 * 8 * 64}
    # For each model: the layers with numbers per token, then the tokens kept, entries read, and
    # index keys of 128 numbers that are kept and read.
    all_keys, none = (n, n, 0), (0, 0, 0)
    latent_layer = (576, (n, 2048, n))
    local, csa = (128, 128, 0), (128 + n // 4, 128 + min(n // 4, 512), n // 4)
    hca = (128 + n // 128, 128 + n // 128, 0)
    models = [
        [(keys_and_values["llama"], all_keys)] * 32,
        [(keys_and_values["gpt"], all_keys if i % 2 else local) for i in range(36)],
        [of_gemma_4(i, n) for i in range(35)],
        [(2 * 2 * 256, all_keys if i % 4 == 3 else none) for i in range(48)],
        # Every fourth of 93 layers, and the last.
        [(576, all_keys if i % 4 == 3 or i == 92 else none) for i in range(93)],
        [latent_layer] * 61,
        [(512, local)] * 2 + [(512, hca if i % 2 else csa) for i in range(41)],
    ]
    qwen_state = 36 * (4 * 32 * 128 * 128 + 2 * 3 * (2 * 16 * 128 + 32 * 128))
    kimi_state = 69 * (4 * 96 * 128 * 128 + 2 * 3 * 3 * 96 * 128)
    columns = {name: [] for name in ("kept", "entries", "indexed", "read")}
    shares = {"kept_share": [], "read_share": []}
    for i, layers in enumerate(models):
        states = {3: qwen_state, 4: kimi_state}.get(i, 0)
        kept = 2 * sum(size * kept + 128 * index for size, (kept, _, index) in layers) + states
        read = 2 * sum(size * read + 128 * index for size, (_, read, index) in layers) + states
        columns["kept"].append(math.floor(kept / 2**20))
        columns["read"].append(math.floor(read / 2**20))
        columns["entries"].append(math.floor(sum(read for _, (_, read, _) in layers) / len(layers)))
        columns["indexed"].append(
            math.floor(sum(index for _, (_, _, index) in layers) / len(layers))
        )
        index_keys = 61 * 128 if i == 5 else 0
        whole = 2 * n * (sum(size for size, _ in layers) + index_keys)
        shares["kept_share"].append(kept / whole)
        shares["read_share"].append(read / whole)
    turns = [
        math.floor(math.tau * math.exp(126 / 128 * math.log(base))) for base in literals["BASES"]
    ]
    return columns | shares | {"turns": turns}


def of_gemma_4(layer, n):
    """Return the numbers of an entry in a layer of E2B, and what it keeps and reads."""
    is_full = layer % 5 == 4
    seen = n if is_full else 512
    return (2 * 512 if is_full else 2 * 256), (seen if layer < 15 else 0, seen, 0)
