"""Heads, encoder and decoder, and the published classes, in loops over heads."""

import math
import statistics

import numpy as np

from tests import loops
from tests.examples.comparison import independent
from tests.examples.independent import course
from tests.examples.independent.one_head import is_causal


def project(rows_q, rows_kv, literals):
    """Return queries, keys and values."""
    rows = {"Q": rows_q, "K": rows_kv, "V": rows_kv}
    return [np.array(loops.matmul(rows[letter], literals[f"W_{letter}"])) for letter in "QKV"]


def attend_per_head(q, k, v, heads, **options):
    """Return the steps of each head, computed from its own columns."""
    columns = (np.split(rows, heads, axis=1) for rows in (q, k, v))
    return [loops.every_step(*head, **options) for head in zip(*columns, strict=True)]


@independent("head_splitting", "columns taken one by one, and slow loops")
def head_splitting(literals):
    x = literals["X"]
    heads = [[row[0:2] for row in x], [row[2:4] for row in x]]
    numbers = np.ravel(x)
    wrong_heads = [
        [numbers[0:2], numbers[2:4], numbers[4:6]],
        [numbers[6:8], numbers[8:10], numbers[10:12]],
    ]
    head_by_head = np.ravel(heads)

    def attend(head):
        tenths = np.array(head) / 10
        return loops.attention(tenths, tenths, tenths)[1]

    return {
        "head_1": heads[0],
        "head_2": heads[1],
        "merged": x,
        "wrong_head_1": wrong_heads[0],
        "wrong_head_2": wrong_heads[1],
        "wrong_merged": [head_by_head[0:4], head_by_head[4:8], head_by_head[8:12]],
        "output": np.hstack([attend(head) for head in heads]),
        "wrong_output": np.hstack([attend(head) for head in wrong_heads]),
    }


@independent("multi_head", "slow loops, head by head", fixed=["BERT_BASE"])
def multi_head(literals):
    q, k, v = project(literals["X_q"], literals["X_kv"], literals)
    computed = {"Q": q, "K": k, "V": v}
    for i, columns_k, columns_v in ((1, slice(0, 3), slice(0, 4)), (2, slice(3, 6), slice(4, 8))):
        head = {"Q": q[:, columns_k], "K": k[:, columns_k], "V": v[:, columns_v]}
        steps = loops.every_step(head["Q"], head["K"], head["V"])
        head |= {name: steps[name] for name in ("scores", "scaled", "weights")}
        head["head"] = steps["output"]
        head["added"] = loops.matmul(steps["output"], literals["W_O"][columns_v])
        computed |= {f"{name}_{i}": step for name, step in head.items()}
    one_head = loops.every_step(q, k, v)
    return {
        **computed,
        "merged": np.hstack([computed["head_1"], computed["head_2"]]),
        "output": np.add(computed["added_1"], computed["added_2"]),
        "one_head_scores": one_head["scores"],
        "one_head_weights": one_head["weights"],
    }


@independent("multi_head", "counting the entries of four matrices and their biases")
def bert_base(literals):
    d_model, heads = 768, 12
    matrices, biases = 4 * [np.empty((d_model, d_model))], 4 * [np.empty(d_model)]
    weights, offsets = (sum(array.size for array in arrays) for arrays in (matrices, biases))
    d_k = len(range(0, d_model, heads))
    return {
        "bert_base": [d_model, heads, d_k, matrices[0].size],
        "bert_base_layer": [weights, offsets, weights + offsets],
    }


def layer_norm(rows, gain, shift):
    return np.add(np.multiply(course.layer_norm(np.array(rows).tolist()), gain), shift)


def attention_of_two_heads(name, matrices, rows_q, rows_kv, allowed=lambda i, j: True):
    """Return the weights and the output of both heads, by the step names of the example."""
    literals = {f"W_{letter}": matrix for letter, matrix in zip("QKVO", matrices, strict=True)}
    heads = attend_per_head(*project(rows_q, rows_kv, literals), 2, allowed=allowed)
    output = loops.matmul(np.hstack([head["output"] for head in heads]), literals["W_O"])
    computed = {f"{name}_weights_{i}": head["weights"] for i, head in enumerate(heads, start=1)}
    return computed | {f"{name}_attended": output}


@independent("encoder_decoder", "slow loops, layer by layer", rtol=1e-10)
def encoder_decoder(literals):
    target = literals["TARGET_TOKENS"]
    encoded = encode(literals, literals["SOURCE_TOKENS"])
    return {
        **encoded,
        **decode(literals, target, encoded["memory"]),
        "loop_probabilities": decode(
            literals, [*target, literals["FIFTH_TOKEN"]], encoded["memory"]
        )["probabilities"],
    }


def encode(literals, x):
    computed = attention_of_two_heads("encoder", literals["ENCODER"], x, x)
    computed["encoder_sum"] = np.add(x, computed["encoder_attended"])
    computed["encoder_mean"] = [statistics.fmean(row) for row in computed["encoder_sum"]]
    computed["encoder_variance"] = [statistics.pvariance(row) for row in computed["encoder_sum"]]
    normed = layer_norm(computed["encoder_sum"], literals["GAIN"], literals["SHIFT"])
    hidden, fed = feed_forward(literals, normed)
    memory = layer_norm(np.add(normed, fed), literals["GAIN"], literals["SHIFT"])
    return computed | {
        "encoder_normed": normed,
        "encoder_hidden": hidden,
        "encoder_fed": fed,
        "memory": memory,
    }


