"""The panel beside a page of the course: the sentence on its way from words to the next word.

Each stage is a drawing of its own, which can be folded. A page enlarges the stage that it is about;
the style sheet puts the panel beside the text, or at the bottom of a phone, with the enlarged stage
alone. A switch, which needs no script, shows the learned model instead. Numbers have two decimals,
because the text has them with four.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attention_docs.examples.course_sentence import THEY
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


class StageMatrix(NamedTuple):
    """A matrix of a stage.

    Attributes:
        role: the role whose colour the symbol has.
        step: the step that it shows, like `course_mask.weights`.
        columns: the number of columns to show, if the rest comes later in the course.
    """

    symbol: str
    role: str
    step: str
    columns: int | None = None

    def numbers(self, steps_of: StepsOf) -> np.ndarray:
        """Return the columns that are shown."""
        return look_up_array(self.step, steps_of)[:, : self.columns]

    @property
    def row_words(self) -> list[str]:
        return look_up_labels(self.step)[0]

    @property
    def column_words(self) -> list[str]:
        """The word of each column that is shown."""
        return look_up_labels(self.step)[1][: self.columns]


class Stage(NamedTuple):
    """Matrices on the way from the words to the next word, and what leads to them.

    Attributes:
        key: the name by which a page enlarges or folds it, which is the same in both heads.
        operation: what leads to it, as HTML.
    """

    key: str
    operation: str
    name: str
    matrices: tuple[StageMatrix, ...]


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


SCORES_SYMBOLS = {"scores": "S", "scaled scores": "S/√3", "masked scaled scores": "Z"}
# What leads to weights from their scores, and from the words if the scores are not shown.
SOFTMAX, ATTENTION = "softmax of each row", "queries with keys, mask, softmax"
AVERAGE = "average of the values"  # what leads from weights to an output
# What the index of a head, such as ₁ in the symbol Q₁, adds to the name of a stage.
OF_HEAD = {"": "", "₁": " of head 1", "₂": " of head 2"}


def words_stage(step: str, symbol: str = "X + E", columns: int | None = None) -> Stage:
    """Return the stage of the words as vectors, which no operation leads to."""
    return Stage("words", "", f"words {symbol}", (StageMatrix(symbol, "input", step, columns),))


def queries_and_keys_stage(queries_step: str, keys_step: str, head: str = "") -> Stage:
    """Return the stage that shows queries and keys side by side."""
    queries = StageMatrix(f"Q{head}", "query", queries_step)
    keys = StageMatrix(f"K{head}", "key", keys_step)
    operation = "times <i>W</i><sub>Q</sub> and times <i>W</i><sub>K</sub>"
    return Stage("projections", operation, f"queries and keys{OF_HEAD[head]}", (queries, keys))


def scores_stage(name: str, step: str, head: str = "") -> Stage:
    """Return a stage named `scores`, `scaled scores` or `masked scaled scores`."""
    matrix = StageMatrix(f"{SCORES_SYMBOLS[name]}{head}", "scores", step)
    return Stage("scores", "queries with keys", f"{name}{OF_HEAD[head]}", (matrix,))


def weights_stage(step: str, head: str = "", operation: str = SOFTMAX) -> Stage:
    """Return the stage of weights; the operation depends on whether scores are shown before it."""
    matrix = StageMatrix(f"A{head}", "weights", step)
    return Stage("weights", operation, f"weights {matrix.symbol}{OF_HEAD[head]}", (matrix,))


def values_matrix(step: str, symbol: str = "V") -> StageMatrix:
    return StageMatrix(symbol, "value", step)


def output_stage(step: str, values: StageMatrix | None = None, head: str = "") -> Stage:
    """Return the stage of an attention output, with the values on its left if they are given."""
    output = StageMatrix(f"H{head}" if head else "O", "output", step)
    name = f"output {output.symbol}"
    if values is None:
        return Stage("output", AVERAGE, name, (output,))
    return Stage("output", AVERAGE, f"values {values.symbol}, {name}", (values, output))


def block_stage(step: str) -> Stage:
    operation = "plus the words, norm, feed-forward network, norm"
    return Stage("block", operation, "block output B", (StageMatrix("B", "output", step),))


WORDS_WITH_POSITIONS = words_stage("course_model.with_positions")
FORMULA = (
    words_stage("course_formula.X", "X", 5),
    queries_and_keys_stage("course_formula.Q", "course_formula.K"),
    scores_stage("scaled scores", "course_formula.scaled"),
    weights_stage("course_formula.weights"),
    output_stage("course_formula.output", values_matrix("course_formula.V")),
)
VALUES = values_matrix("course_model.V")
# Both heads have the same values, so they stand beside the output of the first.
OUTPUT_1 = output_stage("course_heads.head_1", VALUES, "₁")
HEAD_2 = (
    weights_stage("course_heads.weights_2", "₂", ATTENTION),
    output_stage("course_heads.head_2", head="₂"),
)
HEADS_WITHOUT_SCORES = (
    WORDS_WITH_POSITIONS,
    weights_stage("course_heads.weights_1", "₁", ATTENTION),
    OUTPUT_1,
    *HEAD_2,
)
HEADS_WITH_SCORES = (
    WORDS_WITH_POSITIONS,
    queries_and_keys_stage("course_model.Q", "course_model.K", "₁"),
    scores_stage("masked scaled scores", "course_mask.masked", "₁"),
    weights_stage("course_heads.weights_1", "₁"),
    OUTPUT_1,
    *HEAD_2,
)
WHOLE_BLOCK = (
    *HEADS_WITHOUT_SCORES,
    Stage(
        "joined",
        "H₁ and H₂ side by side, times <i>W</i><sub>O</sub>",
        "output O of the heads",
        (StageMatrix("O", "output", "course_heads.output"),),
    ),
    block_stage("course_block.output"),
)
NEXT_WORD = f"course_next_token.probabilities[{THEY}]"
TO_NEXT_WORD = "times <i>W</i><sub>vocabulary</sub>, softmax"
# A row of `course_model.next_words` belongs to the model with those parts of attention that the
# course has introduced so far.
SIDE_PANELS = {
    "projections": SidePanel(
        "weights",
        (
            words_stage("course_projections.X", "X", 5),
            queries_and_keys_stage("course_projections.Q", "course_projections.K"),
            scores_stage("scores", "course_projections.scores"),
            weights_stage("course_projections.weights"),
            output_stage("course_projections.output", values_matrix("course_projections.V")),
        ),
        next_word="course_model.next_words[0]",
    ),
    "formula": SidePanel("weights", FORMULA, next_word="course_model.next_words[1]"),
    "scale": SidePanel("scores", FORMULA, next_word="course_model.next_words[1]"),
    "order": SidePanel(
        "weights",
        (
            WORDS_WITH_POSITIONS,
            queries_and_keys_stage("course_model.Q", "course_model.K"),
            scores_stage("scaled scores", "course_model.scaled"),
            weights_stage("course_order.weights_with_positions"),
            output_stage("course_order.output_with_positions", VALUES),
        ),
        next_word="course_model.next_words[2]",
    ),
    "mask": SidePanel(
        "weights",
        (
            WORDS_WITH_POSITIONS,
            queries_and_keys_stage("course_model.Q", "course_model.K"),
            scores_stage("masked scaled scores", "course_mask.masked"),
            weights_stage("course_mask.weights"),
            output_stage("course_mask.output", VALUES),
        ),
        next_word="course_model.next_words[3]",
    ),
    "heads": SidePanel(
        "weights",
        HEADS_WITH_SCORES,
        next_word="course_model.next_words[3]",
        folded_keys=("words", "projections", "scores"),
    ),
    "block": SidePanel(
        "block",
        WHOLE_BLOCK,
        NEXT_WORD,
        folded_keys=("weights", "output"),
        last_operation=f"{TO_NEXT_WORD} (page nine)",
    ),
    "next_token": SidePanel(
        "next",
        WHOLE_BLOCK,
        NEXT_WORD,
        folded_keys=("weights", "output"),
        last_operation=TO_NEXT_WORD,
    ),
    "learned": SidePanel("weights", HEADS_WITHOUT_SCORES, NEXT_WORD, folded_keys=("words",)),
}
LEARNED_SCORES = (
    queries_and_keys_stage("course_learned.Q_2", "course_learned.K_2", "₂"),
    scores_stage("masked scaled scores", "course_learned.masked_2", "₂"),
)


def learned_side_panel(by_hand: SidePanel) -> SidePanel:
    """Return the panel of the learned model that replaces a panel of the matrices set by hand.

    It shows head 2 alone, which is the learned head that looks from *they* to the noun. Like the
    panel that it replaces, it has stages of the scores and of the block, or leaves them out.
    """
    keys = {stage.key for stage in by_hand.stages}
    stages = [words_stage("course_learned.with_positions")]
    if "scores" in keys:
        stages += LEARNED_SCORES
    values = values_matrix("course_learned.V_2", "V₂")
    stages += [
        weights_stage("course_learned.weights_2", "₂", SOFTMAX if "scores" in keys else ATTENTION),
        output_stage("course_learned.output_2", values, "₂"),
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
    by_hand = SIDE_PANELS[name]
    learned_weights = look_up_array("course_learned.weights_2", steps_of)
    claim(learned_weights[THEY, 0] > 0.5, SAME_AS_BY_HAND)
    html = PANEL_HTML.format(
        name=PANEL_NAME,
        switch=switch_html("learned" if name == "learned" else "by-hand"),
        by_hand=stages_html(by_hand, steps_of),
        note=LEARNED_NOTE,
        learned=stages_html(learned_side_panel(by_hand), steps_of),
    )
    return add_insert(html)


def switch_html(chosen: str) -> str:
    """Return the choice between the matrices set by hand and the learned ones."""
    return "".join(
        f"<label>{radio('matrices', value, is_checked=value == chosen)}{text}</label>"
        for value, text in CHOICES.items()
    )


def stages_html(panel: SidePanel, steps_of: StepsOf) -> str:
    """Return the stages of a panel, and how to read negative numbers if it shows any."""
    html = ""
    for stage in panel.stages:
        is_enlarged = stage.key == panel.enlarged_key
        drawing = draw_stage(stage, steps_of, is_enlarged)
        css_class = " main" if is_enlarged else ""
        is_open = stage.key not in panel.folded_keys
        html += stage_html(stage.operation, drawing, css_class, is_open)
    css_class = " next main" if panel.enlarged_key == "next" else " next"
    drawing = draw_next_word(panel.next_word, steps_of)
    html += stage_html(panel.last_operation, drawing, css_class, is_open=True)
    return html + NEGATIVE_NOTE if has_negative_number(panel, steps_of) else html


def has_negative_number(panel: SidePanel, steps_of: StepsOf) -> bool:
    """Return whether a panel shows a negative number, apart from masked scores, which are -inf."""
    matrices = (matrix for stage in panel.stages for matrix in stage.matrices)
    arrays = (matrix.numbers(steps_of) for matrix in matrices)
    return any(((array < 0) & np.isfinite(array)).any() for array in arrays)


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
    """Draw the matrices of a stage side by side; the first has words at its rows."""
    x: float = ROW_WORDS_WIDTH
    drawings: list[str] = []
    descriptions: list[str] = []
    for matrix in stage.matrices:
        numbers = matrix.numbers(steps_of)
        cell = cell_size(matrix, numbers, is_enlarged)
        grid = cells.Grid(x, LINE_HEIGHT, cell, *numbers.shape)
        drawings.append(draw_matrix(matrix, numbers, grid, is_enlarged, has_row_words=not drawings))
        descriptions.append(describe(matrix, numbers))
        x = grid.right + MATRIX_GAP + SYMBOL_WIDTH
    description = " ".join(descriptions)
    return Panel(grid.right, grid.bottom, "".join(drawings), description, name=stage.name)


def cell_size(matrix: StageMatrix, numbers: np.ndarray, is_enlarged: bool) -> tuple[float, float]:
    """Return the width and height of a cell, with room for column words and enlarged numbers."""
    widest_word = CHARACTER_WIDTH * max(map(len, matrix.column_words))
    width = WORD_GAP + max(ROW_HEIGHT, widest_word)
    if not is_enlarged:
        return width, ROW_HEIGHT
    return max(width, cells.width_for_numbers(numbers, is_short=True)), NUMBERED_ROW_HEIGHT


def draw_matrix(
    matrix: StageMatrix,
    numbers: np.ndarray,
    grid: cells.Grid,
    has_numbers: bool,
    has_row_words: bool,
) -> str:
    """Draw a matrix with its symbol and the words over its columns; the row of *they* is marked."""
    kind = "sequential" if matrix.role == "weights" else "diverging"
    scale = scales.scale_of(kind, matrix.symbol, numbers, matrix.role)
    return (
        title(grid.x - cells.LABEL_GAP, LINE_HEIGHT / 2, matrix.symbol, matrix.role, "end")
        + (cells.draw_row_labels(grid, matrix.row_words) if has_row_words else "")
        + cells.draw_column_labels(grid, matrix.column_words)
        + cells.draw_cells(grid, numbers, scale, has_numbers=has_numbers, is_short=True)
        + cells.draw_mark(grid, (THEY, None), matrix.role)
    )


def describe(matrix: StageMatrix, numbers: np.ndarray) -> str:
    """Describe a matrix in words, row by row."""
    rows = []
    for word, row in zip(matrix.row_words, numbers, strict=True):
        texts = (cells.cell_text(value, is_short=True) or "takes no part" for value in row)
        rows.append(f"{word} {', '.join(texts)}")
    return f"{matrix.symbol}, by {', '.join(matrix.column_words)}: {'; '.join(rows)}."


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
    attributes = {"data_val": step_name(probabilities), "data_short": ""}
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
        data_full=BAR_WIDTH,
    )
    number_end = x + BAR_COLUMN_WIDTH - cells.LABEL_GAP
    middle = y + BAR_ROW_HEIGHT / 2
    number = label(number_end, middle, short_number(probability), "end", fill=colour(None))
    # An invisible box, so that a click between the word and the number reaches the bar.
    size = {"width": BAR_COLUMN_WIDTH, "height": BAR_ROW_HEIGHT}
    click_area = element("rect", x=x, y=y, **size, fill="none", pointer_events="all")
    return bar + number + click_area
