from attention_docs import examples
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import Steps, StepsOf
from attention_docs.render.figures import Html, Panel, bars, beside, boxes, cells, svg
from attention_docs.render.numbers import number, short_numbers

# The table of a pass, narrow enough for a phone: the height of a row, the left sides and widths of
# the words and of the cells of the cache, and the middles of the columns of numbers.
ROW, TOP = 32, 1.3 * svg.LINE_HEIGHT
WORDS_X, WORDS_WIDTH = 28, 74
CACHE_X, CACHE_WIDTH = 106, 50
COLUMNS = {"drafted_q": 172, "drafted_p": 203, "drafted_ratio": 246, "draws": 297}
HEADINGS = {"drafted_q": "q", "drafted_p": "p", "drafted_ratio": "min(1, p/q)", "draws": "draw"}
WIDTH = 316
# The columns that a state shows, and its name.
STATES = (
    (1, "the draft proposes three tokens"),
    (2, "the large model reads four tokens in one pass"),
    (4, "the first is accepted, the second rejected"),
    (4, "the cache is rolled back, and a word is written"),
)


@site_figure
def speculative_pass(steps_of: StepsOf) -> Html:
    r"""One pass. The large model reads the last written token and three drafted ones at once, so
    its cache grows by four. A draft is accepted if its draw is below min(1, p/q). The second is
    not, so the third falls with it, although it would have passed. *South* is written instead, and
    enters the cache in the next pass."""
    steps = steps_of("speculative_sampling")
    claim(steps["passes"].tolist() == [1, 0, 1], "although it would have passed")
    claim(steps["kept"].tolist() == [1, 0, 0], "the third falls with it")
    claim(steps_of("speculative_cache")["mask"].shape == (4, 8), "its cache grows by four")
    states = [_state(steps, state) for state in range(len(STATES))]
    return svg.player(states, "One pass of speculative decoding")


def _state(steps: Steps, state: int) -> Panel:
    """Draw a state of the pass: a row for the cached words, and one for each further token."""
    shown, name = STATES[state]
    columns = list(COLUMNS)[:shown]
    is_last = state == len(STATES) - 1
    words = examples.load("speculative_cache").WORDS
    tokens = [f"… {words[3]}", *words[4:8]]
    if is_last:
        tokens[3] = words[8]
    body = [svg.title(CACHE_X + CACHE_WIDTH / 2, 8, "cache", "key")]
    body += [svg.label(COLUMNS[column], 8, heading) for column, heading in HEADINGS.items()]
    for row, token in enumerate(tokens):
        y = TOP + row * ROW
        middle = y + boxes.HEIGHT / 2
        is_written = row < 2 or (is_last and row < 4)
        role = ("output" if row > 1 else "input") if is_written else None
        box = boxes.box(WORDS_X, y, WORDS_WIDTH, token, role, dashed=not is_written)
        is_gone = is_last and not is_written
        is_cached = row == 0 or (state > 0 and not (is_last and row > 2))
        text = "0 to 3" if row == 0 else "K V" if is_cached else "–"
        key = "key" if is_cached else None
        body += [
            svg.label(WORDS_X - 6, middle, "…3" if row == 0 else str(row + 3), "end"),
            svg.element("g", box, opacity=0.4) if is_gone else box,
            boxes.box(CACHE_X, y, CACHE_WIDTH, text, key, dashed=not is_cached),
        ]
        if row == 2 or (row > 2 and not is_last):
            body += _numbers(steps, columns, row - 2, middle)
    return Panel(WIDTH, TOP + len(tokens) * ROW, "".join(body), _describe(steps, state), name=name)


def _numbers(steps: Steps, columns: list[str], token: int, y: float) -> list[str]:
    """Write the numbers of a drafted token in the columns that a state shows."""
    with short_numbers(True):
        texts = [cells.inline_number(steps[column], (token,)) for column in columns]
    return [
        svg.label(COLUMNS[column], y, "", "middle", text)
        for column, text in zip(columns, texts, strict=True)
    ]


def _describe(steps: Steps, state: int) -> str:
    """Say in words what a state shows."""
    columns = list(COLUMNS)[: STATES[state][0]]
    clauses = [
        f"{HEADINGS[column]} of fly, again, soon: {', '.join(map(number, steps[column]))}"
        for column in columns
    ]
    cached = ("4 tokens", "8 tokens", "8 tokens", "6 tokens")[state]
    return f"{'; '.join(clauses)}. The cache has {cached}."


@site_figure
def speculative_bars(steps_of: StepsOf) -> Html:
    r"""The target p, the draft q, what is accepted of the draft, and the residual, from which a
    word is drawn in place of a rejected one."""
    steps = steps_of("speculative_sampling")
    words = examples.load("speculative_sampling").WORDS
    names = {
        "p": ("target p", "output"),
        "q": ("draft q", "input"),
        "accepted": ("accepted: min(p, q)", "weights"),
        "residual": ("residual", "scores"),
    }
    return beside(
        [bars.bars_panel(name, steps[step], words, role) for step, (name, role) in names.items()],
        "Speculative sampling of one word",
    )
