"""Pages that answer: each number says where it comes from, and follows when an input is changed."""

import re

import numpy as np
import pytest

from attention_docs.publish.before.figures import todays_models
from attention_docs.publish.before.figures.registry import FIGURES
from attention_docs.render.figures.scales import MINUS, PLUS, scale_of
from attention_docs.render.numbers import html_number
from attention_docs.render.table import table
from tests.browser.test_every_page import AXE, RULES, WHOLE
from tests.browser.visit import WIDER_THAN_PAGE
from tests.live.replay import replay

CHAPTER = "mechanisms/self_attention"
CARD, BAR, STATUS = ".live-card", ".live-bar", ".live-status"
WEIGHT = 'table[data-val="self_attention.weights"] td >> nth=1'
FIELD = 'table[data-val="self_attention.X"] input >> nth=0'
TABLE = """
    name => [...document.querySelector(`table[data-val="${name}"]`).querySelectorAll("td")].map(
        cell => cell.innerHTML
    )
"""
# The room after each number, which aligns the points of a column, and whether it stands in the middle.
ROOM = """
    table => [...table.querySelectorAll("td")].map(cell => [
        cell.classList.contains("centred"),
        parseFloat(getComputedStyle(cell).paddingRight) / parseFloat(getComputedStyle(cell).fontSize),
    ])
"""
FOCUS = "document.activeElement.localName"
# Figures out of sight are drawn when the reader has stopped typing for 0.1 s; no later timer is earlier.
REST_DRAWN = "new Promise(done => setTimeout(done, 200))"
# Asks every number of a page, and tells which did not answer with a card of its own.
ASK_ALL = """
    async () => {
        const unanswered = [];
        const spots = [...document.querySelectorAll(
            "table[data-val] td:not(.centred), [data-at], [data-val]:not(table, g)"
        )];
        for (const spot of spots) {
            document.querySelector(".live-card")?.remove();
            spot.dispatchEvent(new MouseEvent("click", { bubbles: true }));
            for (let i = 0; i < 200 && !document.querySelector(".live-card"); i++)
                await new Promise(done => setTimeout(done, i && 5));
            const card = document.querySelector(".live-card");
            const value = card?.querySelector("output")?.textContent;
            if (!value && !/shape/.test(card?.textContent)) unanswered.push(spot.outerHTML);
        }
        return [spots.length, unanswered];
    }
"""


@pytest.fixture
def visit(come_to):
    visit = come_to(CHAPTER)
    yield visit
    assert visit.complaints == []


def ask(visit, spot=WEIGHT):
    visit.page.locator(spot).click()
    visit.page.wait_for_selector(f"{CARD} output")
    return visit.page.locator(CARD)


def try_out(visit):
    visit.page.locator(".live-try").first.click()
    visit.page.wait_for_selector(BAR)


def tool(visit, name):
    visit.page.locator(f"{BAR} button", has_text=name).click()


def status(visit):
    return visit.page.locator(STATUS).inner_text()


def shown(visit, step):
    return visit.page.evaluate(TABLE, f"self_attention.{step}")


def computed(step, **edits):
    """What Python computes with other inputs, as a page shows it."""
    steps = replay("self_attention", edits).steps
    return [html_number(value) for value in np.asarray(steps[step]).flat]


def edited(value):
    x = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]])
    x[0, 0] = value
    return x


def test_nothing_is_fetched_before_somebody_shows_interest(visit):
    visit.page.mouse.move(5, 5)
    visit.page.keyboard.press("ArrowDown")
    assert not [url for url in visit.requests if "live" in url]


def test_card_tells_place_value_formula_and_numbers(visit):
    card = ask(visit)
    text = card.inner_text()
    assert "weight of query 1 on key 2" in text
    assert "0.4856477146303332" in text
    assert "weights = softmax(scaled)" in text
    assert text.count("exp(") == 4
    lit = visit.page.locator('table[data-val="self_attention.scaled"] .live-part')
    assert lit.all_inner_texts() == ["0", "2.8284", "2.8284"]


