r"""Claims of pages, and names of numbers in questions, sliders and dares."""

import pytest

from attention_docs.publish.before.claims import find_problems
from attention_docs.publish.before.exercises.dares import check_task, parse_condition
from attention_docs.publish.computed import ComputedExamples
from tests.conftest import ROOT

STEPS = ComputedExamples(ROOT).steps
WEIGHT = r"\val{course_formula.weights[4,0]}"


def problems_in(text):
    return [problem for _, problem in find_problems(text, STEPS)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (r"It ends. \claim{1 > 2 | ends}", "1 > 2 is false, with 1 and 2: “It ends.”"),
        (r"It ends. \claim{1 < 2 | begins}", "the words of a claim are not beside it: “begins”"),
        (r"It … \claim{1 < 2}", r"\claim{1 < 2}: argument has 1 field; expected 2: condition | words"),
        (r"It. \claim{nope.K > 0 | It}", "nope.K > 0 raises NameError: name 'nope' is not defined: “It.”"),
        (f"It is {WEIGHT}. Most is left.", r"“Most” compares or counts, so it needs a \claim: “Most is left.”"),
        (rf"{WEIGHT}, the second.", rf"“second” compares or counts, so it needs a \claim: “{WEIGHT}, the second.”"),
        (
            r"It is few and more. \claim{1 < 2 | is few}",
            r"“more” compares or counts, so it needs a \claim: “It is few and more.”",
        ),
        (
            r"With 64 it ends, and \number{8} … \claim{1 < 2 | With 64 it ends}",
            r"\number{8} needs a \claim, or is a \val: “With 64 it ends, and \number{8} …”",
        ),
        (
            "\\example{model_memory}\n\nIt has \\number{8192} tokens.",  # which it holds
            r"\number{8192} needs a \claim, or is a \val: “It has \number{8192} tokens.”",
        ),
    ],
)  # fmt: skip
def test_problem_of_a_sentence_is_reported(text, problem):
    assert problems_in(text) == [problem]


def test_problem_is_reported_at_its_paragraph():
    text = "# Title\n\n```python\n1\n```\n\n- one\n- less. \\claim{1 > 2 | less}\n"
    assert [line for line, _ in find_problems(text, STEPS)] == [7]


@pytest.mark.parametrize(
    ("task", "error"),
    [
        ("Let *they* find *birds*.", "names birds; course_order.weights_with_positions"),
        ("Give it less than 0.9.", "task asks for less than 0.9, its condition for > 0.9"),
        ("Give it more than 0.8.", "task asks for more than 0.8, its condition for > 0.9"),
    ],
)
def test_task_of_a_dare_agrees_with_its_condition(task, error):
    condition = parse_condition("its weight, course_order.weights_with_positions[4,2] > 0.9")
    with pytest.raises(ValueError, match=error):
        check_task(task, [condition])
