import numpy as np

from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, cells, scales
from attention_docs.render.figures.svg import colour, element, label, player
from attention_docs.render.numbers import number
from attention_docs.render.references import step_name

# A number of the figure of blocks: the side of its cell, and the side of its frame.
NUMBER_SIDE, FRAME_SIDE = 28, 25


@site_figure
def head_blocks(steps_of: StepsOf) -> Html:
    r"""Three tokens, a row each, with two features for each of two heads: what belongs to head 1
    has a solid frame, and what belongs to head 2 a dashed one. In memory all rows are one list, and
    a reshape only cuts this list into other rows. After the transpose each head has two features
    of every token. With the reshape alone, the first block has all of token 1 and half of
    token 2."""
    steps = steps_of("head_splitting")
    x = steps["X"]
    tokens, heads = len(x), 2
    width = x.shape[1] // heads
    claim((tokens, width) == (3, 2), "Three tokens, a row each, with two features for each")
    head_blocks = np.reshape(x, (tokens, heads, width)).transpose(1, 0, 2)
    blocks_of_reshape = np.reshape(x, (heads, tokens, width))
    claim(np.array_equal(head_blocks[0], steps["head_1"]), "two features of every token")
    first_block = blocks_of_reshape[0]
    is_wrong_head = np.array_equal(first_block, steps["wrong_head_1"])
    claim(is_wrong_head, "With the reshape alone, the first block has all of token 1")
    has_token_and_half = set(first_block.flat) == {*x[0], *x[1, :width]}
    claim(has_token_and_half, "all of token 1 and half of token 2")
    is_second_head = np.indices(x.shape)[1] >= width
    panels = [
        _framed_numbers(name, x, rows, columns, is_dashed=is_second_head)
        for name, (rows, columns) in _places_of_numbers(tokens, heads, width).items()
    ]
    return player(panels, "Cutting a list into heads")


def _places_of_numbers(tokens: int, heads: int, width: int) -> dict[str, tuple[Array, Array]]:
    """Return the row and column of each number of X, (tokens, heads * width), by arrangement."""
    token, column = np.indices((tokens, heads * width))
    head, feature = np.divmod(column, width)
    address = token * heads * width + column  # in memory, row by row
    # What the reshape alone takes for the head, the token and the feature.
    wrong_head, address_in_block = np.divmod(address, tokens * width)
    wrong_token, wrong_feature = np.divmod(address_in_block, width)
    return {
        "all heads side by side, n × h d": (token, column),
        "in memory, one list": (np.zeros_like(address), address),
        "reshape, n × h × d": (token * (heads + 0.5) + head, feature),
        "transpose, h × n × d": (token, head * (width + 1.5) + feature),
        "instead, the reshape alone, h × n × d": (
            wrong_token,
            wrong_head * (width + 1.5) + wrong_feature,
        ),
    }


def _framed_numbers(
    name: str, matrix: Array, rows: np.ndarray, columns: np.ndarray, is_dashed: np.ndarray
) -> Panel:
    """Draw each number of a matrix in a frame at its row and column on paper, in cells, (m, n)."""
    body = []
    for index, value in np.ndenumerate(matrix):
        x, y = float(columns[index] * NUMBER_SIDE + 2), float(rows[index] * NUMBER_SIDE + 2)
        digits = label(x + FRAME_SIDE / 2, y + FRAME_SIDE / 2, number(value), fill=colour(None))
        kind, dashes = ("second", "4 3") if is_dashed[index] else ("first", None)
        stroke = {"stroke": colour(kind), "stroke_width": 2, "stroke_dasharray": dashes}
        size = {"width": FRAME_SIDE, "height": FRAME_SIDE, "rx": 4, "fill": "none"}
        # A click anywhere in the frame reaches it.
        frame = element("rect", x=x, y=y, **size, **stroke, pointer_events="all")
        body.append(cells.tag_index(frame + digits, matrix, index))
    by_row_and_column = np.lexsort((columns.ravel(), rows.ravel()))
    numbers = ", ".join(number(matrix.flat[i]) for i in by_row_and_column)
    return Panel(
        float((columns.max() + 1) * NUMBER_SIDE + 2),
        float((rows.max() + 1) * NUMBER_SIDE + 2),
        element(
            "g",
            *body,
            data_val=step_name(matrix),
            data_set="text number",
            fill=scales.FILLS["input"],
        ),
        f"{name}: {numbers}, row by row.",
        name=name,
    )
