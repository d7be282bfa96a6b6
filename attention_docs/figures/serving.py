from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attention_docs import examples
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import matrices_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, Panel, beside, cells, svg

# In pixels: a slot of a page, the room for the names of pages and texts, and the columns of the
# list of requests below the pages.
SLOT, NAMES_WIDTH = (44, 24), 50
DOES_X, PAGES_X = 20, 150
# The colours of the texts, and of the pages that several of them read.
TEXT_COLOURS = {"A": "first", "B": "third", "C": "fourth"}
SHARED = "second"
# The server: pages of four tokens, at most six tokens a step. A request has a prompt of so many
# tokens and generates so many.
PAGE, PAGES, BUDGET = 4, 5, 6
REQUESTS = {"A": (5, 3), "B": (9, 3), "C": (6, 2)}


class Slot(NamedTuple):
    """What a slot of a page holds; one without an owner is free, and its words are old."""

    words: str = ""
    owner: str | None = None
    is_new: bool = False


class ServingStep(NamedTuple):
    """The pages after a step, and by the names of requests what they did and their pages."""

    pages: list[list[Slot]]
    does: Mapping[str, str]
    table: Mapping[str, list[int]]
    tokens: int  # that are computed in this step


@site_figure
def block_table(steps_of: StepsOf) -> Html:
    r"""The block table and the pages. Requests A and B begin with the same eight tokens, so they
    share the pages 2 and 0. Each has a last page of its own, although both begin with *Name*. In a
    dashed border are words of requests that have ended."""
    example = examples.load("paged_cache")
    claim(example.TABLE[0][:2] == example.TABLE[1][:2] == [2, 0], "they share the pages 2 and 0")
    last_a, last_b = example.TABLE[0][2], example.TABLE[1][2]
    claim(last_a != last_b, "Each has a last page of its own")
    claim(example.WORDS[last_a][0] == example.WORDS[last_b][0] == "Name", "both begin with *Name*")
    readers: dict[tuple[int, int], str] = {}
    for text, table, length in zip(example.TEXTS, example.TABLE, example.LENGTHS, strict=True):
        for token in range(length):
            place = table[token // PAGE], token % PAGE
            readers[place] = readers.get(place, "") + text
    pages = [
        [Slot(word, readers.get((page, slot))) for slot, word in enumerate(words)]
        for page, words in enumerate(example.WORDS)
    ]
    used = [-(-length // PAGE) for length in example.LENGTHS]
    table = [row[:count] for row, count in zip(example.TABLE, used, strict=True)]
    return beside([_table_panel(example.TEXTS, table), _pages_panel(pages)], "A block table")


def _table_panel(texts: Sequence[str], table: Sequence[Sequence[int]]) -> Panel:
    """Draw the numbers of the pages of each text, in their order."""
    grid = cells.Grid(NAMES_WIDTH, 1.5 * svg.LINE_HEIGHT, SLOT, len(texts), max(map(len, table)))
    body = [
        svg.heading(grid.middle_x, "Block table"),
        cells.draw_row_labels(grid, list(texts)),
        cells.draw_grid_lines(grid),
    ]
    for row, pages in enumerate(table):
        body += [svg.label(*grid.centre(row, i), str(page)) for i, page in enumerate(pages)]
    lines = zip(texts, table, strict=True)
    rows = (f"Request {text}: pages {', '.join(map(str, pages))}." for text, pages in lines)
    return Panel(grid.right, grid.bottom, "".join(body), " ".join(rows), name="Block table")


def _pages_panel(pages: Sequence[Sequence[Slot]]) -> Panel:
    """Draw what the slots of all pages hold, in the colour of the text that reads them."""
    grid = cells.Grid(NAMES_WIDTH, 1.5 * svg.LINE_HEIGHT, SLOT, len(pages), len(pages[0]))
    names = [f"page {page}" for page in range(len(pages))]
    body = [svg.heading(grid.middle_x, "Pages"), cells.draw_row_labels(grid, names)]
    marks = []
    for row, slots in enumerate(pages):
        for column, slot in enumerate(slots):
            box = grid.box(row, column)
            colour = svg.colour(TEXT_COLOURS.get(slot.owner, SHARED) if slot.owner else None)
            border = {"stroke": "currentColor", "stroke_opacity": 0.5}
            if slot.owner:
                fill = {"fill": colour, "fill_opacity": 0.3}
            else:
                fill = {"fill": "none", "stroke_dasharray": "3 3"}
            body.append(svg.element("rect", **box, **fill, **border))
            body.append(svg.label(*grid.centre(row, column), slot.words))
            if slot.is_new:
                marks.append(cells.draw_mark(grid, (row, column), None))
    rows = (
        f"{name}: {', '.join(slot.words if slot.owner else 'free' for slot in slots)}."
        for name, slots in zip(names, pages, strict=True)
    )
    drawing = "".join(body + marks)
    return Panel(grid.right, grid.bottom, drawing, " ".join(rows), name="Pages")


@site_figure
def chunk_masks(steps_of: StepsOf) -> Html:
    r"""What each token sees through a window of four, when the prompt is computed in chunks of
    three. If the cache is cut to four tokens before a chunk has attended, only the last token of
    the chunk still sees its whole window."""
    steps = steps_of("chunked_prefill")
    right, early = steps["seen"], steps["seen_cut_early"]
    claim(right.sum(axis=1).max() == 4, "a window of four")
    same = (right == early).all(axis=1).tolist()
    claim(same[3:] == 2 * [False, False, True], "only the last token of the chunk")
    positions = [str(position) for position in range(len(right))]
    return matrices_figure(
        "A window in chunks",
        {"Cut after the chunk": right, "Cut before the chunk": early},
        rows="queries",
        columns="keys",
        row_labels=positions,
        column_labels=positions,
    )


@site_figure
def serving_steps(steps_of: StepsOf) -> Html:
    r"""Three requests on five pages, with at most six tokens in a step. A slot shows a request and
    the number of its token; framed slots are filled in this step, and dashed ones are free. In
    step 3 the request C finds no free page. A ends, and in step 4 its pages go to C, although they
    still hold tokens of A."""
    steps = serve()
    claim((PAGES, BUDGET) == (5, 6), "five pages, with at most six tokens in a step")
    claim(max(step.tokens for step in steps) <= BUDGET, "at most six tokens in a step")
    claim(steps[2].does["C"] == "waits", "In step 3 the request C finds no free page")
    claim(steps[2].does["A"].endswith("ends") and not steps[3].table["A"], "A ends")
    claim(steps[3].table["C"] == steps[2].table["A"], "in step 4 its pages go to C")
    old = [slot.words for page in steps[3].table["C"] for slot in steps[3].pages[page]]
    claim(any(words.startswith("A") for words in old), "still hold tokens of A")
    return svg.player([_step_panel(i, step) for i, step in enumerate(steps, 1)], "Three requests")


def _step_panel(number: int, step: ServingStep) -> Panel:
    """Draw the pages after a step, and below them what each request does and which pages it has."""
    pages = _pages_panel(step.pages)
    y = pages.height + svg.LINE_HEIGHT
    body = [
        pages.body,
        svg.label(DOES_X, y, "in this step", "start", font_weight="bold"),
        svg.label(PAGES_X, y, "pages", "start", font_weight="bold"),
    ]
    sentences = [pages.description]
    for row, (name, does) in enumerate(step.does.items(), 1):
        row_y = y + 1.3 * row * svg.LINE_HEIGHT
        numbers = ", ".join(map(str, step.table[name])) or "none"
        texts = {2: name, DOES_X: does, PAGES_X: numbers}
        body += [svg.label(x, row_y, text, "start") for x, text in texts.items()]
        sentences.append(f"{name}: {does}; pages {numbers}.")
    height = y + 1.3 * (len(step.does) + 0.5) * svg.LINE_HEIGHT
    return Panel(pages.width, height, "".join(body), " ".join(sentences), name=f"step {number}")


def serve() -> list[ServingStep]:
    """Serve the requests: tokens to decode come first, and prompts get what the budget leaves."""
    free = list(range(PAGES))
    table: dict[str, list[int]] = {name: [] for name in REQUESTS}
    lengths, made = dict.fromkeys(REQUESTS, 0), dict.fromkeys(REQUESTS, 0)
    pages = [[Slot()] * PAGE for _ in range(PAGES)]
    steps = []
    while any(made[name] < REQUESTS[name][1] for name in REQUESTS):
        pages = [[slot._replace(is_new=False) for slot in page] for page in pages]
        budget, does, ended = BUDGET, dict.fromkeys(REQUESTS, "has ended"), []
        decode_first = sorted(REQUESTS, key=lambda name: lengths[name] < REQUESTS[name][0])
        for name in decode_first:
            prompt, wanted = REQUESTS[name]
            if made[name] == wanted:
                continue
            first = lengths[name]
            count = min(max(prompt - first, 1), budget)
            while free and len(table[name]) * PAGE < first + count:
                table[name].append(free.pop(0))
            count = min(count, len(table[name]) * PAGE - first)
            budget -= count
            for token in range(first, first + count):
                page, slot = table[name][token // PAGE], token % PAGE
                pages[page][slot] = Slot(f"{name}{token + 1}", name, is_new=True)
            lengths[name] += count
            does[name] = _describe_work(first, count, prompt)
            made[name] += lengths[name] >= prompt and count > 0
            if made[name] == wanted:
                does[name] += ", ends"
                ended.append(name)
        shown = {name: list(numbers) for name, numbers in table.items()}
        steps.append(ServingStep([list(page) for page in pages], does, shown, BUDGET - budget))
        for name in ended:
            for page in table[name]:
                pages[page] = [slot._replace(owner=None) for slot in pages[page]]
            free += table[name]
            table[name] = []
    return steps


def _describe_work(first: int, count: int, prompt: int) -> str:
    if count == 0:
        return "waits"
    if first >= prompt:
        return f"decode {first + 1}"
    last = first + count
    return f"prefill {first + 1}" if count == 1 else f"prefill {first + 1} to {last}"
