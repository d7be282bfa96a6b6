"""The learned model of the course: trained once more, and asked in slow loops."""

import math
from functools import cache

import numpy as np
from numpy.random import RandomState

from tests import reference
from tests.examples.comparison import independent
from tests.examples.independent import course

SIZES = {"d": 7, "k": 3, "v": 4, "f": 1}
BOTH = (["birds", "boats"], ["boats", "birds"])


def sentences(nouns, verbs, reasons):
    """Return the sentences as word numbers, and for each whether its nouns are neighbours."""
    words = [*nouns, *verbs, "because", "they", *reasons]
    rows, neighbours = [], []
    for a in range(len(nouns)):
        for b in set(range(len(nouns))) - {a}:
            for verb in verbs:
                text = f"{nouns[a]} {verb} {nouns[b]} because they {reasons[a]}".split()
                rows.append([words.index(word) for word in text])
                neighbours.append(a in (b - 1, b + 1))
    return words, np.array(rows), np.array(neighbours)


def start(words, seed, deviation):
    d, k, v, f = SIZES.values()
    shapes = {"X": (words, d), "E": (5, d)}
    for i in "12":
        shapes |= {f"W_Q_{i}": (d, k), f"W_K_{i}": (d, k), f"W_O_{i}": (v, d)}
    shapes |= {"W_V": (d, v), "W_1": (d, f), "B_1": (f,), "W_2": (f, d), "W_VOCABULARY": (d, words)}
    draw = RandomState(seed)
    return {name: deviation * draw.standard_normal(shape) for name, shape in shapes.items()}


def normed(rows):
    spread = np.sqrt(rows.var(axis=-1, keepdims=True) + 1e-5)
    return (rows - rows.mean(axis=-1, keepdims=True)) / spread, spread


def through_norm(d, rows, spread):
    """Return the gradient before a norm: what neither shifts nor stretches the row."""
    n = rows.shape[-1]
    stretch = np.einsum("...i,...i->...", d, rows)[..., None] / n
    return (d - d.sum(axis=-1, keepdims=True) / n - rows * stretch) / spread


def forward(w, words, is_uniform):
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
    y, y_spread = normed(summed)
    hidden = np.maximum(0, y @ w["W_1"] + w["B_1"])
    out, spread = normed(y + hidden @ w["W_2"])
    logits = out @ w["W_VOCABULARY"]
    log_p = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    return log_p, (x, v, heads, y, y_spread, hidden, out, spread)


def summed_product(rows, d):
    return np.einsum("bni,bnj->ij", rows, d)


def gradients(w, sentence_rows, is_uniform):
    words, following = sentence_rows[:, :5], sentence_rows[:, 1:]
    log_p, (x, v, heads, y, y_spread, hidden, out, spread) = forward(w, words, is_uniform)
    d = (np.exp(log_p) - np.eye(log_p.shape[2])[following]) / following.size
    computed = {"W_VOCABULARY": summed_product(out, d)}
    d = through_norm(d @ w["W_VOCABULARY"].T, out, spread)
    computed["W_2"] = summed_product(hidden, d)
    d_hidden = np.where(hidden > 0, d @ w["W_2"].T, 0)
    computed["W_1"], computed["B_1"] = summed_product(y, d_hidden), d_hidden.sum(axis=(0, 1))
    d = through_norm(d + d_hidden @ w["W_1"].T, y, y_spread)
    dx, dv = d, 0
    for i, (q, k, weights) in zip("12", heads, strict=True):
        computed[f"W_O_{i}"] = summed_product(weights @ v, d)
        d_head = d @ w[f"W_O_{i}"].T
        dv = dv + weights.mT @ d_head
        d_weights = d_head @ v.mT
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=2, keepdims=True))
        d_scores *= 0 if is_uniform else 1 / math.sqrt(3)
        for name, gradient in ((f"W_Q_{i}", d_scores @ k), (f"W_K_{i}", d_scores.mT @ q)):
            computed[name] = summed_product(x, gradient)
            dx = dx + gradient @ w[name].T
    computed["W_V"] = summed_product(x, dv)
    dx = dx + dv @ w["W_V"].T
    computed["E"], computed["X"] = dx.sum(axis=0), np.zeros_like(w["X"])
    np.add.at(computed["X"], words, dx)
    return computed


def train(rows, seed, is_uniform, deviation, rate, decay, steps, every):
    """Train with Adam and decay; return the matrices before the first step and at each stage."""
    w = start(rows.max() + 1, seed, deviation)
    mean, square, stages = dict.fromkeys(w, 0.0), dict.fromkeys(w, 0.0), [w]
    for step in range(1, steps + 1):
        w = dict(w)
        for name, gradient in gradients(w, rows, is_uniform).items():
            mean[name] = 0.9 * mean[name] + 0.1 * gradient
            square[name] = 0.98 * square[name] + 0.02 * gradient**2
            root = np.sqrt(square[name] / (1 - 0.98**step)) + 1e-8
            change = mean[name] / (1 - 0.9**step) / root + decay * w[name]
            w[name] = w[name] - rate * change
        stages += [w] * (step % every == 0)
    return stages


