import numpy as np

from attention_docs.figures.learning import COLOURED_WEIGHTS, loss_chart
from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, beside, matrix_panel


@site_figure
def induction_curves(steps_of: StepsOf) -> Html:
    r"""Loss on sequences not used in training. With two layers it stays high for a hundred steps,
    and then falls almost to zero. With one layer it stays high throughout."""
    steps = steps_of("learning_induction")
    one_layer, two_layers = steps["loss_one"], steps["loss_two"]
    early = steps["step"] <= 100
    claim(two_layers[early].min() > 0.9 * two_layers[0], "stays high for a hundred steps")
    claim(two_layers[-1] < two_layers[0] / 100, "falls almost to zero")
    claim(one_layer.min() > 0.8 * one_layer[0], "With one layer it stays high throughout")
    lines = {"one layer": (one_layer, "second"), "two layers": (two_layers, "first")}
    return loss_chart(
        "Learning induction", steps["step"], lines, (0, 50, 100, 150, 200, 250), (0, 1, 2, 3)
    )


@site_figure
def induction_weights(steps_of: StepsOf) -> Html:
    r"""The weights of two trained layers for the sequence B G I F E D A D. In the first layer,
    almost every token looks at the one before it. In the second, the last D looks at the A that
    followed the first D."""
    steps = steps_of("learning_induction")
    tokens = ["ABCDEFGHI"[token] for token in steps["tokens"]]
    looks_back = steps["weights1"][1:].argmax(axis=1) == np.arange(len(tokens) - 1)
    claim(looks_back.sum() >= len(looks_back) - 1, "almost every token looks at the one before it")
    seen_by_last = labels_of_largest(steps["weights2"], tokens)[-1]
    after_first_d = tokens[tokens.index("D") + 1]
    claim(seen_by_last == after_first_d == "A", "the last D looks at the A")
    claim(" ".join(tokens) == "B G I F E D A D", "the sequence B G I F E D A D")
    options = {**COLOURED_WEIGHTS, "row_labels": tokens, "column_labels": tokens}
    last_row = (len(tokens) - 1, None)
    panels = [
        matrix_panel(steps["weights1"], "Layer 1", **options),
        matrix_panel(steps["weights2"], "Layer 2", **options, mark=last_row),
    ]
    return beside(panels, "The two heads of induction")
