r"""Dares: tasks for sliders, written `\dare{task | condition | sliders | answer | hint}`.

A condition names a number of an example and compares it with one or two typed numbers, or with
another number of an example, whose name follows it. Several conditions are separated by semicolons,
and so are sliders, and their numbers in the answer:

    \dare{Make the word *they* look at *boats* a little more than at *birds*.
    | its weight on *boats*, 0.5 < course_order.weights_with_positions[4,2] < 0.7
    | course_sentence.W_K_1[6,2], from clock 2 to place, -2 to 2 by 0.5 | -0.5
    | What if low were good?}

The build checks that the answer meets all conditions, inside the range of each slider, and that
neither the page as it is nor any combination of the sliders' ends does, so a dare is neither
impossible nor solved by pushing a slider as far as it goes. The page's script says when it is met.
"""

import itertools
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
from attention_docs.publish.before.controls import control, parse_stops
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
    r"(?P<name>.+), (?P<comparison>\S+ [<>] \S+?|\S+ < \S+ < \S+?)(?:, (?P<right_name>.+))?"
)
SIGNS = {">": (operator.gt, "above"), "<": (operator.lt, "below")}
BOUNDS = {"more than": ">", "above": ">", "over": ">", "less than": "<", "below": "<", "under": "<"}
BOUND = re.compile(rf"\b({'|'.join(BOUNDS)}) (-?\d+(?:\.\d+)?)", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?")


class Condition(NamedTuple):
    """Comparisons of a number of an example, which `name` describes: `0 < example.step[0] < 1`."""

    name: str
    comparison: str
    right_name: str | None = None  # of a number of an example on the right

    @property
    def sides(self) -> list[str]:
        return self.comparison.split()[::2]

    @property
    def signs(self) -> list[str]:
        return self.comparison.split()[1::2]

    @property
    def references(self) -> list[str]:
        return [side for side in self.sides if not NUMBER.fullmatch(side)]

    def is_met(self, read_number: Callable[[str], float]) -> bool:
        """Whether the comparisons hold if `read_number` returns the number at each reference."""
        numbers = [
            float(side) if NUMBER.fullmatch(side) else read_number(side) for side in self.sides
        ]
        comparisons = zip(self.signs, itertools.pairwise(numbers), strict=True)
        return all(SIGNS[sign][0](*pair) for sign, pair in comparisons)


def dare(argument: str, steps_of: StepsOf) -> str:
    task, condition_text, slider_texts, answer_text, hint = split_fields(
        argument, "task", "condition", "sliders", "answer", "hint"
    )
    conditions = [parse_condition(text.strip()) for text in condition_text.split(";")]
    check_task(task, conditions)
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
    ends = []
    for (reference, name, stops_text), number in zip(sliders, answer_numbers, strict=True):
        first, *inside, last = map(float, parse_stops(stops_text))
        if float(number) not in inside:
            raise ValueError(f"answer is {number}; expected a stop of {name!r} between its ends")
        answer[reference] = float(number)
        answer_parts.append(f"{escape(name)}: {in_html(number)}")
        ends.append((first, last))
    check_answer(conditions, answer, steps_of)
    for at_ends in itertools.product(*ends):
        if are_met(conditions, dict(zip(answer, at_ends, strict=True))):
            raise ValueError(f"the condition is met at ends of the sliders, {at_ends}")
    # `control` parses the same fields as the macro for a slider outside of a dare.
    controls = [control(" | ".join(slider), steps_of) for slider in sliders]
    return BOX.format(
        condition=escape("; ".join(condition.comparison for condition in conditions)),
        task=in_html(task),
        sliders="\n".join(controls),
        goal=goal(conditions, steps_of),
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


def check_task(task: str, conditions: list[Condition]) -> None:
    """Check that a task names what its conditions compare, and the numbers that it asks for."""
    for condition in conditions:
        check_names(condition.name, condition.references[0])
    if len(conditions) == 1:
        check_names(task, conditions[0].references[0])
    wanted = [(c.signs[-1], c.sides[-1]) for c in conditions]
    for bound, number in BOUND.findall(task):
        if (BOUNDS[bound.lower()], number) not in wanted:
            raise ValueError(
                f"task asks for {bound.lower()} {number}, its condition for "
                + ", ".join(" ".join(pair) for pair in wanted)
            )


def check_answer(
    conditions: list[Condition], answer: Mapping[str, float], steps_of: StepsOf
) -> None:
    if all(c.is_met(lambda reference: number_at(reference, steps_of)) for c in conditions):
        raise ValueError("the condition is met before anything is changed")
    if not are_met(conditions, answer):
        raise ValueError("the answer does not meet the condition")


def are_met(conditions: list[Condition], edits: Mapping[str, float]) -> bool:
    """Whether all conditions are met if the inputs have these numbers."""
    literals = edited_literals(edits)

    def read_number(reference: str) -> float:
        example, _, _ = reference.partition(".")
        with rewritten_literals(example, literals):
            return number_at(reference, examples.steps)

    return all(condition.is_met(read_number) for condition in conditions)


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


def goal(conditions: list[Condition], steps_of: StepsOf) -> str:
    wanted = " and ".join(
        f"{in_html(condition.name)} {in_html(bounds(condition))}" for condition in conditions
    )
    current_numbers = ", ".join(
        format_inline(look_up_array(reference, steps_of), reference)
        for condition in conditions
        for reference in condition.references
    )
    return f"Wanted: {wanted}. Now: {current_numbers}."


def bounds(condition: Condition) -> str:
    if len(condition.signs) == 2:
        return f"between {condition.sides[0]} and {condition.sides[2]}"
    _, above_or_below = SIGNS[condition.signs[0]]
    return f"{above_or_below} {condition.right_name or condition.sides[1]}"


def in_html(text: str) -> str:
    """Return text as HTML, with `*words*` emphasised and numbers marked as computed.

    >>> in_html("*they*: -2")
    '<em>they</em>: <span data-computed>−2</span>'
    """
    with_emphasis = EMPHASIS.sub(r"<em>\1</em>", escape(text, quote=False))
    return NUMBER.sub(lambda number: computed_span(number[0].replace("-", "−")), with_emphasis)
