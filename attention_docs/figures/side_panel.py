"""The panel beside a page of the course: the sentence on its way from words to the next word.

Each stage is a drawing of its own, which can be folded. A page enlarges the stage that it is about;
the style sheet puts the panel beside the text, or at the bottom of a phone, with one stage alone. A
script marks the stage that the paragraph being read is about. A panel shows nothing that the course
introduces later: the next word appears when a page computes it, and so does the switch, which needs
no script, to the learned model.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import THEY
from attention_docs.figures.course_sentence import WORD_FEATURES
from attention_docs.figures.registry import claim
from attention_docs.figures.sentence import radio
from attention_docs.lookup import StepsOf, look_up_array, look_up_labels
from attention_docs.render.figures import Panel, bars, cells, figure, scales
from attention_docs.render.figures.svg import LINE_HEIGHT, title
from attention_docs.render.numbers import short_numbers

PANEL_NAME = "The sentence, step by step"
PANEL_HTML = """\
<aside class="panel" aria-label="{name}"><details open{waits}><summary>{name}</summary>
{switch}<div class="stages by-hand">{by_hand}</div>
{learned}<label class="all"><input type="checkbox">all steps</label></details></aside>"""
SWITCH_HTML = '<div class="switch" role="radiogroup" aria-label="The matrices are">{}</div>\n'
LEARNED_HTML = '<div class="stages learned"><p>{note}</p>{stages}</div>\n'
# Pages that introduce what their panels show; wide screens show it when the reader is there.
WAITING = ("projections", "order")
CHOICES = {"by-hand": "set by hand", "learned": "learned"}
# What the learned matrices share with those set by hand, which the build checks, and what not.
SAME_AS_BY_HAND = "As by hand, the word <em>they</em> looks mostly at the first noun."
LEARNED_NOTE = f"{SAME_AS_BY_HAND} But head 2 does it, and features have numbers instead of names."
NEGATIVE_NOTE = "<p>Olive cells with − are negative.</p>"
STAGE_HTML = """\
<details class="stage{css_class}" data-stage="{key}"{is_open}>\
<summary>{operation}<b>{name}</b></summary>\
<div class="figure-box">{svg}</div></details>"""
# The width of the words at the rows with the symbol above them, and of the symbol alone.
ROW_WORDS_WIDTH, SYMBOL_WIDTH = 54, 18
MATRIX_GAP = 4
# The height of a row of numbers where they are printed, and where they are only tooltips.
NUMBERED_ROW_HEIGHT, ROW_HEIGHT = 19, 13
# The words of the course are narrow, so a column is narrower than `text_width` assumes.
CHARACTER_WIDTH, WORD_GAP = 6.5, 1.0
TO_NEXT_WORD = "times <i>W</i><sub>vocabulary</sub>, softmax"
AFTER_QUERIES_AND_KEYS = "queries with keys, mask, softmax"


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
        next_word: the reference to the probabilities of the next word, or "" before page nine.
        last_operation: what leads from the last of the stages to the next word, as HTML.
        has_switch: whether the reader can have the learned model shown instead.
    """

    enlarged_key: str
    stages: tuple[Stage, ...]
    next_word: str = ""
    folded_keys: tuple[str, ...] = ()
    last_operation: str = TO_NEXT_WORD
    has_switch: bool = False


# The roles of matrices, by the first letter of their symbols.
ROLES = {"X": "input", "Q": "query", "K": "key", "V": "value", "A": "weights"}
ROLES |= dict.fromkeys("SZ", "scores") | dict.fromkeys("HOUB", "output")
SCORES_SYMBOLS = {"scores": "S", "scaled scores": "S/√3", "masked scaled scores": "Z"}
# What the index of a head, such as ₁ in the symbol Q₁, adds to the name of a stage.
OF_HEAD = {"": "", "₁": " of head 1", "₂": " of head 2"}


def words_stage(step: str, symbol: str = "X") -> Stage:
    return Stage("words", "", f"words {symbol}", {symbol: step})


def projections_of(example: str, suffix: str = "") -> dict[str, str]:
    return {letter: f"{example}.{letter}{suffix}" for letter in "QKV"}


def attention_stages(
    projections: Mapping[str, str],
    scores: Mapping[str, str],
    weights: str,
    output: str,
    head: str = "",
) -> tuple[Stage, ...]:
    """Return the stages of a head.

    Args:
        projections: the steps of Q, K and V. If there are none, no values are shown: both heads set
            by hand have the same, which stand beside the output of the first.
        scores: the step of the scores by their name. If it is empty, the stage of the scores is
            left out, and so is that of the queries and keys.
    """
    of_head = OF_HEAD[head]
    stages = []
    for name, step in scores.items():
        factors = {f"{letter}{head}": projections[letter] for letter in "QK"}
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
    to_weights = "softmax of each row" if scores else AFTER_QUERIES_AND_KEYS
    symbol = f"H{head}" if head else "O"
    matrices, name = {symbol: output}, f"output {symbol}"
    if projections:
        values = f"V{head}" if projections["V"].endswith("_2") else "V"
        matrices, name = {values: projections["V"]} | matrices, f"values {values}, {name}"
    return (
        *stages,
        weights_stage(weights, head, to_weights),
        Stage("output", "average of the values", name, matrices),
    )


