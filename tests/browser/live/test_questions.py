"""Questions: the page checks answers with what it computes, and they can be read without scripts."""

import re

from attention_docs import examples
from attention_docs.examples.course_sentence import VALUE_FEATURES
from tests.browser.visit import LOW_CONTRAST

PAGE = "course/test_yourself"
STEPS = examples.steps("course_test")
SHIPS, PASS, GEESE = range(3)  # the first words of the sentence
WATER = VALUE_FEATURES.index("water")
DOT_PRODUCT = "Dot product of ships and geese"
# Maps the name of each question to the number that answers it.
ANSWERS = {
    DOT_PRODUCT: STEPS["dots"][SHIPS, GEESE],
    "Score of pass on geese": STEPS["scores"][PASS, GEESE],
    "Weight of pass on geese": STEPS["weights"][PASS, GEESE],
    "Slope for pass and geese": STEPS["slope"],
    "Water in the output of pass": STEPS["output"][PASS, WATER],
    "Score of they on ships, with positions": STEPS["score_with_positions"],
    "Loss of the last row": STEPS["loss"],
    "Weight that the mask removes from pass": STEPS["removed"][PASS],
}


def question(visit, name):
    return visit.page.locator(".ask").filter(has_text=name)


def press_check(visit, name):
    question(visit, name).get_by_role("button").click()


def answer(visit, name, text):
    visit.page.get_by_label(name, exact=True).fill(text)
    press_check(visit, name)


def status(visit, name):
    return question(visit, name).get_by_role("status")


def verdict(visit, name):
    """Wait for the verdict on the answer to a question, and return it."""
    status(visit, name).filter(has_text=re.compile(".")).wait_for()
    return status(visit, name).inner_text()


def test_wrong_number_gets_a_hint_and_right_number_is_accepted(open_page):
    visit = open_page(PAGE)
    for name, number in ANSWERS.items():
        answer(visit, name, f"{number + 1:.3f}")
        hint = question(visit, name).get_attribute("data-hint")
        assert verdict(visit, name) == f"Wrong: too large. {hint}", name
        answer(visit, name, f"{number:.2f}")
        assert verdict(visit, name) == "Right.", name
    answer(visit, "Weight of pass on geese", f"{STEPS['mistakes'][0]:.3f}")
    named = "Wrong: that is the weight without the square root of three."
    assert verdict(visit, "Weight of pass on geese") == named
    visit.page.get_by_label(DOT_PRODUCT, exact=True).fill("4")
    assert status(visit, DOT_PRODUCT).inner_text() == "", "typing removes the verdict"


def test_question_about_a_word_offers_a_choice(open_page):
    visit = open_page(PAGE)
    for word, expected in (("fly", "Wrong: “fly” has "), ("sail", "Right: ")):
        visit.page.get_by_label("Next word", exact=True).select_option(word)
        press_check(visit, "Next word")
        assert verdict(visit, "Next word").startswith(expected)


def test_first_press_of_enter_checks_the_answer_and_edits_of_the_words_change_it(open_page):
    visit = open_page(PAGE)
    # Without a pointer or the Tab key, which would load the script earlier.
    visit.page.get_by_label(DOT_PRODUCT, exact=True).evaluate("field => field.focus()")
    visit.page.keyboard.insert_text("3")
    visit.page.keyboard.press("Enter")
    assert verdict(visit, DOT_PRODUCT) == "Right."
    visit.page.locator(".live-try").first.click()
    visit.page.wait_for_selector(".live-bar")
    visit.page.locator(".live-field").first.fill("2")  # the air of ships
    assert status(visit, DOT_PRODUCT).inner_text() == ""
    press_check(visit, DOT_PRODUCT)
    assert verdict(visit, DOT_PRODUCT).startswith("Wrong: too small")


def test_answer_verdicts_have_enough_contrast(open_page, axe):
    visit = open_page(PAGE, width=320)
    answer(visit, DOT_PRODUCT, "3")
    visit.page.wait_for_selector(".ask .right")
    answer(visit, "Score of pass on geese", "7")
    visit.page.wait_for_selector(".ask .wrong")
    visit.page.evaluate(axe)
    for scheme in ("light", "dark"):
        visit.emulate(scheme, width=320)
        assert visit.page.evaluate(LOW_CONTRAST) == []
