"""Trained models: training repeated with another implementation of the gradients and of Adam."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from tests import loops
from tests.examples.comparison import independent

# The constants of Adam.
RATE, MEAN_DECAY, SQUARE_DECAY, EPSILON = 0.01, 0.9, 0.98, 1e-8


@independent("first_step", "sums over Python's numbers", fixed=["ANSWER"])
def first_step(literals):
    (b,), w = literals["B"], literals["W_VOCABULARY"]
    answer = literals["ANSWER"][0].index(1)

    def forward(w):
        (logits,) = loops.matmul([b], w)
        return logits, loops.softmax_row(logits)

    logits, p = forward(w)
    d_logits = [p_j - (j == answer) for j, p_j in enumerate(p)]
    dw = np.outer(b, d_logits)
    # The first step of Adam divides each derivative by its own size, which leaves the sign.
    update = -RATE * dw / (np.abs(dw) + EPSILON)
    _, p_after = forward(w + update)
    return {
        "logits": [logits],
        "p": [p],
        "loss": -math.log(p[answer]),
        "d_logits": [d_logits],
        "dW_vocabulary": dw,
        "mean": (1 - MEAN_DECAY) * dw,
        "square": (1 - SQUARE_DECAY) * dw**2,
        "step": update,
        "W_vocabulary_after": w + update,
        "loss_after": -math.log(p_after[answer]),
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
REVERSE = Net(words=7, length=6, d_k=8)
INDUCTION = Net(words=9, length=8, d_k=16, layers=2, causal=True)
WALK = Net(words=6, length=8, d_k=8, causal=True)


def reverse(draw, batch):
    """Draw tokens; the answers are the tokens in reverse order."""
    tokens = draw.randint(0, 7, (batch, 6))
    return tokens, tokens[:, ::-1]


def induction(draw, batch):
    """Draw seven distinct tokens and repeat one of the first six as the eighth.

    The answer at the end is the token that follows the first occurrence; elsewhere -1, for no loss.
    """
    tokens = draw.random_sample((batch, 9)).argsort(axis=1)[:, :8]
    positions, answers = draw.randint(0, 6, batch), np.full((batch, 8), -1)
    rows = np.arange(batch)
    tokens[:, 7] = tokens[rows, positions]
    answers[:, 7] = tokens[rows, positions + 1]
    return tokens, answers


def walk(draw, batch, shift=1):
    """Draw walks of one or two tokens forward; the answer is the token `shift` positions later."""
    start, steps = draw.randint(0, 6, (batch, 1)), draw.randint(1, 3, (batch, 8))
    tokens = np.hstack([start, start + steps.cumsum(axis=1)]) % 6
    return tokens[:, :8], tokens[:, shift : shift + 8]


def unshifted_walk(draw, batch):
    return walk(draw, batch, shift=0)


def initial_weights(net, size, seed):
    """Draw normally distributed weights by name; `size` scales the embeddings."""
    draw = RandomState(seed)
    shapes = {"E": (net.words, WIDTH), "P": (net.length, WIDTH)}
    for layer in range(net.layers):
        shapes |= {("Q", layer): (WIDTH, net.d_k), ("K", layer): (WIDTH, net.d_k)}
        shapes[("V", layer)] = (WIDTH, WIDTH)
    shapes["U"] = (WIDTH, net.words)
    weights = {name: draw.standard_normal(shape) / 4 for name, shape in shapes.items()}
    return weights | {name: size * weights[name] for name in "EP"}


def forward(net, w, tokens):
    """Return the logits, their input, and each layer's input, queries, keys, values and weights."""
    x = w["E"][tokens] + (w["P"] if net.positions else 0)
    layers = []
    for layer in range(net.layers):
        q, k, v = (x @ w[role, layer] for role in "QKV")
        scores = q @ k.mT / (math.sqrt(net.d_k) if net.scaled else 1)
        if net.causal:
            scores += np.triu(np.full(scores.shape[1:], -np.inf), 1)
        exponentials = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights = exponentials / exponentials.sum(axis=2, keepdims=True)
        layers.append((x, q, k, v, weights))
        x = (x if net.residual else 0) + weights @ v
    return x @ w["U"], x, layers


