from collections.abc import Sequence

from attention_docs.arrays import Array
from attention_docs.figures.registry import site_figure
from attention_docs.figures.steps_of_attention import WEIGHTS, step_panel
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, Panel, beside, cells, scales, svg


@site_figure
def masks_joined(steps_of: StepsOf) -> Html:
    r"""A causal mask, a padding mask, and both. The words at the rows are the queries, those at the
    columns are the keys. A pair with a tick takes part, and a pair with a cross does not. With both
    masks, a pair takes part where each of them allows it."""
    steps = steps_of("causal_padding")
    words, _ = words_of(steps["causal"])
    padded_words, _ = words_of(steps["causal_and_right"])
    padding = steps["right"][[0] * len(padded_words)]  # the same row for every query
    panels = [
        _mask_of_words("causal", steps["causal"], words),
        _mask_of_words("padding", padding, padded_words),
        _mask_of_words("both", steps["causal_and_right"], padded_words),
    ]
    return beside(panels, "Three masks")


def _mask_of_words(name: str, mask: Array, words: Sequence[str]) -> Panel:
    """Draw a mask with words at its rows and the same words, upwards, over its columns."""
    left, top = 62, 76  # the room for the words
    grid = cells.Grid(left, top, cells.MIN_CELL, *mask.shape)
    scale = scales.scale_of("sequential", name, mask)
    body = [
        svg.title(grid.middle_x, svg.LINE_HEIGHT / 2, name, None),
        cells.draw_row_labels(grid, words),
        cells.draw_upward_labels(grid, words),
        cells.draw_cells(grid, mask, scale),
    ]
    return Panel(grid.right, grid.bottom, "".join(body), cells.describe(name, mask), name=name)


@site_figure
def masked_outputs(steps_of: StepsOf) -> Html:
    r"""The weights under this mask, and the outputs that they blend from the values."""
    steps = steps_of("clicked_mask")
    panels = [
        step_panel(steps["weights"], "Weights", **WEIGHTS),
        step_panel(steps["output"], "Outputs", rows="queries", columns="features", role="output"),
    ]
    return beside(panels, "Weights and outputs under a mask")
