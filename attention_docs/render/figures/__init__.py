"""Draw arrays as SVG that takes the page's colours, and is legible without colour or by ear."""

from attention_docs.render.figures.chart import Axis, Series, line_chart
from attention_docs.render.figures.heatmap import heatmap, matrix_panel
from attention_docs.render.figures.lines import attention_lines, lines_panel
from attention_docs.render.figures.product import product_figure
from attention_docs.render.figures.scatter import Points, scatter_2d, scatter_3d
from attention_docs.render.figures.svg import Html, Panel, beside, figure

__all__ = [
    "Axis",
    "Html",
    "Panel",
    "Points",
    "Series",
    "attention_lines",
    "beside",
    "figure",
    "heatmap",
    "line_chart",
    "lines_panel",
    "matrix_panel",
    "product_figure",
    "scatter_2d",
    "scatter_3d",
]