def test_trail_leads_to_the_literal_inputs_and_back(visit):
    card = ask(visit)
    for _ in range(4):
        card.locator(".live-follow").first.click()
    assert (
        "a literal input, given in attention_docs/examples/self_attention.py" in card.inner_text()
    )
    for _ in range(4):
        card.locator("button", has_text="Back").click()
    assert "weight of query 1 on key 2" in card.inner_text()
    assert not card.locator("button", has_text="Back").count()


def test_pointing_opens_a_card_that_goes_again(visit):
    visit.page.locator(WEIGHT).hover()
    visit.page.wait_for_selector(CARD)
    visit.page.mouse.move(5, 400)
    visit.page.wait_for_selector(CARD, state="detached")


def test_what_comes_under_a_resting_pointer_opens_no_card_until_it_moves(visit):
    visit.page.locator(WEIGHT).hover()
    visit.page.wait_for_selector(CARD)
    visit.page.evaluate("scrollBy(0, -300)")
    visit.page.wait_for_selector(CARD, state="detached")
    visit.page.evaluate("scrollBy(0, 300)")
    visit.page.wait_for_timeout(600)
    assert not visit.page.locator(CARD).count()
    box = visit.page.locator(WEIGHT).bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] / 2)
    visit.page.wait_for_selector(CARD)


@pytest.mark.parametrize(
    "page",
    ["", "course/formula", "mechanisms/masks", "mechanisms/tiles", "mechanisms/learning"],
)
def test_every_number_answers(come_to, page):
    visit = come_to(page)
    count, unanswered = visit.page.evaluate(ASK_ALL)
    assert count > 30
    assert unanswered == []


def test_point_in_space_offers_its_three_coordinates(visit):
    point = visit.page.locator('[data-val="values_in_space.V[2,0:3]"]')
    point.dispatch_event("click")
    card = visit.page.locator(CARD)
    values = replay("values_in_space", {}).steps["V"][2]
    assert card.inner_text() == "V: " + ", ".join(map(html_number, values))
    card.locator(".live-follow").nth(1).click()
    assert "row 3, column 2" in card.inner_text()


def test_number_drawn_at_random_tells_its_formula_and_offers_no_edit(come_to):
    visit = come_to("mechanisms/score_distribution")
    card = ask(visit, '[data-val="score_variance.kurtosis_proved[1]"]')
    assert "kurtosis proved = 6 / d" in card.inner_text()
    assert "drawn at random" in card.inner_text()
    assert not card.locator("button", has_text="Try your own numbers").count()


def test_press_beside_a_thin_line_finds_it(visit):
    line = visit.page.locator('g[data-val="self_attention.weights"] [data-at="0,0"] path')
    ask(visit)
    visit.page.keyboard.press("Escape")
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    visit.page.mouse.click(box["x"] + box["width"] / 2, box["y"] - 8)
    visit.page.wait_for_selector(f"{CARD}:has-text('weight of query 1 on key 1')")


@pytest.mark.parametrize("width", [320, 1280])
def test_card_leaves_the_matrix_in_sight(visit, width):
    visit.show(width=width)
    card = ask(visit).bounding_box()
    matrix = visit.page.locator(WEIGHT).locator("xpath=ancestor::table").bounding_box()
    below = card["y"] >= matrix["y"] + matrix["height"]
    assert below or card["y"] + card["height"] <= matrix["y"]


def test_digits_that_are_selected_ask_nothing(visit):
    ask(visit)
    visit.page.keyboard.press("Escape")
    first, last = (
        visit.page.locator(WEIGHT.replace("nth=1", place)).bounding_box()
        for place in ("nth=0", "nth=8")
    )
    visit.page.mouse.move(first["x"] + 2, first["y"] + 12)
    visit.page.mouse.down()
    visit.page.mouse.move(last["x"] + 40, last["y"] + 12, steps=5)
    visit.page.mouse.up()
    visit.page.mouse.move(5, 400)
    visit.page.wait_for_timeout(600)
    assert "0.4856" in visit.page.evaluate("getSelection().toString()")
    assert not visit.page.locator(CARD).count()


