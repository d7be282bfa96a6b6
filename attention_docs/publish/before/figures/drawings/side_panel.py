"""The panel beside a page of the course: the sentence on its way from words to the next word.

Each stage is a drawing of its own, which can be folded. A page enlarges the stage that it is about;
the style sheet puts the panel beside the text, or at the bottom of a phone, with the enlarged stage
alone. A switch, which needs no script, shows the learned model instead. Numbers have two decimals,
because the text has them with four.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.sentence import THEY
from attention_docs.publish.before.values import StepsOf, look_up_array
from attention_docs.render.figures import Panel, cells, figure
from attention_docs.render.figures.scales import scale_of
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    label,
    title,
)
from attention_docs.render.numbers import short_number
from attention_docs.render.references import step_name

PANEL_NAME = "The sentence, step by step"
HTML = """\
<aside class="panel" aria-label="{name}"><details open><summary>{name}</summary>
<div class="switch" role="radiogroup" aria-label="The matrices are">{switch}</div>
<div class="stages by-hand">{by_hand}</div>
<div class="stages learned"><p>{note}</p>{learned}</div>
<label class="all"><input type="checkbox">all steps</label></details></aside>"""
CHOICE = '<label><input type="radio" name="matrices" value="{value}"{checked}>{text}</label>'
CHOICES = {"by-hand": "set by hand", "learned": "learned"}
# What the learned matrices share with those set by hand, which the build checks, and what not.
SAME_AS_BY_HAND = "As by hand, <em>they</em> looks mostly at the first noun."
LEARNED_NOTE = (
    f"{SAME_AS_BY_HAND} But head 2 does it, features have numbers instead of names, and every "
    "page shows the whole model."
)
SIGN = "<p>Olive cells with − are negative.</p>"
STAGE_HTML = """\
<details class="stage{kind}"{is_open}><summary>{operation}<b>{name}</b></summary>\
<div class="figure-box">{svg}</div></details>"""
# The width of the words at the rows with the symbol above them, and of the symbol alone.
LEFT, SYMBOL_WIDTH = 54, 18
SMALL_HEIGHT, LARGE_HEIGHT, BAR_HEIGHT = 13, 19, 18
# The words of the course are narrow, so a column is narrower than `text_width` assumes.
COLUMN_CHARACTER = 6.5
# The next words stand in columns: a word, its bar and its number.
BAR_COLUMNS, BAR_X, BAR_WIDTH, BAR_COLUMN = 3, 54, 40, 131


class StageMatrix(NamedTuple):
    """A matrix of a stage.

    Attributes:
        symbol: its symbol, like `Q`.
        role: the role whose colour the symbol has.
        step: the step that it shows, like `course_mask.weights`.
        columns: the number of columns to show, if the rest comes later in the course.
    """

    symbol: str
    role: str
    step: str
    columns: int | None = None


class Stage(NamedTuple):
    """Matrices on the way from the words to the next word, and what leads to them.

    Attributes:
        key: the name by which a page enlarges or folds it, which is the same in both heads.
        operation: what leads to it, as HTML.
        name: the names of its matrices.
        matrices: its matrices, side by side, with the same words at their rows.
    """

    key: str
    operation: str
    name: str
    matrices: tuple[StageMatrix, ...]


class SidePanel(NamedTuple):
    """The stages that the side panel of a page shows.

    Attributes:
        enlarged: the key of the stage that the page is about; `next` for the next word.
        stages: all stages but the last.
        next_word: the step of the probabilities of the next word, and the row, if it has several.
        folded: the keys of the stages that are folded at first.
        rest: what leads from the last stage to the next word, as HTML.
    """

    enlarged: str
    stages: tuple[Stage, ...]
    next_word: tuple[str, int | None]
    folded: tuple[str, ...] = ()
    rest: str = "if the rest of the model (page nine) follows"


PLAIN, SCALED, MASKED = ("scores", "S"), ("scaled scores", "S/√3"), ("masked scaled scores", "Z")
# What leads to weights from their scores, and from the words if the scores are not shown.
SOFTMAX, ATTENTION = "softmax of each row", "queries with keys, mask, softmax"
OF_HEAD = {"": "", "₁": " of head 1", "₂": " of head 2"}


def words_stage(step: str, symbol: str = "X + E", columns: int | None = None) -> Stage:
    return Stage("words", "", f"words {symbol}", (StageMatrix(symbol, "input", step, columns),))


def queries_and_keys(queries: str, keys: str, head: str = "") -> Stage:
    matrices = StageMatrix(f"Q{head}", "query", queries), StageMatrix(f"K{head}", "key", keys)
    operation = "times <i>W</i><sub>Q</sub> and times <i>W</i><sub>K</sub>"
    return Stage("projections", operation, f"queries and keys{OF_HEAD[head]}", matrices)


def scores_stage(kind: tuple[str, str], step: str, head: str = "") -> Stage:
    name, symbol = kind
    matrix = StageMatrix(f"{symbol}{head}", "scores", step)
    return Stage("scores", "queries with keys", f"{name}{OF_HEAD[head]}", (matrix,))


def values_matrix(step: str, symbol: str = "V") -> StageMatrix:
    return StageMatrix(symbol, "value", step)


def weights_and_output(
    weights: str,
    output: str,
    values: StageMatrix | None = None,
    head: str = "",
    operation: str = SOFTMAX,
) -> tuple[Stage, Stage]:
    """Return the stages of the weights and of the output, with the values if they are given."""
    a, o = f"A{head}", f"H{head}" if head else "O"
    shown = () if values is None else (values,)
    names = [*(f"values {matrix.symbol}" for matrix in shown), f"output {o}"]
    return (
        Stage(
            "weights",
            operation,
            f"weights {a}{OF_HEAD[head]}",
            (StageMatrix(a, "weights", weights),),
        ),
        Stage(
            "output",
            "average of the values",
            ", ".join(names),
            (*shown, StageMatrix(o, "output", output)),
        ),
    )


def block_output(step: str) -> Stage:
    operation = "plus the words, norm, feed-forward network, norm"
    return Stage("block", operation, "block output B", (StageMatrix("B", "output", step),))


WITH_POSITIONS = words_stage("course_model.with_positions")
FORMULA = (
    words_stage("course_formula.X", "X", 5),
    queries_and_keys("course_formula.Q", "course_formula.K"),
    scores_stage(SCALED, "course_formula.scaled"),
    *weights_and_output(
        "course_formula.weights", "course_formula.output", values_matrix("course_formula.V")
    ),
)
# Both heads have these values, so they stand beside the output of the first.
VALUES = values_matrix("course_model.V")
HEAD_1 = ("course_heads.weights_1", "course_heads.head_1", VALUES, "₁")
HEAD_2 = weights_and_output("course_heads.weights_2", "course_heads.head_2", None, "₂", ATTENTION)
TWO_HEADS = (
    WITH_POSITIONS,
    queries_and_keys("course_model.Q", "course_model.K", "₁"),
    scores_stage(MASKED, "course_mask.masked", "₁"),
    *weights_and_output(*HEAD_1),
    *HEAD_2,
)
WHOLE_BLOCK = (
    WITH_POSITIONS,
    *weights_and_output(*HEAD_1, ATTENTION),
    *HEAD_2,
    Stage(
        "joined",
        "H₁ and H₂ side by side, times <i>W</i><sub>O</sub>",
        "output O of the heads",
        (StageMatrix("O", "output", "course_heads.output"),),
    ),
    block_output("course_block.output"),
)
BEFORE_WEIGHTS, HEADS = ("words", "projections", "scores"), ("weights", "output")
PROBABILITIES = ("course_next_token.probabilities", THEY)
VOCABULARY = "times <i>W</i><sub>vocabulary</sub>, softmax"
SIDE_PANELS = {
    "projections": SidePanel(
        "weights",
        (
            words_stage("course_projections.X", "X", 5),
            queries_and_keys("course_projections.Q", "course_projections.K"),
            scores_stage(PLAIN, "course_projections.scores"),
            *weights_and_output(
                "course_projections.weights",
                "course_projections.output",
                values_matrix("course_projections.V"),
            ),
        ),
        ("course_model.next_words", 0),
    ),
    "formula": SidePanel("weights", FORMULA, ("course_model.next_words", 1)),
    "scale": SidePanel("scores", FORMULA, ("course_model.next_words", 1)),
    "order": SidePanel(
        "weights",
        (
            WITH_POSITIONS,
            queries_and_keys("course_model.Q", "course_model.K"),
            scores_stage(SCALED, "course_model.scaled"),
            *weights_and_output(
                "course_order.weights_with_positions", "course_order.output_with_positions", VALUES
            ),
        ),
        ("course_model.next_words", 2),
    ),
    "mask": SidePanel(
        "weights",
        (
            WITH_POSITIONS,
            queries_and_keys("course_model.Q", "course_model.K"),
            scores_stage(MASKED, "course_mask.masked"),
            *weights_and_output("course_mask.weights", "course_mask.output", VALUES),
        ),
        ("course_model.next_words", 3),
    ),
    "heads": SidePanel("weights", TWO_HEADS, ("course_model.next_words", 3), BEFORE_WEIGHTS),
    "block": SidePanel("block", WHOLE_BLOCK, PROBABILITIES, HEADS, f"{VOCABULARY} (page nine)"),
    "next_token": SidePanel("next", WHOLE_BLOCK, PROBABILITIES, HEADS, VOCABULARY),
    "learned": SidePanel(
        "weights",
        (WITH_POSITIONS, *weights_and_output(*HEAD_1, ATTENTION), *HEAD_2),
        PROBABILITIES,
        ("words",),
    ),
}


def with_learned_weights(by_hand: SidePanel) -> SidePanel:
    """Return the panel of the learned model for the same page, with the stages of its head 2."""
    has_block = by_hand.stages is WHOLE_BLOCK
    has_scores = any(stage.key == "scores" for stage in by_hand.stages)
    to_scores = (
        queries_and_keys("course_learned.Q_2", "course_learned.K_2", "₂"),
        scores_stage(MASKED, "course_learned.masked_2", "₂"),
    )
    to_output = weights_and_output(
        "course_learned.weights_2",
        "course_learned.output_2",
        values_matrix("course_learned.V_2", "V₂"),
        "₂",
        SOFTMAX if has_scores else ATTENTION,
    )
    stages = (
        words_stage("course_learned.with_positions"),
        *(to_scores if has_scores else ()),
        *to_output,
        *((block_output("course_learned.block"),) if has_block else ()),
    )
    rest = VOCABULARY if has_block else "the rest of the model"
    next_word = ("course_learned.reasons", None)
    return SidePanel(by_hand.enlarged, stages, next_word, ("projections",), rest)


def side_panel(name: str, steps_of: StepsOf, add_insert: Callable[[str], str]) -> str:
    """Return the panel of a page, for its Markdown.

    Args:
        name: the name of the panel, one of `SIDE_PANELS`.
        steps_of: returns the steps of an example by its name.
        add_insert: stores HTML and returns a placeholder for it.

    Raises:
        LookupError: if there is no panel of that name; the message lists all names.
    """
    if name not in SIDE_PANELS:
        raise LookupError(f"panel {name!r} is unknown; expected one of {', '.join(SIDE_PANELS)}")
    by_hand, learned = SIDE_PANELS[name], with_learned_weights(SIDE_PANELS[name])
    claim(look_up_array("course_learned.weights_2", steps_of)[THEY, 0] > 0.5, SAME_AS_BY_HAND)
    html = HTML.format(
        name=PANEL_NAME,
        switch=switch("learned" if name == "learned" else "by-hand"),
        by_hand="".join(stages_of(by_hand, steps_of)),
        note=LEARNED_NOTE,
        learned="".join(stages_of(learned, steps_of)),
    )
    return add_insert(html)


def switch(chosen: str) -> str:
    """Return the choice between the matrices set by hand and the learned ones."""
    return "".join(
        CHOICE.format(value=value, text=text, checked=" checked" if value == chosen else "")
        for value, text in CHOICES.items()
    )


def stages_of(panel: SidePanel, steps_of: StepsOf) -> list[str]:
    """Return the HTML of each stage."""
    drawings = []
    for stage in panel.stages:
        is_enlarged = stage.key == panel.enlarged
        drawing = draw_matrices(stage, steps_of, is_enlarged)
        kind = " main" if is_enlarged else ""
        drawings.append(stage_html(stage.operation, drawing, kind, stage.key not in panel.folded))
    kind = " next main" if panel.enlarged == "next" else " next"
    drawings.append(stage_html(panel.rest, next_words(*panel.next_word, steps_of), kind))
    return [*drawings, SIGN] if has_negative_number(panel, steps_of) else drawings


def has_negative_number(panel: SidePanel, steps_of: StepsOf) -> bool:
    """Whether a panel shows a negative number, apart from masked scores, which are -inf."""
    matrices = (matrix for stage in panel.stages for matrix in stage.matrices)
    arrays = (shown_numbers(matrix, steps_of) for matrix in matrices)
    return any(((array < 0) & np.isfinite(array)).any() for array in arrays)


def shown_numbers(matrix: StageMatrix, steps_of: StepsOf) -> np.ndarray:
    """Return the columns of a matrix that a panel shows."""
    return look_up_array(matrix.step, steps_of)[:, : matrix.columns]


def stage_html(operation: str, drawing: Panel, kind: str, is_open: bool = True) -> str:
    """Return a foldable stage: the operation that leads to it, its name and its drawing."""
    return STAGE_HTML.format(
        kind=kind,
        is_open=" open" if is_open else "",
        operation=f"<span>↓ {operation}: </span>" if operation else "",
        name=drawing.name,
        svg=figure(drawing, drawing.name, "step"),
    )


def draw_matrices(stage: Stage, steps_of: StepsOf, is_enlarged: bool) -> Panel:
    """Draw matrices side by side, with words at their rows and columns and one row marked."""
    x, body, descriptions = 0.0, list[str](), list[str]()
    for matrix in stage.matrices:
        rows, columns = labels(matrix)
        values = shown_numbers(matrix, steps_of)
        kind = "sequential" if matrix.role == "weights" else "diverging"
        scale = scale_of(kind, matrix.symbol, values, matrix.role)
        width = 1.0 + max(SMALL_HEIGHT, *(COLUMN_CHARACTER * len(text) for text in columns))
        if is_enlarged:
            width = max(width, cells.width_for_numbers(values, is_short=True))
        x += LEFT if not body else SYMBOL_WIDTH
        height = LARGE_HEIGHT if is_enlarged else SMALL_HEIGHT
        grid = cells.Grid(x, LINE_HEIGHT, (width, height), *values.shape)
        body += [
            title(x - 6, LINE_HEIGHT / 2, matrix.symbol, matrix.role, "end"),
            "" if body else cells.draw_row_labels(grid, rows),
            cells.draw_column_labels(grid, columns),
            cells.draw_cells(grid, values, scale, None, is_enlarged, is_short=True),
            cells.draw_mark(grid, (THEY, None), matrix.role),
        ]
        descriptions.append(describe(matrix, values, rows, columns))
        x = grid.right + 4
    right, bottom = grid.right, grid.bottom
    return Panel(right, bottom, "".join(body), " ".join(descriptions), name=stage.name)


def labels(matrix: StageMatrix) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words at the rows and at the columns of a matrix that are shown."""
    rows, columns = examples.labels(*matrix.step.split("."))
    return rows, columns[: matrix.columns]


