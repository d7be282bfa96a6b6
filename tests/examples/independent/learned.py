"""The learned model of the course: trained once more, and evaluated in slow loops."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from tests import loops
from tests.examples.comparison import independent
from tests.examples.independent import course
from tests.examples.independent.learning import adam, summed_products

SIZES = {"d": 7, "k": 3, "v": 4, "f": 1}
SENTENCE = ["birds", "pass", "boats", "because", "they"]
SWAPPED = ["boats", "pass", "birds", "because", "they"]


def sentences(nouns, verbs, reasons):
    """Return the words, the sentences as indices of words, and for each whether it is held out.

    Held out are the sentences whose nouns are neighbours in the list.
    """
    words = [*nouns, *verbs, "because", "they", *reasons]
    rows, held_out = [], []
    for a in range(len(nouns)):
        for b in set(range(len(nouns))) - {a}:
            for verb in verbs:
                text = f"{nouns[a]} {verb} {nouns[b]} because they {reasons[a]}".split()
                rows.append([words.index(word) for word in text])
                held_out.append(a in (b - 1, b + 1))
    return words, np.array(rows), np.array(held_out)


def initial_weights(words, seed, deviation):
    """Draw normally distributed weights by name."""
    d, k, v, f = SIZES.values()
    shapes = {"X": (words, d), "E": (5, d)}
    for i in "12":
        shapes |= {f"W_Q_{i}": (d, k), f"W_K_{i}": (d, k), f"W_O_{i}": (v, d)}
    shapes |= {"W_V": (d, v), "W_1": (d, f), "B_1": (f,), "W_2": (f, d), "W_VOCABULARY": (d, words)}
    draw = RandomState(seed)
    return {name: deviation * draw.standard_normal(shape) for name, shape in shapes.items()}


def layer_norm(rows):
    std = np.sqrt(rows.var(axis=-1, keepdims=True) + 1e-5)
    return (rows - rows.mean(axis=-1, keepdims=True)) / std, std


def layer_norm_backward(d, rows, std):
    """Return the gradient of a layer norm's input; `d` is the gradient of its output, `rows`."""
    n = rows.shape[-1]
    stretch = np.einsum("...i,...i->...", d, rows)[..., None] / n
    return (d - d.sum(axis=-1, keepdims=True) / n - rows * stretch) / std


def forward(w, words, is_uniform):
    """Return the log-probabilities of the next words, and what the backward pass needs."""
    x = w["X"][words] + w["E"]
    v, later = x @ w["W_V"], np.triu(np.full((5, 5), -np.inf), 1)
    heads, summed = [], x
    for i in "12":
        q, k = x @ w[f"W_Q_{i}"], x @ w[f"W_K_{i}"]
        scores = (0 if is_uniform else 1 / math.sqrt(3)) * (q @ k.mT) + later
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights = powers / powers.sum(axis=2, keepdims=True)
        heads.append((q, k, weights))
        summed = summed + weights @ v @ w[f"W_O_{i}"]
    y, y_std = layer_norm(summed)
    hidden = np.maximum(0, y @ w["W_1"] + w["B_1"])
    out, std = layer_norm(y + hidden @ w["W_2"])
    logits = out @ w["W_VOCABULARY"]
    log_p = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    return log_p, (x, v, heads, y, y_std, hidden, out, std)


