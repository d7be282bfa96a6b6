"""Cards explain numbers, and edits of inputs update the page."""

import re

import numpy as np
import pytest

from attention_docs.figures import tiles
from attention_docs.figures.registry import FIGURES
from attention_docs.publish.before.figures import svg_for_each_width
from attention_docs.render.figures.scales import FILLS, MINUS, scale_of
from attention_docs.render.numbers import exact_number, html_number
from attention_docs.render.table import table
from tests.browser.live.editing import (
    BAR,
    FIELD,
    computed_step,
    edit,
    edited_x,
    press_bar_button,
    shown_step,
    start_editing,
    status_text,
    wait_for_fields,
)
from tests.browser.visit import FORMULA_HTML, HORIZONTAL_OVERFLOW
from tests.live.replay import replay

CARD = ".live-card"
WEIGHTS = 'table[data-val="self_attention.weights"] tbody td'
WEIGHT, LAST_WEIGHT = f"{WEIGHTS} >> nth=1", f"{WEIGHTS} >> nth=8"
WEIGHT_TITLE = "weight of “bird” on “boat”"
DIMMED = "p.live-dimmed"
AWAY_FROM_NUMBERS = (5, 400)  # in pixels from the window's corner
# A card opens 150 ms after the pointer comes to a number, and closes 300 ms after the pointer leaves.
LONGER_THAN_CARD_DELAYS = 600
# Pixels from a line: a click reaches lines that are up to 12 pixels away.
NEAR = 8
# Whether each cell is centred, and the padding in em that aligns its decimal point.
ALIGNMENT = """
    table => [...table.querySelectorAll("tbody td")].map(cell => [
        cell.classList.contains("centred"),
        parseFloat(getComputedStyle(cell).paddingRight) / parseFloat(getComputedStyle(cell).fontSize),
    ])
"""
FOCUS = "document.activeElement.localName"
# Opens the editor, and focuses its last field as soon as that exists.
FOCUS_LAST_FIELD = """
    () => new Promise(done => {
        const observer = new MutationObserver(() => {
            const field = [...document.querySelectorAll(".live-field")].at(-1);
            if (!field) return;
            observer.disconnect();
            field.focus();
            done();
        });
        observer.observe(document.body, { childList: true, subtree: true });
        document.querySelector(".live-try").click();
    })
"""
# Click the first and the last number of each table, figure, formula and text, and return their count and those
# that opened no card. test_fields.py checks that each cell of a table is taken for the right number.
OPEN_CARDS = """
    async () => {
        const findCard = () => document.querySelector(".live-card");
        const waitForCard = async () => {
            for (let tries = 0; tries < 200 && !findCard(); tries++)
                await new Promise(done => setTimeout(done, tries && 5));
            return findCard();
        };
        const spots = [...document.querySelectorAll("[data-val]")].flatMap(carrier => {
            if (!carrier.matches("table, g")) return [carrier];
            const numbers = [...carrier.querySelectorAll("tbody td:not(.centred), [data-at]")];
            return numbers.length > 1 ? [numbers[0], numbers.at(-1)] : numbers;
        });
        const withoutCard = [];
        for (const spot of spots) {
            findCard()?.remove();
            spot.dispatchEvent(new MouseEvent("click", { bubbles: true }));
            const card = await waitForCard();
            const value = card?.querySelector("output")?.textContent;
            // The card of a point or an arrow lists its coordinates instead.
            const hasCoordinates = card?.querySelector(".live-follow");
            if (!value && !hasCoordinates && !/shape/.test(card?.textContent)) withoutCard.push(spot.outerHTML);
        }
        return [spots.length, withoutCard];
    }
"""


def open_card(visit, spot=WEIGHT):
    visit.page.locator(spot).click()
    visit.page.wait_for_selector(f"{CARD} output")
    return visit.page.locator(CARD)


def load_cards(visit):
    """Open and close a card, which loads the script and the style sheet of cards."""
    open_card(visit)
    visit.page.keyboard.press("Escape")


def test_live_script_is_not_loaded_before_interaction(visit):
    visit.page.mouse.move(5, 5)
    visit.page.keyboard.press("ArrowDown")
    assert not [url for url in visit.requests if "live" in url]


