import numpy as np

from attention_docs.examples.course_sentence import FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, heatmap


@site_figure
def course_block_steps(steps_of: StepsOf) -> Html:
    r"""The word *they*: attention adds mainly *air* and a *reason*, the feed-forward network
    exchanges *refers* for an *action*, and each norm brings the row back to one scale."""
    rows = steps_of("course_block")["they"]
    word, with_attention, normed, with_network, output = rows
    added_by_attention, added_by_network = with_attention - word, with_network - normed
    two_largest = {FEATURES[i] for i in added_by_attention.argsort()[-2:]}
    claim(two_largest == {"air", "reason"}, "attention adds mainly *air* and a *reason*")
    exchanged = FEATURES[added_by_network.argmin()], FEATURES[added_by_network.argmax()]
    claim(exchanged == ("refers", "action"), "exchanges *refers* for an *action*")
    variances = [normed.var(), output.var()]
    claim(np.allclose(variances, 1, atol=1e-3), "back to one scale")
    return heatmap(
        rows,
        "The word “they”",
        rows="stages",
        columns="features",
        row_labels=["word and place", "+ attention", "norm", "+ feed-forward", "norm"],
        column_labels=FEATURES,
        compact=True,
    )
