"""The figures of "Masks and order"."""

import numpy as np

from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.registry import StepsOf, site_figure
from attention_docs.publish.before.figures.steps_of_attention import masks_figure, softmax_figure
from attention_docs.render.figures import (
    Axis,
    Html,
    Series,
    figure,
    heatmap,
    line_chart,
)


@site_figure
def window_of_three(steps_of: StepsOf) -> Html:
    r"""A window of one position to either side: each query sees itself and its neighbours."""
    mask = steps_of("local_window_mask")["mask"]
    return heatmap(mask, "Window mask", rows="queries", columns="keys")


@site_figure
def window_weights(steps_of: StepsOf) -> Html:
    r"""The softmax under the mask. What is masked is crossed out: it has the score $-\infty$ and
    the weight zero. The large weight of row 3, column 6 is gone: the row divides its weight
    among its own position and two neighbours."""
    steps = steps_of("local_window_mask")
    is_gone = steps["weights"][2].argmax() == 5 and steps["weights_masked"][2, 5] == 0
    claim(is_gone, "The large weight of row 3, column 6 is gone")
    scores, weights = steps["masked"], steps["weights_masked"]
    name = "Masked scores and their weights"
    return softmax_figure(name, scores, weights, hidden=~steps["mask"])


@site_figure
def masks_joined(steps_of: StepsOf) -> Html:
    r"""A causal mask, a padding mask, and both: a pair takes part where both allow it."""
    steps = steps_of("causal_padding")
    padding = steps["right"][[0] * len(steps["causal"])]  # the same row for every query
    masks = {"causal": steps["causal"], "padding": padding, "both": steps["causal_and_right"]}
    return masks_figure("Three masks", masks)


@site_figure
def positional_matrix(steps_of: StepsOf) -> Html:
    r"""The same matrix in colours. The first pair of columns turns fast, the second slowly."""
    matrix = steps_of("positional_encoding")["E"]
    fast, slow = steps_of("positional_encoding")["frequencies"]
    claim(fast > 2 * slow, "The first pair of columns turns fast, the second slowly")
    positions = [str(position) for position in range(len(matrix))]
    options = {"rows": "position t", "columns": "feature", "row_labels": positions}
    return heatmap(matrix, "Positional encoding E", role="input", **options)


@site_figure
def positional_waves(steps_of: StepsOf) -> Html:
    r"""Each feature over the positions. The markers are the entries of the matrix, the lines what
    they are samples of."""
    steps = steps_of("positional_encoding")
    entries = steps["E"]
    fast, slow = steps["frequencies"]
    positions, t = np.arange(len(entries)), np.linspace(0, len(entries) - 1, 101)
    waves = (
        ("sine 1", np.sin(fast * t), "query"),
        ("cosine 1", np.cos(fast * t), "key"),
        ("sine 2", np.sin(slow * t), "value"),
        ("cosine 2", np.cos(slow * t), "weights"),
    )
    series = []
    for feature, (wave_name, wave, role) in enumerate(waves):
        markers = Series("", positions, entries[:, feature], role, line=False, points=True)
        series += [Series(wave_name, t, wave, role), markers]
    axes = Axis("position t", tuple(range(len(entries)))), Axis("entry", (-1, -0.5, 0, 0.5, 1))
    name = "Features of a position"
    return figure(line_chart(name, *axes, series), name)


@site_figure
def positional_products(steps_of: StepsOf) -> Html:
    r"""The dot product of two positions over their distance. It falls at first, and rises again
    as the fast clock comes round."""
    steps = steps_of("positional_encoding")
    products = steps["products"]
    distances, t = np.arange(len(products)), np.linspace(0, len(products) - 1, 101)
    curve = np.cos(np.outer(t, steps["frequencies"])).sum(axis=1)
    lowest = curve.argmin()
    claim(np.all(np.diff(curve[: lowest + 1]) < 0), "It falls at first")
    claim(np.all(np.diff(curve[lowest:]) > 0), "rises again")
    series = [
        Series("dot product", t, curve, "scores"),
        Series("", distances, products, "scores", line=False, points=True),
    ]
    axes = (
        Axis("distance", tuple(range(len(products)))),
        Axis("dot product", (-0.5, 0, 0.5, 1, 1.5, 2)),
    )
    name = "Dot product of two positions"
    return figure(line_chart(name, *axes, series), name)
