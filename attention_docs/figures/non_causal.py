from attention_docs import examples
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, matrix_panel, svg


@site_figure
def non_causal_masks(steps_of: StepsOf) -> Html:
    r"""The masks of this chapter, in the last three states with a mistake. The tokens 0 and 1 are
    one image, and 3 to 6 another."""
    example = examples.load("non_causal_masks")
    claim(example.IMAGE == (0, 0, -1, 1, 1, 1, 1, -1), "The tokens 0 and 1 are one image")
    positions = example.LABELS["output"][1]
    labels = {"row_labels": positions, "column_labels": positions}
    states = [
        matrix_panel(mask, name, rows="queries", columns="keys", **labels)
        for name, mask in example.masks().items()
    ]
    return svg.player(states, "Masks that are not causal")