def test_card_shows_value_formula_and_numbers_and_leads_to_literal_inputs(visit):
    card = open_card(visit)
    text = card.inner_text()
    assert WEIGHT_TITLE in text
    assert f"= {html_number(replay('self_attention', {}).steps['weights'][0, 1])}\n" in text
    assert "A = softmax(Z)" in text
    assert text.count("exp(") == 4, "one in the numerator and three in the denominator"
    highlighted = visit.page.locator('table[data-val="self_attention.scaled"] .live-part')
    assert highlighted.all_inner_texts() == computed_step("scaled")[:3]
    steps = ("Z", "S", "Q", "X")
    for step in steps:
        card.locator(".live-follow").first.click()
        assert card.inner_text().startswith(step)
    assert "chosen by hand, in attention_docs/examples/self_attention.py" in card.inner_text()
    for _ in steps:
        card.locator("button", has_text="Back").click()
    assert WEIGHT_TITLE in card.inner_text()
    assert not card.locator("button", has_text="Back").count()


def test_hovering_opens_a_card_and_scrolling_under_a_resting_pointer_does_not(visit):
    visit.page.locator(WEIGHT).hover()
    visit.page.wait_for_selector(CARD)
    visit.page.evaluate("scrollBy(0, -300)")
    visit.page.wait_for_selector(CARD, state="detached")
    visit.page.evaluate("scrollBy(0, 300)")
    visit.page.wait_for_timeout(LONGER_THAN_CARD_DELAYS)
    assert not visit.page.locator(CARD).count()
    visit.page.locator(WEIGHT).hover(position={"x": 3, "y": 3})  # moves the pointer a little
    visit.page.wait_for_selector(CARD)
    visit.page.mouse.move(*AWAY_FROM_NUMBERS)
    visit.page.wait_for_selector(CARD, state="detached")


@pytest.mark.parametrize("page", ["", "course/formula", "mechanisms/learning"])
def test_numbers_of_every_element_open_a_card(open_page, page):
    visit = open_page(page)
    count, without_card = visit.page.evaluate(OPEN_CARDS)
    assert count > 20
    assert without_card == []


def test_point_in_space_offers_its_coordinates(visit):
    point = visit.page.locator('[data-val="values_in_space.V[2,0:3]"]')
    point.dispatch_event("click")
    card = visit.page.locator(CARD)
    values = replay("values_in_space", {}).steps["V"][2]
    assert card.inner_text() == "V: " + ", ".join(map(html_number, values))
    card.locator(".live-follow").nth(1).click()
    assert "seaplane, afloat" in card.inner_text()


def test_drawn_number_shows_formula_but_no_edit_button(open_page):
    visit = open_page("mechanisms/score_variance")
    card = open_card(visit, '[data-val="score_variance.kurtosis_exact[1]"]')
    assert "kurtosis exact = 6 / d" in card.inner_text()
    assert "drawn at random" in card.inner_text()
    assert not card.locator("button", has_text="Try your own numbers").count()


def test_click_near_a_thin_line_opens_its_card(visit):
    load_cards(visit)
    line = visit.page.locator('g[data-val="self_attention.weights"] [data-at="0,0"] path')
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    visit.page.mouse.click(box["x"] + box["width"] / 2, box["y"] - NEAR)
    visit.page.wait_for_selector(f"{CARD}:has-text('weight of “bird” on “bird”')")


def test_card_does_not_cover_the_matrix(visit):
    for width in (320, 1280):
        visit.emulate(width=width)
        card = open_card(visit).bounding_box()
        matrix = visit.page.locator(WEIGHT).locator("xpath=ancestor::table").bounding_box()
        below = card["y"] >= matrix["y"] + matrix["height"]
        assert below or card["y"] + card["height"] <= matrix["y"]
        visit.page.keyboard.press("Escape")


def test_selecting_digits_does_not_open_a_card(visit):
    load_cards(visit)
    first = visit.page.locator(WEIGHTS).first.bounding_box()
    last = visit.page.locator(LAST_WEIGHT).bounding_box()
    visit.page.mouse.move(first["x"] + 2, first["y"] + first["height"] / 2)
    visit.page.mouse.down()
    visit.page.mouse.move(last["x"] + last["width"] - 2, last["y"] + last["height"] / 2, steps=5)
    visit.page.mouse.up()
    visit.page.mouse.move(*AWAY_FROM_NUMBERS)
    visit.page.wait_for_timeout(LONGER_THAN_CARD_DELAYS)
    assert computed_step("weights")[1] in visit.page.evaluate("getSelection().toString()")
    assert not visit.page.locator(CARD).count()


