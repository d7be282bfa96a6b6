"""The colours and the box of “What matters” show the derivatives of a number."""

import re

import numpy as np

from attention_docs.backward import attention_backward
from attention_docs.render.numbers import number
from tests.browser.live.editing import edited_x, press_bar_button
from tests.live.replay import replay

OUTPUT = 'table[data-val="self_attention.output"] tbody td >> nth=1'
BOX, STATUS = ".live-matters", ".live-matters [role=status]"
# Everything that “What matters” adds to a page.
INFLUENCE_MARKS = "[data-influence], .live-sign, .live-chosen, .live-matters, [title*='Raise it']"
# The sign and the description of each cell of a matrix.
INFLUENCES = """
    name => [...document.querySelector(`table[data-val="${name}"]`).querySelectorAll("tbody td")].map(cell => [
        cell.dataset.influence, (cell.querySelector("input") ?? cell).title
    ])
"""


def show_influences(visit, spot=OUTPUT):
    visit.page.locator(spot).click()
    visit.page.locator(".live-card button", has_text="What matters").click()
    visit.page.wait_for_selector(f"{STATUS}:not(:empty)")
    return visit.page.locator(BOX)


def wait_for_influences(visit, step, expected):
    condition = f"([name, expected]) => String(({INFLUENCES})(name)) === String(expected)"
    visit.page.wait_for_function(condition, arg=[f"self_attention.{step}", expected])


def computed_influences(**edits):
    """Return the influences on the output of query 1, feature 2, from a backward pass."""
    steps = replay("self_attention", edits).steps
    output_gradient = np.zeros_like(steps["output"])
    output_gradient[0, 1] = 1
    gradients = attention_backward(output_gradient, steps["Q"], steps["K"], steps["V"])
    by_weight = {"W_Q": gradients.query, "W_K": gradients.key, "W_V": gradients.value}
    derivatives = {name: steps["X"].T @ gradient for name, gradient in by_weight.items()}
    derivatives["X"] = sum(gradient @ steps[name].T for name, gradient in by_weight.items())
    return {name: list(map(influence, array.flat)) for name, array in derivatives.items()}


def influence(derivative):
    """Return the sign and the description of a derivative."""
    size = f"{number(abs(derivative))} times as much"
    if derivative > 0:
        sign, effect = "▲", f"rises {size}"
    elif derivative < 0:
        sign, effect = "▼", f"falls {size}"
    else:
        sign, effect = "○", "stays as it is"
    return [sign, f"Raise it a little, and the chosen number {effect}."]


def test_inputs_get_sign_and_description_which_follow_an_edit(visit):
    box = show_influences(visit)
    expected = computed_influences()
    for step, influences in expected.items():
        shown = visit.page.evaluate(INFLUENCES, f"self_attention.{step}")
        assert shown == influences, step
    assert "What matters for output" in box.inner_text()
    first_in_box = box.locator("td:nth-child(2)").first.inner_text()
    sizes = [float(size) for size in re.findall(r"([\d.]+) times", str(expected))]
    assert f" {number(max(sizes))} times as much" in first_in_box
    visit.page.locator(".live-try").first.click()
    visit.page.locator('table[data-val="self_attention.X"] input').first.fill("3")
    for step, influences in computed_influences(X=edited_x(3)).items():
        wait_for_influences(visit, step, influences)
    press_bar_button(visit, "Done")
    wait_for_influences(visit, "X", expected["X"])


def test_box_lists_derivatives_and_irrelevant_inputs(visit):
    box = show_influences(visit, 'table[data-val="self_attention.weights"] tbody td >> nth=1')
    assert box.locator("[role=status]").inner_text() == (
        "16 of the 36 input numbers change this number. None of WV matters."
    )
    assert "The derivative with respect to the other 20 is 0." in box.inner_text()
    box.locator("summary").click()
    assert box.locator(".matrix td").count() == 36
    box.locator(".live-follow").first.click()
    assert visit.page.locator('table[data-val="self_attention.X"]').first.is_visible()


def test_box_opens_by_keyboard_and_returns_focus(visit):
    page = visit.page
    page.keyboard.press("Tab")
    page.wait_for_selector("table[role=grid]")
    page.locator('table[data-val="self_attention.output"] tbody td').first.focus()
    page.wait_for_selector(".live-card output")
    page.keyboard.press("Enter")
    page.locator(".live-card button", has_text="What matters").press("Enter")
    page.wait_for_selector(f"{STATUS}:not(:empty)")
    assert page.evaluate("document.activeElement.matches('.live-matters')")
    page.keyboard.press("Escape")
    assert not page.locator(INFLUENCE_MARKS).count()
    assert page.evaluate("document.activeElement.localName") == "td"


def test_print_hides_and_navigation_removes_box_and_colours(visit):
    show_influences(visit)
    visit.emulate_print()
    assert not visit.page.locator(BOX).is_visible()
    cell = visit.page.locator('table[data-val="self_attention.W_V"] tbody td').first
    assert cell.evaluate("e => getComputedStyle(e).backgroundColor") == "rgba(0, 0, 0, 0)"
    assert cell.evaluate("e => getComputedStyle(e, '::after').content") == "none"
    visit.emulate()
    visit.page.locator(".md-footer__link--next").click()
    visit.page.wait_for_selector(BOX, state="detached")
    assert not visit.page.locator(INFLUENCE_MARKS).count()


def test_figure_cells_get_colour_and_sign_until_the_box_is_closed(open_page):
    visit = open_page("course/averages")
    show_influences(visit, '[data-val="course_averages.weights[0,2]"] >> nth=0')
    cells = visit.page.locator('g[data-val="course_averages.X"] > g').all()
    signs = visit.page.locator('g[data-val="course_averages.X"] > .live-sign').all_text_contents()
    assert signs == [cell.get_attribute("data-influence") for cell in cells]
    assert set(signs) == {"▲", "▼", "○"}
    visit.page.keyboard.press("Escape")
    assert not visit.page.locator(INFLUENCE_MARKS).count()
    visit.page.locator('[data-val="course_averages.weights[0,2]"] >> nth=0').click()
    visit.wait_for_rest()
    assert visit.page.locator(".live-card").count() == 1, "the first click after closing is lost"


def test_argmax_has_no_derivative(open_page):
    visit = open_page("mechanisms/word_alignment")
    box = show_influences(visit, '[data-val="word_order.aligned[0]"]')
    text = box.locator("[role=status]").inner_text()
    assert text == "It can only jump, so it has no derivative."
