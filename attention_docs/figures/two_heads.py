import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import WEIGHTS, matrices_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html


@site_figure
def heads_side_by_side(steps_of: StepsOf) -> Html:
    r"""The weights of the two heads, for the same queries and keys. Each query has its largest
    weight on one key in head 1, and on another in head 2."""
    steps = steps_of("multi_head")
    weights_1, weights_2 = steps["weights_1"], steps["weights_2"]
    differ = weights_1.argmax(axis=1) != weights_2.argmax(axis=1)
    claim(np.all(differ), "Each query has its largest weight on one key in head 1")
    heads = {"Head 1": weights_1, "Head 2": weights_2}
    return matrices_figure("Weights of two heads", heads, **WEIGHTS, numbers=False)
