"""Address, fields and page stay in sync, and every edit can be undone."""

import random
import re
from urllib.parse import unquote

import numpy as np
import pytest
from playwright.sync_api import expect

from attention_docs.render.numbers import html_number
from tests.browser.live.editing import (
    BAR,
    CHAPTER,
    FIELD,
    computed_step,
    edit,
    edited_x,
    press_bar_button,
    shown_step,
    start_editing,
    status_text,
)
from tests.browser.visit import url_path
from tests.live.replay import replay

EDIT = "#try=self_attention&self_attention.X[0,0]="
NEXT_FIELD = FIELD.replace("nth=0", "nth=1")
# The link to a heading in the table of contents.
CONTENTS = ".md-sidebar--secondary a[href$='#{}']"
PAGE_LINK = ".md-sidebar--primary a.md-nav__link--active"
UNREADABLE_FRAGMENTS = [
    "#try=../live",
    "#try=..%2Flive",
    "#try=//example.org/x",
    "#try=__proto__",
    "#try=constructor&constructor.X[0,0]=3",
    "#try=self_attention&%",
    "#try=self_attention&self_attention.X[0,]=3",
    "#try=self_attention&self_attention.X[0,0]=1e400",
    '#try="]\\',
    "#try=" + "self_attention&" * 20_000,
]

# The number in each cell of X, whether or not it is a field; null for invalid text.
CELLS = """
    () => [...document.querySelector('table[data-val="self_attention.X"]').querySelectorAll("tbody td")].map(cell => {
        const text = cell.querySelector("input")?.value ?? cell.textContent.replace("−", "-");
        return text.trim() && !isNaN(text) ? Number(text) : null;
    })
"""
# Types into a field and follows a link before the edit is written to the address.
TYPE_AND_FOLLOW = """
    (field, selector) => {
        field.value = "3";
        field.dispatchEvent(new Event("input", { bubbles: true }));
        document.querySelector(selector).click();
    }
"""
# Goes back and blocks the page for longer than the delay after which it writes edits to the address.
GO_BACK_AND_BLOCK = """
    () => {
        history.back();
        const end = performance.now() + 400;
        while (performance.now() < end);
    }
"""


def assert_in_sync(visit, value, heading=None):
    """Assert that address, field and page have a value, and the address a heading."""
    fragment = f"{EDIT}{value}" + (f"&at={heading}" if heading else "")
    visit.wait_until(f"decodeURIComponent(location.hash) === {fragment!r}")
    visit.page.wait_for_selector(BAR)
    expect(visit.page.locator(FIELD)).to_have_value(str(value))
    assert shown_step(visit, "output") == computed_step("output", X=edited_x(value))


def follow_link(visit, selector):
    """Click a link without scrolling to it."""
    visit.page.locator(selector).first.evaluate("link => link.click()")


def paste_fragment(visit, fragment):
    """Change the fragment of the address, as a reader does who pastes a link."""
    visit.page.evaluate("fragment => { location.hash = fragment; }", fragment)


def test_links_within_the_page_keep_edits(visit):
    edit(visit, 3)
    assert_in_sync(visit, 3)
    follow_link(visit, CONTENTS.format("weights"))
    assert_in_sync(visit, 3, "weights")
    assert_heading_visible(visit, "weights")
    follow_link(visit, "#scores .headerlink")
    assert_in_sync(visit, 3, "scores")
    visit.page.evaluate("scrollTo(0, 0)")
    follow_link(visit, "#scores .headerlink")
    assert_in_sync(visit, 3, "scores")
    assert_heading_visible(visit, "scores")
    follow_link(visit, PAGE_LINK)
    assert_in_sync(visit, 3)
    assert visit.page.evaluate("scrollY") == 0
    page_requests = [url for url in visit.requests if url.endswith(f"{CHAPTER}/")]
    assert len(page_requests) == 1, "the theme fetched the page again"


def assert_heading_visible(visit, heading):
    """Wait until a heading is at the top, below the header."""
    visit.wait_until(f"""(() => {{
        const {{ top }} = document.getElementById({heading!r}).getBoundingClientRect();
        return document.querySelector(".md-header").offsetHeight <= top && top < 200;
    }})()""")


def test_back_and_forward_restore_edits(visit):
    page = visit.page
    edit(visit, 3)
    follow_link(visit, CONTENTS.format("weights"))
    assert_in_sync(visit, 3, "weights")
    page.locator(FIELD).fill("5")
    follow_link(visit, CONTENTS.format("scores"))
    assert_in_sync(visit, 5, "scores")
    page.go_back()
    assert_in_sync(visit, 5, "weights")
    page.go_back()
    assert_in_sync(visit, 3)
    page.go_forward()
    assert_in_sync(visit, 5, "weights")


