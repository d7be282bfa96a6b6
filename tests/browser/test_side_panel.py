"""The side panel of the course pages: its size and position, its switch, and its updates."""

from time import sleep

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.figures.side_panel import SIDE_PANELS
from attention_docs.lookup import look_up_array
from attention_docs.render.figures.bars import WIDTH
from attention_docs.render.numbers import short_number
from tests.browser.live.editing import press_bar_button
from tests.browser.visit import PAGES, PHONE, SMALL_FIGURE_TEXT, WIDE, each_window
from tests.live.replay import replay

# The panel, which is docked on a phone, and its part that is visible beside a text.
DOCK, PANEL = ".panel", ".panel > details"
BAR, CARD, FIELDS = ".live-bar", ".live-card", ".live-field"
BY_HAND, LEARNED = ".stages.by-hand", ".stages.learned"
BOX = "element => element.getBoundingClientRect().toJSON()"
COURSE = [page for page in PAGES if page.startswith("course/")]
# Content that scrolls sideways or is cut, except in the block on where numbers come from.
CUT = """
    [...document.querySelectorAll("article :is(div.formula, table, pre > code, .figure-box, .diagram, .figure-box svg)")]
        .filter(e => e.checkVisibility() && !e.closest(".provenance"))
        .filter(e => e.scrollWidth > e.clientWidth + 1 && e.localName !== "svg" && e.localName !== "table"
            || e.getBoundingClientRect().right > e.closest(".md-content__inner, .panel").getBoundingClientRect().right)
        .map(e => e.outerHTML.slice(0, 200))
"""
OPEN_DETAILS_OF_TEXT = (
    "document.querySelectorAll('article > details').forEach(e => { e.open = true; })"
)
# The end of the last thing on the page, the footer.
END = "Math.max(...[...document.querySelectorAll('article > *:not(.panel), footer *')].map(e => e.getBoundingClientRect().bottom))"
# The probabilities of the next word: the text, and the width of the bar as a share of the whole width.
BARS = f"""
    [...document.querySelectorAll(".by-hand .next g[data-at]")].map(cell => [
        cell.querySelector("text").textContent,
        cell.querySelector("rect").getAttribute("width") / {WIDTH},
    ])
"""


def box(visit, selector):
    return visit.page.locator(selector).first.evaluate(BOX)


def overlap(a, b):
    is_beside = a["right"] <= b["left"] or b["right"] <= a["left"]
    is_above_or_below = a["bottom"] <= b["top"] or b["bottom"] <= a["top"]
    return not (is_beside or is_above_or_below)


def stage_count(page):
    panel = SIDE_PANELS[page.removeprefix("course/")]
    return len(panel.stages) + bool(panel.next_word)


def scroll_to(visit, top):
    visit.page.evaluate(f"scrollTo({{top: {top}, behavior: 'instant'}})")


def choose(visit, matrices):
    visit.page.locator(".switch label", has_text=matrices).click()


def shows(visit, stages):
    """Whether the stages of one model are visible, and those of the other are not."""
    other = {BY_HAND: LEARNED, LEARNED: BY_HAND}[stages]
    return visit.page.locator(stages).is_visible() and not visit.page.locator(other).is_visible()


def unfold(visit):
    """Unfold the panel, or fold it."""
    visit.page.locator(f"{PANEL} > summary").click()


def start_editing(visit):
    visit.page.locator(".live-try").last.click()
    visit.page.wait_for_selector(BAR)
    visit.page.wait_for_selector(FIELDS)


@pytest.mark.of_each_kind
@pytest.mark.parametrize("page", COURSE)
def test_content_beside_the_side_panel_is_not_clipped(open_page, page):
    visit = open_page(page)
    visit.page.evaluate(OPEN_DETAILS_OF_TEXT)
    for width, height in ((1280, 800), (1440, 900), (1920, 1080)):
        visit.emulate(width=width, height=height)
        assert visit.page.evaluate(CUT) == [], width


