"""What matters for a number: the inputs on the page say how it follows them."""

import re

import numpy as np
import pytest

from attention_docs.backward import attention_backward
from attention_docs.render.numbers import number
from tests.live.replay import replay

CHAPTER = "mechanisms/self_attention"
OUTPUT = 'table[data-val="self_attention.output"] td >> nth=1'
PANEL, STATUS = ".live-matters", ".live-matters [role=status]"
COLOURED = "[data-influence], .live-sign, .live-chosen, .live-matters, [title*='Raise it']"
# The sign beside each number of a matrix, and what is said of it.
SAID = """
    name => [...document.querySelectorAll(`table[data-val="${name}"] td`)].map(cell => [
        cell.dataset.influence, (cell.querySelector("input") ?? cell).title
    ])
"""


@pytest.fixture
def visit(come_to):
    visit = come_to(CHAPTER)
    yield visit
    assert visit.complaints == []


def weigh(visit, spot=OUTPUT):
    visit.page.locator(spot).click()
    visit.page.locator(".live-card button", has_text="What matters").click()
    visit.page.wait_for_selector(f"{STATUS}:not(:empty)")
    return visit.page.locator(PANEL)


def said(visit, step):
    return visit.page.evaluate(SAID, f"self_attention.{step}")


def wait_until_said(visit, step, texts):
    condition = f"([name, texts]) => String(({SAID})(name)) === String(texts)"
    visit.page.wait_for_function(condition, arg=[f"self_attention.{step}", texts])


def expected(**edits):
    """What is to be said of each input, by the backward pass of the output of query 1, feature 2."""
    found = replay("self_attention", edits).steps
    chosen = np.zeros_like(found["output"])
    chosen[0, 1] = 1
    back = attention_backward(chosen, found["Q"], found["K"], found["V"])
    by = {"W_Q": back.query, "W_K": back.key, "W_V": back.value}
    derivatives = {name: found["X"].T @ gradient for name, gradient in by.items()}
    derivatives["X"] = sum(gradient @ found[name].T for name, gradient in by.items())
    return {name: [words(value) for value in each.flat] for name, each in derivatives.items()}


def words(derivative):
    sign = "○" if derivative == 0 else "▲" if derivative > 0 else "▼"
    change = f"{'rises' if derivative > 0 else 'falls'} {number(abs(derivative))} times as much"
    effect = change if derivative else "stays as it is"
    return [sign, f"Raise it a little, and the chosen number {effect}."]


def test_inputs_carry_sign_and_value_in_words(visit):
    panel = weigh(visit)
    for step, texts in expected().items():
        assert said(visit, step) == texts, step
    assert "What matters for output" in panel.inner_text()
    largest, *_ = panel.locator("td:nth-child(2)").all_inner_texts()
    sizes = [float(size) for size in re.findall(r"([\d.]+) times", str(expected()))]
    assert f" {number(max(sizes))} times as much" in largest


def test_panel_lists_every_derivative_and_names_what_does_not_matter(visit):
    panel = weigh(visit, 'table[data-val="self_attention.weights"] td >> nth=1')
    assert panel.locator("[role=status]").inner_text() == (
        "16 of the 36 input numbers matter. None of WV does."
    )
    assert "The derivative with respect to the other 20 is 0." in panel.inner_text()
    panel.locator("summary").click()
    assert panel.locator(".matrix td").count() == 36
    panel.locator(".live-follow").first.click()
    assert visit.page.locator('table[data-val="self_attention.X"]').first.is_visible()


def test_colours_follow_an_edit_and_go_back(visit):
    weigh(visit)
    before = said(visit, "X")
    visit.page.locator(".live-try").first.click()
    visit.page.locator('table[data-val="self_attention.X"] input').first.fill("3")
    x = np.array([[3.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]])
    for step, texts in expected(X=x).items():
        wait_until_said(visit, step, texts)
    visit.page.locator(".live-bar button", has_text="Done").click()
    wait_until_said(visit, "X", before)


def test_keyboard_opens_the_panel_and_comes_back(visit):
    page = visit.page
    page.keyboard.press("Tab")
    page.wait_for_selector("table[role=grid]")
    page.locator('table[data-val="self_attention.output"] td').first.focus()
    page.wait_for_selector(".live-card output")
    page.keyboard.press("Enter")
    page.locator(".live-card button", has_text="What matters").press("Enter")
    page.wait_for_selector(f"{STATUS}:not(:empty)")
    assert page.evaluate("document.activeElement.matches('.live-matters')")
    page.keyboard.press("Escape")
    assert not page.locator(COLOURED).count()
    assert page.evaluate("document.activeElement.localName") == "td"


def test_next_page_is_not_coloured(visit):
    weigh(visit)
    visit.page.locator(".md-footer__link--next").click()
    visit.page.wait_for_selector(PANEL, state="detached")
    assert not visit.page.locator(COLOURED).count()


def test_cells_of_a_figure_take_colour_and_sign(come_to):
    visit = come_to("course/averages")
    weigh(visit, '[data-val="course_averages.weights[1,2]"]')
    cells = visit.page.locator('g[data-val="course_averages.X"] > g').all()
    signs = visit.page.locator('g[data-val="course_averages.X"] > .live-sign').all_text_contents()
    assert signs == [cell.get_attribute("data-influence") for cell in cells]
    assert set(signs) == {"▲", "▼", "○"}
    visit.page.keyboard.press("Escape")
    assert not visit.page.locator(COLOURED).count()


def test_position_of_a_maximum_has_no_derivative(come_to):
    visit = come_to("mechanisms/word_order")
    panel = weigh(visit, '[data-val="word_order.aligned[0]"]')
    said = panel.locator("[role=status]").inner_text()
    assert said == "It can only jump, so it has no derivative."


def test_paper_shows_neither_panel_nor_colours(visit):
    weigh(visit)
    visit.page.emulate_media(media="print")
    assert not visit.page.locator(PANEL).is_visible()
    cell = visit.page.locator('table[data-val="self_attention.W_V"] td').first
    assert cell.evaluate("e => getComputedStyle(e).backgroundColor") == "rgba(0, 0, 0, 0)"
    assert cell.evaluate("e => getComputedStyle(e, '::after').content") == "none"
