"""The course, in slow loops."""

import math
import statistics

import numpy as np

from tests import reference
from tests.examples.comparison import independent

CATS, DRINK, MILK, BECAUSE, THEY = range(5)
LOOPS = "slow loops"


def added(x, y):
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]


def placed(literals):
    return added(literals["X"], literals["E"])


def projected(literals, rows, head=1):
    names = (f"W_Q_{head}", f"W_K_{head}", "W_V")
    return [reference.matmul(rows, literals[name]) for name in names]


def earlier(i, j):
    return j <= i


def head(literals, number, rows, allowed=earlier):
    return reference.every_step(*projected(literals, rows, number), allowed)


def from_heads(literals, rows, heads=(1, 2)):
    """Return what the heads add to each word."""
    parts = [
        reference.matmul(head(literals, i, rows)["output"], literals[f"W_O_{i}"]) for i in heads
    ]
    return [
        [math.fsum(column) for column in zip(*words, strict=True)]
        for words in zip(*parts, strict=True)
    ]


def normed(rows):
    return [
        [(x - statistics.fmean(row)) / math.sqrt(statistics.pvariance(row) + 1e-5) for x in row]
        for row in rows
    ]


def feed_forward(literals, rows):
    """Return the hidden features before and after ReLU, and the output of the network."""
    before = [
        [x + literals["B_1"][0] for x in row] for row in reference.matmul(rows, literals["W_1"])
    ]
    hidden = [[max(0.0, x) for x in row] for row in before]
    return before, hidden, reference.matmul(hidden, literals["W_2"])


def block(literals, rows, extra):
    attended = normed(added(rows, extra))
    return normed(added(attended, feed_forward(literals, attended)[2]))


def probabilities(literals, rows):
    logits = reference.matmul(rows, literals["W_VOCABULARY"])
    return [reference.softmax_row(row) for row in logits]


@independent("course_sentence", "counting rows and columns")
def course_sentence(literals):
    q, v, w_1 = (literals[name][0] for name in ("W_Q_1", "W_V", "W_1"))
    heads = sum(f"W_Q_{i}" in literals for i in range(10))
    side_by_side = [*q, *literals["W_Q_2"][0]], [number for _ in range(heads) for number in v]
    rows = (literals["X"], literals["X"][0], q, v, range(heads), *side_by_side, w_1)
    return {"sizes": [*map(len, rows), len(literals["VOCABULARY"])]}


@independent("course_averages", LOOPS)
def course_averages(literals):
    x = literals["X"]
    dots = [[reference.dot(a, b) for b in x] for a in x]
    weights = [reference.softmax_row(row) for row in dots]
    powers = [math.exp(dot) for dot in dots[DRINK]]
    return {
        "mean": [statistics.fmean(column) for column in zip(*x, strict=True)],
        "dots": dots,
        "drink_exponentials": powers,
        "drink_sum": math.fsum(powers),
        "weights": weights,
        "blended": reference.matmul(weights, x),
    }


@independent("course_projections", LOOPS)
def course_projections(literals):
    q, k, v = projected(literals, literals["X"])
    steps = reference.every_step(q, k, v, divisor=1)
    computed = {name: steps[name] for name in ("scores", "weights", "output")}
    alike = reference.attention(literals["X"], literals["X"], literals["X"], divisor=1)[0]
    return {"Q": q, "K": k, "V": v, **computed, "weights_alike": alike}


@independent(
    "course_scale",
    "slow loops, and a step in the imaginary direction",
    # One minus a weight near one has seven significant digits.
    rtol=1e-7,
    atol=0,
)
def course_scale(literals):
    queries, keys, _ = projected(literals, literals["X"])
    scores = [reference.dot(queries[THEY], key) for key in keys]
    scaled = [score / math.sqrt(3) for score in scores]
    grown = [[z * math.sqrt(d / literals["D"][0]) for z in scores] for d in literals["D"]]
    slopes = [reference.softmax_slopes(row)[0][0] for row in (scaled, *grown)]
    divided = [slopes[0] / math.sqrt(d) for d in literals["D"]]
    return {
        "scores": scores,
        "weights_unscaled": reference.softmax_row(scores),
        "scaled": scaled,
        "weights": reference.softmax_row(scaled),
        "slope": slopes[0],
        "large": [row[0] for row in grown],
        "grown": [reference.softmax_row(row) for row in grown],
        "slopes": slopes[1:],
        "slopes_divided": divided,
        "gain": divided[0] / slopes[1],
    }


@independent("course_formula", LOOPS)
def course_formula(literals):
    q, k, v = projected(literals, literals["X"])
    steps = reference.every_step(q, k, v)
    powers = [[math.exp(z) for z in row] for row in steps["scaled"]]
    computed = {name: steps[name] for name in ("scores", "scaled", "weights", "output")}
    sums = [math.fsum(row) for row in powers]
    return {"Q": q, "K": k, "V": v, **computed, "exponentials": powers, "sums": sums}


@independent("course_order", LOOPS, fixed=["ORDER"])
def course_order(literals):
    x, computed = literals["X"], {}
    swapped = [x[MILK], x[DRINK], x[CATS], x[BECAUSE], x[THEY]]
    for ending, words in {"": x, "_swapped": swapped}.items():
        computed[f"placed{ending}"] = rows = added(words, literals["E"])
        for name, (number, tokens) in {"": (1, words), "_2": (2, rows)}.items():
            steps = head(literals, number, tokens, lambda i, j: True)
            computed |= {f"{step}{name}{ending}": steps[step] for step in ("weights", "output")}
    return {**computed, "X_swapped": swapped, "angle": math.degrees(math.acos(literals["E"][1][6]))}