def test_clicked_card_stays_when_pointer_passes_other_numbers(visit):
    open_card(visit)
    visit.page.locator(LAST_WEIGHT).hover()
    visit.page.wait_for_timeout(LONGER_THAN_CARD_DELAYS)
    assert WEIGHT_TITLE in visit.page.locator(CARD).inner_text()


def test_figure_cells_are_recoloured_after_an_edit(visit):
    edit(visit, -3)
    visit.wait_for_rest()
    cells = visit.page.locator('svg g[data-val="self_attention.scores"] rect').evaluate_all(
        """boxes => boxes.map(box => [
            box.closest("[fill]").getAttribute("fill"), Number(box.getAttribute("fill-opacity"))
        ])"""
    )
    scores = replay("self_attention", {"X": edited_x(-3)}).steps["scores"]
    scale = scale_of("diverging", "scores", scores)
    for (fill, opacity), score in zip(cells, scores.flat, strict=True):
        assert fill == (MINUS if score < 0 else FILLS["scores"])
        assert opacity == pytest.approx(scale.paint(score)["fill_opacity"])
    assert {fill for fill, _ in cells} == {MINUS, FILLS["scores"]}


def test_signs_of_small_cells_and_ends_of_colour_scale_follow_an_edit(open_page):
    """The figures of this page have no room for numbers."""
    original = replay("batched_attention", {}).steps
    weights = np.array(original["W_Q"])
    weights[0, 0] = -5
    steps = replay("batched_attention", {"W_Q": weights}).steps
    assert ((original["Q"] >= 0) & (steps["Q"] < 0)).any(), "no number becomes negative"
    visit = open_page("mechanisms/one_similarity")
    visit.page.locator('.live-try[data-example="batched_attention"]').first.click()
    visit.page.wait_for_selector(BAR)
    visit.page.locator('table[data-val="batched_attention.W_Q"] input:visible >> nth=0').fill("-5")
    visit.wait_for_rest()
    cells = visit.page.locator('g[data-val="batched_attention.Q"] > [data-at]')
    signs = cells.evaluate_all(
        "cells => cells.map(cell => cell.querySelector('text')?.textContent ?? '')"
    )
    assert signs == ["−" if value < 0 else "" for value in steps["Q"].flat]
    scale = scale_of("diverging", "scaled", steps["scaled"])
    ticks = visit.page.locator('[data-scale="batched_attention.scaled"] text').all_text_contents()
    assert ticks == [exact_number(scale.low), "0" if scale.low else "", exact_number(scale.high)]


@pytest.mark.parametrize(
    ("example", "input_step", "number", "steps"),
    [
        ("self_attention", "X", 3.5, ("scores", "scaled", "weights", "output")),
        # exp(800) overflows, so the naive softmax gives nan.
        ("softmax_overflow", "small", 800.0, ("small_naive",)),
    ],
)
def test_edited_columns_align_as_in_python(open_page, example, input_step, number, steps):
    array = np.array(replay(example, {}).steps[input_step])
    array.flat[0] = number
    replayed = replay(example, {input_step: array}).steps
    visit = open_page(f"mechanisms/{example}")
    start_editing(visit)
    visit.page.locator(f'table[data-val="{example}.{input_step}"] input >> nth=0').fill(str(number))
    for step in steps:
        shown = visit.page.locator(f'table[data-val="{example}.{step}"]').first
        actual = shown.evaluate(ALIGNMENT)
        rendered = table(np.asarray(replayed[step]), f"{example}.{step}")
        shown.evaluate("(table, html) => { table.outerHTML = html; }", rendered)
        expected = shown.evaluate(ALIGNMENT)
        # Whether a cell is centred counts as 0 or 1.
        np.testing.assert_allclose(actual, expected, atol=1e-3, err_msg=step)


def test_editing_opens_collapsed_inputs(open_page):
    visit = open_page("mechanisms/two_heads")
    start_editing(visit)
    visit.page.wait_for_selector(".live-field:focus")
    assert visit.page.locator(":focus").is_visible()


def test_chart_points_move_as_python_draws_them(open_page, monkeypatch):
    # The caption's claims are about the page's own numbers, and it is dimmed after an edit.
    monkeypatch.setattr(tiles, "claim", lambda holds, words: None)
    query = np.array(replay("tiles", {}).steps["Q"])
    query[0, 0] += 0.1
    steps = replay("tiles", {"Q": query}).steps
    draw = FIGURES["softmax_in_one_pass"]
    expected = coordinates(svg_for_each_width(draw, lambda name: steps))
    visit = open_page("mechanisms/tiles")
    charts = visit.page.locator("figure:has(svg [data-axis])")  # for a wide text and for a phone
    before = coordinates(charts.inner_html())
    visit.page.locator('.live-try[data-example="tiles"]').click()
    visit.page.wait_for_selector(BAR)
    visit.page.locator('table[data-val="tiles.Q"] input >> nth=0').fill(str(query[0, 0]))
    visit.wait_for_rest()
    assert coordinates(charts.inner_html()) == expected
    assert expected != before
    press_bar_button(visit, "Done")
    assert coordinates(charts.inner_html()) == before