def test_card_that_was_pressed_for_stays_when_the_pointer_passes_others(visit):
    ask(visit)
    visit.page.locator(WEIGHT.replace("nth=1", "nth=8")).hover()
    visit.page.wait_for_timeout(400)
    assert "weight of query 1 on key 2" in visit.page.locator(CARD).inner_text()


def test_page_follows_an_edit_as_python_does(visit):
    try_out(visit)
    visit.page.locator(FIELD).fill("3")
    for step in ("Q", "K", "V", "scores", "scaled", "weights", "output"):
        assert shown(visit, step) == computed(step, X=edited(3)), step
    assert re.fullmatch(r"\d+ numbers differ from the page's own\.", status(visit))
    visit.page.locator(".live-why:not([hidden])").first.wait_for()
    assert visit.page.locator("p.live-set-back").count()
    (cell,) = visit.page.locator(
        'svg g[data-val="self_attention.scores"] [data-at="2,2"] text'
    ).all()
    visit.page.evaluate(REST_DRAWN)
    assert cell.text_content() == computed("scores", X=edited(3))[-1]


def test_cells_of_a_figure_take_the_colours_of_the_new_numbers(visit):
    try_out(visit)
    visit.page.locator(FIELD).fill("-3")
    visit.page.evaluate(REST_DRAWN)
    drawn = visit.page.locator('svg g[data-val="self_attention.scores"] rect').evaluate_all(
        """boxes => boxes.map(box => [
            box.closest("[fill]").getAttribute("fill"), Number(box.getAttribute("fill-opacity"))
        ])"""
    )
    scores = replay("self_attention", {"X": edited(-3)}).steps["scores"]
    scale = scale_of("diverging", "scores", scores)
    for (fill, opacity), score in zip(drawn, scores.flat, strict=True):
        assert fill == (MINUS if score < 0 else PLUS)
        assert opacity == pytest.approx(scale.paint(score)["fill_opacity"])
    assert {fill for fill, _ in drawn} == {MINUS, PLUS}


def test_a_cell_too_small_for_its_number_gets_a_minus_sign_as_it_turns_negative(come_to):
    weights = np.array(replay("batched_attention", {}).steps["W_Q"])
    weights[0, 0] = -5
    before, after = (
        replay("batched_attention", edits).steps["Q"] for edits in ({}, {"W_Q": weights})
    )
    assert ((before >= 0) & (after < 0)).any()
    visit = come_to("mechanisms/one_similarity")
    visit.page.locator('.live-try[data-example="batched_attention"]').first.click()
    visit.page.wait_for_selector(BAR)
    visit.page.locator('table[data-val="batched_attention.W_Q"] input >> nth=0').fill("-5")
    visit.page.evaluate(REST_DRAWN)
    cells = visit.page.locator('g[data-val="batched_attention.Q"] > [data-at]')
    signs = cells.evaluate_all("all => all.map(c => c.querySelector('text')?.textContent ?? '')")
    assert signs == ["−" if value < 0 else "" for value in after.flat]


@pytest.mark.parametrize(
    ("page", "example", "input", "value", "steps"),
    [
        ("self_attention", "self_attention", "X", 3.5, ("scores", "scaled", "weights", "output")),
        # 800 is more than the exponential can take: the plain softmax gives nan.
        ("softmax_overflow", "softmax_overflow", "small", 800.0, ("small_naive",)),
    ],
)
def test_changed_columns_align_as_python_aligns_them(come_to, page, example, input, value, steps):
    array = np.array(replay(example, {}).steps[input])
    array.flat[0] = value
    replayed = replay(example, {input: array}).steps
    visit = come_to(f"mechanisms/{page}")
    try_out(visit)
    visit.page.locator(f'table[data-val="{example}.{input}"] input >> nth=0').fill(str(value))
    for step in steps:
        shown = visit.page.locator(f'table[data-val="{example}.{step}"]').first
        found = shown.evaluate(ROOM)
        written = table(np.asarray(replayed[step]), f"{example}.{step}")
        visit.page.evaluate(
            "([table, html]) => { table.outerHTML = html; }", [shown.element_handle(), written]
        )
        expected = visit.page.locator(f'table[data-val="{example}.{step}"]').first.evaluate(ROOM)
        for (centred, room), (is_centred, its_room) in zip(found, expected, strict=True):
            assert centred == is_centred, step
            assert room == pytest.approx(its_room, abs=1e-3), step


