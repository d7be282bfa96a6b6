import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart


@site_figure
def positional_products(steps_of: StepsOf) -> Html:
    r"""The dot product of two positions over their distance. It falls at first, and rises again
    as the fast clock comes round."""
    steps = steps_of("positional_encoding")
    products = steps["products"]
    distances = np.arange(len(products))
    # The same products between whole distances, too.
    fine_distances = np.linspace(0, distances[-1], 101)
    curve = np.cos(np.outer(fine_distances, steps["frequencies"])).sum(axis=1)
    lowest = curve.argmin()
    claim(np.all(np.diff(curve[: lowest + 1]) < 0), "It falls at first")
    claim(np.all(np.diff(curve[lowest:]) > 0), "rises again")
    series = [
        Series("dot product", fine_distances, curve, "scores"),
        Series("", distances, products, "scores", line=False, points=True),
    ]
    x = Axis("distance", distances.tolist())
    y = Axis("dot product", (-0.5, 0, 0.5, 1, 1.5, 2))
    return line_chart("Dot product of two positions", x, y, series)
