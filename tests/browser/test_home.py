"""The sentence of the home page: what it shows at first, on hover or tap, and after an edit."""

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.publish.before.results import load_results
from attention_docs.render.numbers import short_number
from tests.browser.visit import url_path

SHARES = """
    [...document.querySelectorAll(".share > span")]
        .filter(share => share.checkVisibility({visibilityProperty: true}))
        .map(share => [share.dataset.val, share.textContent])
"""
BOTTOMS = """
    ["h1", ".promise", ".order", ".sentence", ".ways a:last-child"]
        .map(selector => document.querySelector(selector).getBoundingClientRect().bottom)
"""
ARC_WIDTHS = """
    [...document.querySelectorAll(".share")].filter(
        share => share.firstChild.checkVisibility({visibilityProperty: true})
    ).map(share => parseFloat(getComputedStyle(share.lastChild).borderRightWidth))
"""


def expected_shares(step, row):
    weights = examples.steps("course_mask")[step][row, : row + 1].tolist()
    return [
        [f"course_mask.{step}[{row},{key}]", short_number(weight)]
        for key, weight in enumerate(weights)
    ]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_promise_sentence_and_both_links_are_above_the_fold(phone, address, width, height):
    phone.page.set_viewport_size({"width": width, "height": height})
    phone.load(address + url_path(""))
    for choice in phone.page.locator(".order label").all():
        choice.click()
        assert max(phone.page.evaluate(BOTTOMS)) <= height


def test_every_word_can_be_selected_without_scripts(phone, address):
    phone.page.set_viewport_size({"width": 1440, "height": 900})
    phone.load(address + url_path(""))
    page = phone.page
    assert page.evaluate(SHARES) == expected_shares("weights", 4)
    page.locator(".word label").nth(2).hover()
    assert page.evaluate(SHARES) == expected_shares("weights", 2)
    page.locator("h1").hover()
    assert page.evaluate(SHARES) == expected_shares("weights", 4)
    page.locator(".word label").nth(1).click()
    page.locator("h1").hover()
    assert page.evaluate(SHARES) == expected_shares("weights", 1)
    page.locator(".word input").nth(1).press("ArrowRight")
    assert page.evaluate(SHARES) == expected_shares("weights", 2)
    page.locator(".order label").nth(1).click()
    assert page.evaluate(SHARES) == expected_shares("weights_swapped", 4)
    assert page.locator(".gap:visible").inner_text() == "sail"


def test_third_choice_shows_the_recorded_weights_of_a_real_head(phone, address):
    phone.page.set_viewport_size({"width": 1440, "height": 900})
    phone.load(address + url_path(""))
    page = phone.page
    page.locator(".order label").nth(2).click()
    record = load_results("real_model")["sentence"]
    # These numbers were measured, so they have no reference.
    for query in (5, 1):
        weights = record["weights"][query][: query + 1]
        page.locator(".word label:visible").nth(query).hover()
        assert page.evaluate(SHARES) == [[None, short_number(weight)] for weight in weights]
    assert page.locator(".word label:visible").all_inner_texts() == [
        token.strip() for token in record["tokens"][:6]
    ]
    assert page.locator(".gap:visible").inner_text() == "are"
    assert "head 8 of layer 13" in page.locator(".sentence > p:visible").inner_text()


@pytest.mark.parametrize("width", [1440, 390])
def test_arc_widths_are_proportional_to_weights(phone, address, width):
    phone.page.set_viewport_size({"width": width, "height": 900})
    phone.load(address + url_path(""))
    widths = phone.page.evaluate(ARC_WIDTHS)
    shares = examples.steps("course_mask")["weights"][4]
    # Browsers round a border down to whole pixels.
    full = 22 if width > 400 else 13
    np.testing.assert_allclose(widths, 1 + full * shares, atol=1)


def test_home_page_weights_follow_an_edit(open_page):
    visit = open_page("", width=1280, height=900)
    page = visit.page
    page.locator(".live-try").click()
    field = page.locator(".live-field").first
    before = page.evaluate(SHARES)
    field.fill("-4")
    page.wait_for_selector(".live-changed", state="attached")
    after = page.evaluate(SHARES)
    assert after != before
    strokes = page.evaluate(ARC_WIDTHS)
    largest = int(np.argmax(strokes))
    numbers = [float(text.lstrip("<")) for _, text in after]
    assert largest == int(np.argmax(numbers))