def log_probabilities(logits):
    shifted = logits - logits.max(axis=2, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))


def backward(net, w, tokens, answers):
    """Return the gradients of the mean loss by weight, by backpropagation."""
    logits, x, layers = forward(net, w, tokens)
    b, n = np.nonzero(answers >= 0)
    d_logits = np.zeros_like(logits)
    d_logits[b, n] = np.exp(log_probabilities(logits))[b, n]
    d_logits[b, n, answers[b, n]] -= 1
    d_logits /= len(b)
    gradients = {"U": summed_products(x, d_logits)}
    dx = d_logits @ w["U"].T
    for layer in reversed(range(net.layers)):
        x, q, k, v, weights = layers[layer]
        d_weights = dx @ v.mT
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=2, keepdims=True))
        d_scores /= math.sqrt(net.d_k) if net.scaled else 1
        by_role = {"Q": d_scores @ k, "K": d_scores.mT @ q, "V": weights.mT @ dx}
        dx = dx if net.residual else np.zeros_like(dx)
        for role, gradient in by_role.items():
            gradients[role, layer] = summed_products(x, gradient)
            dx = dx + gradient @ w[role, layer].T
    gradients["E"] = np.zeros_like(w["E"])
    np.add.at(gradients["E"], tokens, dx)
    if net.positions:
        gradients["P"] = dx.sum(axis=0)
    return gradients


def summed_products(x, y):
    """Return x^T y, summed over the batch."""
    return np.einsum("bni,bnj->ij", x, y)


def adam(w, gradients, steps, every, rate=RATE, decay=0.0):
    """Return the weights before the first step of Adam, and after each `every` steps."""
    mean, square, checkpoints = dict.fromkeys(w, 0.0), dict.fromkeys(w, 0.0), [w]
    for step in range(1, steps + 1):
        w = dict(w)
        for name, gradient in gradients(w).items():
            mean[name] = MEAN_DECAY * mean[name] + (1 - MEAN_DECAY) * gradient
            square[name] = SQUARE_DECAY * square[name] + (1 - SQUARE_DECAY) * gradient**2
            unbiased_mean = mean[name] / (1 - MEAN_DECAY**step)
            unbiased_square = square[name] / (1 - SQUARE_DECAY**step)
            update = unbiased_mean / (np.sqrt(unbiased_square) + EPSILON) + decay * w[name]
            w[name] = w[name] - rate * update
        if step % every == 0:
            checkpoints.append(w)
    return checkpoints


@cache
def train(net, task, size=1.0, every=10, start=None):
    """Return weights at first and after each of ten times `every` steps; `start` sets the seeds."""
    weight_seed, task_seed = (0, 1) if start is None else (start, start + 10)
    draw = RandomState(task_seed)
    return adam(
        initial_weights(net, size, weight_seed),
        lambda w: backward(net, w, *task(draw, 32)),
        steps=10 * every,
        every=every,
    )


def evaluate(net, w, task):
    tokens, answers = task(RandomState(2), 256)
    logits, *_ = forward(net, w, tokens)
    b, n = np.nonzero(answers >= 0)
    loss = -np.mean(log_probabilities(logits)[b, n, answers[b, n]])
    return loss, round(100 * np.mean(logits[b, n].argmax(axis=1) == answers[b, n]))


def weights_of_first_sequence(net, w, task):
    """Return the attention weights of each layer on the first test sequence."""
    *_, layers = forward(net, w, task(RandomState(2), 256)[0][:1])
    return [weights[0] for *_, weights in layers]


def scaled_scores(net, w, layer, x_q, x_kv):
    return (x_q @ w["Q", layer]) @ (x_kv @ w["K", layer]).T / math.sqrt(net.d_k)


TOLERANCE = {"rtol": 2e-5, "atol": 0}
METHOD = "training once more"