def one_head(
    words: Stage,
    projections: Mapping[str, str],
    scores: Mapping[str, str],
    weights: str,
    output: str,
) -> SidePanel:
    """Return the panel of a page with one head."""
    return SidePanel("weights", (words, *attention_stages(projections, scores, weights, output)))


def weights_stage(step: str, head: str, operation: str = AFTER_QUERIES_AND_KEYS) -> Stage:
    return Stage("weights", operation, f"weights A{head}{OF_HEAD[head]}", {f"A{head}": step})


def joined_stage(step: str) -> Stage:
    operation = "H₁ and H₂ side by side, times <i>W</i><sub>O</sub>"
    return Stage("joined", operation, "output O of the heads", {"O": step})


def block_stage(step: str) -> Stage:
    operation = "plus the words, norm, feed-forward network, norm"
    return Stage("block", operation, "block output B", {"B": step})


WORDS_WITH_POSITIONS = words_stage("course_heads.with_positions")
WITH_POSITIONS = {"Q": "course_heads.Q_1", "K": "course_heads.K_1", "V": "course_heads.V"}
MASKED = {"masked scaled scores": "course_mask.masked"}
HEAD_1 = "course_heads.weights_1", "course_heads.head_1", "₁"
HEAD_2 = attention_stages({}, {}, "course_heads.weights_2", "course_heads.head_2", "₂")
HEADS = (WORDS_WITH_POSITIONS, *attention_stages(WITH_POSITIONS, {}, *HEAD_1), *HEAD_2)
BEFORE_BLOCK = (*HEADS, joined_stage("course_heads.output"))
BLOCK = block_stage("course_block.output")
WHOLE_BLOCK = (*BEFORE_BLOCK, BLOCK)
NORMED = Stage("normed", "plus the words, norm", "first half U", {"U": "course_block.normed"})
NEXT_WORD = f"course_next_token.probabilities[{THEY}]"
FORMULA = one_head(
    words_stage("course_formula.X"),
    projections_of("course_formula"),
    {"scaled scores": "course_formula.scaled"},
    "course_formula.weights",
    "course_formula.output",
)
# With the switches of the page for the parts of the model.
SWITCHED = (
    words_stage("course_ablation.with_positions"),
    weights_stage("course_ablation.weights_1", "₁"),
    weights_stage("course_ablation.weights_2", "₂"),
    joined_stage("course_ablation.output"),
    block_stage("course_ablation.block_output"),
)
SIDE_PANELS = {
    "projections": one_head(
        words_stage("course_projections.X"),
        projections_of("course_projections"),
        {"scores": "course_projections.scores"},
        "course_projections.weights",
        "course_projections.output",
    ),
    "formula": FORMULA,
    "scale": FORMULA._replace(enlarged_key="scores"),
    "order": one_head(
        words_stage("course_heads.with_positions", "X + E"),
        WITH_POSITIONS,
        {"scaled scores": "course_mask.scaled"},
        "course_order.weights_with_positions",
        "course_order.output_with_positions",
    ),
    "mask": one_head(
        WORDS_WITH_POSITIONS,
        WITH_POSITIONS,
        MASKED,
        "course_mask.weights",
        "course_mask.output",
    ),
    "heads": SidePanel(
        "weights",
        (WORDS_WITH_POSITIONS, *attention_stages(WITH_POSITIONS, MASKED, *HEAD_1), *HEAD_2),
        folded_keys=("words", "projections", "scores"),
    ),
    "block": SidePanel(
        "block",
        (*BEFORE_BLOCK, NORMED, BLOCK._replace(operation="plus the feed-forward network, norm")),
        folded_keys=("weights", "output"),
    ),
    "next_token": SidePanel(
        "next", SWITCHED, f"course_ablation.probabilities[{THEY}]", folded_keys=("weights",)
    ),
    "learned": SidePanel(
        "weights", HEADS, NEXT_WORD, ("words", "output"), "the rest of the model", True
    ),
    "writing": SidePanel("next", WHOLE_BLOCK, NEXT_WORD, ("weights", "output"), has_switch=True),
}


def learned_side_panel(by_hand: SidePanel) -> SidePanel:
    """Return the panel of the learned model that replaces a panel of the matrices set by hand.

    It shows head 2 alone, which is the learned head that looks from *they* to the noun.
    """
    weights, output = "course_learned.weights_2", "course_learned.output_2"
    stages = [
        words_stage("course_learned.with_positions"),
        *attention_stages(projections_of("course_learned", "_2"), {}, weights, output, "₂"),
    ]
    if by_hand.last_operation == TO_NEXT_WORD:
        stages.append(block_stage("course_learned.block"))
    return by_hand._replace(stages=tuple(stages), next_word="course_learned.reasons")


