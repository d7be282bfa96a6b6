"""The course: its one sentence in slow loops."""

import math
import statistics

import numpy as np

from tests import reference
from tests.examples.comparison import way

CATS, DRINK, MILK, BECAUSE, THEY = range(5)
LOOPS = "slow loops"


def added(one, other):
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)]


def placed(given):
    return added(given["X"], given["E"])


def projected(given, rows, head=1):
    names = (f"W_Q_{head}", f"W_K_{head}", "W_V")
    return [reference.matmul(rows, given[name]) for name in names]


def earlier(i, j):
    return j <= i


def head(given, number, rows, allowed=earlier):
    return reference.every_step(*projected(given, rows, number), allowed)


def from_heads(given, rows, heads=(1, 2)):
    """What the heads add to each word."""
    parts = [reference.matmul(head(given, i, rows)["output"], given[f"W_O_{i}"]) for i in heads]
    return [
        [math.fsum(column) for column in zip(*words, strict=True)]
        for words in zip(*parts, strict=True)
    ]


def normed(rows):
    return [
        [(x - statistics.fmean(row)) / math.sqrt(statistics.pvariance(row) + 1e-5) for x in row]
        for row in rows
    ]


def rule(given, rows):
    """What the feed-forward network computes: before the maximum, after it, and for each row."""
    before = [[x + given["B_1"][0] for x in row] for row in reference.matmul(rows, given["W_1"])]
    hidden = [[max(0.0, x) for x in row] for row in before]
    return before, hidden, reference.matmul(hidden, given["W_2"])


def block(given, rows, extra):
    first = normed(added(rows, extra))
    return normed(added(first, rule(given, first)[2]))


def probabilities(given, rows):
    logits = reference.matmul(rows, given["W_VOCABULARY"])
    return [reference.softmax_row(row) for row in logits]


@way("course_sentence", "counting rows and columns")
def course_sentence(given):
    q, v, w_1 = (given[name][0] for name in ("W_Q_1", "W_V", "W_1"))
    heads = sum(f"W_Q_{i}" in given for i in range(10))
    side_by_side = [*q, *given["W_Q_2"][0]], [number for _ in range(heads) for number in v]
    rows = (given["X"], given["X"][0], q, v, range(heads), *side_by_side, w_1)
    return {"sizes": [*map(len, rows), len(given["VOCABULARY"])]}


@way("course_averages", LOOPS)
def course_averages(given):
    x = given["X"]
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


@way("course_projections", LOOPS)
def course_projections(given):
    q, k, v = projected(given, given["X"])
    steps = reference.every_step(q, k, v, divisor=1)
    computed = {name: steps[name] for name in ("scores", "weights", "output")}
    alike = reference.attention(given["X"], given["X"], given["X"], divisor=1)[0]
    return {"Q": q, "K": k, "V": v, **computed, "weights_alike": alike}


@way(
    "course_scale",
    "slow loops, and a step in the imaginary direction",
    # One minus a weight near one keeps seven of its digits.
    rtol=1e-7,
    atol=0,
)
def course_scale(given):
    (query, *_), key, _ = projected(given, given["X"][THEY:]), projected(given, given["X"])[1], None
    scores = [reference.dot(query[0], k) for k in key]
    scaled = [score / math.sqrt(3) for score in scores]
    grown = [[z * math.sqrt(d / given["D"][0]) for z in scores] for d in given["D"]]
    slopes = [reference.softmax_slopes(row)[0][0] for row in (scaled, *grown)]
    divided = [slopes[0] / math.sqrt(d) for d in given["D"]]
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


@way("course_formula", LOOPS)
def course_formula(given):
    q, k, v = projected(given, given["X"])
    steps = reference.every_step(q, k, v)
    powers = [[math.exp(z) for z in row] for row in steps["scaled"]]
    computed = {name: steps[name] for name in ("scores", "scaled", "weights", "output")}
    sums = [math.fsum(row) for row in powers]
    return {"Q": q, "K": k, "V": v, **computed, "exponentials": powers, "sums": sums}


@way("course_order", LOOPS, fixed=["ORDER"])
def course_order(given):
    x, computed = given["X"], {}
    swapped = [x[MILK], x[DRINK], x[CATS], x[BECAUSE], x[THEY]]
    for ending, words in {"": x, "_swapped": swapped}.items():
        computed[f"placed{ending}"] = rows = added(words, given["E"])
        for name, (number, tokens) in {"": (1, words), "_2": (2, rows)}.items():
            steps = head(given, number, tokens, lambda i, j: True)
            computed |= {f"{step}{name}{ending}": steps[step] for step in ("weights", "output")}
    return {**computed, "X_swapped": swapped, "angle": math.degrees(math.acos(given["E"][1][6]))}