def coordinates(svg):
    """Return the coordinates of a chart's markers and of its lines' points."""
    return re.findall(r"translate\(([\d.]+ [\d.]+)\)|[ML]([\d.]+ [\d.]+)(?=[L\"])", svg)


def test_refused_number_shows_error_and_keeps_numbers(visit):
    edit(visit, 3)
    before = shown_step(visit, "output")
    visit.page.locator(FIELD).fill("1e308")
    error = "Python refuses this: “the scores of query and key hold inf at [0, 1]; expected"
    assert status_text(visit).startswith(error)
    assert shown_step(visit, "output") == before
    assert visit.page.locator(FIELD).input_value() == "1e308"


def test_invalid_field_shows_current_number_and_error_below_its_matrix_until_it_is_valid(visit):
    start_editing(visit)
    field = visit.page.locator(FIELD)
    field.fill("")
    field.press_sequentially("−1/3")
    # On the way to the whole text, −1 is a number.
    assert shown_step(visit, "Q") == computed_step("Q", X=edited_x(-1))
    error = "“−1/3” is not a number; expected one like 0.5 or −2e-3. The page shows −1."
    assert status_text(visit) == error
    description = visit.page.locator(f"#{field.get_attribute('aria-describedby')}")
    assert description.inner_text() == error
    assert field.get_attribute("aria-invalid") == "true"
    matrix = visit.page.locator('table[data-val="self_attention.X"]').first.bounding_box()
    assert 0 <= description.bounding_box()["y"] - (matrix["y"] + matrix["height"]) < 40
    field.fill("2")
    assert not description.count()
    assert not field.get_attribute("aria-describedby")
    field.fill("x")
    press_bar_button(visit, "Done")
    assert not visit.page.get_by_text("“x” is not a number").count()


def test_walkthrough_moves_by_key(visit):
    open_card(visit).locator("button", has_text="Step by step").click()
    walk = visit.page.locator(".live-walk")
    walk.wait_for()
    assert walk.inner_text().startswith("Step 10 of 11")
    assert WEIGHT_TITLE in walk.inner_text()
    visit.page.keyboard.press("ArrowRight")
    assert "weight of “bird” on “seaplane”" in walk.inner_text()
    visit.page.keyboard.press("PageUp")
    assert "Step 9 of 11" in walk.inner_text()
    visit.page.keyboard.press("Escape")
    walk.wait_for(state="detached")


def test_field_does_not_move_when_prose_is_dimmed(visit):
    visit.emulate(width=390)
    start_editing(visit)
    field = visit.page.locator(FIELD)
    field.focus()
    before = field.bounding_box()
    field.press("ArrowUp")
    visit.page.locator(DIMMED).first.wait_for()
    after = field.bounding_box()
    assert abs(after["x"] - before["x"]) <= 1
    assert abs(after["y"] - before["y"]) <= 1


def test_focus_moves_by_key_between_cells_card_walkthrough_fields_and_bar(visit):
    page = visit.page
    page.keyboard.press("Tab")
    page.wait_for_selector("table[role=grid]")
    stops = page.locator("table[data-val] tbody td[tabindex='0']")
    assert stops.count() == page.locator("table[role=grid]").count(), "each matrix is one tab stop"
    page.locator(WEIGHT).focus()
    for close_by in (["Escape"], ["Tab", "Enter"]):  # the card's first button closes it
        page.wait_for_selector(f"{CARD} output")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.matches('.live-card')")
        for key in close_by:
            page.keyboard.press(key)
        assert page.evaluate(FOCUS) == "td"
        assert not page.locator(CARD).count()
        page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(f"{CARD}:has-text('weight of “boat” on “boat”')")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"{CARD}:has-text('weight of “boat” on “seaplane”')")

    page.locator(f"{CARD} button", has_text="Step by step").press("Enter")
    page.wait_for_selector(".live-walk")
    page.keyboard.press(" ")
    page.keyboard.press("Escape")
    page.wait_for_selector(".live-walk", state="detached")
    assert page.evaluate("document.activeElement.textContent") == "Step by step"

    page.locator(f"{CARD} button", has_text="Try your own numbers").press("Enter")
    page.wait_for_selector(".live-field:focus")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Undo"
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUS) == "input"
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUS) == "input", "a cell and its field share a tab stop"
    page.locator(f"{BAR} button", has_text="Done").press("Enter")
    assert page.evaluate("document.activeElement.matches('.live-try')")


