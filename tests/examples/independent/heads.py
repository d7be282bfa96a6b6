"""Heads, encoder and decoder, and the source's classes, in loops over heads."""

import math
import statistics

import numpy as np

from tests import reference
from tests.examples.comparison import independent


def projected(rows_q, rows_kv, literals):
    rows = {"Q": rows_q, "K": rows_kv, "V": rows_kv}
    return [np.array(reference.matmul(rows[letter], literals[f"W_{letter}"])) for letter in "QKV"]


def in_heads(q, k, v, heads, **options):
    """Return the steps of each head, computed from its own columns."""
    columns = (np.split(rows, heads, axis=1) for rows in (q, k, v))
    return [reference.every_step(*head, **options) for head in zip(*columns, strict=True)]


@independent("head_splitting", "columns taken one by one, and slow loops")
def head_splitting(literals):
    x = literals["X"]
    heads = [[row[2 * i : 2 * i + 2] for row in x] for i in (0, 1)]
    numbers = [number for row in x for number in row]
    wrong = [[numbers[6 * i + 2 * j : 6 * i + 2 * j + 2] for j in range(3)] for i in (0, 1)]
    mixed = [number for head in heads for row in head for number in row]

    def attended(head):
        tenths = np.array(head) / 10
        return reference.attention(tenths, tenths, tenths)[1]

    return {
        "head_1": heads[0],
        "head_2": heads[1],
        "merged": x,
        "wrong_head_1": wrong[0],
        "wrong_head_2": wrong[1],
        "wrong_merged": [mixed[4 * i : 4 * i + 4] for i in range(3)],
        "output": np.hstack([attended(head) for head in heads]),
        "wrong_output": np.hstack([attended(head) for head in wrong]),
    }


@independent("multi_head", "slow loops, head by head", fixed=["BERT_BASE"])
def multi_head(literals):
    q, k, v = projected(literals["X_q"], literals["X_kv"], literals)
    computed, added = {"Q": q, "K": k, "V": v}, []
    for i, head in enumerate(in_heads(q, k, v, 2)):
        parts = (q[:, 3 * i : 3 * i + 3], k[:, 3 * i : 3 * i + 3], v[:, 4 * i : 4 * i + 4])
        added.append(np.array(reference.matmul(head["output"], literals["W_O"][4 * i : 4 * i + 4])))
        head |= dict(zip("QKV", parts, strict=True)) | {"head": head["output"], "added": added[-1]}
        names = ("Q", "K", "V", "scores", "scaled", "weights", "head", "added")
        computed |= {f"{name}_{i + 1}": head[name] for name in names}
    one_head = reference.every_step(q, k, v)
    return {
        **computed,
        "merged": np.hstack([computed["head_1"], computed["head_2"]]),
        "output": added[0] + added[1],
        "one_head_scores": one_head["scores"],
        "one_head_weights": one_head["weights"],
    }


@independent("multi_head", "counting the entries of four matrices and their biases")
def bert_base(literals):
    d_model, heads = 768, 12
    in_weight, out_weight = np.empty((3 * d_model, d_model)), np.empty((d_model, d_model))
    matrices, biases = in_weight.size + out_weight.size, len(in_weight) + len(out_weight)
    return {
        "bert_base": [d_model, heads, len(range(0, d_model, heads)), out_weight.size],
        "bert_base_layer": [matrices, biases, matrices + biases],
    }


def normed(rows):
    return [
        [
            (x - statistics.fmean(row)) / math.sqrt(statistics.pvariance(row) + 1e-5)
            for x in map(float, row)
        ]
        for row in rows
    ]


def placed(tokens):
    """Add sines and cosines of two frequencies, 1 and 1/10."""
    waves = [
        [wave(p * rate) for rate in (1, 0.1) for wave in (math.sin, math.cos)]
        for p in range(len(tokens))
    ]
    return np.add(tokens, waves)


def attended(name, matrices, rows_q, rows_kv, allowed=lambda i, j: True):
    """Return the weights and the output of both heads, by the step names of the example."""
    literals = {f"W_{letter}": matrix for letter, matrix in zip("QKVO", matrices, strict=True)}
    heads = in_heads(*projected(rows_q, rows_kv, literals), 2, allowed=allowed)
    output = reference.matmul(np.hstack([head["output"] for head in heads]), literals["W_O"])
    computed = {f"{name}_weights_{i}": head["weights"] for i, head in enumerate(heads, start=1)}
    return computed | {f"{name}_attended": output}