@pytest.mark.of_each_kind
@pytest.mark.parametrize("page", [f"course/{name}" for name in SIDE_PANELS])
def test_side_panel_fits_into_the_window_beside_the_text(open_page, page):
    visit = open_page(page, **WIDE)
    has_switch = SIDE_PANELS[page.removeprefix("course/")].has_switch
    for matrices in ("set by hand", "learned") if has_switch else ("",):
        if matrices:
            choose(visit, matrices)
        assert visit.page.evaluate(SMALL_FIGURE_TEXT, 11) == []
        assert visit.page.locator(PANEL).evaluate("e => e.scrollHeight <= e.clientHeight")
        for top in (0, 200, 2000):
            scroll_to(visit, top)
            panel, text = box(visit, PANEL), box(visit, "article > .panel ~ p")
            assert 0 < panel["top"] < panel["bottom"] <= WIDE["height"]
            assert panel["left"] > text["right"]
            assert text["width"] >= 690, "the panel leaves too little room for the text"


@pytest.mark.of_each_kind
@pytest.mark.parametrize("page", [f"course/{name}" for name in SIDE_PANELS])
def test_phone_side_panel_is_short_and_covers_no_page_end(open_page, page):
    visit = open_page(page, **PHONE)
    assert box(visit, DOCK)["height"] < 40
    unfold(visit)
    has_switch = SIDE_PANELS[page.removeprefix("course/")].has_switch
    if has_switch:
        choose(visit, "set by hand")
    panel = box(visit, DOCK)
    assert panel["bottom"] == PHONE["height"]
    assert panel["height"] <= 0.3 * PHONE["height"]  # nine bars are higher than a matrix
    assert visit.page.locator(".stage:visible").count() == 1
    scroll_to(visit, "document.body.scrollHeight")
    assert visit.page.evaluate(END) <= panel["top"]
    visit.page.locator(".all").click()
    assert visit.page.locator(".stage:visible").count() == stage_count(page)
    assert box(visit, DOCK)["height"] <= 0.36 * PHONE["height"]
    if has_switch:
        choose(visit, "learned")
    scroll_to(visit, 200)
    panel = box(visit, PANEL)
    assert panel["bottom"] <= PHONE["height"]
    assert panel["height"] <= 0.36 * PHONE["height"]
    unfold(visit)
    assert box(visit, DOCK)["height"] < 40, "more than the summary is visible"


def test_unfolding_by_mouse_opens_no_card(open_page):
    visit = open_page("course/mask", width=1000, height=800)
    for x in (60, 200):
        visit.page.locator(f"{PANEL} > summary").click(position={"x": x, "y": 10})
        visit.page.evaluate("new Promise(done => setTimeout(done, 1000))")
        assert visit.page.locator(".live-card").count() == 0
        visit.page.locator(f"{PANEL} > summary").click()


def test_side_panel_is_inline_in_short_windows_and_complete_in_print(open_page):
    visit = open_page("course/mask", width=640, height=400)
    position = "e => getComputedStyle(e).position"
    assert visit.page.locator(DOCK).evaluate(position) == "static"
    visit.emulate_print()
    assert visit.page.locator(DOCK).evaluate(position) == "static"
    assert visit.page.locator(".stage:visible").count() == stage_count("course/mask")


def test_side_panel_switches_to_the_probabilities_of_an_edit(open_page):
    visit = open_page("course/writing", **WIDE)
    before = visit.page.evaluate(BARS)
    choose(visit, "learned")
    start_editing(visit)
    visit.page.get_by_label("X birds air").first.fill("-1")
    visit.page.wait_for_selector(BY_HAND)
    assert shows(visit, BY_HAND)
    x = np.array(examples.load("course_sentence").X, dtype=float)
    x[0, 0] = -1
    edited_steps = replay("course_next_token", {"course_sentence.X": x}).steps
    probabilities = look_up_array(SIDE_PANELS["writing"].next_word, lambda example: edited_steps)
    visit.page.wait_for_function(
        "text => document.querySelector('.by-hand .next g[data-at] text').textContent === text",
        arg=short_number(probabilities[0]),
    )
    bars = visit.page.evaluate(BARS)
    assert [text for text, _ in bars] == [short_number(p) for p in probabilities]
    np.testing.assert_allclose([width for _, width in bars], probabilities, atol=2e-4)
    assert bars != before
    press_bar_button(visit, "Reset")
    assert visit.page.evaluate(BARS) == before


