"""Convert results to text, LaTeX, JSON, Python and figures, by pure functions."""

from attention_docs.render.figures import attention_lines, heatmap, product_figure

__all__ = ["attention_lines", "heatmap", "product_figure"]
