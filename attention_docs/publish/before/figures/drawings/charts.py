"""Draw a line chart as a figure of its own."""

from collections.abc import Sequence

from attention_docs.render.figures import Axis, Html, Series, figure, line_chart


def chart_figure(name: str, x: Axis, y: Axis, series: Sequence[Series]) -> Html:
    """Return a finished figure of one line chart, which has the same name."""
    return figure(line_chart(name, x, y, series), name)
