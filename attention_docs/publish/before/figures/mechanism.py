"""The figures of "The mechanism"."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.registry import StepsOf, site_figure
from attention_docs.publish.before.figures.steps_of_attention import (
    WEIGHTS,
    output_figure,
    scores_figure,
)
from attention_docs.render.figures import (
    Html,
    Points,
    attention_lines,
    beside,
    figure,
    lines_panel,
    matrix_panel,
    scatter_2d,
    scatter_3d,
)

FEATURES = ("feature 1", "feature 2", "feature 3")


@site_figure
def self_attention_scores(steps_of: StepsOf) -> Html:
    r"""Row 3 of $\query{Q}$ meets column 3 of $\key{K}^\top$: their dot product is the score in row
    3, column 3 of $\scores{S}$."""
    steps = steps_of("self_attention")
    return scores_figure(steps, row=2, column=2)


@site_figure
def self_attention_output(steps_of: StepsOf) -> Html:
    r"""Row 1 of the weights $\weights{A}$ averages column 2 of the values $\value{V}$. The result
    stands in row 1, column 2 of the output $\output{O}$."""
    steps = steps_of("self_attention")
    return output_figure(steps, row=0, column=1)


@site_figure
def self_attention_lines(steps_of: StepsOf) -> Html:
    r"""Who looks at whom. The thicker a line, the larger the weight. Positions 1 and 2 look at each
    other and at position 3; position 3 looks mostly at itself."""
    positions = ["position 1", "position 2", "position 3"]
    weights = steps_of("self_attention")["weights"]
    first_looks_away = weights[0, [1, 2]].min() > weights[0, 0]
    second_looks_away = weights[1, [0, 2]].min() > weights[1, 1]
    claim(
        first_looks_away and second_looks_away,
        "Positions 1 and 2 look at each other and at position 3",
    )
    claim(weights[2, 2] > 3 / 4, "position 3 looks mostly at itself")
    return attention_lines(weights, positions)


@site_figure
def self_attention_plane(steps_of: StepsOf) -> Html:
    r"""The inputs have a plane of their own. Of their four features two are drawn, and the other
    two repeat them. Values and outputs share another plane: an output is an average of the values,
    so it lies in their triangle."""
    steps = steps_of("self_attention")
    claim(repeats_two_features(steps["X"]), "two repeat them")
    inputs = [Points("inputs X", steps["X"][:, :2], ["X1", "X2", "X3"], "input")]
    values, outputs = values_and_outputs(steps, ["V1", "V2", "V3"], ["O1", "O2", "O3"])
    return plane_figure("Self-attention: points", inputs, [outputs, values])


@site_figure
def self_attention_space(steps_of: StepsOf) -> Html:
    r"""Values and outputs in the space of the values, with three features each. An output is an
    average of the values, so it lies in their triangle. The third output lies close to the third
    value, from which it takes most. The inputs are not drawn, because they have four features and
    live in another space."""
    steps = steps_of("values_in_space")
    distances = np.linalg.norm(steps["V"] - steps["output"][2], axis=1)
    claim(distances.argmin() == 2, "The third output lies close to the third")
    claim(steps["weights"][2].argmax() == 2, "from which it takes most")
    # O3 lies close to V3, so its label goes to the left (first set) and that of V3 to the right.
    values, outputs = values_and_outputs(steps, ["V1", "V2", "V3"], ["O1", "O2", "O3"])
    sets = [outputs, values]
    return space_figure("Self-attention: values and outputs", FEATURES, sets, (2, 2, 1))


@site_figure
def cross_attention_scores(steps_of: StepsOf) -> Html:
    r"""Two queries and three keys: $\scores{S}$ has as many rows as $\query{Q}$ and as many columns
    as $\key{K}^\top$."""
    steps = steps_of("cross_attention")
    return scores_figure(steps, row=0, column=2)


@site_figure
def cross_attention_output(steps_of: StepsOf) -> Html:
    r"""Each row of $\weights{A}$ averages the three values; so the output $\output{O}$ has one row
    for each query."""
    steps = steps_of("cross_attention")
    return output_figure(steps, row=0, column=0)


@site_figure
def cross_attention_plane(steps_of: StepsOf) -> Html:
    r"""Both input sequences in a plane of their own, drawn by two of their four features, which the
    other two repeat. Each position of $\input{X_q}$ stands where one of $\input{X_{kv}}$ does,
    because their features are equal. Values and outputs share another plane, and the outputs lie
    in the triangle of the values."""
    steps = steps_of("cross_attention")
    x_q, x_kv = steps["X_q"], steps["X_kv"]
    claim(repeats_two_features(x_q), "which the other two repeat")
    claim(repeats_two_features(x_kv), "which the other two repeat")
    claim({*map(tuple, x_q)} <= {*map(tuple, x_kv)}, "their features are equal")
    inputs = [
        Points("X_q", x_q[:, :2], ["Xq1", "Xq2"], "input"),
        Points("X_kv", x_kv[:, :2], ["Xkv1", "Xkv2", "Xkv3"], "input"),
    ]
    values, outputs = values_and_outputs(steps, ["V1", "V2", "V3"], ["O1", "O2"])
    return plane_figure("Cross-attention: points", inputs, [outputs, values])


@site_figure
def cross_attention_lines(steps_of: StepsOf) -> Html:
    r"""Two queries on the left, three keys of the other sequence on the right. Each query divides a
    total weight of one among them."""
    weights = steps_of("cross_attention")["weights"]
    return attention_lines(weights, ["query 1", "query 2"], ["key 1", "key 2", "key 3"])


@site_figure
def cross_attention_space(steps_of: StepsOf) -> Html:
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


@site_figure
def heads_side_by_side(steps_of: StepsOf) -> Html:
    r"""The weights of the two heads, for the same queries and keys. Each query has its largest
    weight on one key in head 1, and on another in head 2."""
    steps = steps_of("multi_head")
    weights_1, weights_2 = steps["weights_1"], steps["weights_2"]
    differ = weights_1.argmax(axis=1) != weights_2.argmax(axis=1)
    claim(np.all(differ), "Each query has its largest weight on one key in head 1")
    panels = [
        matrix_panel(weights_1, "Head 1", **WEIGHTS, numbers=False),
        matrix_panel(weights_2, "Head 2", **WEIGHTS, numbers=False),
    ]
    return beside(panels, "Weights of two heads")


@site_figure
def decoder_lines(steps_of: StepsOf) -> Html:
    r"""Head 1 of both attentions. In the self-attention the first target token sees only itself,
    because the causal mask hides the second. In the cross-attention both target tokens see
    all the source tokens. The thicker a line, the larger the weight."""
    steps = steps_of("encoder_decoder")
    sees_only_itself = steps["decoder_weights_1"][0].tolist() == [1, 0]
    claim(sees_only_itself, "the first target token sees only itself")
    claim(np.all(steps["cross_weights_1"] > 0), "both target tokens see all the source tokens")
    target = [f"target {i + 1}" for i in range(len(steps["Y"]))]
    source = [f"source {i + 1}" for i in range(len(steps["X"]))]
    panels = [
        lines_panel(steps["decoder_weights_1"], target, heading="Self-attention"),
        lines_panel(steps["cross_weights_1"], target, source, heading="Cross-attention"),
    ]
    return beside(panels, "Where the decoder looks")


def values_and_outputs(
    steps: Mapping[str, Array], values: list[str], outputs: list[str]
) -> list[Points]:
    """Return the points of the values, outlined, and of the outputs in the same space."""
    return [
        Points("values V", steps["V"], values, "value", outlined=True),
        Points("outputs O", steps["output"], outputs, "output"),
    ]


def repeats_two_features(x: Array) -> bool:
    """Return whether features 3 and 4 repeat 1 and 2, so that a drawing of two shows all four."""
    return np.array_equal(x[:, 2:], x[:, :2])


def plane_figure(name: str, inputs: Sequence[Points], sets: Sequence[Points]) -> Html:
    """Draw inputs, with features from 0 to 1, beside values and outputs, from 0 to 2."""
    panels = [
        scatter_2d("Inputs", FEATURES[:2], inputs, (1, 1)),
        scatter_2d("Values and outputs", FEATURES[:2], sets, (2, 2)),
    ]
    return beside(panels, name)


def space_figure(
    name: str, axes: Sequence[str], sets: Sequence[Points], size: Sequence[int]
) -> Html:
    return figure(scatter_3d(name, axes, sets, size), name)