@pytest.mark.parametrize("page", ["two_heads", "one_similarity"])
def test_inputs_in_a_fold_are_shown_when_they_are_edited(come_to, page):
    visit = come_to(f"mechanisms/{page}")
    try_out(visit)
    visit.page.wait_for_selector(".live-field:focus")
    assert visit.page.locator(":focus").is_visible()


def test_points_of_a_chart_move_as_python_draws_them(come_to, monkeypatch):
    # Its caption speaks of the page's own numbers, and steps back after an edit.
    monkeypatch.setattr(todays_models, "claim", lambda holds, words: None)
    query = np.array(replay("tiles", {}).steps["Q"])
    query[0, 0] += 0.1
    steps = replay("tiles", {"Q": query}).steps
    drawn = FIGURES["softmax_in_one_pass"](lambda name: steps)
    picture = "svg:has([data-axis])"
    visit = come_to("mechanisms/tiles")
    before = heights(visit.page.locator(picture).inner_html())
    visit.page.locator('.live-try[data-example="tiles"]').click()
    visit.page.wait_for_selector(BAR)
    visit.page.locator('table[data-val="tiles.Q"] input >> nth=0').fill(str(query[0, 0]))
    visit.page.evaluate(REST_DRAWN)
    assert heights(visit.page.locator(picture).inner_html()) == heights(drawn) != before
    tool(visit, "Done")
    assert heights(visit.page.locator(picture).inner_html()) == before


def heights(picture):
    """The places of the markers of a chart, and of the points of its lines."""
    return re.findall(r"translate\(([\d.]+ [\d.]+)\)|[ML]([\d.]+ [\d.]+)(?=[L\"])", picture)


def test_keys_step_a_number_and_reset_and_undo_take_it_back(visit):
    before = shown(visit, "weights")
    try_out(visit)
    visit.page.locator(FIELD).press("ArrowUp")
    visit.page.locator(FIELD).press("Shift+ArrowUp")
    assert visit.page.locator(FIELD).input_value() == "2.1"
    after = shown(visit, "weights")
    assert after == computed("weights", X=edited(2.1))
    tool(visit, "Reset")
    assert shown(visit, "weights") == before
    tool(visit, "Undo")
    assert shown(visit, "weights") == after
    tool(visit, "Done")
    assert shown(visit, "weights") == before
    assert not visit.page.locator("td input, .live-why, .live-changed, .live-set-back").count()


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("abc", "“abc” is not a number; expected one like 0.5 or −2e-3. The page shows 3."),
        ("", "Nothing is typed; expected a number. The page shows 3."),
        ("inf", "Python refuses this: “query holds"),
        ("1e308", "Python refuses this: “the scores of query and key hold inf at [0, 1]; expected"),
    ],
)
def test_bad_input_says_what_is_wrong_and_loses_nothing(visit, typed, message):
    try_out(visit)
    visit.page.locator(FIELD).fill("3")
    before = shown(visit, "output")
    visit.page.locator(FIELD).fill(typed)
    assert status(visit).startswith(message)
    assert shown(visit, "output") == before
    assert visit.page.locator(FIELD).input_value() == typed


