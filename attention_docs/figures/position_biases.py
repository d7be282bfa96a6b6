import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import matrices_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart


@site_figure
def alibi_biases(steps_of: StepsOf) -> Html:
    r"""What ALiBi adds to a score, for each of four heads."""
    slopes = steps_of("position_biases")["slopes"]
    ticks = (0, 4, 8, 12, 16)
    distances = np.arange(ticks[-1] + 1)
    series = [
        Series(f"head {head + 1}", distances, -slopes[head] * distances, role)
        for head, role in enumerate(("first", "second", "third", "fourth"))
    ]
    x = Axis("distance", ticks)
    y = Axis("bias", (-4, -3, -2, -1, 0))
    return line_chart("A bias for the distance", x, y, series)


@site_figure
def window_reach(steps_of: StepsOf) -> Html:
    r"""Which tokens reach which through one, two and three layers, each with a window of the token
    itself and two before it. The last row belongs to the last of the ten tokens."""
    steps = steps_of("position_biases")
    claim(steps["reach_1"].sum(axis=1).max() == 3, "the token itself and two before it")
    reaches = {
        "1 layer": steps["reach_1"],
        "2 layers": steps["reach_2"],
        "3 layers": steps["reach_3"],
    }
    name = "Reach of a window through layers"
    return matrices_figure(name, reaches, rows="outputs", columns="inputs")
