"""Models that learn: the training repeated with gradients and an Adam of its own."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from tests import reference
from tests.examples.comparison import independent


@independent("first_step", "sums over Python's numbers", fixed=["ANSWER"])
def first_step(literals):
    (h,), w = literals["H"], literals["W"]
    answer = literals["ANSWER"][0].index(1)

    def forward_and_gradients(w):
        (logits,) = reference.matmul([h], w)
        p = reference.softmax_row(logits)
        d_logits = [q - (j == answer) for j, q in enumerate(p)]
        return logits, p, d_logits, np.outer(h, d_logits)

    logits, p, d_logits, dw = forward_and_gradients(w)
    # The first step of Adam divides each slope by its own size, which leaves the sign.
    update = -0.01 * dw / (np.abs(dw) + 1e-8)
    *_, p_after, _, dw_after = forward_and_gradients(w + update)
    mean = (0.9 * 0.1 * dw + 0.1 * dw_after) / (1 - 0.9**2)
    square = (0.98 * 0.02 * dw**2 + 0.02 * dw_after**2) / (1 - 0.98**2)
    return {
        "logits": [logits],
        "p": [p],
        "y": [[float(j == answer) for j in range(4)]],
        "loss": -math.log(p[answer]),
        "d_logits": [d_logits],
        "dW": dw,
        "dh": [[reference.dot(d_logits, row) for row in w]],
        "mean": 0.1 * dw,
        "square": 0.02 * dw**2,
        "step": update,
        "W_after": w + update,
        "loss_after": -math.log(p_after[answer]),
        "second_step": -0.01 * mean / (np.sqrt(square) + 1e-8),
    }


class Net(NamedTuple):
    """The sizes of a small model, and which of its components it has."""

    words: int
    length: int
    d_k: int
    layers: int = 1
    causal: bool = False
    positions: bool = True
    residual: bool = True
    scaled: bool = True


WIDTH = 16
REVERSE = Net(7, 6, 8)
INDUCTION = Net(9, 8, 16, layers=2, causal=True)
WALK = Net(6, 8, 8, causal=True)


def reverse(draw, batch):
    tokens = draw.randint(0, 7, (batch, 6))
    return tokens, tokens[:, ::-1]


def induction(draw, batch):
    """Draw seven distinct tokens and repeat one of the first six; an answer of -1 has no loss."""
    tokens = draw.random_sample((batch, 9)).argsort(axis=1)[:, :8]
    places, answers = draw.randint(0, 6, batch), np.full((batch, 8), -1)
    for row, answer, place in zip(tokens, answers, places, strict=True):
        row[7], answer[7] = row[place], row[place + 1]
    return tokens, answers


def walk(draw, batch, later=1):
    start, steps = draw.randint(0, 6, (batch, 1)), draw.randint(1, 3, (batch, 8))
    places = np.hstack([start, start + steps.cumsum(axis=1)]) % 6
    return places[:, :8], places[:, later : later + 8]


def unshifted_walk(draw, batch):
    return walk(draw, batch, later=0)


def initial_weights(net, size, seed):
    draw = RandomState(seed)
    shapes = {"E": (net.words, WIDTH), "P": (net.length, WIDTH)}
    for layer in range(net.layers):
        shapes |= {("Q", layer): (WIDTH, net.d_k), ("K", layer): (WIDTH, net.d_k)}
        shapes[("V", layer)] = (WIDTH, WIDTH)
    shapes["U"] = (WIDTH, net.words)
    computed = {name: draw.standard_normal(shape) / 4 for name, shape in shapes.items()}
    return computed | {name: size * computed[name] for name in "EP"}


def forward(net, w, tokens):
    """Return the logits, their input, and each layer's input, queries, keys, values and weights."""
    x, layers = w["E"][tokens] + (w["P"] if net.positions else 0), []
    for layer in range(net.layers):
        q, k, v = (x @ w[role, layer] for role in "QKV")
        scores = q @ k.mT / (math.sqrt(net.d_k) if net.scaled else 1)
        if net.causal:
            scores += np.triu(np.full(scores.shape[1:], -np.inf), 1)
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        layers.append((x, q, k, v, powers / powers.sum(axis=2, keepdims=True)))
        x = (x if net.residual else 0) + layers[-1][4] @ v
    return x @ w["U"], x, layers


def log_probabilities(logits):
    shifted = logits - logits.max(axis=2, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))


def backward(net, w, tokens, answers):
    """Return the gradients by backpropagation."""
    logits, x, layers = forward(net, w, tokens)
    b, n = np.nonzero(answers >= 0)
    d_logits = np.zeros_like(logits)
    d_logits[b, n] = np.exp(log_probabilities(logits))[b, n]
    d_logits[b, n, answers[b, n]] -= 1
    d_logits /= len(b)
    computed = {"U": np.tensordot(x, d_logits, 2 * [[0, 1]])}
    dx = d_logits @ w["U"].T
    for layer in reversed(range(net.layers)):
        x, q, k, v, weights = layers[layer]
        d_weights = dx @ v.mT
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=2, keepdims=True))
        d_scores /= math.sqrt(net.d_k) if net.scaled else 1
        by_role = {
            "Q": d_scores @ k,
            "K": d_scores.mT @ q,
            "V": weights.mT @ dx,
        }
        dx = dx if net.residual else np.zeros_like(dx)
        for role, gradient in by_role.items():
            computed[role, layer] = np.tensordot(x, gradient, 2 * [[0, 1]])
            dx = dx + gradient @ w[role, layer].T
    computed["E"] = np.zeros_like(w["E"])
    np.add.at(computed["E"], tokens, dx)
    return computed | ({"P": dx.sum(axis=0)} if net.positions else {})