def grade(w, rows, is_uniform=False):
    """Return the loss and the percentage right after "they"."""
    after_they = forward(w, rows[:, :5], is_uniform)[0][:, 4]
    right = after_they.argmax(axis=1) == rows[:, 5]
    return -after_they[np.arange(len(rows)), rows[:, 5]].mean(), round(100 * right.mean())


def loss(w, rows):
    log_p, _ = forward(w, rows[:, :5], is_uniform=False)
    return -np.take_along_axis(log_p, rows[:, 1:, None], axis=2).mean()


@cache
def trained(nouns, verbs, reasons, options):
    """Return the words, the sentences kept apart, and the stages of each start and without scores."""
    words, rows, apart = sentences(nouns, verbs, reasons)
    starts = [train(rows[~apart], seed, False, *options) for seed in range(10)]
    losses = [loss(stages[-1], rows[~apart]) for stages in starts]
    best = losses.index(min(losses))
    uniform = train(rows[~apart], best, True, *options)
    return words, rows, apart, starts, losses, best, uniform


def repeat(literals):
    lists = (tuple(literals[name]) for name in ("NOUNS", "VERBS", "REASONS"))
    names = ("DEVIATION", "RATE", "DECAY", "STEPS", "EVERY")
    return trained(*lists, tuple(literals[name] for name in names))


@independent("course_learned", "training once more", rtol=1e-5, atol=0)
def training(literals):
    words, rows, apart, starts, losses, best, uniform = repeat(literals)
    stages, held = starts[best], rows[apart]
    loss_they, right = zip(*(grade(w, held) for w in stages), strict=True)
    loss_uniform, right_uniform = zip(
        *(grade(w, held, is_uniform=True) for w in uniform), strict=True
    )
    vectors = dict(zip(words, stages[-1]["X"], strict=True))
    sentence = ["birds", "pass", "boats", "because", "they"]
    uncut = stages[-1]
    without = [{**uncut, f"W_O_{i}": 0 * uncut[f"W_O_{i}"]} for i in "12"]
    return {
        "sentences": [len(rows) - apart.sum(), apart.sum()],
        "step": [i * literals["EVERY"] for i in range(len(stages))],
        "loss": [loss(w, rows[~apart]) for w in stages],
        "loss_they": loss_they,
        "loss_they_uniform": loss_uniform,
        "right": right,
        "right_uniform": right_uniform,
        "loss_of_starts": losses,
        "right_of_starts": [grade(stages[-1], held)[1] for stages in starts],
        "start": best,
        "X": [vectors[word] for word in sentence],
        "verbs": [vectors[word] for word in literals["VERBS"]],
        "right_without": [grade(w, held)[1] for w in (uncut, *without)],
    }


@independent("course_learned", "slow loops over the matrices learned once more", rtol=1e-5, atol=0)
def answers(literals):
    words, _, _, starts, _, best, _ = repeat(literals)
    first, last = ({k: w.tolist() for k, w in starts[best][i].items()} for i in (0, -1))
    computed = {"next_words": [], "fly": [], "sail": [], "log_odds": []}
    for x, y in BOTH:
        sentence = [x, "pass", y, "because", "they"]
        suffix = "" if x == "birds" else "_swapped"
        for i in (1, 2):
            computed[f"weights_{i}{suffix}"] = weights_of(last, i, words, sentence)
            if not suffix:
                computed[f"before_{i}"] = weights_of(first, i, words, sentence)
        rows = placed(last, words, sentence)
        if not suffix:
            computed |= on_its_way(last, rows)
            computed["reasons"] = [chance(last, rows)[words.index(r)] for r in literals["REASONS"]]
        chances = []
        for heads in ((1, 2), (2,), (1,)):
            chances.append(chance(last, rows, heads))
        computed["next_words"].append([row.index(max(row)) for row in chances])
        for word in ("fly", "sail"):
            computed[word].append([row[words.index(word)] for row in chances])
        pairs = zip(computed["fly"][-1], computed["sail"][-1], strict=True)
        computed["log_odds"].append([math.log(fly / sail) for fly, sail in pairs])
    return computed


def chance(matrices, rows, heads=(1, 2)):
    """Return the probability of each word after the last row."""
    output = course.block(matrices, rows, course.multi_head_output(matrices, rows, heads))
    return course.probabilities(matrices, output)[-1]


def on_its_way(matrices, rows):
    q, k, v = course.project(matrices, rows, 2)
    head = reference.every_step(q, k, v, course.is_causal)
    return {
        "placed": rows,
        "Q_2": q,
        "K_2": k,
        "masked_2": head["masked"],
        "output_2": head["output"],
        "block": course.block(matrices, rows, course.multi_head_output(matrices, rows)),
    }


def placed(matrices, words, sentence):
    return course.add([matrices["X"][words.index(word)] for word in sentence], matrices["E"])


def weights_of(matrices, number, words, sentence):
    rows = placed(matrices, words, sentence)
    projected = course.project(matrices, rows, number)
    return reference.every_step(*projected, course.is_causal)["weights"]
