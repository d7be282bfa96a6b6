"""Players show one state of a figure at a time, each with the numbers that Python computes."""

import functools
import re

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.render.numbers import drawn_number, html_number, number, short_number
from tests.browser.live.editing import press_bar_button
from tests.browser.visit import url_path
from tests.live.replay import replay

PLAYER, SLIDER, NAME = ".player", ".player input", ".player output"
# The number of states of each player, and an input of its example.
PLAYERS = (
    ("mechanisms/encoder_decoder", 5, "encoder_decoder", "X"),
    ("mechanisms/heads_in_code", 5, "head_splitting", "X"),
    ("mechanisms/kv_cache", 4, "kv_cache", "W_K"),
    ("mechanisms/tiles", 4, "tiles", "K"),
)
# The page of the tests that would show the same on each.
PAGE = "mechanisms/heads_in_code"
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


def assert_shows_state(visit, state, count):
    """Assert that a player shows and names one of its states, which are counted from 0."""
    assert visit.page.evaluate(VISIBLE) == [i == state for i in range(count)]
    name = visit.page.locator(NAME).inner_text()
    assert name.startswith(f"{state + 1} of {count}: ")
    assert visit.page.locator(SLIDER).get_attribute("aria-valuetext") == name


def assert_numbers_equal_python(shown, example, **edits):
    """Assert that a player shows the numbers that Python computes after edits of inputs."""
    assert shown
    steps_of = functools.cache(lambda name: replay(name, edits if name == example else {}).steps)
    for reference, index, text in shown:
        owner, step = reference.partition("[")[0].split(".")
        value = np.asarray(steps_of(owner)[step])[tuple(map(int, index.split(",")))]
        # Figures write a true minus, also in an exponent.
        expected = {number(value), re.sub("<.*?>", "", html_number(value)).replace("−", "-")}
        # A figure may show two decimals, and writes an exponent in superscript digits.
        expected |= {short_number(value), drawn_number(value).replace("−", "-")}
        # A browser's sine may differ from NumPy's in the last bit, and then one result is whole.
        expected |= {text.removesuffix(".0000") for text in expected}
        assert text.replace("−", "-").removesuffix(".0000") in expected, (reference, index)


@pytest.mark.of_each_kind
@pytest.mark.parametrize(("page", "count", "example", "step"), PLAYERS)
def test_player_steps_through_all_states_which_equal_python_after_an_edit(
    open_page, page, count, example, step
):
    visit = open_page(page)
    wait_until_ready(visit)
    back, forward, _ = visit.page.locator(f"{PLAYER} button").all()
    for state in range(count):
        assert_shows_state(visit, state, count)
        is_last = state == count - 1
        assert (forward.get_attribute("aria-disabled") == "true") == is_last
        forward.dispatch_event("click")
    assert_shows_state(visit, count - 1, count)  # nothing follows the last state
    back.click()
    assert_shows_state(visit, count - 2, count)
    visit.page.locator(SLIDER).focus()
    visit.page.keyboard.press("ArrowRight")
    assert_shows_state(visit, count - 1, count)
    visit.page.keyboard.press("Home")
    assert_shows_state(visit, 0, count)
    visit.page.evaluate(f"location.hash = 'try={example}&{example}.{step}[1,0]=3'")
    visit.wait_until("document.querySelector('.player .live-changed') !== null")
    visit.wait_for_rest()
    array = np.array(examples.steps(example)[step])
    array[1, 0] = 3
    assert_numbers_equal_python(visit.page.evaluate(NUMBERS), example, **{step: array})
    visit.emulate_print()
    assert all(visit.page.evaluate(VISIBLE))
    assert not visit.page.locator(SLIDER).is_visible()


def test_all_player_states_are_visible_without_scripts(phone, address):
    phone.load(address + url_path(PAGE))
    assert all(phone.page.evaluate(VISIBLE))
    assert not phone.page.locator(SLIDER).is_visible()


def count_animations_of_a_step(visit):
    wait_until_ready(visit)
    assert visit.page.evaluate(ANIMATIONS) == 0
    visit.page.get_by_label("Next state").dispatch_event("click")
    return visit.page.evaluate(ANIMATIONS)


def test_player_animates_unless_motion_is_reduced(open_page, desktop, address):
    assert count_animations_of_a_step(open_page(PAGE)) > 0
    desktop.load(address + url_path(PAGE))
    # Other tests leave the print emulation on.
    desktop.emulate()
    assert count_animations_of_a_step(desktop) == 0


def test_words_that_numbers_chose_are_hidden_after_an_edit(open_page):
    visit = open_page("mechanisms/encoder_decoder/index.html#try=&encoder_decoder.X[1,4]=-1")
    word = visit.page.locator(".player .shown .chosen")
    word.wait_for(state="hidden")
    press_bar_button(visit, "Done")
    word.wait_for()


def test_states_have_their_common_scale_after_an_edit(open_page):
    visit = open_page("mechanisms/tiles")
    opacities = """() => [...document.querySelectorAll(".player rect")].map(e => e.getAttribute("fill-opacity"))"""
    before = visit.page.evaluate(opacities)
    visit.page.locator(".live-try").first.click()
    visit.page.locator(".live-field").first.fill("9")
    visit.wait_for_rest()
    assert visit.page.evaluate(opacities) != before
    press_bar_button(visit, "Done")
    assert visit.page.evaluate(opacities) == before


def test_play_button_shows_all_states_until_the_last_or_a_step(open_page):
    visit = open_page(PAGE)
    wait_until_ready(visit)
    # Each call of `tick` is the end of a pause.
    visit.page.evaluate("setInterval = callback => { globalThis.tick = callback; return 1; }")
    play = visit.page.get_by_role("button", name="Play")
    play.click()
    for state in (1, 2):
        visit.page.evaluate("tick()")
        assert_shows_state(visit, state, 5)
    visit.page.get_by_label("Previous state").click()
    assert_shows_state(visit, 1, 5)
    play.click()
    for state in (2, 3, 4):
        visit.page.evaluate("tick()")
        assert_shows_state(visit, state, 5)
    play.click()
    assert_shows_state(visit, 0, 5)