@way(
    "course_order",
    "slow loops, to the nine decimals that the example keeps",
    fixed=["ORDER"],
    atol=1e-9,
)
def scores_of_the_clock(given):
    query = projected(given, placed(given), 2)[0][DRINK]
    scores = head(given, 2, placed(given))["scores"]
    return {"drink_query": query, "drink_scores": scores[DRINK], "cats_scores": scores[CATS]}


@way("course_mask", LOOPS)
def course_mask(given):
    steps = head(given, 1, placed(given))
    return {
        **{name: steps[name] for name in ("scaled", "masked", "weights", "output")},
        "open_weights": head(given, 1, placed(given), lambda i, j: True)["weights"],
        "mask": [[j <= i for j in range(5)] for i in range(5)],
    }


@way("course_heads", LOOPS)
def course_heads(given):
    rows, computed = placed(given), {"placed": placed(given)}
    for i in (1, 2):
        steps = head(given, i, rows)
        computed |= {f"weights_{i}": steps["weights"], f"head_{i}": steps["output"]}
        computed[f"added_{i}"] = reference.matmul(steps["output"], given[f"W_O_{i}"])
    return {
        **computed,
        "side_by_side": np.hstack([computed["head_1"], computed["head_2"]]),
        "W_O": [*given["W_O_1"], *given["W_O_2"]],
        "output": added(computed["added_1"], computed["added_2"]),
        "one_head_weights": one_head(given)["weights"],
    }


def one_head(given):
    """Return the steps of one softmax over the scores of both heads, added up."""
    (q_1, k_1, v), (q_2, k_2, _) = (projected(given, placed(given), i) for i in (1, 2))
    q, k = ([[*a, *b] for a, b in zip(*both, strict=True)] for both in ((q_1, q_2), (k_1, k_2)))
    return reference.every_step(q, k, v, earlier)


@way("course_heads", "slow loops, to the nine decimals that the example keeps", atol=1e-9)
def scores_of_they(given):
    both = [head(given, i, placed(given))["scores"][THEY] for i in (1, 2)]
    return {"they_scores": [*both, [a + b for a, b in zip(*both, strict=True)]]}


@way("course_block", LOOPS)
def course_block(given):
    rows = placed(given)
    extra = from_heads(given, rows)
    summed = added(rows, extra)
    before, hidden, fed = rule(given, normed(summed))
    stages = [rows, summed, normed(summed), added(normed(summed), fed), block(given, rows, extra)]
    return {
        "added": extra,
        "placed": rows,
        "summed": summed,
        "mean": [statistics.fmean(row) for row in summed],
        "variance": [statistics.pvariance(row) for row in summed],
        "normed": normed(summed),
        "before": before,
        "before_without_norm": rule(given, summed)[0],
        "hidden": hidden,
        "fed": fed,
        "output": stages[-1],
        "they": [stage[THEY] for stage in stages],
    }


def largest(row):
    return row.index(max(row))


@way("course_next_token", LOOPS)
def course_next_token(given):
    rows = placed(given)
    output = block(given, rows, from_heads(given, rows))
    predicted = probabilities(given, output)
    losses = [-math.log(row[i + 1]) for i, row in enumerate(predicted)]
    longer = [*rows, given["LIKE"]]
    appended = probabilities(given, block(given, longer, from_heads(given, longer)))[-1]
    milk = reference.matmul([projected(given, rows)[2][MILK]], given["W_O_1"])
    extra = added(milk, from_heads(given, rows, [2])[THEY:])
    return {
        "output": output,
        "logits": reference.matmul(output, given["W_VOCABULARY"]),
        "probabilities": predicted,
        "next_token": largest(predicted[-1]),
        "losses": losses,
        "loss": statistics.fmean(losses),
        "appended": appended,
        "next_but_one": largest(appended),
        "earlier_rows_stay": True,
        "on_milk": probabilities(given, block(given, rows[THEY:], extra))[0],
    }


def without(given, part):
    """The probabilities of each row if a part of the model is left out."""
    rows = given["X"] if part == "positions" else placed(given)
    extra = from_heads(given, rows, [i for i in (1, 2) if part != f"head {i}"])
    rows = extra if part == "first residual sum" else added(rows, extra)
    rows = rows if part == "first norm" else normed(rows)
    rows = rows if part == "feed-forward network" else added(rows, rule(given, rows)[2])
    return probabilities(given, rows if part == "second norm" else normed(rows))


@way("course_next_token", "slow loops without the part")
def what_each_part_is_for(given):
    rows = [without(given, part) for part in (None, *given["PARTS"])]
    like = given["VOCABULARY"].index("like")
    return {
        "first_choice": [largest(words[THEY]) for words in rows],
        "first": [max(words[THEY]) for words in rows],
        "like": [words[THEY][like] for words in rows],
        "right": [sum(largest(row) == i + 1 for i, row in enumerate(words)) for words in rows],
    }
