"""Dares, which are tasks for sliders: none is met at first, and none is impossible."""

import pytest

from attention_docs import examples
from attention_docs.publish.before.exercises.dares import dare
from tests.conftest import ROOT

# The task, the condition, the slider, the answer and the hint.
DARE = (
    "Make more. | query, 1 < self_attention.Q[0,1] < 3 "
    "| self_attention.X[0,1], x, -9 to 9 by 1 | 2 | ?"
)
COURSE_PAGES = sorted((ROOT / "docs" / "course").glob("*.md"))


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("1 <", "-9 <", "the condition is met before anything is changed"),
        ("| 2 |", "| -8 |", "the answer does not meet the condition"),
        ("| 2 |", "| 9 |", "answer is 9; expected a stop of 'x' between its ends"),
        ("< 3", "< 99", "the condition is met at ends of the sliders"),
        ("< 3", "< 3; key, self_attention.Q[0,0] > 99", "the answer does not meet the condition"),
        ("more.", "more than 4.", "task asks for more than 4, its condition for < 3"),
        ("| 2 |", "| 2; 3 |", "answer has 2 numbers; expected 1"),
        ("< 3", "= 3", "condition is 'query, .* = 3'; expected"),
        ("< 3", "< self_attention.Q[0,0]", "expected .* a.step\\[1\\], name"),
        ("x, -9", "-9", "slider is 'self_attention.*; expected"),
        (" | ?", "", "argument has 4 fields; expected 5: task \\| condition"),
        ("X[0,1], x", "K[0,1], x", "is not an input"),
    ],
)
def test_wrong_dare_is_refused(old, new, error):
    with pytest.raises(ValueError, match=error):
        dare(DARE.replace(old, new), examples.steps)


@pytest.mark.parametrize("page", COURSE_PAGES, ids=lambda page: page.stem)
def test_course_page_has_one_to_three_dares_if_it_has_a_panel(page):
    text = page.read_text(encoding="utf-8")
    allowed_counts = (1, 2, 3) if "\\panel{" in text else (0,)
    assert text.count("\\dare{") in allowed_counts
