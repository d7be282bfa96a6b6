import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart


@site_figure
def score_variance(steps_of: StepsOf) -> Html:
    r"""The variance of a score grows with $d$. Divided by $\sqrt{d}$, a score has the variance one
    for every $d$. Lines: proved. Markers: measured."""
    steps = steps_of("score_variance")
    d, variance, variance_of_scaled = steps["d"], steps["variance"], steps["variance_of_scaled"]
    claim(np.all(np.diff(variance) > 0), "The variance of a score grows with $d$")
    is_one = np.allclose(variance_of_scaled, 1, atol=0.05)
    claim(is_one, r"Divided by $\sqrt{d}$, a score has the variance one for every $d$")
    series = [
        Series("proved: d", d, d, "scores"),
        Series("measured", d, variance, "scores", line=False, points=True),
        Series("scaled: 1", d, np.ones_like(d), "first"),
        Series("measured", d, variance_of_scaled, "first", line=False, points=True),
    ]
    x = Axis("d", (4, 16, 64, 256), logarithmic=True)
    y = Axis("variance", (0.25, 1, 4, 16, 64, 256), logarithmic=True)
    return line_chart("Variance of a score, and of a scaled score", x, y, series)