def side_panel(name: str, steps_of: StepsOf, add_insert: Callable[[str], str]) -> str:
    """Return the panel of a page in Markdown; `add_insert` returns a placeholder for HTML."""
    if name not in SIDE_PANELS:
        raise LookupError(f"panel {name!r} is unknown; expected one of {', '.join(SIDE_PANELS)}")
    panel = SIDE_PANELS[name]
    switch = learned = ""
    if panel.has_switch:
        learned_weights = look_up_array("course_learned.weights_2", steps_of)
        claim(learned_weights[THEY, 0] > 0.5, SAME_AS_BY_HAND)
        labels = (
            f"<label>{radio('matrices', value, is_checked=value == 'by-hand')}{text}</label>"
            for value, text in CHOICES.items()
        )
        switch = SWITCH_HTML.format("".join(labels))
        stages = stages_html(learned_side_panel(panel), steps_of)
        learned = LEARNED_HTML.format(note=LEARNED_NOTE, stages=stages)
    by_hand = stages_html(panel, steps_of)
    html = PANEL_HTML.format(
        name=PANEL_NAME,
        waits=' class="waits"' if name in WAITING else "",
        switch=switch,
        by_hand=by_hand,
        learned=learned,
    )
    return add_insert(html)


@short_numbers()
def stages_html(panel: SidePanel, steps_of: StepsOf) -> str:
    """Return the stages of a panel, and how to read negative numbers if it shows any."""
    html = ""
    has_negative_number = False
    for stage in panel.stages:
        is_enlarged = stage.key == panel.enlarged_key
        drawing = draw_stage(stage, steps_of, is_enlarged)
        css_class = " main" if is_enlarged else ""
        is_open = stage.key not in panel.folded_keys
        html += stage_html(stage.key, stage.operation, drawing, css_class, is_open)
        for step in stage.matrices.values():
            numbers = shown_numbers(step, steps_of)
            # Masked scores are -inf.
            has_negative_number |= bool(((numbers < 0) & np.isfinite(numbers)).any())
    if panel.next_word:
        css_class = " next main" if panel.enlarged_key == "next" else " next"
        drawing = draw_next_word(panel.next_word, steps_of)
        html += stage_html("next", panel.last_operation, drawing, css_class, is_open=True)
    return html + NEGATIVE_NOTE if has_negative_number else html


def shown_numbers(step: str, steps_of: StepsOf) -> np.ndarray:
    """Return a step, without the features of positions before the course has introduced them."""
    return look_up_array(step, steps_of)[:, WORD_FEATURES if step.endswith(".X") else slice(None)]


def stage_html(key: str, operation: str, drawing: Panel, css_class: str, is_open: bool) -> str:
    """Return a foldable stage: the operation that leads to it, its name and its drawing."""
    return STAGE_HTML.format(
        key=key,
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
        numbers = shown_numbers(step, steps_of)
        row_words, column_words = look_up_labels(step)
        column_words = column_words[: numbers.shape[1]]
        width = WORD_GAP + max(ROW_HEIGHT, CHARACTER_WIDTH * max(map(len, column_words)))
        if is_enlarged:
            width = max(width, cells.width_for_numbers(numbers[THEY:]))
        cell = (width, NUMBERED_ROW_HEIGHT if is_enlarged else ROW_HEIGHT)
        grid = cells.Grid(x, LINE_HEIGHT, cell, *numbers.shape)
        role = ROLES[symbol[0]]
        kind = "sequential" if role == "weights" else "diverging"
        scale = scales.scale_of(kind, symbol, numbers, role)
        body += [
            title(grid.x - cells.LABEL_GAP, LINE_HEIGHT / 2, symbol, role, "end"),
            "" if body else cells.draw_row_labels(grid, row_words),
            cells.draw_column_labels(grid, column_words),
            draw_matrix(grid, numbers, scale, has_numbers=is_enlarged),
            cells.draw_mark(grid, (THEY, None), role),
        ]
        rows = []
        for word, row in zip(row_words, numbers, strict=True):
            texts = (cells.cell_text(value) or "takes no part" for value in row)
            rows.append(f"{word} {', '.join(texts)}")
        descriptions.append(f"{symbol}, by {', '.join(column_words)}: {'; '.join(rows)}.")
        x = grid.right + MATRIX_GAP + SYMBOL_WIDTH
    description = " ".join(descriptions)
    return Panel(grid.right, grid.bottom, "".join(body), description, name=stage.name)


def draw_matrix(grid: cells.Grid, numbers: Array, scale: scales.Scale, *, has_numbers: bool) -> str:
    """Draw cells, with numbers in the row of *they* alone, which is the last."""
    if not has_numbers:
        return cells.draw_cells(grid, numbers, scale, has_numbers=False)
    others = grid._replace(rows=THEY)
    row_of_they = grid._replace(y=others.bottom, rows=1)
    return cells.draw_cells(others, numbers[:THEY], scale, has_numbers=False) + cells.draw_cells(
        row_of_they, numbers[THEY:], scale
    )


def draw_next_word(reference: str, steps_of: StepsOf) -> Panel:
    """Draw the probability of each word that may come next as a bar."""
    (words,) = look_up_labels(reference)
    probabilities = look_up_array(reference, steps_of)
    return bars.bars_panel("next word", probabilities, words, "output", has_heading=False)