def test_delayed_edits_do_not_replace_the_address_that_back_restores(visit):
    start_editing(visit)
    follow_link(visit, CONTENTS.format("weights"))
    visit.wait_until("location.hash === '#weights'")
    visit.page.locator(FIELD).evaluate(TYPE_AND_FOLLOW, CONTENTS.format("scores"))
    visit.wait_until("location.hash.endsWith('scores')")
    visit.page.evaluate(GO_BACK_AND_BLOCK)
    assert_in_sync(visit, 3, "weights")


def test_pasted_link_updates_the_open_page(visit):
    edit(visit, 3)
    # The theme saves the scroll position late; before that, it would take the link for Back.
    visit.wait_until("history.state?.y === scrollY")
    paste_fragment(visit, f"{EDIT}7&at=exercises")
    assert_in_sync(visit, 7, "exercises")
    assert_heading_visible(visit, "exercises")
    paste_fragment(visit, "#weights")
    assert_in_sync(visit, 7, "weights")
    visit.page.go_back()
    assert_in_sync(visit, 7, "exercises")
    press_bar_button(visit, "Undo")
    assert_in_sync(visit, 3, "exercises")


def x_in_address(page):
    """Return X with the edits of the address."""
    fragment = unquote(page.evaluate("location.hash"))
    x = np.array(replay("self_attention", {}).steps["X"])
    for row, column, number in re.findall(r"attention\.X\[(\d),(\d)\]=([^&]+)", fragment):
        x[int(row), int(column)] = float(number)
    return x


def wait_until_cells_equal_address(page):
    """Wait up to 10 s until the cells of X show the numbers of the address, and return X."""
    for _ in range(100):
        page.wait_for_timeout(100)
        x, cells = x_in_address(page), page.evaluate(CELLS)
        if all(cell in (None, number) for cell, number in zip(cells, x.flat, strict=True)):
            return x
    pytest.fail(f"the cells show {cells}; expected {x.tolist()}")


TEXTS = ("3", "-2", "12.5", "1", "oops", "")
KEYS = ("ArrowUp", "Enter", "Control+z", "Control+y", "Control+Shift+z")
CLICKABLE = [
    CONTENTS.format("weights"),
    "#scores .headerlink",
    PAGE_LINK,
    '.live-try[data-example="self_attention"]',
    '.live-try[data-example="values_in_space"]',
    *(f".live-tools button:text-is('{name}')" for name in ("Undo", "Redo", "Reset", "Done")),
]
# Without the unreadable fragments that are long or hold numbers for X.
FRAGMENTS = [
    EDIT + "7",
    EDIT + "1&at=weights",
    "#try=values_in_space",
    "#weights",
    "#",
    *UNREADABLE_FRAGMENTS[:6],
]


def random_action(visit, draw):
    """Do one of the things that change edits, address or page."""
    fields = visit.page.locator('table[data-val="self_attention.X"] input').all()
    clickable = visit.page.locator(draw.choice(CLICKABLE)).all()
    actions = [
        lambda: fields and draw.choice(fields).fill(draw.choice(TEXTS)),
        lambda: fields and draw.choice(fields).press(draw.choice(KEYS)),
        lambda: clickable and clickable[0].evaluate("element => element.click()"),
        lambda: paste_fragment(visit, draw.choice(FRAGMENTS)),
        lambda: visit.page.evaluate(draw.choice(["history.back()", "history.forward()"])),
    ]
    draw.choice(actions)()


def test_random_actions_keep_address_fields_and_page_in_sync(visit):
    page, draw = visit.page, random.Random(0)
    # Back from here must not leave the page.
    page.evaluate("history.pushState(null, '', '#definition')")
    for _ in range(40):
        random_action(visit, draw)
        if not page.url.startswith("http"):
            page.go_forward()
        x = wait_until_cells_equal_address(page)
        assert shown_step(visit, "output") == computed_step("output", X=x)


def test_link_with_edits_scrolls_to_its_heading(tab, address):
    tab.load_uncached(f"{address}{url_path(CHAPTER)}{EDIT}3&at=weights")
    assert_in_sync(tab, 3, "weights")
    assert_heading_visible(tab, "weights")


def test_last_keystroke_is_in_the_address_of_its_page_and_not_of_the_next(visit):
    start_editing(visit)
    link = visit.page.locator(".md-footer__link--next")
    next_page = link.evaluate("link => link.href")
    held_requests = []
    visit.page.route(next_page, lambda route: held_requests.append(route), times=1)
    for _ in range(3):
        visit.page.locator(FIELD).press("ArrowUp")
    # Leave before the delayed update of the address; Playwright's own clicks are too slow.
    with visit.page.expect_request(next_page):
        link.evaluate("link => link.click()")
    visit.page.wait_for_timeout(500)
    held_requests[0].continue_()
    visit.page.wait_for_selector(BAR, state="detached")
    assert visit.page.url == next_page
    visit.page.go_back()
    assert_in_sync(visit, 4)


