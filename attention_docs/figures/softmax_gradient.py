import numpy as np

from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart
from attention_docs.softmax import softmax

D_AXIS = Axis("d_k", (1, 4, 16, 64, 256), logarithmic=True)


@site_figure
def softmax_saturation(steps_of: StepsOf) -> Html:
    r"""Four scores that grow with $\sqrt{d_k}$, as random scores do without the division. At the
    left end each has some weight. At the right end the largest has nearly all the weight."""
    d, weights = weights_of_growing_scores(steps_of)
    claim(weights[0].min() > 1 / 20, "At the left end each has some weight")
    claim(weights[-1].max() > 0.99, "At the right end the largest has nearly all the weight")
    series = [
        Series(f"score {i + 1}", d, weights[:, i], role)
        for i, role in enumerate(("first", "second", "third", "fourth"))
    ]
    y = Axis("weight", (0, 0.25, 0.5, 0.75, 1))
    return line_chart("Weights of four scores, without the division", D_AXIS, y, series)


@site_figure
def softmax_gradient(steps_of: StepsOf) -> Html:
    r"""The largest entry of the Jacobian of the same softmax. The vertical axis is logarithmic:
    each step down is a hundredth of the one before."""
    d, weights = weights_of_growing_scores(steps_of)
    jacobians = [np.diag(row) - np.outer(row, row) for row in weights]
    slopes = np.abs(jacobians).max(axis=(1, 2))
    y = Axis("slope", (1e-8, 1e-6, 1e-4, 1e-2, 1), logarithmic=True)
    ratios = np.divide(y.ticks[:-1], y.ticks[1:])
    claim(np.allclose(ratios, 1 / 100), "each step down is a hundredth of the one before")
    series = [Series("slope", d, slopes, "weights")]
    return line_chart("Largest slope, without the division", D_AXIS, y, series)


def weights_of_growing_scores(steps_of: StepsOf) -> tuple[Array, Array]:
    """Return 65 values of d, (65,), and for each the weights of scores times its root, (65, 4)."""
    scores = steps_of("softmax_saturation")["z_divided"]
    d = np.geomspace(1, 256, 65)
    return d, softmax(np.sqrt(d)[:, None] * scores)
