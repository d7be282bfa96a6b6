"""The sentence of the home page: what it shows at first, on hover or tap, and after an edit."""

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.examples.course_sentence import WORDS
from attention_docs.lookup import load_results
from attention_docs.render.numbers import short_number

# The reference and the text of each share that is shown; a measured share has no reference.
SHARES = """
    [...document.querySelectorAll(".share > span")]
        .filter(share => share.checkVisibility({visibilityProperty: true}))
        .map(share => [share.dataset.val, share.textContent])
"""
# The lower edges of what a first visit should show without scrolling.
BOTTOMS = """
    ["h1", ".promise", ".order", ".sentence", ".ways a:last-child"]
        .map(selector => document.querySelector(selector).getBoundingClientRect().bottom)
"""
ARC_WIDTHS = """
    [...document.querySelectorAll(".share")].filter(
        share => share.firstChild.checkVisibility({visibilityProperty: true})
    ).map(share => parseFloat(getComputedStyle(share.lastChild).borderRightWidth))
"""


def expected_shares(step, word):
    """Return the shares that a word takes from each word before it and from itself."""
    row = WORDS.index(word)
    weights = examples.steps("course_mask")[step][row, : row + 1].tolist()
    return [
        [f"course_mask.{step}[{row},{key}]", short_number(weight)]
        for key, weight in enumerate(weights)
    ]


@pytest.fixture
def home(phone, address):
    """The home page without scripts, in a wide window."""
    phone.page.set_viewport_size({"width": 1440, "height": 900})
    phone.load(address)
    return phone.page


def choose_sentence(home, name):
    home.locator(".order label", has_text=name).click()


def words(home, text=None):
    """Return the words of the chosen sentence, or one of them."""
    return home.locator(".word label:visible", has_text=text)


def test_promise_sentence_and_both_links_are_above_the_fold(home):
    for width, height in ((1440, 900), (390, 844)):
        home.set_viewport_size({"width": width, "height": height})
        for choice in home.locator(".order label").all():
            choice.click()
            assert max(home.evaluate(BOTTOMS)) <= height


def test_word_is_chosen_by_hovering_click_and_arrow_key(home):
    assert home.evaluate(SHARES) == expected_shares("weights", "they")
    words(home, "boats").hover()
    assert home.evaluate(SHARES) == expected_shares("weights", "boats")
    home.locator("h1").hover()
    assert home.evaluate(SHARES) == expected_shares("weights", "they")
    words(home, "pass").click()
    home.locator("h1").hover()
    assert home.evaluate(SHARES) == expected_shares("weights", "pass")
    home.keyboard.press("ArrowRight")
    assert home.evaluate(SHARES) == expected_shares("weights", "boats")


def test_swapped_sentence_shows_its_shares_and_next_word(home):
    choose_sentence(home, "boats pass birds")
    assert home.evaluate(SHARES) == expected_shares("weights_swapped", "they")
    assert home.locator(".gap:visible").inner_text() == "sail"


def test_sentence_of_a_real_model_shows_its_recorded_weights(home):
    record = load_results("real_model")["sentence"]
    tokens = [token.strip() for token in record["tokens"]]
    length = tokens.index("they") + 1
    layer, head = record["head"]
    choose_sentence(home, "a real model")
    assert words(home).all_inner_texts() == tokens[:length]
    assert home.locator(".gap:visible").inner_text() == tokens[length]
    assert f"head {head} of layer {layer}" in home.locator(".sentence > p:visible").inner_text()
    for query in range(length):
        weights = record["weights"][query][: query + 1]
        words(home).nth(query).hover()
        assert home.evaluate(SHARES) == [[None, short_number(weight)] for weight in weights]


# In the style sheet, an arc is 1 pixel wide, and up to 22 or 13 pixels wider in proportion to its weight.
def test_arc_width_grows_in_proportion_to_weight(home):
    weights = examples.steps("course_mask")["weights"][WORDS.index("they")]
    for window_width, scale in ((1440, 22), (390, 13)):
        home.set_viewport_size({"width": window_width, "height": 900})
        # Browsers round a border down to whole pixels.
        np.testing.assert_allclose(home.evaluate(ARC_WIDTHS), 1 + scale * weights, atol=1)


def test_home_page_weights_follow_an_edit(open_page):
    page = open_page().page
    before = page.evaluate(SHARES)
    page.locator(".live-try").click()
    page.locator(".live-field").first.fill("-4")
    page.wait_for_selector(".live-changed", state="attached")
    after = page.evaluate(SHARES)
    assert after != before
    weights = [float(text.lstrip("<")) for _, text in after]  # a small one is "<0.01"
    assert np.argmax(page.evaluate(ARC_WIDTHS)) == np.argmax(weights)