def gradients(w, sentence_rows, is_uniform):
    """Return the gradients of the mean loss by weight, by backpropagation."""
    words, following = sentence_rows[:, :5], sentence_rows[:, 1:]
    log_p, (x, v, heads, y, y_std, hidden, out, std) = forward(w, words, is_uniform)
    d = (np.exp(log_p) - np.eye(log_p.shape[2])[following]) / following.size
    computed = {"W_VOCABULARY": summed_products(out, d)}
    d = layer_norm_backward(d @ w["W_VOCABULARY"].T, out, std)
    computed["W_2"] = summed_products(hidden, d)
    d_hidden = np.where(hidden > 0, d @ w["W_2"].T, 0)
    computed["W_1"], computed["B_1"] = summed_products(y, d_hidden), d_hidden.sum(axis=(0, 1))
    d = layer_norm_backward(d + d_hidden @ w["W_1"].T, y, y_std)
    dx, dv = d, 0
    for i, (q, k, weights) in zip("12", heads, strict=True):
        computed[f"W_O_{i}"] = summed_products(weights @ v, d)
        d_head = d @ w[f"W_O_{i}"].T
        dv = dv + weights.mT @ d_head
        d_weights = d_head @ v.mT
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=2, keepdims=True))
        d_scores *= 0 if is_uniform else 1 / math.sqrt(3)
        for name, gradient in ((f"W_Q_{i}", d_scores @ k), (f"W_K_{i}", d_scores.mT @ q)):
            computed[name] = summed_products(x, gradient)
            dx = dx + gradient @ w[name].T
    computed["W_V"] = summed_products(x, dv)
    dx = dx + dv @ w["W_V"].T
    computed["E"], computed["X"] = dx.sum(axis=0), np.zeros_like(w["X"])
    np.add.at(computed["X"], words, dx)
    return computed


def evaluate(w, rows, is_uniform=False):
    """Return the loss and the accuracy, in percent, of the word after "they"."""
    after_they = forward(w, rows[:, :5], is_uniform)[0][:, 4]
    is_correct = after_they.argmax(axis=1) == rows[:, 5]
    return -after_they[np.arange(len(rows)), rows[:, 5]].mean(), round(100 * is_correct.mean())


def loss(w, rows):
    """Return the mean loss over all words of the sentences."""
    log_p, _ = forward(w, rows[:, :5], is_uniform=False)
    return -np.take_along_axis(log_p, rows[:, 1:, None], axis=2).mean()


class Training(NamedTuple):
    """What the example learns.

    Attributes:
        rows: the sentences, as indices of words.
        runs: the weights at each checkpoint, by seed.
        losses: the final losses, by seed.
        best: the seed with the smallest final loss.
        uniform: the weights at each checkpoint from that seed, with uniform attention weights.
    """

    words: list
    rows: np.ndarray
    held_out: np.ndarray
    runs: list
    losses: list
    best: int
    uniform: list


@cache
def train_all_seeds(nouns, verbs, reasons, deviation, **options):
    """Train from ten seeds, and once more from the best of them with uniform weights."""
    words, rows, held_out = sentences(nouns, verbs, reasons)

    def train(seed, is_uniform):
        w = initial_weights(len(words), seed, deviation)
        return adam(w, lambda w: gradients(w, rows[~held_out], is_uniform), **options)

    runs = [train(seed, is_uniform=False) for seed in range(10)]
    losses = [loss(run[-1], rows[~held_out]) for run in runs]
    best = losses.index(min(losses))
    uniform = train(best, is_uniform=True)
    return Training(words, rows, held_out, runs, losses, best, uniform)


def train_again(literals):
    """Train with the words and the options of the example, at most once per process."""
    words = (tuple(literals[name]) for name in ("NOUNS", "VERBS", "REASONS"))
    options = {name.lower(): literals[name] for name in ("RATE", "DECAY", "STEPS")}
    every = literals["STEPS_PER_CHECKPOINT"]
    return train_all_seeds(*words, literals["DEVIATION"], **options, every=every)


@independent("course_learned", "training once more", rtol=1e-5, atol=0)
def training(literals):
    trained = train_again(literals)
    learned = trained.runs[trained.best]
    training_rows, test = trained.rows[~trained.held_out], trained.rows[trained.held_out]
    loss_they, accuracy = zip(*(evaluate(w, test) for w in learned), strict=True)
    loss_uniform, accuracy_uniform = zip(
        *(evaluate(w, test, is_uniform=True) for w in trained.uniform), strict=True
    )
    whole = learned[-1]
    vectors = dict(zip(trained.words, whole["X"], strict=True))
    without = [{**whole, f"W_O_{i}": 0 * whole[f"W_O_{i}"]} for i in "12"]
    return {
        "sentences": [len(training_rows), len(test)],
        "step": [i * literals["STEPS_PER_CHECKPOINT"] for i in range(len(learned))],
        "loss_they": loss_they,
        "loss_they_uniform": loss_uniform,
        "accuracy": accuracy,
        "accuracy_uniform": accuracy_uniform,
        "accuracy_by_seed": [evaluate(run[-1], test)[1] for run in trained.runs],
        "X": [vectors[word] for word in SENTENCE],
        "accuracy_without": [evaluate(w, test)[1] for w in (whole, *without)],
    }