@each_window
def test_side_panel_card_field_and_bar_do_not_overlap_and_meet_wcag_2_2(open_page, axe, window):
    visit = open_page("course/mask", **window)
    if window is PHONE:
        unfold(visit)
    # The card is placed after its style has arrived.
    visit.page.route("**/live.css*", lambda route: (sleep(0.5), route.continue_()), times=1)
    visit.page.locator(".by-hand .main g[data-at='4,0']").click()
    visit.page.wait_for_selector(f"{CARD} output")
    card, stage = box(visit, CARD), box(visit, ".by-hand .main svg")
    assert card["bottom"] <= stage["top"] or card["top"] >= stage["bottom"]
    assert 0 <= card["top"] < card["bottom"] <= window["height"]
    visit.page.keyboard.press("Escape")
    start_editing(visit)
    visit.page.locator(FIELDS).first.fill("-1")
    visit.page.wait_for_selector(f"{PANEL} .live-changed:visible")
    panel = box(visit, BY_HAND)
    field = box(visit, FIELDS)
    bar = box(visit, BAR)
    assert not overlap(panel, field)
    assert not overlap(panel, bar)
    assert not overlap(field, bar)
    assert panel["bottom"] <= window["height"]
    visit.page.evaluate(axe)
    for scheme in ("light", "dark"):
        visit.emulate(scheme, **window)
        visit.finish_transitions()
        assert visit.wcag_violations(include=DOCK) == []


def test_editing_from_the_side_panel_edits_the_example_of_the_page(open_page):
    visit = open_page("course/scale", **WIDE)
    visit.page.locator(".by-hand .main g[data-at]").first.click()
    visit.page.locator(f"{CARD} button", has_text="Try your own numbers").click()
    visit.page.wait_for_selector(FIELDS)
    visit.page.locator(FIELDS).first.fill("7")
    visit.wait_until("location.hash.startsWith('#try=course_scale')")


def test_side_panel_switch_works_without_scripts_and_not_in_print(phone, address):
    phone.load(f"{address}course/writing/")
    assert shows(phone, BY_HAND)
    choose(phone, "learned")
    assert shows(phone, LEARNED)
    phone.page.keyboard.press("ArrowLeft")
    assert shows(phone, BY_HAND)
    choose(phone, "learned")
    phone.emulate_print()
    assert shows(phone, BY_HAND)
    assert not phone.page.locator(".switch").is_visible()
    phone.page.emulate_media(media="screen")


def test_page_on_learning_shows_the_learned_model_from_its_section_on(open_page):
    visit = open_page("course/learned", **WIDE)
    assert shows(visit, BY_HAND)
    visit.page.locator("#what-it-found").evaluate("e => e.scrollIntoView()")
    visit.page.wait_for_selector(LEARNED)
    visit.page.get_by_label("rate").first.press("ArrowRight")
    visit.page.wait_for_selector(".live-changed", state="attached")
    visit.wait_for_rest()
    assert shows(visit, LEARNED)


@each_window
def test_side_panel_follows_the_paragraph_that_is_read(open_page, window):
    visit = open_page("course/mask", **window)
    if window is PHONE:
        unfold(visit)
    assert visit.page.locator(".stage[aria-current]").count() == 0
    for landmark in ("scores", "weights"):
        visit.page.locator(f"article [data-stage={landmark}]:not(.stage)").first.evaluate(
            "e => e.scrollIntoView({block: 'start', behavior: 'instant'})"
        )
        visit.page.locator(f".stage[data-stage={landmark}][aria-current=step]").wait_for()
        assert visit.page.locator(".stage[aria-current]").count() == 1
        if window is PHONE:
            assert visit.page.locator(".stage:visible").count() == 1
