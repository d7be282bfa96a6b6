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
from attention_docs.render.figures import Axis, Html, Series, figure, line_chart


@site_figure
def batched_scores(steps_of: StepsOf) -> Html:
    r"""The pair put in: row 3 of $\query{Q}$ and column 6 of $\key{K}^\top$ are alike. Where they
    meet stands the largest score. A cell shows its number when the pointer rests on it."""
    steps = steps_of("batched_attention")
    claim(steps["scores"].max() == steps["scores"][2, 5], "stands the largest score")
    return scores_figure(steps, row=2, column=5)


@site_figure
def batched_second_pair(steps_of: StepsOf) -> Html:
    r"""The same row of $\query{Q}$ and column 4 of $\key{K}^\top$ give the second largest score of
    the row. Nobody put it in. It is less than half of the largest, and the softmax leaves it less
    than a hundredth of the weight."""
    steps = steps_of("batched_attention")
    scores, weights = steps["scores"][2], steps["weights"][2]
    claim(np.sort(scores)[-2] == scores[3], "the second largest score of the row")
    claim(scores[3] < scores.max() / 2, "less than half of the largest")
    claim(weights[3] < 1 / 100, "less than a hundredth of the weight")
    return scores_figure(steps, row=2, column=3)


@site_figure
def batched_weights(steps_of: StepsOf) -> Html:
    r"""The softmax turns each row of scaled scores into weights. In the marked row one score stands
    out, and takes nearly all the weight."""
    steps = steps_of("batched_attention")
    claim(steps["weights"][2].max() > 0.95, "takes nearly all the weight")
    return softmax_figure("Scaled scores and their weights", steps["scaled"], steps["weights"])


@site_figure
def batched_output(steps_of: StepsOf) -> Html:
    r"""Row 3 of the weights meets column 4 of the values. Nearly all of its weight lies on the
    sixth value, so the output is close to it."""
    steps = steps_of("batched_attention")
    claim(steps["weights"][2, 5] > 0.95, "Nearly all of its weight lies on the sixth value")
    distances = np.abs(steps["V"][:, 3] - steps["output"][2, 3])
    claim(distances.argmin() == 5, "the output is close to it")
    return output_figure(steps, row=2, column=3)


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
    # Differences of logarithms, which are the slopes on logarithmic axes.
    rises = {name: np.diff(np.log(steps[name])) for name in (*roles, "n")}
    for name in ("projections", "convolution", "recurrence"):
        claim(np.allclose(rises["attention"], 2 * rises[name]), "twice as steep as the others")
    claim(np.allclose(rises["attention"], 2 * rises["n"]), "grow with the square of the length")
    series = [
        Series(name, steps["n"], steps[name], role, points=True) for name, role in roles.items()
    ]
    ticks = (0.01, 0.1, 1, 10, 100, 1000)
    axis = Axis("million multiplications", ticks, logarithmic=True, unit=1e6)
    positions = Axis("positions", (16, 64, 256, 1024), logarithmic=True)
    name = "What a layer costs"
    return figure(line_chart(name, positions, axis, series), name)
