r"""Dares: tasks for sliders, written `\dare{task | condition | sliders | answer | hint}`.

A condition names a number of an example and compares it with one or two typed numbers, or with
another number of an example, whose name follows it. Several conditions are separated by semicolons,
and so are sliders, and their numbers in the answer:

    \dare{Make the word *they* look at *boats* a little more than at *birds*.
    | its weight on *boats*, 0.5 < course_order.weights_with_positions[4,2] < 0.7
    | course_sentence.W_K_1[6,2], from clock 2 to place, -2 to 2 by 0.5 | -0.5
    | What if low were good?}

The build checks that the answer, inside the range of each slider, meets all conditions, and that
neither the page as it is nor any combination of the sliders' ends does, so no dare is impossible or
solved by pushing sliders to their ends. The page's script says when it is met.
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
# The name of a reference on the right follows it; a typed number has none.
CONDITION = re.compile(
    r"(?P<name>.+), (?P<comparison>(?:-?\d\S* < )?[a-z]\S+ [<>] (?:-?\d[\d.]*|[a-z]\S+\](?=, )))"
    r"(?:(?<=\]), (?P<right_name>.+))?"
)
SIGNS = {">": (operator.gt, "above"), "<": (operator.lt, "below")}
BOUNDS = {"more than": ">", "above": ">", "over": ">", "less than": "<", "below": "<", "under": "<"}
BOUND = re.compile(rf"\b({'|'.join(BOUNDS)}) (-?\d+(?:\.\d+)?)", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?")


class Condition(NamedTuple):
    """A comparison of a number of an example, which `name` describes, with one or two others."""

    name: str
    parts: list[str]  # numbers or references, with signs between them
    right_name: str | None  # of a reference on the right

    @property
    def references(self) -> list[str]:
        return [side for side in self.parts[::2] if not NUMBER.fullmatch(side)]

    def is_met(self, read_number: Callable[[str], float]) -> bool:
        """Whether the comparison holds if `read_number` returns the number at each reference."""
        numbers = [
            float(side) if NUMBER.fullmatch(side) else read_number(side) for side in self.parts[::2]
        ]
        pairs = itertools.pairwise(numbers)
        return all(SIGNS[s][0](*pair) for s, pair in zip(self.parts[1::2], pairs, strict=True))


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
    check_answer(conditions, answer, ends)
    # `control` parses the same fields as the macro for a slider outside of a dare.
    controls = [control(" | ".join(slider), steps_of) for slider in sliders]
    return BOX.format(
        condition=escape("; ".join(" ".join(condition.parts) for condition in conditions)),
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
        raise ValueError(
            f"condition is {text!r}; expected name, a.step[0] > 0.5 or > a.step[1], name"
        )
    condition = Condition(match["name"], match["comparison"].split(), match["right_name"])
    check_names(condition.name, condition.references[0])
    return condition


def check_task(task: str, conditions: list[Condition]) -> None:
    """Check that a task names what its condition compares, and the numbers that it asks for."""
    if len(conditions) == 1:
        check_names(task, conditions[0].references[0])
    wanted = [" ".join(condition.parts[-2:]) for condition in conditions]
    for bound, number in BOUND.findall(task):
        if f"{BOUNDS[bound.lower()]} {number}" not in wanted:
            asked = f"{bound.lower()} {number}"
            raise ValueError(f"task asks for {asked}, its condition for {', '.join(wanted)}")


def check_answer(
    conditions: list[Condition], answer: Mapping[str, float], ends: list[tuple[float, float]]
) -> None:
    if are_met(conditions, {}):
        raise ValueError("the condition is met before anything is changed")
    if not are_met(conditions, answer):
        raise ValueError("the answer does not meet the condition")
    for numbers in itertools.product(*ends):
        if are_met(conditions, dict(zip(answer, numbers, strict=True))):
            raise ValueError(f"the condition is met at ends of the sliders, {numbers}")


def are_met(conditions: list[Condition], edits: Mapping[str, float]) -> bool:
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
    wanted = []
    for condition in conditions:
        name, (left, *_, sign, right), right_name = condition
        _, above_or_below = SIGNS[sign]
        bounds = f"{above_or_below} {right_name or right}"
        if NUMBER.fullmatch(left):
            bounds = f"between {left} and {right}"
        now, *compared = (
            format_inline(look_up_array(reference, steps_of), reference)
            for reference in condition.references
        )
        wanted.append("".join([in_html(f"{name} {bounds}"), *map(", {}".format, compared)]))
        wanted[-1] += f" (now {now})"
    return f"Wanted: {' and '.join(wanted)}."


def in_html(text: str) -> str:
    """Return text as HTML, with `*words*` emphasised and numbers marked as computed.

    >>> in_html("*they*: -2")
    '<em>they</em>: <span data-computed>−2</span>'
    """
    with_emphasis = EMPHASIS.sub(r"<em>\1</em>", escape(text, quote=False))
    return NUMBER.sub(lambda number: computed_span(number[0].replace("-", "−")), with_emphasis)
