"""After an edit, nothing that a page says, prints or copies keeps a number that it does not show."""

import re

import numpy as np
import pytest

from attention_docs.render.code import numpy_steps
from attention_docs.render.latex import latex_steps
from tests.live.replay import replay

BAR, FIELDS, TRY = ".live-bar", ".live-field", ".live-try"
PAGES = [
    ("", "course_formula"),
    ("course/averages", "course_averages"),
    ("course/order", "course_order"),
    ("mechanisms/self_attention", "values_in_space"),
    ("mechanisms/tiles", "tiles"),
]
# Decimals with four digits after the point, and powers of ten.
ROUNDED = re.compile(r"\d+\.\d{4}\b|\d\.\d ?(?:e|× ?10)")
# The rest of a page follows 0.1 s after the numbers.
REST_FOLLOWS = "new Promise(done => setTimeout(done, 200))"
SHOWN = """
    () => [...document.querySelectorAll(
        "table[data-val] td, g[data-val] text, [data-val]:not(table, g, path)"
    )].map(spot => {
        const field = spot.querySelector("input");
        return field ? Number(field.value).toFixed(4) : spot.textContent;
    })
"""
# What is folded is read too. Printed code is set aside where a number of the page has changed, and
# the code to copy, which holds more numbers than the page shows, has a test of its own.
READ_ALL = """
    () => {
        document.querySelectorAll("article details").forEach(fold => { fold.open = true; });
        document.querySelectorAll(".highlight.live-set-back, .live-set-back .highlight, [data-copy]")
            .forEach(code => code.remove());
    }
"""
PARTS = ("name", "description", "value")
# The numbers of a text or a figure have one stop of the keyboard, which says one of them.
VISIT_STOPS = """
    () => document.querySelectorAll(".live-stop").forEach(stop => { stop.focus(); stop.blur(); })
"""
FORMULAS = """
    () => [...document.querySelectorAll(".katex")].map(formula => ["val", "spoken"].map(copy =>
        [...formula.querySelectorAll(`[data-${copy}]`)]
            .map(number => `${number.dataset[copy]} = ${number.textContent.replaceAll(/\\s/g, "")}`)
            .sort()
    ))
"""


def edit(visit, example, count=6):
    """Change the first inputs of an example."""
    visit.page.locator(f'{TRY}[data-example="{example}"]').first.dispatch_event("click")
    visit.page.wait_for_selector(BAR)
    fields = visit.page.locator(FIELDS)
    for i in range(min(fields.count(), count)):
        fields.nth(i).fill(f"{1.13 + 0.37 * i:.2f}")
    visit.page.evaluate(REST_FOLLOWS)
    assert "differ from the page's own" in visit.page.locator(".live-status").inner_text()


def finish(visit):
    visit.page.locator(f"{BAR} button", has_text="Done").click()


def numbers(texts):
    return {number for text in texts for number in ROUNDED.findall(text)}


def read_out(visit):
    """What Chromium gives to a screen reader: names and values, without the nodes left out."""
    visit.page.evaluate(READ_ALL)
    devtools = visit.page.context.new_cdp_session(visit.page)
    nodes = devtools.send("Accessibility.getFullAXTree")["nodes"]
    devtools.detach()
    said = (node.get(part, {}) for node in nodes if not node["ignored"] for part in PARTS)
    return [str(each["value"]) for each in said if each.get("value")]


@pytest.mark.parametrize(("page", "example"), PAGES)
def test_screen_reader_gets_no_number_that_is_no_longer_shown(come_to, page, example):
    visit = come_to(page)
    visit.page.keyboard.press("Tab")
    visit.page.wait_for_selector(".live-stop", state="attached")
    visit.page.evaluate(VISIT_STOPS)
    visit.page.wait_for_selector(".live-card", state="detached")
    built = numbers(visit.page.evaluate(SHOWN))
    edit(visit, example)
    gone = built - numbers(visit.page.evaluate(SHOWN))
    assert gone, "the edit changes no number of four decimals"
    assert [text for text in read_out(visit) if gone & numbers([text])] == []
    for seen, spoken in visit.page.evaluate(FORMULAS):
        assert spoken == seen
    assert visit.complaints == []


def test_description_of_a_figure_returns_with_its_numbers(come_to):
    visit = come_to("mechanisms/self_attention")
    description = visit.page.locator("svg:has(g[data-val]) desc").first
    before = description.text_content()
    edit(visit, "self_attention")
    assert description.text_content().startswith("You have changed numbers of this figure.")
    finish(visit)
    assert description.text_content() == before


def test_stop_of_points_says_their_numbers_after_an_edit(come_to):
    visit = come_to("mechanisms/self_attention")
    edit(visit, "values_in_space")
    visit.page.keyboard.press("Tab")
    visit.page.locator('.figure-box:has(path[data-val^="values_in_space"]) > .live-stop').focus()
    row = visit.page.locator('table[data-val="values_in_space.output"] tr').first
    said = visit.page.evaluate("document.activeElement.textContent")
    assert said == f"O1: {', '.join(row.locator('td').all_inner_texts())} (1 of 6)"


SENTENCES = [
    ("", "self_attention", "the values happen to equal the queries"),
    ("", "course_formula", "each word looks at the words around it"),
    ("mechanisms/self_attention", "self_attention", "a sharper first row"),
    ("mechanisms/masks", "causal_padding", "The last query has a negative score"),
    ("course/next_token", "course_next_token", "it begins to go in circles"),
    ("mechanisms/kv_cache", "kv_cache", "a new token changes the outputs"),
    ("course/block", "course_block", "its doctest compares every digit"),
]
CODE = "article .highlight:not(.provenance *)"


@pytest.mark.parametrize(("page", "example", "sentence"), SENTENCES)
def test_sentences_and_code_that_an_edit_can_make_false_step_back(come_to, page, example, sentence):
    visit = come_to(page)
    edit(visit, example)
    said = visit.page.locator("article p, article summary").filter(has_text=sentence).first
    assert said.evaluate("said => said.closest('.live-set-back') !== null")
    is_told = visit.page.locator(CODE).evaluate_all(
        "codes => codes.map(code => code.closest('.live-set-back') !== null)"
    )
    assert is_told
    assert all(is_told)
    finish(visit)
    assert not visit.page.locator(".live-set-back, .live-why").count()


def test_code_to_copy_holds_the_numbers_that_are_shown(come_to):
    visit = come_to("mechanisms/self_attention")
    codes = visit.page.locator('[data-of="self_attention"] [data-copy] code')
    before = codes.all_text_contents()
    edit(visit, "self_attention", count=1)
    x = np.array(replay("self_attention", {}).steps["X"])
    x[0, 0] = 1.13
    steps = replay("self_attention", {"X": x}).steps
    assert codes.all_text_contents() == [
        f"{write(steps)}\n" for write in (numpy_steps, latex_steps)
    ]
    finish(visit)
    assert codes.all_text_contents() == before
