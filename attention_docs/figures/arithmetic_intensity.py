import numpy as np

from attention_docs import examples
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart


@site_figure
def roofline(steps_of: StepsOf) -> Html:
    r"""What three cards compute at most: on the slope the memory sets the pace, on the flat part
    the arithmetic. The markers are one query token of the five kinds of heads, from MHA on the left
    to MLA on the right. Only MLA on the H200 reaches the flat part. Both axes are logarithmic."""
    steps = steps_of("arithmetic_intensity")
    at_peak = np.argwhere(steps["share"] == 1).tolist()
    claim(at_peak == [[4, 1]], "Only MLA on the H200 reaches the flat part")
    claim(np.all(np.diff(steps["intensity"]) > 0), "from MHA on the left to MLA on the right")
    claim(len(steps["intensity"]) == 5, "the five kinds of heads")
    cards = examples.load("arithmetic_intensity").CARDS
    claim(len(cards) == 3, "three cards")
    series = []
    for card, name in enumerate(cards):
        peak, speed = steps["teraflops"][card], steps["terabytes"][card]
        corners = np.array([1, peak / speed, 1024])
        role = ("first", "second", "third")[card]
        series.append(Series(name, corners, np.minimum(peak, speed * corners), role))
        intensity = steps["intensity"]
        roof = np.minimum(peak, speed * intensity)
        series.append(Series("", intensity, roof, role, line=False, points=True))
    x = Axis("operations per byte", (1, 4, 16, 64, 256, 1024), logarithmic=True)
    y = Axis("TFLOP/s", (1, 10, 100, 1000, 10000), logarithmic=True)
    return line_chart("Roofline of decoding", x, y, series)
