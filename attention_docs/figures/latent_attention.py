from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import draw_numbers
from attention_docs.lookup import Steps, StepsOf, words_of
from attention_docs.render.figures import Html, Panel, cells, scales, svg
from attention_docs.render.numbers import number

# The sides of a cell without a number and the size of one with a number, and the room between two
# factors.
UNIT, NUMBER_CELL, FACTOR_GAP = 14, (52, 24), 30
# The height of the tallest factor, so that what is below stays in place.
TALLEST = 6 * UNIT
# The room between a bracket and its factors, and at the sides of all factors.
BRACKET_MARGIN, SIDE_MARGIN = 8, 14
# The upper sides of the factors, of the product in the bracket, and of the result.
FACTORS_Y = 1.8 * svg.LINE_HEIGHT
INNER_Y = FACTORS_Y + TALLEST + 2.5 * svg.LINE_HEIGHT
RESULT_Y = INNER_Y + TALLEST + 2 * svg.LINE_HEIGHT


class Factor(NamedTuple):
    """A matrix of a product, which is drawn without colours if its numbers are not given."""

    name: str
    shape: tuple[int, ...]
    role: str | None = None
    numbers: Array | None = None

    @property
    def name_and_size(self) -> str:
        return f"{self.name} ({self.shape[0]} by {self.shape[1]})"

    def draw(self, grid: cells.Grid) -> str:
        name = svg.title(grid.middle_x, grid.y - 1.2 * svg.LINE_HEIGHT, self.name, self.role)
        if self.numbers is None:
            opacity = 0.8 if self.role else 0.4
            return cells.draw_grid_lines(grid, self.role, opacity) + name
        scale = scales.scale_of("diverging", self.name, self.numbers, self.role)
        return cells.draw_cells(grid, self.numbers, scale, has_numbers=False) + name


class BracketedProduct(NamedTuple):
    """A product of three matrices, of which two stand in a bracket and are multiplied first.

    Attributes:
        method: what the bracket stands for, such as `absorbed`.
        start: the index of the first factor in the bracket, 0 or 1.
        inner: the product of the two factors in the bracket.
        result: (1, n) the product of all three.
    """

    name: str
    method: str
    factors: tuple[Factor, Factor, Factor]
    start: int
    inner: Factor
    result: Array
    columns: Sequence[str] = ()

    @property
    def multiplications(self) -> int:
        (m, k), (_, n), (_, p) = (factor.shape for factor in self.factors)
        return k * n * p + m * k * p if self.start else m * k * n + m * n * p


@site_figure
def absorption(steps_of: StepsOf) -> Html:
    r"""The scores of a query with five tokens are a product of three matrices: the query, the
    transpose of $W_{UK}$, and the latents, one in each column. A bracket around the last two
    computes a key for each token. A bracket around the first two changes the query once, and the
    same scores take fewer multiplications. The output is such a product, too, of the weights, the
    latents and $W_{UV}$. A strong colour is a number far from zero, and olive ones are negative."""
    steps = steps_of("latent_attention")
    claim(len(steps["latents"]) == 5, "a query with five tokens")
    absorbed_scores = steps["query_absorbed"] @ steps["latents"].T
    claim(np.allclose(absorbed_scores, steps["content_scores"]), "the same scores")
    absorbed_output = steps["blended_latents"] @ steps["W_up_V"]
    claim(np.allclose(absorbed_output, steps["output"]), "The output is such a product, too")
    key_by_key, absorbed, *_ = products = _products(steps)
    claim(absorbed.multiplications < key_by_key.multiplications, "fewer multiplications")
    return svg.player([_draw_product(product) for product in products], "One product, two brackets")


