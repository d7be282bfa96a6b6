"""The panel beside a page of the course: the sentence on its way from words to the next word.

Each stage is a drawing of its own, which can be folded. A page enlarges the stage that it is about;
the style sheet puts the panel beside the text, or at the bottom of a phone, with the enlarged stage
alone. A switch, which needs no script, shows the learned model instead. Numbers have two decimals,
because the text has them with four.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from attention_docs.examples.course_sentence import THEY
from attention_docs.figures.course_sentence import WORD_FEATURES
from attention_docs.figures.registry import claim
from attention_docs.figures.sentence import radio
from attention_docs.lookup import StepsOf, look_up_array, look_up_labels
from attention_docs.render.figures import Panel, cells, figure, scales
from attention_docs.render.figures.svg import LINE_HEIGHT, colour, element, label, title
from attention_docs.render.numbers import short_number
from attention_docs.render.references import step_name

PANEL_NAME = "The sentence, step by step"
PANEL_HTML = """\
<aside class="panel" aria-label="{name}"><details open><summary>{name}</summary>
<div class="switch" role="radiogroup" aria-label="The matrices are">{switch}</div>
<div class="stages by-hand">{by_hand}</div>
<div class="stages learned"><p>{note}</p>{learned}</div>
<label class="all"><input type="checkbox">all steps</label></details></aside>"""
CHOICES = {"by-hand": "set by hand", "learned": "learned"}
# What the learned matrices share with those set by hand, which the build checks, and what not.
SAME_AS_BY_HAND = "As by hand, <em>they</em> looks mostly at the first noun."
LEARNED_NOTE = (
    f"{SAME_AS_BY_HAND} But head 2 does it, features have numbers instead of names, and every "
    "page shows the whole model."
)
NEGATIVE_NOTE = "<p>Olive cells with − are negative.</p>"
STAGE_HTML = """\
<details class="stage{css_class}"{is_open}><summary>{operation}<b>{name}</b></summary>\
<div class="figure-box">{svg}</div></details>"""
# The width of the words at the rows with the symbol above them, and of the symbol alone.
ROW_WORDS_WIDTH, SYMBOL_WIDTH = 54, 18
MATRIX_GAP = 4
# The height of a row of numbers where they are printed, and where they are only tooltips.
NUMBERED_ROW_HEIGHT, ROW_HEIGHT = 19, 13
# The words of the course are narrow, so a column is narrower than `text_width` assumes.
CHARACTER_WIDTH, WORD_GAP = 6.5, 1.0
# The next words stand in columns, each with a word, its bar and its number.
BAR_COLUMNS, BAR_COLUMN_WIDTH = 3, 131
BAR_X, BAR_WIDTH = 54, 40
BAR_ROW_HEIGHT, BAR_MARGIN = 18, 3


class Stage(NamedTuple):
    """Matrices on the way from the words to the next word, and what leads to them.

    Attributes:
        key: the name by which a page enlarges or folds it, which is the same in both heads.
        operation: what leads to it, as HTML.
        matrices: the step that each matrix shows, such as `course_mask.weights`, by its symbol.
    """

    key: str
    operation: str
    name: str
    matrices: dict[str, str]


class SidePanel(NamedTuple):
    """The stages that the side panel of a page shows.

    Attributes:
        enlarged_key: the key of the stage that the page is about; `next` for the next word.
        next_word: the reference to the probabilities of the next word.
        last_operation: what leads from the last of the stages to the next word, as HTML.
    """

    enlarged_key: str
    stages: tuple[Stage, ...]
    next_word: str
    folded_keys: tuple[str, ...] = ()
    last_operation: str = "if the rest of the model (page nine) follows"


# The roles of matrices, by the first letter of their symbols.
ROLES = {"X": "input", "Q": "query", "K": "key", "V": "value", "A": "weights"}
ROLES |= dict.fromkeys("SZ", "scores") | dict.fromkeys("HOB", "output")
SCORES_SYMBOLS = {"scores": "S", "scaled scores": "S/√3", "masked scaled scores": "Z"}
# What the index of a head, such as ₁ in the symbol Q₁, adds to the name of a stage.
OF_HEAD = {"": "", "₁": " of head 1", "₂": " of head 2"}


def words_stage(step: str, symbol: str = "X + E") -> Stage:
    return Stage("words", "", f"words {symbol}", {symbol: step})


def attention_stages(
    projections: str, scores: Mapping[str, str], weights: str, output: str, head: str = ""
) -> tuple[Stage, ...]:
    """Return the stages of a head.

    Args:
        projections: the step of Q, K or V, with `{}` for the letter. If it is empty, no values are
            shown: both heads set by hand have the same, which stand beside the output of the first.
        scores: the step of the scores by their name. If it is empty, the stage of the scores is
            left out, and so is that of the queries and keys.
    """
    of_head = OF_HEAD[head]
    stages = []
    for name, step in scores.items():
        factors = {f"{letter}{head}": projections.format(letter) for letter in "QK"}
        to_factors = "times <i>W</i><sub>Q</sub> and times <i>W</i><sub>K</sub>"
        stages += [
            Stage("projections", to_factors, f"queries and keys{of_head}", factors),
            Stage(
                "scores",
                "queries with keys",
                f"{name}{of_head}",
                {SCORES_SYMBOLS[name] + head: step},
            ),
        ]
    to_weights = "softmax of each row" if scores else "queries with keys, mask, softmax"
    symbol = f"H{head}" if head else "O"
    matrices, name = {symbol: output}, f"output {symbol}"
    if projections:
        values = f"V{head}" if projections.endswith("_2") else "V"
        matrices, name = {values: projections.format("V")} | matrices, f"values {values}, {name}"
    return (
        *stages,
        Stage("weights", to_weights, f"weights A{head}{of_head}", {f"A{head}": weights}),
        Stage("output", "average of the values", name, matrices),
    )


def one_head(
    model: int, words: Stage, projections: str, scores: Mapping[str, str], weights: str, output: str
) -> SidePanel:
    """Return the panel of a page with one head.

    Args:
        model: the row of `course_model.next_words`; it belongs to the model with those parts of
            attention that the course has introduced so far.
    """
    stages = words, *attention_stages(projections, scores, weights, output)
    return SidePanel("weights", stages, f"course_model.next_words[{model}]")


def block_stage(step: str) -> Stage:
    operation = "plus the words, norm, feed-forward network, norm"
    return Stage("block", operation, "block output B", {"B": step})


WORDS_WITH_POSITIONS = words_stage("course_model.with_positions")
MASKED = {"masked scaled scores": "course_mask.masked"}
HEAD_1 = "course_heads.weights_1", "course_heads.head_1", "₁"
HEAD_2 = attention_stages("", {}, "course_heads.weights_2", "course_heads.head_2", "₂")
HEADS = (WORDS_WITH_POSITIONS, *attention_stages("course_model.{}", {}, *HEAD_1), *HEAD_2)
WHOLE_BLOCK = (
    *HEADS,
    Stage(
        "joined",
        "H₁ and H₂ side by side, times <i>W</i><sub>O</sub>",
        "output O of the heads",
        {"O": "course_heads.output"},
    ),
    block_stage("course_block.output"),
)
NEXT_WORD = f"course_next_token.probabilities[{THEY}]"
TO_NEXT_WORD = "times <i>W</i><sub>vocabulary</sub>, softmax"
FORMULA = one_head(
    1,
    words_stage("course_formula.X", "X"),
    "course_formula.{}",
    {"scaled scores": "course_formula.scaled"},
    "course_formula.weights",
    "course_formula.output",
)
SIDE_PANELS = {
    "projections": one_head(
        0,
        words_stage("course_projections.X", "X"),
        "course_projections.{}",
        {"scores": "course_projections.scores"},
        "course_projections.weights",
        "course_projections.output",
    ),
    "formula": FORMULA,
    "scale": FORMULA._replace(enlarged_key="scores"),
    "order": one_head(
        2,
        WORDS_WITH_POSITIONS,
        "course_model.{}",
        {"scaled scores": "course_model.scaled"},
        "course_order.weights_with_positions",
        "course_order.output_with_positions",
    ),
    "mask": one_head(
        3,
        WORDS_WITH_POSITIONS,
        "course_model.{}",
        MASKED,
        "course_mask.weights",
        "course_mask.output",
    ),
    "heads": SidePanel(
        "weights",
        (WORDS_WITH_POSITIONS, *attention_stages("course_model.{}", MASKED, *HEAD_1), *HEAD_2),
        next_word="course_model.next_words[3]",
        folded_keys=("words", "projections", "scores"),
    ),
    "block": SidePanel(
        "block", WHOLE_BLOCK, NEXT_WORD, ("weights", "output"), f"{TO_NEXT_WORD} (page nine)"
    ),
    "next_token": SidePanel("next", WHOLE_BLOCK, NEXT_WORD, ("weights", "output"), TO_NEXT_WORD),
    "learned": SidePanel("weights", HEADS, NEXT_WORD, folded_keys=("words",)),
}


def learned_side_panel(by_hand: SidePanel) -> SidePanel:
    """Return the panel of the learned model that replaces a panel of the matrices set by hand.

    It shows head 2 alone, which is the learned head that looks from *they* to the noun. Like the
    panel that it replaces, it has stages of the scores and of the block, or leaves them out.
    """
    keys = {stage.key for stage in by_hand.stages}
    scores = {"masked scaled scores": "course_learned.masked_2"} if "scores" in keys else {}
    weights, output = "course_learned.weights_2", "course_learned.output_2"
    stages = [
        words_stage("course_learned.with_positions"),
        *attention_stages("course_learned.{}_2", scores, weights, output, "₂"),
    ]
    if "block" in keys:
        stages.append(block_stage("course_learned.block"))
    return SidePanel(
        by_hand.enlarged_key,
        tuple(stages),
        next_word="course_learned.reasons",
        folded_keys=("projections",),
        last_operation=TO_NEXT_WORD if "block" in keys else "the rest of the model",
    )


def side_panel(name: str, steps_of: StepsOf, add_insert: Callable[[str], str]) -> str:
    """Return the panel of a page in Markdown; `add_insert` returns a placeholder for HTML."""
    if name not in SIDE_PANELS:
        raise LookupError(f"panel {name!r} is unknown; expected one of {', '.join(SIDE_PANELS)}")
    learned_weights = look_up_array("course_learned.weights_2", steps_of)
    claim(learned_weights[THEY, 0] > 0.5, SAME_AS_BY_HAND)
    chosen = "learned" if name == "learned" else "by-hand"
    switch = "".join(
        f"<label>{radio('matrices', value, is_checked=value == chosen)}{text}</label>"
        for value, text in CHOICES.items()
    )
    html = PANEL_HTML.format(
        name=PANEL_NAME,
        switch=switch,
        by_hand=stages_html(SIDE_PANELS[name], steps_of),
        note=LEARNED_NOTE,
        learned=stages_html(learned_side_panel(SIDE_PANELS[name]), steps_of),
    )
    return add_insert(html)


def stages_html(panel: SidePanel, steps_of: StepsOf) -> str:
    """Return the stages of a panel, and how to read negative numbers if it shows any."""
    html = ""
    has_negative_number = False
    for stage in panel.stages:
        is_enlarged = stage.key == panel.enlarged_key
        drawing = draw_stage(stage, steps_of, is_enlarged)
        css_class = " main" if is_enlarged else ""
        is_open = stage.key not in panel.folded_keys
        html += stage_html(stage.operation, drawing, css_class, is_open)
        for matrix in stage.matrices.items():
            numbers = shown_numbers(*matrix, steps_of)
            # Masked scores are -inf.
            has_negative_number |= bool(((numbers < 0) & np.isfinite(numbers)).any())
    css_class = " next main" if panel.enlarged_key == "next" else " next"
    drawing = draw_next_word(panel.next_word, steps_of)
    html += stage_html(panel.last_operation, drawing, css_class, is_open=True)
    return html + NEGATIVE_NOTE if has_negative_number else html


def shown_numbers(symbol: str, step: str, steps_of: StepsOf) -> np.ndarray:
    """Return a step, without the features of positions before the course has introduced them."""
    return look_up_array(step, steps_of)[:, WORD_FEATURES if symbol == "X" else slice(None)]


def stage_html(operation: str, drawing: Panel, css_class: str, is_open: bool) -> str:
    """Return a foldable stage: the operation that leads to it, its name and its drawing."""
    return STAGE_HTML.format(
        css_class=css_class,
        is_open=" open" if is_open else "",
        operation=f"<span>↓ {operation}: </span>" if operation else "",
        name=drawing.name,
        svg=figure(drawing, drawing.name, "step"),
    )


def draw_stage(stage: Stage, steps_of: StepsOf, is_enlarged: bool) -> Panel:
    """Draw matrices side by side, the first with words at its rows; the row of *they* is marked."""
    x: float = ROW_WORDS_WIDTH
    body: list[str] = []
    descriptions: list[str] = []
    for symbol, step in stage.matrices.items():
        numbers = shown_numbers(symbol, step, steps_of)
        row_words, column_words = look_up_labels(step)
        column_words = column_words[: numbers.shape[1]]
        width = WORD_GAP + max(ROW_HEIGHT, CHARACTER_WIDTH * max(map(len, column_words)))
        if is_enlarged:
            width = max(width, cells.width_for_numbers(numbers, is_short=True))
        cell = (width, NUMBERED_ROW_HEIGHT if is_enlarged else ROW_HEIGHT)
        grid = cells.Grid(x, LINE_HEIGHT, cell, *numbers.shape)
        role = ROLES[symbol[0]]
        kind = "sequential" if role == "weights" else "diverging"
        scale = scales.scale_of(kind, symbol, numbers, role)
        body += [
            title(grid.x - cells.LABEL_GAP, LINE_HEIGHT / 2, symbol, role, "end"),
            "" if body else cells.draw_row_labels(grid, row_words),
            cells.draw_column_labels(grid, column_words),
            cells.draw_cells(grid, numbers, scale, has_numbers=is_enlarged, is_short=True),
            cells.draw_mark(grid, (THEY, None), role),
        ]
        rows = []
        for word, row in zip(row_words, numbers, strict=True):
            texts = (cells.cell_text(value, is_short=True) or "takes no part" for value in row)
            rows.append(f"{word} {', '.join(texts)}")
        descriptions.append(f"{symbol}, by {', '.join(column_words)}: {'; '.join(rows)}.")
        x = grid.right + MATRIX_GAP + SYMBOL_WIDTH
    description = " ".join(descriptions)
    return Panel(grid.right, grid.bottom, "".join(body), description, name=stage.name)


def draw_next_word(reference: str, steps_of: StepsOf) -> Panel:
    """Draw the probability of each word that may come next as a bar, the largest first."""
    probabilities = look_up_array(reference, steps_of)
    (words,) = look_up_labels(reference)
    most_probable_first = np.argsort(-np.asarray(probabilities), kind="stable").tolist()
    bars, names = [], []
    for i, (word, probability) in enumerate(zip(words, probabilities, strict=True)):
        bar_row, column = divmod(most_probable_first.index(i), BAR_COLUMNS)
        x, y = column * BAR_COLUMN_WIDTH, bar_row * BAR_ROW_HEIGHT
        bars.append(cells.tag_index(draw_bar(x, y, probability), probabilities, (i,)))
        name_end = x + BAR_X - cells.LABEL_GAP
        name = label(name_end, y + BAR_ROW_HEIGHT / 2, word, "end", pointer_events="none")
        names.append(name)
    attributes = {
        "data_val": step_name(probabilities),
        "data_set": f"{scales.FILLED} width {BAR_WIDTH}; text short",
    }
    group = element("g", *bars, **attributes, fill=colour("output"))
    in_words = (
        f"{word} {short_number(p)}" for word, p in zip(words, probabilities.tolist(), strict=True)
    )
    return Panel(
        BAR_COLUMNS * BAR_COLUMN_WIDTH,
        math.ceil(len(words) / BAR_COLUMNS) * BAR_ROW_HEIGHT,
        group + "".join(names),
        f"Probabilities of the next word: {', '.join(in_words)}.",
        name="next word",
    )


def draw_bar(x: float, y: float, probability: float) -> str:
    """Draw a bar and its number in a column of the next words that has its corner at (x, y)."""
    bar = element(
        "rect",
        x=x + BAR_X,
        y=y + BAR_MARGIN,
        width=float(BAR_WIDTH * probability),
        height=BAR_ROW_HEIGHT - 2 * BAR_MARGIN,
    )
    number_end = x + BAR_COLUMN_WIDTH - cells.LABEL_GAP
    middle = y + BAR_ROW_HEIGHT / 2
    number = label(number_end, middle, short_number(probability), "end", fill=colour(None))
    # An invisible box, so that a click between the word and the number reaches the bar.
    size = {"width": BAR_COLUMN_WIDTH, "height": BAR_ROW_HEIGHT}
    click_area = element("rect", x=x, y=y, **size, fill="none", pointer_events="all")
    return bar + number + click_area