@cache
def train(net, task, size=1.0, every=10, start=None):
    """Train with Adam; return the weights at the start and after each tenth of the steps.

    `start` changes the seeds of the first weights and of the tasks.
    """
    weight_seed, task_seed = (0, 1) if start is None else (start, start + 10)
    draw, w = RandomState(task_seed), initial_weights(net, size, weight_seed)
    mean, square, computed = dict.fromkeys(w, 0.0), dict.fromkeys(w, 0.0), [w]
    for step in range(1, 10 * every + 1):
        w = dict(w)
        for name, gradient in backward(net, w, *task(draw, 32)).items():
            mean[name] = 0.9 * mean[name] + 0.1 * gradient
            square[name] = 0.98 * square[name] + 0.02 * gradient**2
            root = np.sqrt(square[name] / (1 - 0.98**step))
            w[name] = w[name] - 0.01 * mean[name] / (1 - 0.9**step) / (root + 1e-8)
        computed += [w] * (step % every == 0)
    return computed


def evaluate(net, w, task):
    """Return the loss and the percentage of correct answers."""
    tokens, answers = task(RandomState(2), 256)
    logits, *_ = forward(net, w, tokens)
    b, n = np.nonzero(answers >= 0)
    loss = -np.mean(log_probabilities(logits)[b, n, answers[b, n]])
    return loss, round(100 * np.mean(logits[b, n].argmax(axis=1) == answers[b, n]))


def weights_of_first_sequence(net, w, task):
    *_, layers = forward(net, w, task(RandomState(2), 256)[0][:1])
    return [weights[0] for *_, weights in layers]


def scaled_scores(net, w, layer, x_q, x_kv):
    return (x_q @ w["Q", layer]) @ (x_kv @ w["K", layer]).T / math.sqrt(net.d_k)


TOLERANCE = {"rtol": 2e-5, "atol": 0}
METHOD = "training once more"


@independent("learning_reverse", METHOD, **TOLERANCE)
def learning_reverse(literals):
    w = train(REVERSE, reverse)
    loss, right = zip(*(evaluate(REVERSE, stage, reverse) for stage in w), strict=True)
    before, during, after = (
        weights_of_first_sequence(REVERSE, w[i], reverse)[0] for i in (0, 3, -1)
    )
    return {
        "step": range(0, 101, 10),
        "loss": loss,
        "right": right,
        "tokens": reverse(RandomState(2), 256)[0][0],
        "weights_before": before,
        "weights_during": during,
        "weights_after": after,
        "position_scores": scaled_scores(REVERSE, w[-1], 0, w[-1]["P"], w[-1]["P"]),
    }


@independent("learning_induction", METHOD, **TOLERANCE)
def learning_induction(literals):
    computed = {}
    for name, net in (("one", INDUCTION._replace(layers=1)), ("two", INDUCTION)):
        trained = train(net, induction, every=25)
        grades = [evaluate(net, w, induction) for w in trained]
        computed[f"loss_{name}"], computed[f"right_{name}"] = zip(*grades, strict=True)
    w, (tokens, answers) = trained[-1], induction(RandomState(2), 256)
    ablated = [{**w, ("V", layer): 0 * w["V", layer]} for layer in (0, 1)]
    first, second = weights_of_first_sequence(INDUCTION, w, induction)
    return {
        **computed,
        "step": range(0, 251, 25),
        "guesses": [math.log(5), math.log(6)],
        "tokens": tokens[0],
        "answer": answers[0, -1],
        "weights1": first,
        "weights2": second,
        "position_scores": scaled_scores(INDUCTION, w, 0, w["P"], w["P"]),
        "match_scores": scaled_scores(INDUCTION, w, 1, w["E"], w["E"] @ w["V", 0]),
        "right_without_1": evaluate(INDUCTION, ablated[0], induction)[1],
        "right_without_2": evaluate(INDUCTION, ablated[1], induction)[1],
    }


@independent("learning_mistakes", METHOD, **TOLERANCE)
def learning_mistakes(literals):
    wide, unmasked = REVERSE._replace(d_k=64), WALK._replace(causal=False)
    # The model and task of each training; `tested` has those of the test where they differ.
    models = {
        "no_positions": (REVERSE._replace(positions=False), reverse),
        "no_residual": (REVERSE._replace(residual=False), reverse),
        "induction_no_positions": (INDUCTION._replace(positions=False), induction, 1.0, 25),
        "induction_no_residual": (INDUCTION._replace(residual=False), induction, 1.0, 25),
        "wide": (wide, reverse, 4.0),
        "wide_unscaled": (wide._replace(scaled=False), reverse, 4.0),
        "walk": (WALK, walk),
        "unmasked": (unmasked, walk),
        "unmasked_used": (unmasked, walk),
        "unshifted": (WALK, unshifted_walk),
        "unshifted_used": (WALK, unshifted_walk),
    }
    tested = {"unmasked_used": (WALK, walk), "unshifted_used": (WALK, walk)}
    computed = {"step": range(0, 101, 10), "log_2": math.log(2)}
    for name, trained in models.items():
        net, task = tested.get(name, trained[:2])
        grades = [evaluate(net, w, task) for w in train(*trained)]
        computed[name], computed[f"{name}_right"] = zip(*grades, strict=True)
    for name, net in (("wide", wide), ("wide_unscaled", wide._replace(scaled=False))):
        early = [train(net, reverse, 4.0, every=4, start=start)[-1] for start in range(10, 16)]
        computed[f"{name}_right_of_starts"] = [evaluate(net, w, reverse)[1] for w in early]
    return computed
