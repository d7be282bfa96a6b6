r"""The site's figures by name: a page inserts one with `\figure{name}`.

Each takes its arrays from the worked examples, and its docstring is its caption, in Markdown.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from attention_docs.arrays import Array
from attention_docs.publish import course_figures, learning_figures, model_figures
from attention_docs.publish.before.results import result
from attention_docs.publish.claims import claim
from attention_docs.render.figures import (
    Axis,
    Html,
    Points,
    Series,
    Svg,
    attention_lines,
    beside,
    figure,
    heatmap,
    line_chart,
    lines_panel,
    matrix_panel,
    product_figure,
    scatter_2d,
    scatter_3d,
)
from attention_docs.softmax import softmax

# Gives the steps of a worked example by its name.
StepsOf = Callable[[str], Mapping[str, Array]]
Drawing = Callable[[StepsOf], Html]
FIGURES: dict[str, Drawing] = {
    draw.__name__: draw
    for module in (course_figures, model_figures, learning_figures)
    for draw in module.DRAWINGS
}

# A <figure>, not a <section> or a <div>: Material's search ends an exclusion at the first closing
# tag of the same name, even that of a nested element.
BLOCK = (
    '<figure class="figure" data-search-exclude markdown="block">'
    '<div class="figure-box" markdown="0">{svg}</div>'
    '<figcaption markdown="span">{caption}</figcaption></figure>'
)
AXIS_OF_D = Axis("d", (1, 4, 16, 64, 256), logarithmic=True)
AXIS_OF_MEASURED_D = Axis("d", (4, 16, 64, 256), logarithmic=True)
AXIS_OF_N = Axis("positions", (128, 512, 2048, 8192, 32768), logarithmic=True)
GROWTH = (
    ("this package", "ours", "output"),
    ("PyTorch", "torch", "key"),
    ("plain formula", "plain", "scores"),
)
SCORES: dict[str, Any] = {"rows": "queries", "columns": "keys", "role": "scores"}
WEIGHTS: dict[str, Any] = {
    "rows": "queries",
    "columns": "keys",
    "role": "weights",
    "scale": "sequential",
}
FEATURES = ("feature 1", "feature 2", "feature 3")


def registered(draw: Drawing) -> Drawing:
    FIGURES[draw.__name__] = draw
    return draw


def figure_block(name: str, steps_of: StepsOf, defer: Callable[[str], str]) -> str:
    """Write a figure with its caption, as it goes into a page's Markdown.

    Args:
        name: the name of the figure.
        steps_of: gives the steps of a worked example by its name.
        defer: stores the drawing, and returns a placeholder for it.

    Raises:
        LookupError: if there is no figure of that name; the message lists the known ones.
        ValueError: if it has no caption.
    """
    if name not in FIGURES:
        raise LookupError(f"figure {name!r} is unknown; known are {', '.join(sorted(FIGURES))}")
    svg = defer(FIGURES[name](steps_of))
    caption = " ".join((inspect.getdoc(FIGURES[name]) or "").split())
    if not caption:
        raise ValueError(f"figure {name!r} has no docstring, and so no caption")
    return BLOCK.format(svg=svg, caption=caption)


@registered
def self_attention_scores(steps_of: StepsOf) -> Svg:
    r"""Row 3 of $\query{Q}$ meets column 3 of $\key{K}^\top$: their dot product is the score in row
    3, column 3 of $\scores{S}$."""
    steps = steps_of("self_attention")
    return scores_figure(steps, row=2, column=2)


@registered
def self_attention_output(steps_of: StepsOf) -> Svg:
    r"""Row 1 of the weights $\weights{A}$ averages column 2 of the values $\value{V}$. The result
    stands in row 1, column 2 of the output $\output{O}$."""
    steps = steps_of("self_attention")
    return output_figure(steps, row=0, column=1)


@registered
def self_attention_lines(steps_of: StepsOf) -> Svg:
    r"""Who looks at whom. The thicker a line, the larger the weight. Positions 1 and 2 look at each
    other and at position 3; position 3 looks mostly at itself."""
    positions = ["position 1", "position 2", "position 3"]
    weights = steps_of("self_attention")["weights"]
    others = weights[0, 1:].min() > weights[0, 0] and weights[1, ::2].min() > weights[1, 1]
    claim(others, "Positions 1 and 2 look at each other and at position 3")
    claim(weights[2, 2] > 3 / 4, "position 3 looks mostly at itself")
    return attention_lines(weights, positions)


@registered
def self_attention_plane(steps_of: StepsOf) -> Html:
    r"""The inputs have a plane of their own. Of their four features two are drawn, and the other
    two repeat them. Values and outputs share another plane: an output is an average of the values,
    so it lies in their triangle."""
    steps = steps_of("self_attention")
    claim(repeats_two_features(steps["X"]), "two repeat them")
    inputs = [Points("inputs X", steps["X"][:, :2], ["X1", "X2", "X3"], "input")]
    sets = values_and_outputs(steps, ["V1", "V2", "V3"], ["O1", "O2", "O3"])[::-1]
    return plane_figure("Self-attention: points", inputs, sets)


@registered
def self_attention_space(steps_of: StepsOf) -> Svg:
    r"""Values and outputs in the space of the values, with three features each. An output is an
    average of the values, so it lies in their triangle. The third output lies close to the third
    value, from which it takes most. The inputs are not drawn, because they have four features and
    live in another space."""
    steps = steps_of("values_in_space")
    third = np.linalg.norm(steps["V"] - steps["output"][2], axis=1).argmin() == 2
    claim(third and steps["weights"][2].argmax() == 2, "The third output lies close to the third")
    # Names of a first set stand to the left, of a second to the right: O3 lies close to V3.
    sets = values_and_outputs(steps, ["V1", "V2", "V3"], ["O1", "O2", "O3"])[::-1]
    return space_figure("Self-attention: values and outputs", FEATURES, sets, (2, 2, 1))


@registered
def cross_attention_scores(steps_of: StepsOf) -> Svg:
    r"""Two queries and three keys: $\scores{S}$ has as many rows as $\query{Q}$ and as many columns
    as $\key{K}^\top$."""
    steps = steps_of("cross_attention")
    return scores_figure(steps, row=0, column=2)


@registered
def cross_attention_output(steps_of: StepsOf) -> Svg:
    r"""Each row of $\weights{A}$ averages the three values; so the output $\output{O}$ has one row
    for each query."""
    steps = steps_of("cross_attention")
    return output_figure(steps, row=0, column=0)


@registered
def cross_attention_plane(steps_of: StepsOf) -> Html:
    r"""Both input sequences in a plane of their own, drawn by two of their four features, which the
    other two repeat. Each position of $\input{X_q}$ stands where one of $\input{X_{kv}}$ does,
    because their features are equal. Values and outputs share another plane, and the outputs lie
    in the triangle of the values."""
    steps = steps_of("cross_attention")
    x_q, x_kv = steps["X_q"], steps["X_kv"]
    both = repeats_two_features(x_q) and repeats_two_features(x_kv)
    claim(both, "which the other two repeat")
    claim({*map(tuple, x_q)} <= {*map(tuple, x_kv)}, "their features are equal")
    inputs = [
        Points("X_q", x_q[:, :2], ["Xq1", "Xq2"], "input"),
        Points("X_kv", x_kv[:, :2], ["Xkv1", "Xkv2", "Xkv3"], "input"),
    ]
    sets = values_and_outputs(steps, ["V1", "V2", "V3"], ["O1", "O2"])[::-1]
    return plane_figure("Cross-attention: points", inputs, sets)


@registered
def cross_attention_lines(steps_of: StepsOf) -> Svg:
    r"""Two queries on the left, three keys of the other sequence on the right. Each query divides a
    total weight of one among them."""
    weights = steps_of("cross_attention")["weights"]
    return attention_lines(weights, ["query 1", "query 2"], ["key 1", "key 2", "key 3"])


@registered
def cross_attention_space(steps_of: StepsOf) -> Svg:
    r"""Four values are the corners of a tetrahedron, and the two outputs lie inside it. The first
    output is drawn towards the fourth value, the second towards the second, as their weights say.
    The two input sequences are not drawn: they have six features, and a query and a value have
    no space in common."""
    steps = steps_of("two_sequences")
    first, second = steps["weights"].argmax(axis=1) + 1
    claim(first == 4, "The first output is drawn towards the fourth value")
    claim(second == 2, "the second towards the second")
    sets = values_and_outputs(steps, ["V1", "V2", "V3", "V4"], ["O1", "O2"])
    return space_figure("Cross-attention: values and outputs", FEATURES, sets, (2, 2, 2))


@registered
def batched_scores(steps_of: StepsOf) -> Svg:
    r"""The pair put in: row 3 of $\query{Q}$ and column 6 of $\key{K}^\top$ are alike. Where they
    meet stands the largest score. A cell shows its number when the pointer rests on it."""
    steps = steps_of("batched_attention")
    claim(steps["scores"].max() == steps["scores"][2, 5], "stands the largest score")
    return scores_figure(steps, row=2, column=5)


@registered
def batched_second_pair(steps_of: StepsOf) -> Svg:
    r"""The same row of $\query{Q}$ and column 4 of $\key{K}^\top$ give the second largest score of
    the row. Nobody put it in. It is less than half of the largest, and the softmax leaves it less
    than a hundredth of the weight."""
    steps = steps_of("batched_attention")
    scores, weights = steps["scores"][2], steps["weights"][2]
    claim(np.sort(scores)[-2] == scores[3], "the second largest score of the row")
    claim(scores[3] < scores.max() / 2, "less than half of the largest")
    claim(weights[3] < 1 / 100, "less than a hundredth of the weight")
    return scores_figure(steps, row=2, column=3)


@registered
def batched_weights(steps_of: StepsOf) -> Html:
    r"""The softmax turns each row of scaled scores into weights. In the marked row one score stands
    out, and takes nearly all the weight."""
    steps = steps_of("batched_attention")
    claim(steps["weights"][2].max() > 0.95, "takes nearly all the weight")
    return softmax_figure("Scaled scores and their weights", steps["scaled"], steps["weights"])


@registered
def batched_output(steps_of: StepsOf) -> Svg:
    r"""Row 3 of the weights meets column 4 of the values. Nearly all of its weight lies on the
    sixth value, so the output is close to it."""
    steps = steps_of("batched_attention")
    claim(steps["weights"][2, 5] > 0.95, "Nearly all of its weight lies on the sixth value")
    away = np.abs(steps["V"][:, 3] - steps["output"][2, 3])
    claim(away.argmin() == 5, "the output is close to it")
    return output_figure(steps, row=2, column=3)


@registered
def window_of_three(steps_of: StepsOf) -> Svg:
    r"""A window of one position to either side: each query sees itself and its neighbours."""
    mask = steps_of("local_window_mask")["mask"]
    return heatmap(mask, "Window mask", rows="queries", columns="keys")


@registered
def window_weights(steps_of: StepsOf) -> Html:
    r"""The softmax under the mask. What is masked is crossed out: it has the score $-\infty$ and
    the weight zero. The large weight of row 3, column 6 is gone: the row divides its weight
    among its own position and two neighbours."""
    steps = steps_of("local_window_mask")
    gone = steps["weights"][2].argmax() == 5 and steps["weights_masked"][2, 5] == 0
    claim(gone, "The large weight of row 3, column 6 is gone")
    scores, weights = steps["masked"], steps["weights_masked"]
    return softmax_figure("Masked scores and their weights", scores, weights, ~steps["mask"])


@registered
def masks_joined(steps_of: StepsOf) -> Html:
    r"""A causal mask, a padding mask, and both: a pair takes part where both allow it."""
    steps = steps_of("causal_padding")
    right = steps["right"][[0] * len(steps["causal"])]  # the same for every query
    masks = {"causal": steps["causal"], "padding": right, "both": steps["causal_and_right"]}
    panels = [
        matrix_panel(mask, name, rows="queries", columns="keys") for name, mask in masks.items()
    ]
    return beside(panels, "Three masks")


@registered
def causal_alignments(steps_of: StepsOf) -> Html:
    r"""Two causal masks for four queries and five keys. Top-left, the first query sees the first
    key. Bottom-right, the last query sees the last key."""
    steps = steps_of("causal_alignments")
    masks = {"top-left": steps["top_left"], "bottom-right": steps["bottom_right"]}
    panels = [
        matrix_panel(mask, name, rows="queries", columns="keys") for name, mask in masks.items()
    ]
    return beside(panels, "Two alignments of a causal mask")


@registered
def softmax_saturation(steps_of: StepsOf) -> Svg:
    r"""Four scores that grow with $\sqrt{d_k}$, as random scores do without the division. At the
    left end each has a share. At the right end the largest has nearly all the weight."""
    d, weights = growing_scores(steps_of)
    claim(weights[0].min() > 1 / 20, "At the left end each has a share")
    claim(weights[-1].max() > 0.99, "At the right end the largest has nearly all the weight")
    series = [
        Series(f"score {i + 1}", d, weights[:, i], role)
        for i, role in enumerate(("input", "query", "key", "weights"))
    ]
    name = "Weights of four scores, without the division"
    chart = line_chart(name, AXIS_OF_D, Axis("weight", (0, 0.25, 0.5, 0.75, 1)), series)
    return figure(chart, name)


@registered
def softmax_gradient(steps_of: StepsOf) -> Svg:
    r"""The largest entry of the Jacobian of the same softmax. The vertical axis is logarithmic:
    each step down is a hundredth of the one before."""
    d, weights = growing_scores(steps_of)
    slopes = [np.abs(np.diag(row) - np.outer(row, row)).max() for row in weights]
    name = "Largest slope of the softmax, without the division"
    axis = Axis("slope", (1e-8, 1e-6, 1e-4, 1e-2, 1), logarithmic=True)
    ratios = np.divide(axis.ticks[:-1], axis.ticks[1:])
    claim(np.allclose(ratios, 1 / 100), "each step down is a hundredth of the one before")
    series = [Series("slope", d, np.array(slopes), "weights")]
    return figure(line_chart(name, AXIS_OF_D, axis, series), name)


@registered
def score_variance(steps_of: StepsOf) -> Svg:
    r"""The variance of a score grows with $d$. Divided by $\sqrt{d}$, a score has the variance one
    for every $d$. Lines: proved. Markers: measured."""
    steps = steps_of("score_variance")
    d, one = steps["d"], np.ones_like(steps["d"])
    claim(np.all(np.diff(steps["variance"]) > 0), "The variance of a score grows with $d$")
    unit = np.allclose(steps["variance_of_scaled"], one, atol=0.05)
    claim(unit, r"Divided by $\sqrt{d}$, a score has the variance one for every $d$")
    series = [
        Series("proved: d", d, d, "scores"),
        Series("measured", d, steps["variance"], "scores", line=False, points=True),
        Series("scaled: 1", d, one, "weights"),
        Series("measured", d, steps["variance_of_scaled"], "weights", line=False, points=True),
    ]
    name = "Variance of a score, and of a scaled score"
    axis = Axis("variance", (0.25, 1, 4, 16, 64, 256), logarithmic=True)
    return figure(line_chart(name, AXIS_OF_MEASURED_D, axis, series), name)


@registered
def score_variance_errors(steps_of: StepsOf) -> Svg:
    r"""How far the measured mean and variance lie from what was proved, in standard errors. Within
    two they are no surprise."""
    steps = steps_of("score_variance")
    series = [
        Series(kind, steps["d"], steps[f"{kind}_errors_away"], role, line=False, points=True)
        for kind, role in (("mean", "scores"), ("variance", "weights"))
    ]
    name = "Measured minus proved"
    axis = Axis("standard errors", (-3, -2, -1, 0, 1, 2, 3))
    return figure(line_chart(name, AXIS_OF_MEASURED_D, axis, series), name)


@registered
def positional_matrix(steps_of: StepsOf) -> Svg:
    r"""The same matrix in colours. The first pair of columns turns fast, the second slowly."""
    matrix = steps_of("positional_encoding")["E"]
    fast, slow = steps_of("positional_encoding")["frequencies"]
    claim(fast > 2 * slow, "The first pair of columns turns fast, the second slowly")
    positions = [str(position) for position in range(len(matrix))]
    options = {"rows": "position t", "columns": "feature", "row_labels": positions}
    return heatmap(matrix, "Positional encoding E", role="input", **options)


@registered
def positional_waves(steps_of: StepsOf) -> Svg:
    r"""Each feature over the positions. The markers are the entries of the matrix, the lines what
    they are samples of."""
    steps = steps_of("positional_encoding")
    entries = steps["E"]
    fast, slow = steps["frequencies"]
    positions, fine = np.arange(len(entries)), np.linspace(0, len(entries) - 1, 101)
    waves = (np.sin(fast * fine), np.cos(fast * fine), np.sin(slow * fine), np.cos(slow * fine))
    names = ("sine 1", "cosine 1", "sine 2", "cosine 2")
    roles = ("query", "key", "value", "weights")
    series = []
    for i, (feature, wave, role) in enumerate(zip(names, waves, roles, strict=True)):
        points = Series("", positions, entries[:, i], role, line=False, points=True)
        series += [Series(feature, fine, wave, role), points]
    axes = Axis("position t", tuple(range(len(entries)))), Axis("entry", (-1, -0.5, 0, 0.5, 1))
    name = "Features of a position"
    return figure(line_chart(name, *axes, series), name)


@registered
def positional_products(steps_of: StepsOf) -> Svg:
    r"""The dot product of two positions over their distance. It falls at first, and rises again
    as the fast clock comes round."""
    steps = steps_of("positional_encoding")
    products = steps["products"]
    distances, fine = np.arange(len(products)), np.linspace(0, len(products) - 1, 101)
    curve = np.cos(np.outer(fine, steps["frequencies"])).sum(axis=1)
    lowest = curve.argmin()
    claim(np.all(np.diff(curve[: lowest + 1]) < 0), "It falls at first")
    claim(np.all(np.diff(curve[lowest:]) > 0), "rises again")
    series = [
        Series("dot product", fine, curve, "scores"),
        Series("", distances, products, "scores", line=False, points=True),
    ]
    axes = (
        Axis("distance", tuple(range(len(products)))),
        Axis("dot product", (-0.5, 0, 0.5, 1, 1.5, 2)),
    )
    name = "Dot product of two positions"
    return figure(line_chart(name, *axes, series), name)


@registered
def heads_side_by_side(steps_of: StepsOf) -> Html:
    r"""The weights of the two heads, for the same queries and keys. Each query has its largest
    weight on one key in head 1, and on another in head 2."""
    steps = steps_of("multi_head")
    first, second = (steps[f"weights_{head}"].argmax(axis=1) for head in (1, 2))
    claim(np.all(first != second), "Each query has its largest weight on one key in head 1")
    panels = [
        matrix_panel(steps[f"weights_{head}"], f"Head {head}", **WEIGHTS, numbers=False)
        for head in (1, 2)
    ]
    return beside(panels, "Weights of two heads")


@registered
def decoder_lines(steps_of: StepsOf) -> Html:
    r"""Head 1 of both attentions. In the self-attention the first target token sees only itself,
    because the causal mask hides the second. In the cross-attention both target tokens see
    all the source tokens. The thicker a line, the larger the weight."""
    steps = steps_of("encoder_decoder")
    alone = steps["decoder_weights_1"][0].tolist() == [1, 0]
    claim(alone, "the first target token sees only itself")
    claim(np.all(steps["cross_weights_1"] > 0), "both target tokens see all the source tokens")
    target, source = (
        [f"{name} {i + 1}" for i in range(len(steps[rows]))]
        for name, rows in (("target", "Y"), ("source", "X"))
    )
    panels = [
        lines_panel(steps["decoder_weights_1"], target, heading="Self-attention"),
        lines_panel(steps["cross_weights_1"], target, source, heading="Cross-attention"),
    ]
    return beside(panels, "Where the decoder looks")


@registered
def layer_costs(steps_of: StepsOf) -> Svg:
    r"""Multiplications in one layer of \val{cost.d} features. Both axes are logarithmic. The line
    of the two products of attention is twice as steep as the others, because these products grow
    with the square of the length, and all the others in proportion to it."""
    steps = steps_of("cost")
    roles = {"attention": "weights", "projections": "input", "convolution": "value"}
    rises = {name: np.diff(np.log(steps[name])) for name in (*roles, "recurrence")}
    steep = [np.allclose(rises["attention"], 2 * rise) for rise in list(rises.values())[1:]]
    claim(all(steep), "twice as steep as the others")
    length = np.diff(np.log(steps["n"]))
    claim(np.allclose(rises["attention"], 2 * length), "grow with the square of the length")
    series = [
        Series(name, steps["n"], steps[name], role, points=True)
        for name, role in {**roles, "recurrence": "key"}.items()
    ]
    ticks = (0.01, 0.1, 1, 10, 100, 1000)
    axis = Axis("million multiplications", ticks, logarithmic=True, unit=1e6)
    positions = Axis("positions", (16, 64, 256, 1024), logarithmic=True)
    name = "What a layer costs"
    return figure(line_chart(name, positions, axis, series), name)


@registered
def speed_growth(steps_of: StepsOf) -> Svg:
    r"""One head on the Intel machine. From \measured{attention_intel.growth.5.n} positions on, this
    package and PyTorch take about four times as long for twice as many. At shorter lengths the
    factor is smaller. The plain formula was measured only there, because its tables grow with the
    square of the length."""
    rows = result("attention_intel")["growth"]
    times = np.array([[row["seconds"][key] for key in ("ours", "torch")] for row in rows])
    factors = times[1:] / times[:-1]
    claim(np.all(np.abs(factors[5:] - 4) < 0.5), "about four times as long for twice as many")
    claim(factors[:5].max() < factors[5:].min(), "At shorter lengths the factor is smaller")
    longer = [row["seconds"].get("plain") for row in rows[5:]]
    claim(not any(longer), "The plain formula was measured only there")
    series = [
        Series(
            name, np.array([n for n, _ in points]), 1000 * np.array([t for _, t in points]), role
        )
        for name, key, role in GROWTH
        if (points := [(row["n"], t) for row in rows if (t := row["seconds"].get(key))])
    ]
    name = "Time of one head"
    axis = Axis("milliseconds", (0.1, 1, 10, 100, 1000, 10000), logarithmic=True)
    return figure(line_chart(name, AXIS_OF_N, axis, series), name)


@registered
def reference_heatmap(steps_of: StepsOf) -> Svg:
    r"""`heatmap(masked, ...)`: four queries on five keys under a causal mask."""
    masked = steps_of("causal_alignments")["masked"]
    return heatmap(
        masked, "Masked scores", rows="queries", columns="keys", role="scores", mark=(2, None)
    )


@registered
def reference_mask(steps_of: StepsOf) -> Svg:
    r"""`heatmap(causal_mask(4, 5), ...)`: booleans make a mask."""
    mask = steps_of("causal_alignments")["top_left"]
    return heatmap(mask, "Causal mask", rows="queries", columns="keys")


@registered
def reference_product(steps_of: StepsOf) -> Svg:
    r"""`product_figure(weights, value, row=1, column=2, ...)`: the second query, the third number
    of its output."""
    steps = steps_of("distinct_sizes")
    return output_figure(steps, row=1, column=2)


@registered
def reference_lines(steps_of: StepsOf) -> Svg:
    r"""`attention_lines(weights, tokens, keys, query=1)`: one query alone, with its weights."""
    weights = steps_of("distinct_sizes")["weights"]
    queries, keys = (
        [f"{kind} {i + 1}" for i in range(n)] for kind, n in (("query", 4), ("key", 5))
    )
    return attention_lines(weights, queries, keys, query=1)


def growing_scores(
    steps_of: StepsOf,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return many d, and the softmax of the example's scaled scores times the root of each d."""
    scores = steps_of("softmax_saturation")["z_divided"]
    d = np.geomspace(1, 256, 65)
    return d, softmax(np.sqrt(d)[:, None] * scores)


