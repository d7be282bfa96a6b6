from attention_docs.figures.registry import site_figure
from attention_docs.figures.steps_of_attention import WEIGHTS, step_panel, words_panel
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, beside, cells


@site_figure
def masks_joined(steps_of: StepsOf) -> Html:
    r"""A causal mask, a padding mask, and both. The words at the rows are the queries, those at the
    columns are the keys. A pair with a tick takes part, and a pair with a cross does not. With both
    masks, a pair takes part where each of them allows it."""
    steps = steps_of("causal_padding")
    causal, both = steps["causal"], steps["causal_and_right"]
    padding = steps["right"][[0] * len(both)]  # the same row for every query
    panels = [
        words_panel(name, mask, cells.MIN_CELL[0], scale="sequential", top=76)
        for name, mask in {"causal": causal, "padding": padding, "both": both}.items()
    ]
    return beside(panels, "Three masks")


@site_figure
def masked_outputs(steps_of: StepsOf) -> Html:
    r"""The weights under this mask, and the outputs that they blend from the values."""
    steps = steps_of("clicked_mask")
    panels = [
        step_panel(steps["weights"], "Weights", **WEIGHTS),
        step_panel(steps["output"], "Outputs", rows="queries", columns="features", role="output"),
    ]
    return beside(panels, "Weights and outputs under a mask")