@independent("learning_reverse", METHOD, **TOLERANCE, fixed=["DRAWN"])
def learning_reverse(literals):
    checkpoints = train(REVERSE, reverse)
    loss, accuracy = zip(*(evaluate(REVERSE, w, reverse) for w in checkpoints), strict=True)
    attention = {
        f"weights_{10 * i}": weights_of_first_sequence(REVERSE, checkpoints[i], reverse)[0]
        for i in (0, 4, 5, 10)
    }
    positions = checkpoints[-1]["P"]
    return {
        "step": range(0, 101, 10),
        "loss": loss,
        "accuracy": accuracy,
        "tokens": reverse(RandomState(2), 256)[0][0],
        **attention,
        "position_scores": scaled_scores(REVERSE, checkpoints[-1], 0, positions, positions),
    }


@independent("learning_induction", METHOD, **TOLERANCE)
def learning_induction(literals):
    computed = {}
    for name, net in (("one", INDUCTION._replace(layers=1)), ("two", INDUCTION)):
        checkpoints = train(net, induction, every=25)
        results = [evaluate(net, w, induction) for w in checkpoints]
        computed[f"loss_{name}"], computed[f"accuracy_{name}"] = zip(*results, strict=True)
    w = checkpoints[-1]  # of two layers
    tokens, _ = induction(RandomState(2), 256)
    first, second = weights_of_first_sequence(INDUCTION, w, induction)
    return {
        **computed,
        "step": range(0, 251, 25),
        "guesses": [math.log(5), math.log(6)],
        "tokens": tokens[0],
        "weights1": first,
        "weights2": second,
        "position_scores": scaled_scores(INDUCTION, w, 0, w["P"], w["P"]),
        "match_scores": scaled_scores(INDUCTION, w, 1, w["E"], w["E"] @ w["V", 0]),
    }


@independent("learning_mistakes", METHOD, **TOLERANCE)
def learning_mistakes(literals):
    wide, unmasked = REVERSE._replace(d_k=64), WALK._replace(causal=False)
    wide_unscaled = wide._replace(scaled=False)

    def evaluate_checkpoints(net, task, tested_net=None, tested_task=None, **options):
        """Train a model and return its losses and accuracies, as another net or on another task."""
        checkpoints = train(net, task, **options)
        return [evaluate(tested_net or net, w, tested_task or task) for w in checkpoints]

    results_by_name = {
        "no_positions": evaluate_checkpoints(REVERSE._replace(positions=False), reverse),
        "no_residual": evaluate_checkpoints(REVERSE._replace(residual=False), reverse),
        "induction_no_positions": evaluate_checkpoints(
            INDUCTION._replace(positions=False), induction, every=25
        ),
        "induction_no_residual": evaluate_checkpoints(
            INDUCTION._replace(residual=False), induction, every=25
        ),
        "wide": evaluate_checkpoints(wide, reverse, size=4.0),
        "wide_unscaled": evaluate_checkpoints(wide_unscaled, reverse, size=4.0),
        "walk": evaluate_checkpoints(WALK, walk),
        "unmasked": evaluate_checkpoints(unmasked, walk),
        "unmasked_used": evaluate_checkpoints(unmasked, walk, tested_net=WALK),
        "unshifted": evaluate_checkpoints(WALK, unshifted_walk),
        "unshifted_used": evaluate_checkpoints(WALK, unshifted_walk, tested_task=walk),
    }
    computed = {"step": range(0, 101, 10), "log_2": math.log(2)}
    for name, pairs in results_by_name.items():
        computed[name], computed[f"{name}_accuracy"] = zip(*pairs, strict=True)
    for name, net in (("wide", wide), ("wide_unscaled", wide_unscaled)):
        after_40_steps = [
            train(net, reverse, size=4.0, every=4, start=start)[-1] for start in range(10, 16)
        ]
        accuracies = [evaluate(net, w, reverse)[1] for w in after_40_steps]
        computed[f"{name}_accuracy_by_seed"] = accuracies
    return computed