LOOPS = "slow loops over the matrices learned once more"


def words_and_matrices(literals, checkpoint):
    """Return the vocabulary, and the matrices at a checkpoint of the best seed as lists."""
    trained = train_again(literals)
    weights = trained.runs[trained.best][checkpoint]
    return trained.words, {name: matrix.tolist() for name, matrix in weights.items()}


@independent("course_learned", LOOPS, rtol=1e-5, atol=0)
def steps_of_sentences(literals):
    words, untrained = words_and_matrices(literals, checkpoint=0)
    _, learned = words_and_matrices(literals, checkpoint=-1)
    rows = embed(learned, words, SENTENCE)
    chances = chance(learned, rows)
    return {
        **first_sentence_steps(learned, rows),
        "reasons": [chances[words.index(reason)] for reason in literals["REASONS"]],
        "before_2": attention_weights(untrained, 2, words, SENTENCE),
        "weights_1": attention_weights(learned, 1, words, SENTENCE),
        "weights_2": attention_weights(learned, 2, words, SENTENCE),
        "weights_2_swapped": attention_weights(learned, 2, words, SWAPPED),
    }


@independent("course_learned", LOOPS, rtol=1e-5, atol=0)
def answers_without_a_head(literals):
    words, learned = words_and_matrices(literals, checkpoint=-1)
    fly, sail = words.index("fly"), words.index("sail")
    computed = {"next_words": [], "log_odds": []}
    for sentence in (SENTENCE, SWAPPED):
        rows = embed(learned, words, sentence)
        chances = [chance(learned, rows, heads) for heads in ((1, 2), (2,), (1,))]
        computed["next_words"].append([course.argmax(row) for row in chances])
        computed["log_odds"].append([math.log(row[fly] / row[sail]) for row in chances])
    return computed


def chance(matrices, rows, heads=(1, 2)):
    """Return the probability of each word after the last row."""
    output = course.block(matrices, rows, course.multi_head_output(matrices, rows, heads))
    return course.probabilities(matrices, output)[-1]


def first_sentence_steps(matrices, rows):
    """Return the steps of head 2 and of the block for one sentence."""
    q, k, v = course.project(matrices, rows, 2)
    head = loops.every_step(q, k, v, course.is_causal)
    return {
        "with_positions": rows,
        "Q_2": q,
        "K_2": k,
        "V_2": v,
        "masked_2": head["masked"],
        "output_2": head["output"],
        "block": course.block(matrices, rows),
    }


def embed(matrices, words, sentence):
    return course.add([matrices["X"][words.index(word)] for word in sentence], matrices["E"])


def attention_weights(matrices, number, words, sentence):
    rows = embed(matrices, words, sentence)
    projected = course.project(matrices, rows, number)
    return loops.every_step(*projected, course.is_causal)["weights"]


@independent("course_training", "slow loops over the first weights, drawn once more")
def before_training(literals):
    words, rows, held_out = sentences(*(literals[name] for name in ("NOUNS", "VERBS", "REASONS")))
    drawn = initial_weights(len(words), literals["SEED"], literals["DEVIATION"])
    rounded = {name: matrix.round(3) for name, matrix in drawn.items()}
    lists = {name: matrix.tolist() for name, matrix in rounded.items()}
    chances = chance(lists, embed(lists, words, SENTENCE))
    return {
        "loss": loss(rounded, rows[~held_out]),
        **{f"weights_{i}": attention_weights(lists, i, words, SENTENCE) for i in (1, 2)},
        "reasons": [chances[words.index(reason)] for reason in literals["REASONS"]],
    }