# What opens a card, what is clicked in the card (`.live-follow` is a link to another number), and the beginning of
# the text that has the focus after the card is closed.
@pytest.mark.parametrize(
    ("spot", "card_element", "focused_text"),
    [
        (WEIGHT, ".live-follow", "2.8284"),
        ('svg g[data-val="self_attention.scores"] [data-at="2,2"]', "output", "8 (21 of 22)"),
        ('[data-val="values_in_space.V[2,0:3]"]', ".live-follow", "seaplane: "),
    ],
)
def test_focus_returns_from_clicked_card_to_its_number(visit, spot, card_element, focused_text):
    page = visit.page
    for closes_by_key in (True, False):
        page.locator(spot).first.dispatch_event("click")
        page.locator(f"{CARD} {card_element}").first.click()
        assert page.evaluate("document.activeElement.matches('.live-card')")
        if closes_by_key:
            page.keyboard.press("Escape")
        else:
            page.locator(f"{CARD} .live-close").click()
        assert page.evaluate("document.activeElement.textContent").startswith(focused_text)
        page.wait_for_timeout(400)  # the focus must not open the card again
        assert not page.locator(CARD).count()


def test_numbers_of_a_table_share_one_tab_stop(open_page):
    visit = open_page("course/formula")
    visit.page.keyboard.press("Tab")
    stop = visit.page.locator(".md-typeset__scrollwrap > .live-stop").last
    stop.focus()
    assert stop.inner_text() == "6 (1 of 15)"
    stop.press("ArrowRight")
    assert stop.inner_text() == "3.46 (2 of 15)"
    assert "= 3.4641" in visit.page.locator(CARD).inner_text()


def test_field_chosen_while_the_editor_opens_keeps_the_focus(visit):
    visit.page.evaluate(FOCUS_LAST_FIELD)
    wait_for_fields(visit)
    visit.wait_for_rest()
    assert visit.page.evaluate(
        "document.activeElement === [...document.querySelectorAll('.live-field')].at(-1)"
    )


def test_failed_request_is_reported_and_the_next_click_retries(visit):
    visit.page.route("**/assets/live/*.js", lambda route: route.abort())
    visit.page.locator(WEIGHT).click()
    visit.page.wait_for_selector(f"{CARD}:has-text('Are you online?')")
    visit.page.unroute("**/assets/live/*.js")
    visit.page.mouse.click(*AWAY_FROM_NUMBERS)  # closes the card
    assert WEIGHT_TITLE in open_card(visit).inner_text()
    visit.errors.clear()  # the requests that this test aborted


def test_print_shows_the_note_on_edited_numbers(visit):
    edit(visit, 3)
    visit.page.locator(DIMMED).first.wait_for()
    visit.emulate_print()
    assert "Dimmed text is about its own." in visit.page.locator(f"{BAR} p").inner_text()
    assert not visit.page.locator(f"{BAR} button:visible").count()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [("dark", 320), pytest.param("light", 1280, marks=pytest.mark.weekly)],
)
def test_wcag_2_2_with_card_walkthrough_influences_and_fields(visit, axe, scheme, width):
    visit.emulate(scheme, width)
    visit.page.evaluate(axe)

    def assert_accessible(**context):
        visit.finish_transitions()
        assert visit.page.evaluate(HORIZONTAL_OVERFLOW) <= 0
        assert visit.wcag_violations(exclude=FORMULA_HTML, **context) == []

    visit.page.keyboard.press("Tab")
    visit.page.wait_for_selector("table[role=grid]")
    card = open_card(visit)
    assert_accessible(include=[CARD, "table[role=grid]"])
    card.locator("button", has_text="Step by step").click()
    visit.page.wait_for_selector(".live-walk")
    assert_accessible(include=".live-walk")
    visit.page.keyboard.press("Escape")
    card.locator("button", has_text="What matters").click()
    visit.page.locator(".live-matters summary").click()
    assert_accessible()
    edit(visit, 3)
    visit.page.locator(DIMMED).first.wait_for()
    assert_accessible()
