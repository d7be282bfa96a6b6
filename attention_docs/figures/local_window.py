from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import softmax_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, heatmap


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
    row, column = 2, 5  # counted from 0
    was_largest = steps["weights"][row].argmax() == column
    is_gone = steps["weights_masked"][row, column] == 0
    claim(was_largest and is_gone, "The large weight of row 3, column 6 is gone")
    scores, weights = steps["masked"], steps["weights_masked"]
    name = "Masked scores and their weights"
    return softmax_figure(name, scores, weights, hidden=~steps["mask"])