@pytest.mark.parametrize(
    ("typed", "number", "complaint"),
    [
        ("−1/3", -1, "“−1/3” is not a number; expected one like 0.5 or −2e-3. The page shows −1."),
        ("1e400", 1e40, "“1e400” is beyond the largest number, 1.8e308. The page shows 1e+40."),
    ],
)
def test_field_that_holds_no_number_says_which_one_the_page_shows(visit, typed, number, complaint):
    try_out(visit)
    field = visit.page.locator(FIELD)
    field.fill("")
    field.press_sequentially(typed)
    assert shown(visit, "Q") == computed("Q", X=edited(number))
    assert status(visit) == complaint
    line = visit.page.locator(f"#{field.get_attribute('aria-describedby')}")
    assert line.inner_text() == complaint
    assert field.get_attribute("aria-invalid") == "true"
    top = line.bounding_box()["y"]
    matrix = visit.page.locator('table[data-val="self_attention.X"]').first.bounding_box()
    assert 0 <= top - (matrix["y"] + matrix["height"]) < 40
    field.fill("2")
    assert not line.count()
    assert not field.get_attribute("aria-describedby")
    field.fill("x")
    tool(visit, "Done")
    assert not visit.page.get_by_text("“x” is not a number").count()


def test_reader_who_leaves_at_once_takes_no_edit_along(visit):
    try_out(visit)
    link = visit.page.locator(".md-footer__link--next")
    next_page = link.evaluate("link => link.href")
    held = []
    visit.page.route(next_page, lambda route: held.append(route), times=1)
    # Pressed faster than Playwright does: an edit comes into the address a little later.
    visit.page.locator(FIELD).press("ArrowUp")
    with visit.page.expect_request(next_page):
        link.evaluate("link => link.click()")
    visit.page.wait_for_timeout(500)
    held[0].continue_()
    visit.page.wait_for_selector(BAR, state="detached")
    assert visit.page.url == next_page


def test_steps_go_on_by_key(visit):
    ask(visit).locator("button", has_text="Step by step").click()
    walk = visit.page.locator(".live-walk")
    walk.wait_for()
    assert "weight of query 1 on key 2" in walk.inner_text()
    visit.page.keyboard.press("ArrowRight")
    assert "weight of query 1 on key 3" in walk.inner_text()
    visit.page.keyboard.press("PageUp")
    assert "Step 9 of 11" in walk.inner_text()
    visit.page.keyboard.press("Escape")
    walk.wait_for(state="detached")


@pytest.mark.parametrize("width", [390, 1280])
def test_field_stays_in_its_place_when_the_section_steps_back(visit, width):
    visit.show(width=width)
    try_out(visit)
    field = visit.page.locator(FIELD)
    before = field.bounding_box()
    field.press("ArrowUp")
    visit.page.locator(".live-why:not([hidden])").first.wait_for()
    after = field.bounding_box()
    assert abs(after["x"] - before["x"]) <= 1
    assert abs(after["y"] - before["y"]) <= 1


def test_focus_returns_from_the_card_from_the_steps_and_from_the_buttons(visit):
    page = visit.page
    page.keyboard.press("Tab")
    page.wait_for_selector("table[role=grid]")
    cell = page.locator(WEIGHT)
    cell.focus()
    for leave in (lambda: page.keyboard.press("Escape"), lambda: close_by_its_button(page)):
        page.wait_for_selector(f"{CARD} output")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.matches('.live-card')")
        leave()
        assert page.evaluate(FOCUS) == "td"
        assert not page.locator(CARD).count()
        page.keyboard.press("Enter")
    page.wait_for_selector(f"{CARD} output")
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
    assert page.evaluate(FOCUS) == "input", "a cell and its field are one stop"
    page.locator(f"{BAR} button", has_text="Done").press("Enter")
    assert page.evaluate("document.activeElement.matches('.live-try')")


@pytest.mark.parametrize(
    ("spot", "inside", "focused"),
    [
        (WEIGHT, "output", "0.4856"),
        (WEIGHT, ".live-follow", "2.8284"),
        ('[data-val="self_attention.weights[0,1]"]', "output", "0.4856 "),
        ('svg g[data-val="self_attention.scores"] [data-at="2,2"]', "output", "8 (21 of 22)"),
        ('[data-val="values_in_space.V[2,0:3]"]', ".live-follow", "V"),
    ],
)
def test_focus_returns_to_the_number_of_a_card_that_was_clicked(visit, spot, inside, focused):
    page = visit.page
    for leave in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.locator(f"{CARD} .live-close").click(),
    ):
        page.locator(spot).first.dispatch_event("click")
        page.locator(f"{CARD} {inside}").first.click()
        assert page.evaluate("document.activeElement.matches('.live-card')")
        leave()
        assert page.evaluate("document.activeElement.textContent").startswith(focused)
        page.wait_for_timeout(400)
        assert not page.locator(CARD).count()