@independent("encoder_decoder", "slow loops, layer by layer", rtol=1e-10)
def encoder_decoder(literals):
    def fed(rows):
        hidden = [[max(0.0, x) for x in row] for row in reference.matmul(rows, literals["W_1"])]
        return hidden, reference.matmul(hidden, literals["W_2"])

    x, y = placed(literals["SOURCE_TOKENS"]), placed(literals["TARGET_TOKENS"])
    computed = {"X": x, "Y": y, **attended("encoder", literals["ENCODER"], x, x)}
    computed["encoder_sum"] = np.add(x, computed["encoder_attended"])
    computed["encoder_mean"] = [statistics.fmean(row) for row in computed["encoder_sum"]]
    computed["encoder_variance"] = [statistics.pvariance(row) for row in computed["encoder_sum"]]
    computed["encoder_normed"] = normed(computed["encoder_sum"])
    computed["encoder_hidden"], computed["encoder_fed"] = fed(computed["encoder_normed"])
    computed["memory"] = normed(np.add(computed["encoder_normed"], computed["encoder_fed"]))
    computed |= attended("decoder", literals["DECODER"], y, y, lambda i, j: j <= i)
    computed["decoder_normed"] = normed(np.add(y, computed["decoder_attended"]))
    computed |= attended("cross", literals["CROSS"], computed["decoder_normed"], computed["memory"])
    computed["cross_normed"] = normed(
        np.add(computed["decoder_normed"], computed["cross_attended"])
    )
    computed["output"] = normed(np.add(computed["cross_normed"], fed(computed["cross_normed"])[1]))
    computed["logits"] = reference.matmul(computed["output"], literals["W_VOCABULARY"])
    computed["probabilities"] = [reference.softmax_row(row) for row in computed["logits"]]
    last = computed["probabilities"][-1]
    return computed | {"next_token": last.index(max(last))}


@independent("source_classes", "slow loops, head by head")
def source_classes(literals):
    x = np.array(literals["X"])
    q, k, v = projected(x, x, literals)
    # Queries, keys and values, and the divisor of the scores.
    right, not_projected = ((q, k, v), math.sqrt(2)), ((x, x, x), math.sqrt(2))
    by_embed_size, as_in_the_source = ((q, k, v), 2), ((x, x, x), 2)
    repeated = np.hstack([x[:, :2], x[:, :2]])

    def heads(case):
        return in_heads(*case[0], 2, divisor=case[1])

    def merged(case):
        return np.hstack([head["output"] for head in heads(case)])

    def output(case):
        return reference.matmul(merged(case), literals["W_O"])

    return {
        "Q": q,
        "K": k,
        "V": v,
        "scores_1": heads(right)[0]["scores"],
        "scores_2": heads(right)[1]["scores"],
        "weights_1": heads(right)[0]["weights"],
        "weights_2": heads(right)[1]["weights"],
        "merged": merged(right),
        "output": output(right),
        "scores_1_not_projected": heads(not_projected)[0]["scores"],
        "weights_1_not_projected": heads(not_projected)[0]["weights"],
        "weights_1_as_in_the_source": heads(as_in_the_source)[0]["weights"],
        "weights_1_scaled_by_embed_size": heads(by_embed_size)[0]["weights"],
        "output_scaled_by_embed_size": output(by_embed_size),
        "output_not_projected": output(not_projected),
        "output_as_in_the_source": output(as_in_the_source),
        "unused_parameters": sum(np.empty((4, 2)).size for _ in "QKV"),
        "features_if_applied": sum(np.empty(4).size for _ in range(2)),
        "repeated_head_output": merged(((repeated,) * 3, math.sqrt(2))),
        "filled": [-0.5e20] * 3,
        "filled_weights": [1 / 3] * 3,
        "hidden_weights": [0] * 3,
    }


@independent("batch_of_two", "slow loops over each sequence, and over both joined")
def batch_of_two(literals):
    computed, rows = {"same_apart": True}, []
    for i, x in enumerate(literals["X"], start=1):
        rows.append(projected(x, x, literals))
        steps = dict(zip("QKV", rows[-1], strict=True)) | reference.every_step(*rows[-1])
        computed |= {f"{name}_{i}": steps[name] for name in ("Q", "K", "V", "weights", "output")}
    joined = reference.every_step(*(np.concatenate(both) for both in zip(*rows, strict=True)))
    return computed | {f"joined_{name}": joined[name] for name in ("weights", "output")}


@independent("grouped_queries", "a slow loop for each head, on the keys of its group")
def grouped_queries(literals):
    groups = [(literals[f"K_{i + 1}"], [[row[i]] for row in literals["V"]]) for i in (0, 1)]
    computed = {"same_as_repeated": True}
    for name, order in (("output", (0, 0, 1, 1)), ("wrong", (0, 1, 0, 1))):
        heads = [
            reference.attention([q], *groups[g]) for q, g in zip(literals["Q"], order, strict=True)
        ]
        computed[name] = [output[0][0] for _, output in heads]
        if name == "output":
            computed["weights"] = [weights[0] for weights, _ in heads]
    return computed
