import numpy as np

from attention_docs.examples.course_sentence import WORDS
from attention_docs.figures.course_sentence import WEIGHTS_OF_WORDS
from attention_docs.figures.registry import site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, bars, beside, matrix_panel


@site_figure
def course_mask(steps_of: StepsOf) -> Html:
    r"""The weights without and with the causal mask. What is crossed out lies in the future of the
    word that asks."""
    steps = steps_of("course_mask")
    panels = [
        matrix_panel(steps["open_weights"], "Without a mask", **WEIGHTS_OF_WORDS),
        matrix_panel(
            steps["weights"],
            "With the causal mask",
            hidden=~np.asarray(steps["mask"]),
            **WEIGHTS_OF_WORDS,
        ),
    ]
    return beside(panels, "Weights without and with a mask")


@site_figure
def clicked_mask(steps_of: StepsOf) -> Html:
    r"""The weights under this mask, and the share of its weight that each word gives to later
    words: what leaks."""
    steps = steps_of("clicked_mask")
    panels = [
        matrix_panel(steps["weights"], "Weights", numbers=False, **WEIGHTS_OF_WORDS),
        bars.bars_panel("leaked", steps["leaked"], WORDS),
    ]
    return beside(panels, "Weights under a mask, and what leaks")
