from collections.abc import Mapping, Sequence

from attention_docs.arrays import Array
from attention_docs.figures.registry import site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, cells, scales, svg
from attention_docs.render.figures.arrows import arrow

# The roles of the matrices of the forward pass, from left to right.
ROLE_OF_SYMBOL = {"Z": "scores", "A": "weights", "O": "output"}
# The size of their cells, and the room for an arrow between two of them.
PASS_CELL, ARROW_LENGTH = (14, 14), 62


@site_figure
def backward_passes(steps_of: StepsOf) -> Html:
    r"""The forward pass, above, goes from the scaled scores $\scores{Z}$ to the weights
    $\weights{A}$ and to the output $\output{O}$. The backward pass, below, starts with
    $d\output{O}$, which says how the error depends on each entry of $\output{O}$. From there it
    goes back to $d\weights{A}$ and $d\scores{Z}$, each below its matrix, with the help of the
    values $\value{V}$ and the weights. What a step starts from is outlined. A strong colour is a
    number far from zero, and olive ones are negative."""
    forward, backward = steps_of("distinct_sizes"), steps_of("backward")
    matrices = {
        "Z": forward["scaled"],
        "dZ": backward["dZ"],
        "A": forward["weights"],
        "dA": backward["dA"],
        "O": forward["output"],
        "dO": backward["dO"],
    }
    through_softmax = "backward: through the softmax"
    states = [
        _pass_step("forward: softmax", "softmax", matrices, ["Z"], "A"),
        _pass_step("forward: times V", "times V", matrices, ["A"], "O"),
        _pass_step("backward: times Vᵀ", "times Vᵀ", matrices, ["dO"], "dA"),
        _pass_step(through_softmax, "derivative", matrices, ["dA", "A"], "dZ", ["dO"]),
    ]
    return svg.player(states, "Forward and backward pass")


def _pass_step(
    name: str,
    operation: str,
    matrices: Mapping[str, Array],
    sources: Sequence[str],
    result: str,
    computed_before: Sequence[str] = (),
) -> Panel:
    """Draw what a step of the forward or backward pass starts from, and what it computes.

    Args:
        sources: the symbols of the outlined matrices; the arrow begins at the first.
        computed_before: the symbols of other matrices that are coloured; the rest have empty cells.
    """
    grids, x = {}, 2.0
    for symbol in ROLE_OF_SYMBOL:  # the forward pass in a row, and the backward pass below it
        forward = cells.Grid(x, 1.2 * svg.LINE_HEIGHT, PASS_CELL, *matrices[symbol].shape)
        grids[symbol] = forward
        grids[f"d{symbol}"] = forward._replace(y=forward.bottom + 2.2 * svg.LINE_HEIGHT)
        x = forward.right + ARROW_LENGTH
    body, descriptions = [], []
    for symbol, matrix in matrices.items():
        grid, role = grids[symbol], ROLE_OF_SYMBOL[symbol[-1]]
        body.append(svg.title(grid.middle_x, grid.y - svg.LINE_HEIGHT / 2, symbol, role))
        if symbol in (*sources, result, *computed_before):
            kind = "sequential" if symbol == "A" else "diverging"
            scale = scales.scale_of(kind, symbol, matrix, role)
            body.append(cells.draw_cells(grid, matrix, scale, has_numbers=False))
            descriptions.append(cells.describe(symbol, matrix))
        else:
            body.append(cells.draw_grid_lines(grid))
        if symbol in sources:
            body.append(cells.draw_mark(grid, (None, None), role))
    start, end = grids[sources[0]], grids[result]
    ends = (start.right + 4, end.x - 4) if start.x < end.x else (start.x - 4, end.right + 4)
    body.append(svg.label(sum(ends) / 2, start.middle_y - 12, operation))
    body.append(arrow([(x, start.middle_y) for x in ends]))
    return Panel(
        grids["O"].right + 2,
        grids["dO"].bottom,
        "".join(body),
        f"{operation}: {' '.join(descriptions)}",
        name=name,
    )