def close_by_its_button(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def test_numbers_of_a_table_are_one_stop(come_to):
    visit = come_to("course/formula")
    visit.page.keyboard.press("Tab")
    stop = visit.page.locator(".md-typeset__scrollwrap > .live-stop").last
    stop.focus()
    assert stop.inner_text() == "8 (1 of 25)"
    stop.press("ArrowRight")
    assert stop.inner_text() == "4.6188 (2 of 25)"
    assert "4.61880215351700" in visit.page.locator(CARD).inner_text()


def test_steps_lead_to_literals_that_other_examples_share(come_to):
    visit = come_to("course/block")
    ask(visit, "table.matrix td:visible >> nth=3")
    visit.page.locator(f"{CARD} button", has_text="Step by step").click()
    walk = visit.page.locator(".live-walk")
    walk.wait_for()
    while walk.locator(".live-follow").count():
        walk.locator(".live-follow").last.click()
    assert "given in attention_docs/examples/course_sentence.py" in walk.inner_text()
    assert visit.complaints == []


def test_keyboard_reaches_a_matrix_and_the_numbers_of_a_figure(visit):
    page = visit.page
    page.keyboard.press("Tab")
    page.wait_for_selector("table[role=grid]")
    page.locator('table[data-val="self_attention.weights"] td').first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"{CARD}:has-text('weight of query 2 on key 2')")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className").startswith("live-card")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.localName") == "td"
    page.locator(".figure-box .live-stop").first.focus()
    page.wait_for_selector(f"{CARD} output")
    assert (
        page.locator("table[data-val] td[tabindex='0']").count()
        == page.locator("table[role=grid]").count()
    )


def test_lost_network_is_told_and_the_next_try_works(visit):
    visit.page.route("**/assets/live/*.js", lambda route: route.abort())
    visit.page.locator(WEIGHT).click()
    visit.page.wait_for_selector(f"{CARD}:has-text('Is there a network?')")
    visit.page.unroute("**/assets/live/*.js")
    visit.page.mouse.click(5, 400)
    assert "0.4856" in ask(visit).inner_text()
    visit.complaints.clear()


def test_paper_says_that_numbers_were_edited(visit):
    try_out(visit)
    visit.page.locator(FIELD).fill("3")
    why = visit.page.locator(".live-why:not([hidden])").first
    why.wait_for()
    visit.page.emulate_media(media="print")
    assert why.is_visible()
    assert not visit.page.locator(BAR).is_visible()


def test_paper_has_no_button_that_edits(come_to):
    visit = come_to()
    assert visit.page.locator(".live-try:visible").count()
    visit.page.emulate_media(media="print")
    assert not visit.page.locator(".live-try:visible").count()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_wcag_2_2_with_card_steps_panel_and_fields_open(visit, axe, scheme, width):
    visit.show(scheme, width)
    visit.page.evaluate(axe)

    def assert_clean():
        visit.finish_transitions()
        assert visit.page.evaluate(WIDER_THAN_PAGE) <= 0
        assert visit.page.evaluate(AXE, [WHOLE, RULES]) == []

    visit.page.keyboard.press("Tab")
    visit.page.wait_for_selector("table[role=grid]")
    card = ask(visit)
    assert_clean()
    card.locator("button", has_text="Step by step").click()
    visit.page.wait_for_selector(".live-walk")
    assert_clean()
    visit.page.keyboard.press("Escape")
    card.locator("button", has_text="What matters").click()
    visit.page.locator(".live-matters summary").click()
    assert_clean()
    try_out(visit)
    visit.page.locator(FIELD).fill("3")
    visit.page.locator(".live-why:not([hidden])").first.wait_for()
    assert_clean()
