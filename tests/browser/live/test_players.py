"""Players show one state of a figure at a time, each with the numbers that Python computes."""

import numpy as np
import pytest

from attention_docs import examples
from tests.browser.live.test_controls import assert_numbers_equal_python
from tests.browser.visit import HORIZONTAL_OVERFLOW, url_path

PLAYER, SLIDER, NAME = ".player", ".player input", ".player output"
STATE_COUNTS = {
    "mechanisms/encoder_decoder": 5,
    "mechanisms/heads_in_code": 5,
    "mechanisms/kv_cache": 4,
    "mechanisms/tiles": 4,
}
each_page = pytest.mark.parametrize("page", STATE_COUNTS)
# Whether each state is visible.
VISIBLE = """
    [...document.querySelectorAll(".player svg")].map(drawing => drawing.checkVisibility({visibilityProperty: true}))
"""
ANIMATIONS = """
    document.getAnimations().filter(({effect}) => effect.target.closest(".player")).length
"""
# The reference, the index and the text of each number; small cells have it in a tooltip.
NUMBERS = """
    [...document.querySelectorAll(".player [data-val] > [data-at]")].flatMap(cell => {
        const digits = (cell.querySelector("title, text")?.textContent ?? "").split(": ").at(-1);
        return digits ? [[cell.parentElement.dataset.val, cell.dataset.at, digits]] : [];
    })
"""


def wait_until_ready(visit):
    visit.wait_until("document.querySelector('.player').dataset.ready === ''")


@pytest.mark.parametrize(("page", "count"), STATE_COUNTS.items())
def test_player_steps_through_all_states(open_page, page, count):
    visit = open_page(page)
    wait_until_ready(visit)
    back, forward = visit.page.locator(f"{PLAYER} button").all()
    names = []
    for state in range(count):
        assert visit.page.evaluate(VISIBLE) == [i == state for i in range(count)]
        names.append(visit.page.locator(NAME).inner_text())
        assert visit.page.locator(SLIDER).get_attribute("aria-valuetext") == names[-1]
        assert names[-1].startswith(f"{state + 1} of {count}: ")
        assert (forward.get_attribute("aria-disabled") == "true") == (state == count - 1)
        forward.dispatch_event("click")
    assert len(set(names)) == count
    assert visit.page.locator(NAME).inner_text() == names[-1], "nothing follows the last state"
    back.click()
    assert visit.page.locator(NAME).inner_text() == names[-2]
    assert visit.errors == []


@each_page
def test_keys_move_the_slider_of_a_player(open_page, page):
    visit = open_page(page)
    wait_until_ready(visit)
    first, second, *others = visit.page.evaluate(VISIBLE)
    visit.page.locator(SLIDER).focus()
    visit.page.keyboard.press("ArrowRight")
    assert visit.page.evaluate(VISIBLE) == [second, first, *others]
    visit.page.keyboard.press("Home")
    assert visit.page.evaluate(VISIBLE) == [first, second, *others]


@pytest.mark.parametrize(
    ("page", "example", "step"),
    [
        ("mechanisms/encoder_decoder", "encoder_decoder", "X"),
        ("mechanisms/heads_in_code", "head_splitting", "X"),
        ("mechanisms/kv_cache", "kv_cache", "W_K"),
        ("mechanisms/tiles", "tiles", "K"),
    ],
)
def test_all_player_states_equal_python_after_an_edit(open_page, page, example, step):
    array = np.array(examples.steps(example)[step])
    array[1, 0] = 3
    visit = open_page(page)
    visit.page.evaluate(f"location.hash = 'try={example}&{example}.{step}[1,0]=3'")
    visit.wait_until("document.querySelector('.player .live-changed') !== null")
    # Figures outside the window follow after a pause.
    visit.page.wait_for_timeout(300)
    assert_numbers_equal_python(visit.page.evaluate(NUMBERS), {(example, step): array})


@each_page
def test_all_player_states_are_visible_without_scripts_and_in_print(
    phone, open_page, address, page
):
    phone.load(address + url_path(page))
    assert all(drawing.is_visible() for drawing in phone.page.locator(f"{PLAYER} svg").all())
    assert not phone.page.locator(SLIDER).is_visible()
    visit = open_page(page)
    visit.page.emulate_media(media="print")
    assert all(visit.page.evaluate(VISIBLE))
    assert not visit.page.locator(SLIDER).is_visible()


def count_animations_of_a_step(visit):
    wait_until_ready(visit)
    assert visit.page.evaluate(ANIMATIONS) == 0
    visit.page.locator(f"{PLAYER} button").last.click()
    return visit.page.evaluate(ANIMATIONS)


def test_player_animates_unless_motion_is_reduced(open_page, desktop, address):
    assert count_animations_of_a_step(open_page("mechanisms/heads_in_code")) > 0
    desktop.load(address + url_path("mechanisms/heads_in_code"))
    # Other tests leave the print emulation on.
    desktop.emulate()
    assert count_animations_of_a_step(desktop) == 0


@each_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_players_meet_wcag_2_2_and_fit_a_phone(open_page, axe, page, scheme):
    visit = open_page(page, scheme=scheme, width=320, height=800)
    visit.page.evaluate(axe)
    assert visit.wcag_violations(include=PLAYER) == []
    assert visit.page.evaluate(HORIZONTAL_OVERFLOW) <= 0