def _products(steps: Steps) -> list[BracketedProduct]:
    """Return the scores and the output as products, each with two places of the bracket."""
    query, scores = steps["query_absorbed"], steps["content_scores"]
    blend, output = steps["blended_latents"], steps["output"]
    _, words = words_of(scores)
    of_scores = (
        Factor("query", steps["query"].shape, "query"),
        Factor("W_UK ᵀ", steps["W_up_K"].T.shape),
        Factor("latents", steps["latents"].T.shape, "input"),
    )
    of_output = (
        Factor("weights", steps["weights"].shape, "weights"),
        Factor("latents", steps["latents"].shape, "input"),
        Factor("W_UV", steps["W_up_V"].shape),
    )
    keys = Factor("keys", steps["keys"].T.shape, "key")
    changed_query = Factor("changed query", query.shape, "query", query)
    values = Factor("values", steps["values"].shape, "value")
    blended_latents = Factor("blended latents", blend.shape, "input", blend)
    return [
        BracketedProduct("scores", "key by key", of_scores, 1, keys, scores, words),
        BracketedProduct("scores", "absorbed", of_scores, 0, changed_query, scores, words),
        BracketedProduct("output", "value by value", of_output, 1, values, output),
        BracketedProduct("output", "absorbed", of_output, 0, blended_latents, output),
    ]


def _draw_product(product: BracketedProduct) -> Panel:
    """Draw three factors, two in a bracket; below, the product of these two; last, the result."""
    factors_width = UNIT * sum(factor.shape[1] for factor in product.factors) + 2 * FACTOR_GAP
    result_width = NUMBER_CELL[0] * product.result.shape[1]
    width = max(factors_width + 2 * SIDE_MARGIN, result_width + 4)
    result_grid = cells.Grid(
        (width - result_width) / 2, RESULT_Y, NUMBER_CELL, *product.result.shape
    )
    work_y = result_grid.bottom + 2 * svg.LINE_HEIGHT
    body = [
        *_draw_factors(product, (width - factors_width) / 2),
        svg.title(width / 2, RESULT_Y - svg.LINE_HEIGHT / 2 - 2, product.name, product.name),
        draw_numbers(result_grid, product.result, product.name),
        *(
            svg.label(result_grid.column_middle(i), result_grid.bottom + 10, text)
            for i, text in enumerate(product.columns)
        ),
        svg.label(width / 2, work_y, f"{number(product.multiplications)} multiplications"),
    ]
    return Panel(
        width,
        work_y + svg.LINE_HEIGHT,
        "".join(body),
        _describe(product),
        name=f"{product.name}, {product.method}",
    )


def _draw_factors(product: BracketedProduct, x: float) -> list[str]:
    """Draw the factors from x on, and below them what the bracket leaves of them."""
    grids = []
    for factor in product.factors:
        grids.append(cells.Grid(x, FACTORS_Y, (UNIT, UNIT), *factor.shape))
        x = grids[-1].right + FACTOR_GAP
    first, second = grids[product.start : product.start + 2]
    left, width = first.x - BRACKET_MARGIN, second.right - first.x + 2 * BRACKET_MARGIN
    place = {"x": left, "y": FACTORS_Y - BRACKET_MARGIN, "width": width}
    place["height"] = TALLEST + 2 * BRACKET_MARGIN
    stroke = {"stroke": svg.colour(product.inner.role), "stroke_width": 2}
    inner_x = (first.x + second.right - UNIT * product.inner.shape[1]) / 2
    inner_grid = cells.Grid(inner_x, INNER_Y, (UNIT, UNIT), *product.inner.shape)
    outer = 0 if product.start else 2
    return [
        svg.element("rect", **place, rx=8, fill="none", **stroke),
        *(factor.draw(grid) for factor, grid in zip(product.factors, grids, strict=True)),
        product.inner.draw(inner_grid),
        product.factors[outer].draw(grids[outer]._replace(y=INNER_Y)),
    ]


def _describe(product: BracketedProduct) -> str:
    """Say in words what is multiplied, what the bracket computes, and how much work that is."""
    factors = " times ".join(factor.name_and_size for factor in product.factors)
    first, second = product.factors[product.start : product.start + 2]
    description = (
        f"{factors}. The bracket is around {first.name} and {second.name}, which gives "
        f"{product.inner.name_and_size}: {number(product.multiplications)} multiplications."
    )
    if product.inner.numbers is not None:
        description += f" {cells.describe(product.inner.name, product.inner.numbers)}"
    return description
