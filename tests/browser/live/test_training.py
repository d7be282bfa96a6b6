"""Training in the page: the digits of Python at every step, paused, led back and started over."""

import re

from attention_docs.examples.course_learned import REASONS
from attention_docs.examples.course_sentence import WORDS
from attention_docs.examples.course_training import RATE
from attention_docs.render.numbers import short_number
from tests.live.training import shown_after_training

PAGE, BUTTON, STATUS = "course/learned", ".training button", ".training [role=status]"
STEP_SLIDER, RATE_SLIDER = ".training input", ".try:not(.dare) [data-control=slider]"
# The reference, the index and the text of each number that training changes.
NUMBERS = """
    [...document.querySelectorAll('[data-val^="course_training."]')].flatMap(carrier =>
        carrier.matches("g")
            ? [...carrier.querySelectorAll("[data-at]")].map(cell =>
                [carrier.dataset.val, cell.dataset.at, cell.querySelector("text").textContent])
            : [[carrier.dataset.val, "", carrier.textContent]]
    ).filter(([reference]) => !reference.includes("rate"))
"""
MOVE = """
    ([selector, value]) => {
        const slider = document.querySelector(selector);
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
    }
"""


def move(visit, selector, value):
    visit.page.evaluate(MOVE, [selector, str(value)])


def train(visit, count):
    visit.page.locator(BUTTON).click()
    visit.page.wait_for_function(
        f"() => document.querySelector('{STEP_SLIDER}').value >= {count}", timeout=120_000
    )


def pause(visit):
    if visit.page.locator(BUTTON).inner_text() == "Pause":
        visit.page.locator(BUTTON).click()


def assert_digits(visit, steps):
    shown = visit.page.evaluate(NUMBERS)
    # The weights of "they" on each word in two heads, the probabilities of the reasons, and the loss.
    assert len(shown) == 2 * len(WORDS) + len(REASONS) + 1
    for reference, index, digits in shown:
        step = re.fullmatch(r"course_training\.(\w+)", reference)[1]
        indices = tuple(map(int, index.split(","))) if index else ()
        assert digits == short_number(steps[step][indices]), (reference, index)


def test_paused_training_shows_no_later_step_and_explains_its_loss(open_page):
    visit = open_page(PAGE)
    train(visit, 20)
    pause(visit)
    slider = visit.page.locator(STEP_SLIDER)
    reached = slider.input_value()
    assert visit.page.locator(STATUS).inner_text() == f"Paused at step {reached}."
    move(visit, STEP_SLIDER, 200)
    assert slider.input_value() == reached
    train(visit, int(reached) + 1)
    pause(visit)
    visit.page.locator('[data-val="course_training.loss"]').click()
    card = visit.page.locator(".live-card")
    assert "loss = the mean of −log p" in card.inner_text()
    assert card.locator("button", has_text="What matters").count() == 0


def test_training_shows_the_numbers_of_python(open_page):
    counts = [0, 1, 10, 100, 200]
    expected = shown_after_training(RATE[0], counts)
    visit = open_page(PAGE)
    train(visit, 200)
    assert visit.page.locator(STATUS).inner_text() == "Trained for 200 steps."
    for count in counts:
        move(visit, STEP_SLIDER, count)
        assert_digits(visit, expected[count])


def test_changing_the_rate_restarts_training(open_page):
    rate, count = "0.3", 40
    expected = shown_after_training(float(rate), [0, count])
    visit = open_page(PAGE)
    train(visit, 5)
    rates = visit.page.locator(RATE_SLIDER).get_attribute("data-stops").split()
    move(visit, RATE_SLIDER, rates.index(rate))
    visit.wait_until(f"document.querySelector('{STEP_SLIDER}').value === '0'")
    assert visit.page.locator(BUTTON).inner_text() == "Train"
    assert_digits(visit, expected[0])
    train(visit, count)
    pause(visit)
    move(visit, STEP_SLIDER, count)
    assert_digits(visit, expected[count])


def test_training_stops_when_leaving_the_page(open_page):
    visit = open_page(PAGE)
    train(visit, 5)
    for page in ("next_token", "learned"):
        visit.page.locator(f'.md-footer a[href$="/{page}/"]').click()
        visit.page.wait_for_function(f"() => location.pathname.endsWith('/{page}/')")
        visit.wait_until("window.attentionDocs.page === location.pathname")
    visit.page.wait_for_selector(BUTTON)
    assert visit.page.locator(STEP_SLIDER).input_value() == "0"
    train(visit, 1)
    pause(visit)
    move(visit, STEP_SLIDER, 1)
    assert_digits(visit, shown_after_training(RATE[0], [1])[1])
