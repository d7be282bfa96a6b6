"""Dares: met by their answers, with slider and figure visible."""

import pytest

from tests.browser.live.editing import PAGES_WITH_DARES, PANEL_FIGURE, press_bar_button
from tests.browser.visit import IN_SIGHT, each_window

# Move the sliders of a dare as its answer says, one after the other.
SOLVE = """
    dare => {
        const answer = dare.querySelector("details:last-of-type p").textContent.split("; ");
        dare.querySelectorAll("[data-control]").forEach((slider, i) => {
            const number = Number(answer[i].split(": ").at(-1).replace("−", "-"));
            slider.value = slider.dataset.stops.split(" ").findIndex(stop => Number(stop) === number);
            slider.dispatchEvent(new Event("input", {bubbles: true}));
        });
    }
"""


def status(dare):
    return dare.locator("[role=status]").text_content()


def solve(visit, dare):
    dare.evaluate(SOLVE)
    met = "dare => dare.classList.contains('met')"
    visit.page.wait_for_function(met, arg=dare.element_handle())


def shown_numbers(visit):
    return visit.page.locator("article [data-val]:not(g, table)").all_text_contents()


@each_window
@pytest.mark.of_each_kind
@pytest.mark.parametrize("page", PAGES_WITH_DARES)
def test_answer_meets_its_dare_with_slider_and_figure_visible(open_page, page, window):
    visit = open_page(page, **window)
    before = shown_numbers(visit)
    # Each dare starts from where the last one ended, because its slider resets the other inputs.
    for dare in visit.page.locator(".dare").all():
        slider = dare.locator("[data-control]").first
        slider.evaluate("e => e.scrollIntoView({block: 'center', behavior: 'instant'})")
        top = slider.bounding_box()["y"]
        assert status(dare) == ""
        solve(visit, dare)
        visit.wait_for_rest()
        assert status(dare) == "Done!"
        assert abs(slider.bounding_box()["y"] - top) <= 1
        assert slider.evaluate(IN_SIGHT)
        assert visit.page.locator(PANEL_FIGURE).first.evaluate(IN_SIGHT)
        assert visit.page.locator(".dare.met").count() == 1
    assert shown_numbers(visit) != before
    dare.locator("button", has_text="Start again").click()
    visit.page.wait_for_function("!document.querySelector('.dare.met')")
    visit.wait_for_rest()
    assert status(dare) == ""
    assert shown_numbers(visit) == before


def test_moving_another_dare_is_one_undo_step_and_keeps_typed_numbers(open_page):
    visit = open_page("course/mask")
    first, second = (dare.locator("input").first for dare in visit.page.locator(".dare").all())
    number = "slider => slider.getAttribute('aria-valuetext')"
    first.press("ArrowRight")
    visit.page.wait_for_selector(".live-changed")
    moved = first.evaluate(number)
    second.press("ArrowRight")
    visit.wait_for_rest()
    assert first.evaluate(number) == "0"
    press_bar_button(visit, "Undo")
    assert first.evaluate(number) == moved
    visit.page.locator(".live-try").first.click()
    field = visit.page.locator('[aria-label="W_Q_1 water thing"] >> visible=true').first
    field.fill("0.7")
    visit.wait_for_rest()
    second.press("ArrowRight")
    visit.wait_for_rest()
    assert field.input_value() == "0.7"