def describe(
    matrix: StageMatrix, values: np.ndarray, rows: Sequence[str], columns: Sequence[str]
) -> str:
    """Describe a matrix in words, row by row."""
    in_words = (
        f"{name} {', '.join('takes no part' if v == -np.inf else short_number(v) for v in row)}"
        for name, row in zip(rows, values, strict=True)
    )
    return f"{matrix.symbol}, by {', '.join(columns)}: {'; '.join(in_words)}."


def next_words(reference: str, row: int | None, steps_of: StepsOf) -> Panel:
    """Draw the probability of each word as a bar between the word and the number, by size."""
    step = look_up_array(reference, steps_of)
    probabilities = step if row is None else step[row]
    words = examples.labels(*reference.split("."))[-1]
    places = np.argsort(np.argsort(-np.asarray(probabilities), kind="stable"))
    bars, names = [], []
    for i, (word, value) in enumerate(zip(words, probabilities, strict=True)):
        row_of_word, column = divmod(int(places[i]), BAR_COLUMNS)
        x, y = column * BAR_COLUMN, row_of_word * BAR_HEIGHT
        middle = y + BAR_HEIGHT / 2
        bar = element(
            "rect",
            x=x + BAR_X,
            y=y + 3,
            width=float(BAR_WIDTH * value),
            height=BAR_HEIGHT - 6,
            data_full=BAR_WIDTH,
        )
        digits = label(x + BAR_COLUMN - 6, middle, short_number(value), "end", fill=colour(None))
        # A click reaches all of it.
        area = element(
            "rect", x=x, y=y, width=BAR_COLUMN, height=BAR_HEIGHT, fill="none", pointer_events="all"
        )
        bars.append(cells.tag_index(bar + digits + area, probabilities, (i,)))
        names.append(label(x + BAR_X - 6, middle, word, "end", pointer_events="none"))
    attributes = {"data_val": step_name(probabilities), "data_short": ""}
    group = element("g", *bars, **attributes, fill=colour("output"))
    in_words = (
        f"{word} {short_number(p)}" for word, p in zip(words, probabilities.tolist(), strict=True)
    )
    return Panel(
        BAR_COLUMNS * BAR_COLUMN,
        -(-len(words) // BAR_COLUMNS) * BAR_HEIGHT,
        group + "".join(names),
        f"Probabilities of the next word: {', '.join(in_words)}.",
        name="next word",
    )
