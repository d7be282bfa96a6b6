"""After an edit, no text, accessible name or code keeps a number that is no longer shown."""

import re

import pytest

from attention_docs.render.code import numpy_steps
from attention_docs.render.latex import latex_steps
from tests.browser.live.editing import BAR, edited_x, press_bar_button
from tests.live.replay import replay

FIELDS, TRY = ".live-field", ".live-try"
PAGES = [
    ("mechanisms/kv_cache", "kv_cache"),
    ("mechanisms/self_attention", "values_in_space"),
    ("mechanisms/tiles", "tiles"),
]
# Decimals with four digits after the point, and numbers with an exponent.
ROUNDED_NUMBER = re.compile(r"\d+\.\d{4}\b|\d\.\d ?(?:e|× ?10)")
NEW_NUMBERS = ("1.13", "1.50", "1.87", "2.24", "2.61", "2.98")
# The text of every number that the page shows.
SHOWN_NUMBERS = """
    () => [...document.querySelectorAll(
        "table[data-val] tbody td, g[data-val] text, [data-val]:not(table, g, path)"
    )].map(spot => {
        const field = spot.querySelector("input");
        return field ? Number(field.value).toFixed(4) : spot.textContent;
    })
"""
# Open <details>; remove dimmed code, and code to copy, which has more numbers than the page shows and a
# test of its own.
EXPOSE_CONTENT = """
    () => {
        document.querySelectorAll("article details").forEach(details => { details.open = true; });
        document.querySelectorAll(".highlight.live-dimmed, .live-dimmed .highlight, [data-format]")
            .forEach(code => code.remove());
    }
"""
PROPERTIES = ("name", "description", "value")
# Each tab stop for the numbers of a text or figure shows one of them when it gets the focus.
FOCUS_TAB_STOPS = """
    () => document.querySelectorAll(".live-stop").forEach(stop => { stop.focus(); stop.blur(); })
"""
# The numbers of each formula, in its HTML and in its MathML, which screen readers speak.
FORMULA_NUMBERS = """
    () => {
        const numbersOf = (formula, key) =>
            [...formula.querySelectorAll(`[data-${key}]`)]
                .map(({ dataset, textContent }) => `${dataset[key]} = ${textContent.replaceAll(/\\s/g, "")}`)
                .sort();
        return [...document.querySelectorAll(".katex")].map(
            formula => [numbersOf(formula, "val"), numbersOf(formula, "spoken")]
        );
    }
"""


def edit_inputs(visit, example, numbers=NEW_NUMBERS):
    """Type numbers into the first fields of an example."""
    visit.page.locator(f'{TRY}[data-example="{example}"]').first.dispatch_event("click")
    visit.page.wait_for_selector(BAR)
    for i, number in enumerate(numbers):
        visit.page.locator(FIELDS).nth(i).fill(number)
    visit.wait_for_rest()
    assert "your numbers" in visit.page.locator(".live-bar [role=status]").inner_text()


def find_numbers(texts):
    return {number for text in texts for number in ROUNDED_NUMBER.findall(text)}


def accessible_texts(visit):
    """Return the names, descriptions and values of Chromium's accessibility tree."""
    visit.page.evaluate(EXPOSE_CONTENT)
    devtools = visit.page.context.new_cdp_session(visit.page)
    nodes = devtools.send("Accessibility.getFullAXTree")["nodes"]
    devtools.detach()
    exposed = [node for node in nodes if not node["ignored"]]
    properties = (node[name] for node in exposed for name in PROPERTIES if name in node)
    return [str(each["value"]) for each in properties if each.get("value")]


@pytest.mark.parametrize(("page", "example"), PAGES)
def test_screen_reader_gets_no_stale_number(open_page, page, example):
    visit = open_page(page)
    visit.page.keyboard.press("Tab")  # adds the tab stops, which speak a number each
    visit.page.wait_for_selector(".live-stop", state="attached")
    visit.page.evaluate(FOCUS_TAB_STOPS)
    visit.page.wait_for_selector(".live-card", state="detached")
    original = find_numbers(visit.page.evaluate(SHOWN_NUMBERS))
    edit_inputs(visit, example)
    stale = original - find_numbers(visit.page.evaluate(SHOWN_NUMBERS))
    assert stale, "the edit changes no number of four decimals"
    assert [text for text in accessible_texts(visit) if stale & find_numbers([text])] == []
    for visible, spoken in visit.page.evaluate(FORMULA_NUMBERS):
        assert spoken == visible


def test_figure_description_and_code_to_copy_are_replaced_during_edits(open_page):
    visit = open_page("mechanisms/self_attention")
    description = visit.page.locator("svg:has(g[data-val]) desc").first
    codes = visit.page.locator('[data-of="self_attention"] [data-format] code')
    before = description.text_content(), codes.all_text_contents()
    edit_inputs(visit, "self_attention", ["1.13"])
    assert description.text_content().startswith("This figure shows your numbers")
    steps = replay("self_attention", {"X": edited_x(1.13)}).steps
    assert codes.all_text_contents() == [f"{numpy_steps(steps)}\n", f"{latex_steps(steps)}\n"]
    press_bar_button(visit, "Done")
    assert (description.text_content(), codes.all_text_contents()) == before


def test_focused_chart_points_show_edited_numbers(open_page):
    visit = open_page("mechanisms/self_attention")
    edit_inputs(visit, "values_in_space")
    visit.page.keyboard.press("Tab")
    visit.page.locator('.figure-box:has(path[data-val^="values_in_space"]) > .live-stop').focus()
    row = visit.page.locator('table[data-val="values_in_space.output"] tbody tr').first
    coordinates = ", ".join(row.locator("td").all_inner_texts())
    text = visit.page.evaluate("document.activeElement.textContent")
    assert text == f"bird: {coordinates} (1 of 6)"


SENTENCES = [
    ("mechanisms/self_attention", "self_attention", "a sharper first row"),
    ("course/next_token", "course_next_token", "the model no longer knows"),
    ("course/order", "course_order", "finds its noun. But"),  # in a section without numbers
    ("course/block", "course_block", "its doctest compares every digit"),
]
CODE = "article .highlight:not(.provenance *)"


@pytest.mark.parametrize(("page", "example", "sentence"), SENTENCES)
def test_prose_and_code_are_dimmed_after_an_edit(open_page, page, example, sentence):
    visit = open_page(page)
    edit_inputs(visit, example)
    prose = visit.page.locator("article p, article summary").filter(has_text=sentence).first
    assert prose.evaluate("element => element.closest('.live-dimmed') !== null")
    are_dimmed = visit.page.locator(CODE).evaluate_all(
        "codes => codes.map(code => code.closest('.live-dimmed') !== null)"
    )
    assert are_dimmed
    assert all(are_dimmed)
    press_bar_button(visit, "Done")
    assert not visit.page.locator(".live-dimmed").count()
