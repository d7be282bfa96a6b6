"""Questions: the page checks answers with what it computes, and they can be read without scripts."""

import pytest

from attention_docs import examples
from tests.browser.visit import LOW_CONTRAST, Visit

PAGE = "course/test_yourself"
STEPS = examples.steps("course_test")
# Maps the name of each answer to its number.
ANSWERS = {
    "Dot product of ships and geese": STEPS["dots"][0, 2],
    "Score of pass on geese": STEPS["scores"][1, 2],
    "Weight of pass on geese": STEPS["weights"][1, 2],
    "Slope for pass and geese": STEPS["slope"],
    "Water in the output of pass": STEPS["output"][1, 1],
    "Score of they on ships, with positions": STEPS["score_with_positions"],
    "Loss of the last row": STEPS["loss"],
    "Weight that the mask removes from pass": STEPS["removed"][1],
}


def question(visit, name):
    return visit.page.locator(".ask").filter(has_text=name)


def verdict(visit, name):
    """Wait for the verdict on the answer to a question, and return it."""
    status = question(visit, name).get_by_role("status")
    status.filter(has_text=":").or_(status.filter(has_text=".")).wait_for()
    return status.inner_text()


@pytest.mark.parametrize("name", ANSWERS)
def test_right_and_wrong_numbers_get_different_verdicts(open_page, name):
    visit = open_page(PAGE)
    number = ANSWERS[name]
    visit.page.get_by_label(name, exact=True).fill(f"{number + 1:.3f}")
    question(visit, name).get_by_role("button").click()
    hint = question(visit, name).get_attribute("data-hint")
    assert verdict(visit, name).startswith("Wrong: too large")
    assert verdict(visit, name).endswith(hint)
    visit.page.get_by_label(name, exact=True).fill(f"{number:.2f}")
    assert question(visit, name).get_by_role("status").inner_text() == ""
    question(visit, name).get_by_role("button").click()
    assert verdict(visit, name) == "Right."
    assert not visit.errors


@pytest.mark.parametrize(("word", "expected"), [("fly", "Wrong: “fly” has "), ("sail", "Right: ")])
def test_question_about_a_word_offers_a_choice(open_page, word, expected):
    visit = open_page(PAGE)
    visit.page.get_by_label("Next word", exact=True).select_option(word)
    question(visit, "Next word").get_by_role("button").click()
    assert verdict(visit, "Next word").startswith(expected)


def test_full_stop_is_spelled_out_in_the_choice_of_words(open_page):
    field = open_page(PAGE).page.get_by_label("Next word", exact=True)
    assert "full stop" in field.locator("option").all_inner_texts()


def test_first_press_of_enter_checks_the_answer(open_page):
    visit = open_page(PAGE)
    # Without a pointer or the Tab key, which would load the script earlier.
    visit.page.locator(".ask input").first.evaluate("field => field.focus()")
    visit.page.keyboard.insert_text("3")
    visit.page.keyboard.press("Enter")
    assert verdict(visit, "Dot product of ships and geese") == "Right."


def test_answers_follow_edits_of_the_words(open_page):
    visit = open_page(PAGE)
    name = "Dot product of ships and geese"
    visit.page.get_by_label(name, exact=True).fill("3")
    question(visit, name).get_by_role("button").click()
    assert verdict(visit, name) == "Right."
    visit.page.locator(".live-try").first.click()
    visit.page.wait_for_selector(".live-bar")
    visit.page.locator(".live-field").first.fill("2")  # the air of ships
    assert question(visit, name).get_by_role("status").inner_text() == ""
    question(visit, name).get_by_role("button").click()
    assert verdict(visit, name).startswith("Wrong: too small")


def test_answers_are_folded_without_scripts(browser, address):
    with Visit(browser, f"{address}{PAGE}/", java_script_enabled=False) as visit:
        assert not any(box.is_visible() for box in visit.page.locator(".ask").all())
        folded = visit.page.locator("details").filter(has_text="Answer:")
        assert folded.count() == len(ANSWERS) + 1
        folded.first.locator("summary").click()
        assert folded.first.locator(".formula").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_answer_verdicts_have_enough_contrast(open_page, axe, scheme):
    visit = open_page(PAGE, scheme=scheme, width=320)
    fields = visit.page.locator(".ask input").all()
    for text, field in zip(["3", "7", "0.7436"], fields, strict=False):
        field.fill(text)
        field.press("Enter")
        field.locator("xpath=ancestor::div[@class='ask']//p[@class!='']").wait_for()
    visit.page.evaluate(axe)
    assert visit.page.evaluate(LOW_CONTRAST) == []
