r"""Dares: tasks for sliders, written `\dare{task | condition | sliders | answer | hint}`.

The condition names a number of an example and compares it with a typed number, or with another
number of an example, whose name follows it. Several sliders are separated by semicolons, and so are
their numbers in the answer:

    \dare{Make *they* look at *boats*. | its weight on *boats*, course_mask.weights[4,2] > 0.5
    | course_mask.W_K[6,2], from clock 2 to place, -2 to 2 by 1 | -2 | Now early is good.}

The build checks that the page as it is does not meet the condition, and that the answer does, so no
dare is impossible. The page's script says when it is met.
"""

import operator
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.live.literals import LiteralPosition, find_literal, rewritten_literals
from attention_docs.live.recording import record
from attention_docs.lookup import StepsOf, look_up_array
from attention_docs.publish.before.claims import check_names
from attention_docs.publish.before.controls import control
from attention_docs.publish.before.values import format_inline, split_fields
from attention_docs.render.numbers import computed_span, with_plural

BOX = """\
<div class="try dare hands-on" data-dare="{condition}" data-search-exclude>
<p><strong>Dare.</strong> {task}</p>
{sliders}
<p class="goal">{goal} <span role="status"></span></p>
<div class="tools"><details><summary>Hint</summary><p>{hint}</p></details>
<details><summary>Answer</summary><p>{answer}</p></details>
<button type="button">Start again</button></div>
</div>"""
EMPHASIS = re.compile(r"\*([^*]+)\*")
CONDITION = re.compile(
    r"(?P<name>.+), (?P<left>\S+) (?P<sign>[<>]) (?P<right>\S+?)(?:, (?P<right_name>.+))?"
)
SIGNS = {">": (operator.gt, "above"), "<": (operator.lt, "below")}
BOUNDS = {"more than": ">", "above": ">", "over": ">", "less than": "<", "below": "<", "under": "<"}
BOUND = re.compile(rf"({'|'.join(BOUNDS)}) (-?\d+(?:\.\d+)?)", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?")


class Condition(NamedTuple):
    """A comparison of a number of an example, which `name` describes, with `right`."""

    name: str
    left: str
    sign: str
    right: str  # a typed number, or a reference
    right_name: str | None = None  # of a reference

    @property
    def references(self) -> list[str]:
        return [side for side in (self.left, self.right) if not NUMBER.fullmatch(side)]

    def is_met(self, read_number: Callable[[str], float]) -> bool:
        """Whether the comparison holds if `read_number` returns the number at each reference."""
        left, right = (
            float(side) if NUMBER.fullmatch(side) else read_number(side)
            for side in (self.left, self.right)
        )
        compare, _ = SIGNS[self.sign]
        return bool(compare(left, right))


def dare(argument: str, steps_of: StepsOf) -> str:
    task, condition_text, slider_texts, answer_text, hint = split_fields(
        argument, "task", "condition", "sliders", "answer", "hint"
    )
    condition = parse_condition(condition_text)
    check_task(task, condition)
    sliders = []  # the reference, the name and the numbers of each
    for text in slider_texts.split(";"):
        # The index of the reference has commas, too.
        match = re.fullmatch(r"\s*(\S+\]), ([^,]+), (.+)", text)
        if not match:
            raise ValueError(f"slider is {text!r}; expected example.input[0], name, 0 to 2 by 1")
        sliders.append(match.groups())
    answer_numbers = [number.strip() for number in answer_text.split(";")]
    if len(answer_numbers) != len(sliders):
        numbers = with_plural(len(answer_numbers), "number")
        raise ValueError(f"answer has {numbers}; expected {len(sliders)}, one per slider")
    answer = {}
    answer_parts = []
    for (reference, name, _), number in zip(sliders, answer_numbers, strict=True):
        answer[reference] = float(number)
        answer_parts.append(f"{escape(name)}: {in_html(number)}")
    check_answer(condition, answer, steps_of)
    # `control` parses the same fields as the macro for a slider outside of a dare.
    controls = [control(" | ".join(slider), steps_of) for slider in sliders]
    return BOX.format(
        condition=escape(f"{condition.left} {condition.sign} {condition.right}"),
        task=in_html(task),
        sliders="\n".join(controls),
        goal=goal(condition, steps_of),
        hint=in_html(hint),
        answer="; ".join(answer_parts),
    )


def parse_condition(text: str) -> Condition:
    """Parse a condition, such as `its share, self_attention.weights[0,1] > 0.9`."""
    match = CONDITION.fullmatch(text)
    if not match:
        raise ValueError(f"condition is {text!r}; expected name, example.step[0] > 0.5")
    condition = Condition(**match.groupdict())
    has_two_references = len(condition.references) == 2
    if bool(condition.right_name) != has_two_references:
        raise ValueError(
            f"condition is {text!r}; expected a name after a second number of an example, and only "
            "there"
        )
    return condition


def check_task(task: str, condition: Condition) -> None:
    """Check that a task names what its condition compares, and the number that it asks for."""
    for text in (task, condition.name):
        check_names(text, condition.left)
    for bound, number in BOUND.findall(task):
        if (BOUNDS[bound.lower()], number) != (condition.sign, condition.right):
            asked = f"{bound.lower()} {number}"
            wanted = f"{condition.sign} {condition.right}"
            raise ValueError(f"task asks for {asked}, its condition for {wanted}")


def check_answer(condition: Condition, answer: Mapping[str, float], steps_of: StepsOf) -> None:
    literals = edited_literals(answer)

    def number_with_answer(reference: str) -> float:
        example, _, _ = reference.partition(".")
        with rewritten_literals(example, literals):
            return number_at(reference, examples.steps)

    if condition.is_met(lambda reference: number_at(reference, steps_of)):
        raise ValueError("the condition is met before anything is changed")
    if not condition.is_met(number_with_answer):
        raise ValueError("the answer does not meet the condition")


def number_at(reference: str, steps_of: StepsOf) -> float:
    number = look_up_array(reference, steps_of)
    if number.ndim:
        raise ValueError(f"{reference} has shape {number.shape}; expected one number")
    return float(number)


def edited_literals(answer: Mapping[str, float]) -> dict[LiteralPosition, list[float]]:
    """Return the inputs that an answer changes, with its numbers, by their places in the code."""
    edited: dict[LiteralPosition, np.ndarray] = {}
    for reference, number in answer.items():
        path, _, index = reference.rstrip("]").partition("[")
        name, _, step = path.partition(".")
        recording = record(name)
        literal = recording.tape.nodes[recording.steps[step].node].literal
        position = find_literal(literal)
        if position is None:
            raise ValueError(f"{reference} is not an input; expected a number of one")
        # Two numbers of an answer may be in the same literal.
        array = edited.setdefault(position, np.array(literal, dtype=float))
        array[tuple(map(int, index.split(",")))] = number
    return {position: array.tolist() for position, array in edited.items()}


def goal(condition: Condition, steps_of: StepsOf) -> str:
    _, above_or_below = SIGNS[condition.sign]
    bound = in_html(condition.right_name or condition.right)
    current_numbers = " and ".join(
        format_inline(look_up_array(reference, steps_of), reference)
        for reference in condition.references
    )
    return f"Wanted: {in_html(condition.name)} {above_or_below} {bound}. Now: {current_numbers}."


def in_html(text: str) -> str:
    """Return text as HTML, with `*words*` emphasised and numbers marked as computed.

    >>> in_html("*they*: -2")
    '<em>they</em>: <span data-computed>−2</span>'
    """
    with_emphasis = EMPHASIS.sub(r"<em>\1</em>", escape(text, quote=False))
    return NUMBER.sub(lambda number: computed_span(number[0].replace("-", "−")), with_emphasis)
