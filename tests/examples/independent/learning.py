"""Models that the package has trained, evaluated again, and one step of Adam."""

import math
from dataclasses import replace

import numpy as np

from tests import loops
from tests.examples import trained
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
        "loss_after": -math.log(p_after[answer]),
    }


def forward(net, w, tokens):
    """Return the logits, and the attention weights of each layer."""
    x = w["W_E"][tokens] + (w["W_P"] if net.has_positions else 0)
    layers = []
    for layer in range(1, net.layers + 1):
        q, k, v = (x @ w[f"W_{role}{layer}"] for role in "QKV")
        scores = q @ k.mT / (math.sqrt(net.d_k) if net.scale is None else 1)
        if net.is_causal:
            scores += np.triu(np.full(scores.shape[1:], -np.inf), 1)
        exponentials = np.exp(scores - scores.max(axis=2, keepdims=True))
        layers.append(exponentials / exponentials.sum(axis=2, keepdims=True))
        x = (x if net.has_residual else 0) + layers[-1] @ v
    return x @ w["W_vocabulary"], layers


def evaluate(net, w, task):
    """Return the loss and the percentage of right tokens in the test of a task."""
    tokens, answers = trained.tokens_and_answers(task)
    logits, _ = forward(net, w, tokens)
    right = answers[answers >= 0]
    rows = logits[answers >= 0]
    shifted = rows - rows.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = -np.mean(log_p[np.arange(len(right)), right])
    return loss, round(100 * np.mean(rows.argmax(axis=1) == right))


def evaluate_checkpoints(net, task, tested_on=None, tested_with=None, **options):
    """Return losses and accuracies of a trained model, also with other options, on another task."""
    model, weights = trained.checkpoints(net, task, **options)
    tested = replace(model, **(tested_with or {}))
    return zip(*(evaluate(tested, w, tested_on or task) for w in weights), strict=True)


def weights_of_first_sequence(net, w, task):
    """Return the attention weights of each layer on the first test sequence."""
    _, layers = forward(net, w, trained.tokens_and_answers(task)[0][:1])
    return [weights[0] for weights in layers]


def scaled_scores(net, w, layer, x_q, x_kv):
    return (x_q @ w[f"W_Q{layer}"]) @ (x_kv @ w[f"W_K{layer}"]).T / math.sqrt(net.d_k)


METHOD = "another forward pass of what was trained"


@independent("learning_reverse", METHOD, atol=0, fixed=["DRAWN"])
def learning_reverse(literals):
    net, checkpoints = trained.checkpoints(trained.REVERSE, "reverse")
    loss, accuracy = evaluate_checkpoints(net, "reverse")
    attention = {
        f"weights_{10 * i}": weights_of_first_sequence(net, checkpoints[i], "reverse")[0]
        for i in (0, 4, 5, 10)
    }
    positions = checkpoints[-1]["W_P"]
    return {
        "step": range(0, 101, 10),
        "loss": loss,
        "accuracy": accuracy,
        "tokens": trained.tokens_and_answers("reverse")[0][0],
        **attention,
        "position_scores": scaled_scores(net, checkpoints[-1], 1, positions, positions),
    }


@independent("learning_induction", METHOD, atol=0)
def learning_induction(literals):
    net, checkpoints = trained.checkpoints(trained.INDUCTION, "induction")
    loss_one, accuracy_one = evaluate_checkpoints(net, "induction", layers=1)
    loss_two, accuracy_two = evaluate_checkpoints(net, "induction")
    w = checkpoints[-1]
    first, second = weights_of_first_sequence(net, w, "induction")
    return {
        "step": range(0, 251, 25),
        "loss_one": loss_one,
        "loss_two": loss_two,
        "accuracy_one": accuracy_one,
        "accuracy_two": accuracy_two,
        "guesses": [math.log(5), math.log(6)],
        "tokens": trained.tokens_and_answers("induction")[0][0],
        "weights1": first,
        "weights2": second,
        "position_scores": scaled_scores(net, w, 1, w["W_P"], w["W_P"]),
        "match_scores": scaled_scores(net, w, 2, w["W_E"], w["W_E"] @ w["W_V1"]),
    }


@independent("learning_mistakes", METHOD, atol=0)
def learning_mistakes(literals):
    reverse, induction, walk = trained.REVERSE, trained.INDUCTION, trained.WALK
    large = {"d_k": 64, "embedding_scale": 4.0}
    results = {
        "no_positions": evaluate_checkpoints(reverse, "reverse", has_positions=False),
        "no_residual": evaluate_checkpoints(reverse, "reverse", has_residual=False),
        "induction_no_positions": evaluate_checkpoints(induction, "induction", has_positions=False),
        "induction_no_residual": evaluate_checkpoints(induction, "induction", has_residual=False),
        "wide": evaluate_checkpoints(reverse, "reverse", **large),
        "wide_unscaled": evaluate_checkpoints(reverse, "reverse", **large, scale=1.0),
        "walk": evaluate_checkpoints(walk, "walk"),
        "unmasked": evaluate_checkpoints(walk, "walk", is_causal=False),
        "unmasked_used": evaluate_checkpoints(
            walk, "walk", tested_with={"is_causal": True}, is_causal=False
        ),
        "unshifted": evaluate_checkpoints(walk, "unshifted"),
        "unshifted_used": evaluate_checkpoints(walk, "unshifted", tested_on="walk"),
    }
    computed = {"step": range(0, 101, 10), "log_2": math.log(2)}
    for name, result in results.items():
        computed[name], computed[f"{name}_accuracy"] = result
    for name, scale in (("wide", None), ("wide_unscaled", 1.0)):
        model = replace(reverse, d_k=64, scale=scale)
        after_40_steps = [trained.after_40_steps(model, start) for start in range(10, 16)]
        accuracies = [evaluate(model, w, "reverse")[1] for w in after_40_steps]
        computed[f"{name}_accuracy_by_seed"] = accuracies
    return computed
