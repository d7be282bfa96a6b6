from attention_docs import examples
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, Panel, cells, scales, svg


@site_figure
def non_causal_masks(steps_of: StepsOf) -> Html:
    r"""The masks of this chapter, in the last three states with a mistake: a row has the keys that
    a query sees, and its output. The tokens 0 and 1 are one image, and 3 to 6 another."""
    example, output = examples.load("non_causal_masks"), steps_of("non_causal_masks")["output"]
    claim(example.IMAGE == (0, 0, -1, 1, 1, 1, 1, -1), "The tokens 0 and 1 are one image")
    positions = words_of(output)[1]
    grid = cells.Grid(20, 40, (22, 24), 8, 8)
    means = grid._replace(x=grid.right + 8, cell=(58, 24), columns=1)
    scale = scales.scale_of("sequential", "outputs", output, "output")
    labels = cells.draw_row_labels(grid, positions) + cells.draw_column_labels(grid, positions)
    labels += svg.heading(grid.middle_x, "keys") + svg.heading(means.middle_x, "output")
    states = []
    for row, (name, mask) in enumerate(example.masks().items()):
        pairs = zip(*mask.nonzero(), strict=True)
        body = labels + "".join(svg.label(*grid.centre(*pair), "✓") for pair in pairs)
        body += cells.draw_grid_lines(grid) + cells.draw_crosses(grid, ~mask)
        body += cells.draw_cells(means, output[row : row + 1, :].T, scale)
        states.append(Panel(means.right, grid.bottom, body, cells.describe(name, mask), name=name))
    return svg.player(states, "Masks that are not causal")