def softmax_figure(name: str, scores: Array, weights: Array, hidden: Array = None) -> Html:
    """Draw scores and their weights side by side, with the third row marked."""
    left = matrix_panel(scores, "Scaled scores", **SCORES, numbers=False, mark=(2, None))
    right = matrix_panel(
        weights,
        "Weights: the softmax of each row",
        **WEIGHTS,
        numbers=False,
        mark=(2, None),
        hidden=hidden,
    )
    return beside([left, right], name)


def scores_figure(steps: Mapping[str, Array], row: int, column: int) -> Svg:
    return product_figure(
        steps["Q"],
        steps["K"].T,
        row=row,
        column=column,
        names=("Q", "Kᵀ", "S"),
        roles=("query", "key", "scores"),
        product=steps["scores"],
    )


def output_figure(steps: Mapping[str, Array], row: int, column: int) -> Svg:
    return product_figure(
        steps["weights"],
        steps["V"],
        row=row,
        column=column,
        names=("A", "V", "O"),
        roles=("weights", "value", "output"),
        scales=("sequential", "diverging", "diverging"),
        product=steps["output"],
    )


def values_and_outputs(
    steps: Mapping[str, Array], values: list[str], outputs: list[str]
) -> list[Points]:
    """Return the values, outlined, and the outputs, which share the values' space."""
    return [
        Points("values V", steps["V"], values, "value", outlined=True),
        Points("outputs O", steps["output"], outputs, "output"),
    ]


def repeats_two_features(x: Array) -> bool:
    """Whether a plane shows all four features."""
    return np.array_equal(x[:, 2:], x[:, :2])


def plane_figure(name: str, inputs: Sequence[Points], sets: Sequence[Points]) -> Html:
    """Draw inputs, of features up to 1, beside values and outputs, of features up to 2."""
    panels = [
        scatter_2d("Inputs", FEATURES[:2], inputs, (1, 1)),
        scatter_2d("Values and outputs", FEATURES[:2], sets, (2, 2)),
    ]
    return beside(panels, name)


def space_figure(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> Svg:
    return figure(scatter_3d(name, axes, sets, size), name)
