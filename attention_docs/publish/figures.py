r"""The figures of the pages, by name: a page places one by `\figure{name}`.

Each takes its arrays from the worked examples. Its docstring is its caption, in Markdown.
"""

import inspect
from collections.abc import Callable

import numpy as np

from attention_docs import examples
from attention_docs.masks import causal_mask
from attention_docs.render.figures import (
    Panel,
    Points,
    Svg,
    attention_lines,
    figure,
    heatmap,
    product_figure,
    scatter_3d,
)

FIGURES: dict[str, Callable[[], Svg]] = {}

# A figure, not a section or a div: Material's search stops excluding at the end of the first inner
# element of the same name.
BLOCK = (
    '<figure class="figure" data-search-exclude markdown="block">'
    '<div class="figure-box"{focus} markdown="0">{svg}</div>'
    '<figcaption markdown="span">{caption}</figcaption></figure>'
)
FEATURES = ("feature 1", "feature 2", "feature 3")


def registered(function: Callable[[], Svg]) -> Callable[[], Svg]:
    FIGURES[function.__name__] = function
    return function


def placed(name: str) -> str:
    """Write a figure with its caption, as a page holds it.

    Raises:
        LookupError: if there is no figure of that name; the message lists the known ones.
    """
    if name not in FIGURES:
        raise LookupError(f"figure {name!r} is unknown; known are {', '.join(sorted(FIGURES))}")
    svg = FIGURES[name]()
    # What scrolls sideways must be within reach of a keyboard.
    focus = ' tabindex="0"' if 'class="drawing wide"' in svg else ""
    caption = " ".join((inspect.getdoc(FIGURES[name]) or "").split())
    return BLOCK.format(svg=svg, caption=caption, focus=focus)


@registered
def self_attention_scores() -> Svg:
    r"""Row 3 of $\query{Q}$ meets column 3 of $\key{K}^\top$: their dot product is the score in row
    3, column 3 of $\scores{S}$."""
    steps = examples.steps("self_attention")
    return scores_figure(steps["Q"], steps["K"], row=2, column=2)


@registered
def self_attention_output() -> Svg:
    r"""Row 1 of the weights $\weights{A}$ averages column 2 of the values $\value{V}$. The result
    stands in row 1, column 2 of the output $\output{O}$."""
    steps = examples.steps("self_attention")
    return output_figure(steps["weights"], steps["V"], row=0, column=1)


@registered
def self_attention_lines() -> Svg:
    r"""Who looks at whom. The thicker a line, the larger the weight. Positions 1 and 2 look at each
    other and at position 3; position 3 looks mostly at itself."""
    positions = ["position 1", "position 2", "position 3"]
    return attention_lines(examples.steps("self_attention")["weights"], positions)


@registered
def self_attention_space() -> Svg:
    r"""Inputs, values and outputs in one box. The inputs have four features, and only the first
    three are drawn. Values and outputs have two numbers, so they lie on the floor. That much the
    picture shows truly: each output lies inside the triangle of the values, since it is an average
    of them. The distance of an input from a value or an output means nothing, for they are points
    of different spaces."""
    steps = examples.steps("self_attention")
    sets = [
        Points("inputs X", steps["X"][:, :3], ["X1", "X2", "X3"], "input"),
        Points("values V", on_level(steps["V"], 0), ["V1", "V2", "V3"], "value", outlined=True),
        Points("outputs O", on_level(steps["output"], 0), ["O1", "O2", "O3"], "output"),
    ]
    return space_figure("Self-attention: inputs, values, outputs", FEATURES, sets, (2, 2, 1))


@registered
def cross_attention_scores() -> Svg:
    r"""Two queries and three keys: $\scores{S}$ has as many rows as $\query{Q}$ and as many columns
    as $\key{K}^\top$."""
    steps = examples.steps("cross_attention")
    return scores_figure(steps["Q"], steps["K"], row=0, column=2)


@registered
def cross_attention_output() -> Svg:
    r"""Each row of $\weights{A}$ averages the three values; so the output $\output{O}$ has one row
    for each query."""
    steps = examples.steps("cross_attention")
    return output_figure(steps["weights"], steps["V"], row=0, column=0)


@registered
def cross_attention_lines() -> Svg:
    r"""Two queries on the left, three keys of the other sequence on the right. Each query divides a
    total weight of one among them."""
    weights = examples.steps("cross_attention")["weights"]
    return attention_lines(weights, ["query 1", "query 2"], ["key 1", "key 2", "key 3"])


@registered
def cross_attention_space() -> Svg:
    r"""The two input sequences and the outputs, each on a level of its own. The height is no
    number of the computation; it only keeps the three apart. Of the inputs, which have four
    features, the first two are drawn; the outputs have two numbers in all. Directions on one level
    can be compared. Distances between levels mean nothing."""
    steps = examples.steps("cross_attention")
    sets = [
        Points("key-value inputs", on_level(steps["X_kv"], 0), ["Xkv1", "Xkv2", "Xkv3"], "input"),
        Points("outputs", on_level(steps["output"], 1), ["O1", "O2"], "output"),
        Points("query inputs", on_level(steps["X_q"], 2), ["Xq1", "Xq2"], "query"),
    ]
    axes = ("number 1", "number 2", "level")
    return space_figure("Cross-attention: inputs and outputs", axes, sets, (2, 2, 2))


@registered
def reference_heatmap() -> Svg:
    r"""`heatmap(masked, ...)`: four queries on five keys under a causal mask."""
    scaled = examples.steps("distinct_sizes")["scaled"]
    masked = np.where(causal_mask(*scaled.shape), scaled, -np.inf)
    return heatmap(
        masked, "Masked scores", rows="queries", columns="keys", role="scores", mark=(2, None)
    )


@registered
def reference_mask() -> Svg:
    r"""`heatmap(causal_mask(4, 5), ...)`: booleans make a mask."""
    return heatmap(causal_mask(4, 5), "Causal mask", rows="queries", columns="keys")


@registered
def reference_product() -> Svg:
    r"""`product_figure(weights, value, row=1, column=2, ...)`: the second query, the third number
    of its output."""
    steps = examples.steps("distinct_sizes")
    return output_figure(steps["weights"], steps["V"], row=1, column=2)


@registered
def reference_lines() -> Svg:
    r"""`attention_lines(weights, tokens, keys, query=1)`: one query alone, with its weights."""
    weights = examples.steps("distinct_sizes")["weights"]
    queries, keys = (
        [f"{kind} {i + 1}" for i in range(n)] for kind, n in (("query", 4), ("key", 5))
    )
    return attention_lines(weights, queries, keys, query=1)


def scores_figure(q, k, row: int, column: int) -> Svg:
    return product_figure(
        q,
        k.T,
        row=row,
        column=column,
        names=("Q", "Kᵀ", "S"),
        roles=("query", "key", "scores"),
    )


def output_figure(weights, v, row: int, column: int) -> Svg:
    return product_figure(
        weights,
        v,
        row=row,
        column=column,
        names=("A", "V", "O"),
        roles=("weights", "value", "output"),
        scales=("sequential", "diverging", "diverging"),
    )


def on_level(points, height: float) -> list[list[float]]:
    """Give points of a plane, their first two numbers, a height."""
    return [[*map(float, point[:2]), height] for point in points]


def space_figure(name: str, axes, sets, size) -> Svg:
    drawn: Panel = scatter_3d(name, axes, sets, size)
    return figure(drawn, name)