def test_edits_of_two_examples_coexist(visit):
    page = visit.page
    start_editing(visit)
    field = 'table[data-val="{}.W_V"] input >> nth=0'
    page.locator(field.format("self_attention")).fill("9")
    page.locator('.live-try[data-example="values_in_space"]').click()
    page.locator(field.format("values_in_space")).fill("8")
    original = np.array(replay("self_attention", {}).steps["W_V"])
    edited = original.copy()
    edited[0, 0] = 9

    def assert_both_edits():
        fragment = "#try=values_in_space&self_attention.W_V[0,0]=9&values_in_space.W_V[0,0]=8"
        page.wait_for_selector(".live-changed")
        visit.wait_until(f"decodeURIComponent(location.hash) === {fragment!r}")
        assert shown_step(visit, "output") == computed_step("output", W_V=edited)
        assert shown_step(visit, "W_V") == [html_number(number) for number in edited.flat]

    assert_both_edits()
    page.reload()
    assert_both_edits()
    page.locator('.live-try[data-example="self_attention"]').click()
    page.wait_for_selector(field.format("self_attention"))
    press_bar_button(visit, "Done")
    assert shown_step(visit, "W_V") == [html_number(number) for number in original.flat]
    assert not page.locator("td input, .live-changed").count()


def assert_fragment_is_ignored(visit, address):
    """Assert that a page without edits reports a fragment, removes it, and requests nothing for it."""
    visit.page.wait_for_selector(f"{BAR}:has-text('edits that could not be read')")
    assert shown_step(visit, "output") == computed_step("output")
    assert visit.page.evaluate("location.hash") == ""
    files = [unquote(url).removeprefix(address) for url in visit.requests if "/live/" in url]
    assert all(re.fullmatch(r"assets/live/\w+\.js", file) for file in files)
    assert len(files) == len(set(files))
    assert visit.page.locator("script").count() < 20, "a script was inserted for each name"
    assert visit.errors == []


def test_unreadable_fragments_leave_page_unchanged(tab, address):
    tab.load_uncached(address + url_path(CHAPTER) + UNREADABLE_FRAGMENTS[0])
    assert_fragment_is_ignored(tab, address)
    for fragment in UNREADABLE_FRAGMENTS[1:]:
        paste_fragment(tab, fragment)
        tab.wait_until("location.hash === ''")
        assert_fragment_is_ignored(tab, address)


def test_typing_in_a_field_is_one_undo_step(visit):
    start_editing(visit)
    field, next_field = visit.page.locator(FIELD), visit.page.locator(NEXT_FIELD)
    field.fill("")
    field.press_sequentially("12.5")
    field.press("Enter")
    next_field.fill("2")
    next_field.fill("oops")
    press_bar_button(visit, "Undo")
    assert next_field.input_value() == "2", "the first undo discards invalid text"
    press_bar_button(visit, "Undo")
    assert_in_sync(visit, 12.5)
    press_bar_button(visit, "Undo")
    assert shown_step(visit, "output") == computed_step("output")
    assert status_text(visit).startswith("Type,")
    press_bar_button(visit, "Undo")
    assert status_text(visit) == "There is nothing to undo."


def test_shortcuts_undo_each_arrow_key_and_redo_is_enabled_until_the_next_edit(visit):
    start_editing(visit)
    field = visit.page.locator(FIELD)
    field.press("ArrowUp")
    field.press("Shift+ArrowUp")
    assert_in_sync(visit, 2.1)
    visit.page.keyboard.press("Control+z")
    assert_in_sync(visit, 2)
    visit.page.keyboard.press("Control+Shift+z")
    assert_in_sync(visit, 2.1)
    visit.page.keyboard.press("Control+z")
    visit.page.keyboard.press("Control+y")
    assert_in_sync(visit, 2.1)
    press_bar_button(visit, "Reset")
    assert shown_step(visit, "output") == computed_step("output")
    visit.page.keyboard.press("Control+z")
    assert_in_sync(visit, 2.1)
    redo = visit.page.locator(f"{BAR} button", has_text="Redo")
    field.fill("12.5")
    assert redo.is_disabled()
    press_bar_button(visit, "Undo")
    assert redo.is_enabled()
    press_bar_button(visit, "Redo")
    assert_in_sync(visit, 12.5)
    assert redo.is_disabled()
    press_bar_button(visit, "Undo")
    field.press("ArrowUp")
    assert redo.is_disabled()


def test_undo_shortcut_in_search_field_is_native(visit):
    edit(visit, 3)
    search = visit.page.get_by_placeholder("Search")
    search.press_sequentially("softmax")
    search.press("Control+z")
    assert search.input_value() != "softmax"
    assert_in_sync(visit, 3)