@independent(
    "course_order",
    "slow loops, to the nine decimals of the example",
    fixed=["ORDER"],
    atol=1e-9,
)
def clock_scores(literals):
    query = projected(literals, placed(literals), 2)[0][DRINK]
    scores = head(literals, 2, placed(literals))["scores"]
    return {"drink_query": query, "drink_scores": scores[DRINK], "cats_scores": scores[CATS]}


@independent("course_mask", LOOPS)
def course_mask(literals):
    steps = head(literals, 1, placed(literals))
    return {
        **{name: steps[name] for name in ("scaled", "masked", "weights", "output")},
        "open_weights": head(literals, 1, placed(literals), lambda i, j: True)["weights"],
        "mask": [[j <= i for j in range(5)] for i in range(5)],
    }


@independent("course_heads", LOOPS)
def course_heads(literals):
    rows, computed = placed(literals), {"placed": placed(literals)}
    for i in (1, 2):
        steps = head(literals, i, rows)
        computed |= {f"weights_{i}": steps["weights"], f"head_{i}": steps["output"]}
        computed[f"added_{i}"] = reference.matmul(steps["output"], literals[f"W_O_{i}"])
    return {
        **computed,
        "side_by_side": np.hstack([computed["head_1"], computed["head_2"]]),
        "W_O": [*literals["W_O_1"], *literals["W_O_2"]],
        "output": added(computed["added_1"], computed["added_2"]),
        "one_head_weights": one_head_over_both(literals)["weights"],
    }


def one_head_over_both(literals):
    """Return the steps of a single head whose scores are the sums of those of both heads."""
    (q_1, k_1, v), (q_2, k_2, _) = (projected(literals, placed(literals), i) for i in (1, 2))
    q, k = ([[*a, *b] for a, b in zip(*both, strict=True)] for both in ((q_1, q_2), (k_1, k_2)))
    return reference.every_step(q, k, v, earlier)


@independent("course_heads", "slow loops, to the nine decimals of the example", atol=1e-9)
def they_scores(literals):
    scores = [head(literals, i, placed(literals))["scores"][THEY] for i in (1, 2)]
    return {"they_scores": [*scores, [a + b for a, b in zip(*scores, strict=True)]]}


@independent("course_block", LOOPS)
def course_block(literals):
    rows = placed(literals)
    extra = from_heads(literals, rows)
    summed = added(rows, extra)
    before, hidden, fed = feed_forward(literals, normed(summed))
    stages = [
        rows,
        summed,
        normed(summed),
        added(normed(summed), fed),
        block(literals, rows, extra),
    ]
    return {
        "added": extra,
        "placed": rows,
        "summed": summed,
        "mean": [statistics.fmean(row) for row in summed],
        "variance": [statistics.pvariance(row) for row in summed],
        "normed": normed(summed),
        "before": before,
        "before_without_norm": feed_forward(literals, summed)[0],
        "hidden": hidden,
        "fed": fed,
        "output": stages[-1],
        "they": [stage[THEY] for stage in stages],
    }


def largest(row):
    return row.index(max(row))


@independent("course_next_token", LOOPS)
def course_next_token(literals):
    rows = placed(literals)
    output = block(literals, rows, from_heads(literals, rows))
    predicted = probabilities(literals, output)
    losses = [-math.log(row[i + 1]) for i, row in enumerate(predicted)]
    longer = [*rows, literals["LIKE"]]
    appended = probabilities(literals, block(literals, longer, from_heads(literals, longer)))[-1]
    milk = reference.matmul([projected(literals, rows)[2][MILK]], literals["W_O_1"])
    extra = added(milk, from_heads(literals, rows, [2])[THEY:])
    return {
        "output": output,
        "logits": reference.matmul(output, literals["W_VOCABULARY"]),
        "probabilities": predicted,
        "next_token": largest(predicted[-1]),
        "losses": losses,
        "loss": statistics.fmean(losses),
        "appended": appended,
        "next_but_one": largest(appended),
        "earlier_rows_stay": True,
        "on_milk": probabilities(literals, block(literals, rows[THEY:], extra))[0],
    }


def probabilities_without(literals, component):
    """Return the probabilities of each row if a component of the model is left out."""
    rows = literals["X"] if component == "positions" else placed(literals)
    extra = from_heads(literals, rows, [i for i in (1, 2) if component != f"head {i}"])
    rows = extra if component == "first residual sum" else added(rows, extra)
    rows = rows if component == "first norm" else normed(rows)
    if component != "feed-forward network":
        rows = added(rows, feed_forward(literals, rows)[2])
    return probabilities(literals, rows if component == "second norm" else normed(rows))


@independent("course_next_token", "slow loops without the component")
def ablations(literals):
    rows = [probabilities_without(literals, component) for component in (None, *literals["PARTS"])]
    like = literals["VOCABULARY"].index("like")
    return {
        "first_choice": [largest(words[THEY]) for words in rows],
        "first": [max(words[THEY]) for words in rows],
        "like": [words[THEY][like] for words in rows],
        "right": [sum(largest(row) == i + 1 for i, row in enumerate(words)) for words in rows],
    }
