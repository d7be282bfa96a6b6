import numpy as np

from attention_docs.examples.course_sentence import BIRDS, PASS, WORDS
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, bars, beside, line_chart, svg
from attention_docs.softmax import softmax


@site_figure
def course_saturation(steps_of: StepsOf) -> Html:
    r"""The weights of *birds* when all of its scores are multiplied by the same factor. The smaller
    the factor, the closer the words come to counting alike, as in a plain average. The larger it
    is, the more *pass* takes, until it has almost everything and the lines are flat. The markers
    stand at the factor one and at $1 / \sqrt{3}$, the factor of the formula. Equal distances on the
    axis are equal ratios."""
    steps = steps_of("course_scale")
    factors = np.geomspace(1 / 16, 4, 61)
    curves = softmax(factors[:, None] * np.asarray(steps["scores"]))
    spread = np.ptp(curves, axis=1)
    claim(np.all(np.diff(spread) > 0), "The smaller the factor, the closer the words come")
    claim(np.all(np.diff(curves[:, PASS]) > 0), "The larger it is, the more *pass* takes")
    claim(curves[-1, PASS] > 0.99, "until it has almost everything")
    factor_of_step = {"weights": 3**-0.5, "weights_unscaled": 1.0}
    series = []
    # The words other than *pass* have equal weights.
    for name, word, role in (("pass", PASS, "weights"), ("any other", BIRDS, "first")):
        series.append(Series(name, factors, curves[:, word], role))
        for step, factor in factor_of_step.items():
            weight = steps[step][word : word + 1]
            series.append(Series("", [factor], weight, role, line=False, points=True))
    x = Axis("factor", (1 / 16, 1 / 4, 1, 4), logarithmic=True)
    y = Axis("weight", (0, 0.5, 1))
    return line_chart("Weights of “birds”", x, y, series)


@site_figure
def softmax_temperature(steps_of: StepsOf) -> Html:
    r"""The weights of *birds* and the slope at *pass*, whose bar is full at $\frac{1}{4}$: first
    for the softmax of the scores, then for that of the scores divided by $\sqrt{d_k}$. Both
    softmaxes divide by the temperature, too."""
    steps = steps_of("softmax_temperature")
    panels = []
    for name, ending in (("without the root", "_unscaled"), ("with the root", "")):
        weights = bars.bars_panel(name, steps[f"weights{ending}"], WORDS)
        slope = bars.bars_panel(
            "slope", steps[f"slope{ending}"], ["pass"], "scores", largest=0.25, room_for=WORDS
        )
        panels.append(svg.below([weights, slope], name))
    return beside(panels, "Weights and slope, without and with the root")
