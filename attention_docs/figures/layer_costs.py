import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart


@site_figure
def layer_costs(steps_of: StepsOf) -> Html:
    r"""Multiplications in one layer of \val{cost.d} features. Both axes are logarithmic. The line
    of the two products of attention is twice as steep as the others, because these products grow
    with the square of the length, and all the others in proportion to it."""
    steps = steps_of("cost")
    roles = {
        "attention": "first",
        "projections": "fourth",
        "convolution": "second",
        "recurrence": "third",
    }
    # The growth from one length to the next. On logarithmic axes it is the slope of a line.
    log_growth = {step: np.diff(np.log(steps[step])) for step in (*roles, "n")}
    for step in ("projections", "convolution", "recurrence"):
        is_twice = np.allclose(log_growth["attention"], 2 * log_growth[step])
        claim(is_twice, "twice as steep as the others")
    is_square = np.allclose(log_growth["attention"], 2 * log_growth["n"])
    claim(is_square, "grow with the square of the length")
    series = [
        Series(step, steps["n"], steps[step], role, points=True) for step, role in roles.items()
    ]
    positions = Axis("positions", (16, 64, 256, 1024), logarithmic=True)
    ticks = (0.01, 0.1, 1, 10, 100, 1000)
    multiplications = Axis("million multiplications", ticks, logarithmic=True, unit=1e6)
    return line_chart("What a layer costs", positions, multiplications, series)
