import numpy as np

from attention_docs.examples import load
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart


@site_figure
def split_outputs(steps_of: StepsOf) -> Html:
    r"""The second feature of one output, computed in float16 from one, two, four and eight pieces
    of the same keys. With eight pieces it is further from the exact output than with one."""
    steps = steps_of("split_sums")
    second_feature = 1
    outputs, exact = steps["outputs"][:, second_feature], steps["exact"][second_feature]
    errors = np.abs(outputs - exact)
    claim(errors[-1] > errors[0], "further from the exact output than with one")
    pieces = load("split_sums").PIECES
    claim(pieces == (1, 2, 4, 8), "from one, two, four and eight pieces")
    series = [
        Series("in float16", np.asarray(pieces), outputs, "first", points=True),
        Series("exact", np.asarray(pieces), np.full(len(pieces), exact), "second"),
    ]
    x = Axis("pieces", pieces, logarithmic=True)
    y = Axis("output", (1.518, 1.519, 1.52, 1.521))
    return line_chart("One output from pieces", x, y, series)
