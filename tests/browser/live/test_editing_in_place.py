"""Editing on course pages opens labelled fields near the reader, with field and figure visible."""

import pytest

from tests.browser.live.editing import PAGES_WITH_DARES, PANEL_FIGURE, press_bar_button
from tests.browser.visit import IN_SIGHT, each_window

# Unfold a button for editing, and scroll to it.
SHOW = """
    button => {
        for (let e = button; e; e = e.parentElement) if (e.matches("details")) e.open = true;
        button.scrollIntoView({block: "center", behavior: "instant"});
    }
"""
# The second row of an input's matrix that does not begin with a heading, such as a word.
ROW_WITHOUT_HEADING = ".live-inputs tr:nth-child(2) > :first-child:not(th)"
# In pixels; the field next to a button may lie under the bar that appears.
MAX_JUMP = 300


@each_window
@pytest.mark.of_each_kind
@pytest.mark.parametrize("page", PAGES_WITH_DARES)
def test_fields_open_near_the_button_with_the_figure_visible(open_page, page, window):
    visit = open_page(page, **window)
    for button in visit.page.locator(".live-try").all():
        button.evaluate(SHOW)
        top = button.bounding_box()["y"]
        button.click()
        field = visit.page.locator(".live-field:focus")
        field.wait_for()
        visit.wait_for_rest()
        assert abs(button.bounding_box()["y"] - top) <= MAX_JUMP
        assert visit.page.locator(PANEL_FIGURE).first.evaluate(IN_SIGHT)
        assert field.evaluate(IN_SIGHT)
        assert visit.page.locator(ROW_WITHOUT_HEADING).count() == 0
        field.fill("3")
        visit.wait_for_rest()
        assert field.evaluate(IN_SIGHT)
        assert abs(button.bounding_box()["y"] - top) <= MAX_JUMP
        press_bar_button(visit, "Done")
