import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import Steps, StepsOf, words_of
from attention_docs.render.figures import Html, Panel, bars, beside, cells, scales, svg
from attention_docs.render.numbers import number, short_numbers

# A cell with the weight of a token, and the room between the rows of entries and of tokens.
CELL, ROW_GAP = (37, 24), 6


@site_figure
def compressed_layers(steps_of: StepsOf) -> Html:
    r"""What one query after another reads, with its weights, in a layer with blocks of four and in
    one with blocks of two. The framed cell is the query's own token. An entry whose block is not
    finished has a dashed frame, and a finished one that the indexer did not choose is crossed out.
    The window has the last four tokens, so each earlier token is in one of them or in a finished
    entry."""
    steps = steps_of("compressed_keys")
    claim((steps["window"].sum(axis=1) <= 4).all(), "The window has the last four tokens")
    is_earlier = np.tri(8, dtype=bool)
    for size in (4, 2):
        seen = steps["window"] | np.repeat(steps[f"visible_{size}"], size, axis=1)
        claim(
            (seen == is_earlier).all(),
            "each earlier token is in one of them or in a finished entry",
        )
    tokens, _ = words_of(steps["window"])
    states = [_query_panel(steps, query, tokens) for query in range(len(tokens))]
    return svg.player(states, "Window and entries of each query")


def _query_panel(steps: Steps, query: int, tokens: list[str]) -> Panel:
    """Draw the weights of a query over entries and tokens, in both kinds of layers."""
    heavy = _layer_panel(steps, query, tokens, 4, [])
    sparse = _layer_panel(steps, query, tokens, 2, tokens)
    return svg.below([heavy, sparse], f"query {query + 1}, {tokens[query]}")


@short_numbers()
def _layer_panel(steps: Steps, query: int, tokens: list[str], size: int, words: list[str]) -> Panel:
    """Draw one layer: entries above the tokens of their blocks, with these words below them."""
    name = {4: "HCA: blocks of four", 2: "CSA: blocks of two, two chosen"}[size]
    sees = steps["visible_4"] if size == 4 else steps["chosen"]
    weights, entries = steps[f"weights_{size}"], len(tokens) // size
    room = cells.room_for_labels(words) if words else 0
    entry_grid = cells.Grid(2, 1.4 * svg.LINE_HEIGHT, (size * CELL[0], CELL[1]), 1, entries)
    token_grid = cells.Grid(2, entry_grid.bottom + ROW_GAP, CELL, 1, len(tokens))
    finished = int(steps[f"visible_{size}"][query].sum())
    row = slice(query, query + 1)
    scale = scales.scale_of("sequential", name, weights, "weights")
    body = [
        svg.heading(2, name, "start"),
        cells.draw_cells(token_grid, weights[row, entries:], scale, ~steps["window"][row]),
        cells.draw_mark(token_grid, (0, query), None),
        _words_below(token_grid, words),
    ]
    if finished:
        of_finished = entry_grid._replace(columns=finished)
        hidden = ~sees[row, :finished]
        body.append(cells.draw_cells(of_finished, weights[row, :finished], scale, hidden))
    dashes = {"fill": "none", "stroke": "currentColor", "stroke_dasharray": "3 3"}
    for entry in range(finished, entries):
        body.append(svg.element("rect", **entry_grid.box(0, entry), **dashes, stroke_opacity=0.5))
    parts = [f"entry {i + 1} {number(weights[query, i])}" for i in np.flatnonzero(sees[query])]
    parts += [
        f"{tokens[i]} {number(weights[query, entries + i])}"
        for i in np.flatnonzero(steps["window"][query])
    ]
    description = f"{name}: {finished} of {entries} entries are finished; {', '.join(parts)}."
    return Panel(token_grid.right + 2, token_grid.bottom + 2 + room, "".join(body), description)


def _words_below(grid: cells.Grid, words: list[str]) -> str:
    """Write the words of columns upwards below them."""
    return "".join(
        svg.vertical_label(grid.column_middle(i), grid.bottom + cells.LABEL_GAP, word, "end")
        for i, word in enumerate(words)
    )


@site_figure
def long_context_shares(steps_of: StepsOf) -> Html:
    r"""What each model keeps for the text, and what it reads for one more token, as shares of the
    same layers if each of them kept and read every token."""
    steps = steps_of("long_context_costs")
    is_whole = steps["kept_share"][0] == steps["read_share"][0] == 1
    claim(is_whole, "if each of them kept and read every token")
    (names,) = words_of(steps["kept_share"])
    panels = [
        bars.bars_panel("share kept", steps["kept_share"], names, "first"),
        bars.bars_panel("share read", steps["read_share"], names, "second"),
    ]
    return beside(panels, "Shares kept and read")
