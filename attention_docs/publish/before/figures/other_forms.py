"""The figures of "Other forms"."""

import numpy as np

from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.steps_of_attention import (
    output_figure,
    scores_figure,
    softmax_figure,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart

# In the batched example: the query and the key that are alike, and the key with which that query
# has the second largest score.
QUERY, KEY, NEXT_KEY = 2, 5, 3


@site_figure
def batched_scores(steps_of: StepsOf) -> Html:
    r"""The pair put in: row 3 of $\query{Q}$ and column 6 of $\key{K}^\top$ are alike. Where they
    meet stands the largest score. A cell shows its number when the pointer rests on it."""
    steps = steps_of("batched_attention")
    scores = steps["scores"]
    claim(scores.max() == scores[QUERY, KEY], "stands the largest score")
    return scores_figure(steps, row=QUERY, column=KEY)


@site_figure
def batched_second_pair(steps_of: StepsOf) -> Html:
    r"""The same row of $\query{Q}$ and column 4 of $\key{K}^\top$ give the second largest score of
    the row. Nobody put it in. It is less than half of the largest, and the softmax leaves it less
    than a hundredth of the weight."""
    steps = steps_of("batched_attention")
    scores, weights = steps["scores"][QUERY], steps["weights"][QUERY]
    claim(np.sort(scores)[-2] == scores[NEXT_KEY], "the second largest score of the row")
    claim(scores[NEXT_KEY] < scores.max() / 2, "less than half of the largest")
    claim(weights[NEXT_KEY] < 1 / 100, "less than a hundredth of the weight")
    return scores_figure(steps, row=QUERY, column=NEXT_KEY)


@site_figure
def batched_weights(steps_of: StepsOf) -> Html:
    r"""The softmax turns each row of scaled scores into weights. In the marked row one score stands
    out, and takes nearly all the weight."""
    steps = steps_of("batched_attention")
    claim(steps["weights"][QUERY].max() > 0.95, "takes nearly all the weight")
    return softmax_figure("Scaled scores and their weights", steps["scaled"], steps["weights"])


@site_figure
def batched_output(steps_of: StepsOf) -> Html:
    r"""Row 3 of the weights meets column 4 of the values. Nearly all of its weight lies on the
    sixth value, so the output is close to it."""
    steps = steps_of("batched_attention")
    weight = steps["weights"][QUERY, KEY]
    claim(weight > 0.95, "Nearly all of its weight lies on the sixth value")
    feature = 3
    distances = np.abs(steps["V"][:, feature] - steps["output"][QUERY, feature])
    claim(distances.argmin() == KEY, "the output is close to it")
    return output_figure(steps, row=QUERY, column=feature)


@site_figure
def layer_costs(steps_of: StepsOf) -> Html:
    r"""Multiplications in one layer of \val{cost.d} features. Both axes are logarithmic. The line
    of the two products of attention is twice as steep as the others, because these products grow
    with the square of the length, and all the others in proportion to it."""
    steps = steps_of("cost")
    roles = {
        "attention": "first",
        "projections": "fourth",
        "convolution": "second",
        "recurrence": "third",
    }
    # The growth from one length to the next. On logarithmic axes it is the slope of a line.
    log_growth = {step: np.diff(np.log(steps[step])) for step in (*roles, "n")}
    for step in ("projections", "convolution", "recurrence"):
        is_twice = np.allclose(log_growth["attention"], 2 * log_growth[step])
        claim(is_twice, "twice as steep as the others")
    is_square = np.allclose(log_growth["attention"], 2 * log_growth["n"])
    claim(is_square, "grow with the square of the length")
    series = [
        Series(step, steps["n"], steps[step], role, points=True) for step, role in roles.items()
    ]
    positions = Axis("positions", (16, 64, 256, 1024), logarithmic=True)
    ticks = (0.01, 0.1, 1, 10, 100, 1000)
    multiplications = Axis("million multiplications", ticks, logarithmic=True, unit=1e6)
    return line_chart("What a layer costs", positions, multiplications, series)
