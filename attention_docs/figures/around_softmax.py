from attention_docs.figures.registry import site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, bars, beside


@site_figure
def first_head_weights(steps_of: StepsOf) -> Html:
    r"""The weights of the first head over four keys, with a norm of each head and with one of all
    heads together."""
    steps = steps_of("head_norms")
    _, tokens = words_of(steps["weights_by_head"])
    panels = [
        bars.bars_panel("norm of each head", steps["weights_by_head"][0], tokens),
        bars.bars_panel("norm of all heads", steps["weights_together"][0], tokens),
    ]
    return beside(panels, "Weights of the first head, with two norms")