def decode(literals, y, memory):
    norms = literals["GAIN"], literals["SHIFT"]
    computed = attention_of_two_heads("decoder", literals["DECODER"], y, y, is_causal)
    decoder_normed = layer_norm(np.add(y, computed["decoder_attended"]), *norms)
    computed |= attention_of_two_heads("cross", literals["CROSS"], decoder_normed, memory)
    w_q, w_k = ([row[:3] for row in matrix] for matrix in literals["CROSS"][:2])
    head_1 = {"Q": loops.matmul(decoder_normed, w_q), "K": loops.matmul(memory, w_k)}
    any_values = memory  # the scaled scores do not depend on them
    scaled = loops.every_step(head_1["Q"], head_1["K"], any_values)["scaled"]
    head_1 |= {"W_Q": w_q, "W_K": w_k, "scaled": scaled}
    computed |= {f"cross_{name}_1": step for name, step in head_1.items()}
    cross_normed = layer_norm(np.add(decoder_normed, computed["cross_attended"]), *norms)
    _, fed = feed_forward(literals, cross_normed)
    output = layer_norm(np.add(cross_normed, fed), *norms)
    logits = loops.matmul(output, literals["W_VOCABULARY"])
    return computed | {
        "decoder_normed": decoder_normed,
        "cross_normed": cross_normed,
        "output": output,
        "logits": logits,
        "probabilities": [loops.softmax_row(row) for row in logits],
    }


def feed_forward(literals, rows):
    """Return the hidden layer and the output."""
    hidden = [[max(0.0, x) for x in row] for row in loops.matmul(rows, literals["W_1"])]
    return hidden, loops.matmul(hidden, literals["W_2"])


@independent("source_classes", "slow loops, head by head")
def source_classes(literals):
    x = np.array(literals["X"])
    q, k, v = project(x, x, literals)
    root_of_head_dim, root_of_embed_size = math.sqrt(2), 2
    correct = attend_per_head(q, k, v, 2, divisor=root_of_head_dim)
    by_embed_size = attend_per_head(q, k, v, 2, divisor=root_of_embed_size)
    not_projected = attend_per_head(x, x, x, 2, divisor=root_of_head_dim)
    as_in_the_source = attend_per_head(x, x, x, 2, divisor=root_of_embed_size)
    equal_halves = np.hstack([x[:, :2], x[:, :2]])
    repeated_heads = attend_per_head(*3 * [equal_halves], 2, divisor=root_of_head_dim)

    def merged(heads):
        return np.hstack([head["output"] for head in heads])

    def output(heads):
        return loops.matmul(merged(heads), literals["W_O"])

    return {
        "Q": q,
        "K": k,
        "V": v,
        "scores_1": correct[0]["scores"],
        "scores_2": correct[1]["scores"],
        "weights_1": correct[0]["weights"],
        "weights_2": correct[1]["weights"],
        "merged": merged(correct),
        "output": output(correct),
        "scores_1_not_projected": not_projected[0]["scores"],
        "weights_1_not_projected": not_projected[0]["weights"],
        "weights_1_as_in_the_source": as_in_the_source[0]["weights"],
        "weights_1_scaled_by_embed_size": by_embed_size[0]["weights"],
        "output_scaled_by_embed_size": output(by_embed_size),
        "output_not_projected": output(not_projected),
        "output_as_in_the_source": output(as_in_the_source),
        "unused_parameters": sum(np.empty((4, 2)).size for _ in "QKV"),
        "features_if_applied": sum(np.empty(4).size for _ in range(2)),
        "repeated_head_output": merged(repeated_heads),
        "filled": [-0.5e20] * 3,
        "filled_weights": [1 / 3] * 3,
        "hidden_weights": [0] * 3,
    }


@independent("batch_of_two", "slow loops over each sequence, and over both joined")
def batch_of_two(literals):
    computed = {}
    for i, x in enumerate(literals["X"], start=1):
        q, k, v = project(x, x, literals)
        steps = {"Q": q, "K": k, "V": v, **loops.every_step(q, k, v)}
        computed |= {f"{name}_{i}": steps[name] for name in ("Q", "K", "V", "weights", "output")}
    both = np.concatenate(literals["X"])
    joined = loops.every_step(*project(both, both, literals))
    return computed | {f"joined_{name}": joined[name] for name in ("weights", "output")}


@independent("grouped_queries", "a slow loop for each head, on the keys of its group")
def grouped_queries(literals):
    keys = [literals["K_1"], literals["K_2"]]
    values = [[[row[i]] for row in literals["V"]] for i in (0, 1)]

    def heads(groups):
        """Return weights and output of the heads, each with the keys and values of its group."""
        pairs = zip(literals["Q"], groups, strict=True)
        return [loops.attention([query], keys[i], values[i]) for query, i in pairs]

    correct, wrong = heads([0, 0, 1, 1]), heads([0, 1, 0, 1])
    return {
        "weights": [weights[0] for weights, _ in correct],
        "output": [output[0][0] for _, output in correct],
        "wrong": [output[0][0] for _, output in wrong],
    }
