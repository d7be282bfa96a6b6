"""Answers of readers are right to as many decimals as they typed."""

import numpy as np

from attention_docs import examples
from tests.live.page_modules.nodejs import digits, in_node

WEIGHT = 0.23439


def number_verdicts(cases):
    """Return whether each answer is right, and the message, for pairs of a text and a number."""
    return in_node(
        """data.map(([text, expected]) => {
            const { isRight, message } = answers.judgeNumber(text, Number(expected));
            return [isRight, message];
        })""",
        [[text, digits(expected)] for text, expected in cases],
    )


def test_answer_rounded_to_its_decimals_is_right():
    texts = ["0.23", " .234 ", "0.2344", "0.23439", "2.34e-1", "23.44E-2", "0,2344"]
    verdicts = number_verdicts([(text, WEIGHT) for text in texts])
    assert verdicts == [[True, "Right."]] * len(texts)


def test_wrong_answer_says_in_which_direction_it_is_off():
    too_large = [("0.24", WEIGHT), ("0.3", WEIGHT), ("0.2355", WEIGHT), ("8.01", 8), ("inf", 8)]
    too_small = [("0.2333", WEIGHT), ("-0.2344", WEIGHT), ("7.99", 8), ("−8", 8)]
    assert number_verdicts(too_large) == [[False, "Wrong: too large."]] * len(too_large)
    assert number_verdicts(too_small) == [[False, "Wrong: too small."]] * len(too_small)
    # The error of numbers that were rounded on the way is none of the reader's.
    (verdict,) = number_verdicts([("0.2342", WEIGHT)])
    assert verdict == [True, "Right. Without rounding on the way it is 0.2344."]


def test_one_decimal_is_not_enough():
    for is_right, message in number_verdicts([(text, WEIGHT) for text in ("0.2", ".2", "2e-1")]):
        assert is_right is None
        assert "at least two decimals" in message


def test_whole_number_needs_no_decimals():
    cases = [("8", 8), ("8.0", 8), ("+8", 8.000000000001), ("0", 0), ("−0", 0), ("inf", np.inf)]
    assert number_verdicts(cases) == [[True, "Right."]] * len(cases)


def test_unparsable_answer_gets_no_verdict():
    for is_right, message in number_verdicts(
        [(text, WEIGHT) for text in ("", " ", "0,23,4", "a lot")]
    ):
        assert is_right is None
        assert "decimal point" in message


def test_cut_answer_is_right_but_named():
    message = "Right, but cut, not rounded: 0.2344."
    assert number_verdicts([("0.2343", WEIGHT)]) == [[True, message]]


def word_verdict(chosen, words, numbers):
    verdict = in_node("answers.judgeWord(...data)", [chosen, words, numbers])
    return verdict["isRight"], verdict["message"]


def test_right_word_has_the_largest_number():
    words, numbers = ["fly", "sail", "and"], [0.002, 0.8973, 0.1]
    assert word_verdict(1, words, numbers) == (True, "Right: “sail” has 0.8973.")
    wrong = "Wrong: “fly” has 0.0020, the right answer 0.8973."
    assert word_verdict(0, words, numbers) == (False, wrong)
    assert word_verdict(-1, words, numbers) == (None, "Nothing is chosen; choose a word.")


def test_published_digits_answer_every_number_of_the_example():
    """Readers may copy four decimals, and are not told that these are wrong."""
    steps = examples.steps("course_test")
    numbers = [float(x) for step in ("scores", "weights", "output") for x in steps[step].flat]
    verdicts = number_verdicts([(f"{x:.4f}", x) for x in numbers])
    assert verdicts == [[True, "Right."]] * len(numbers)
