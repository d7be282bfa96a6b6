"""The figure of all heads of a real model enlarges the head that the reader chooses or points at."""

import base64
import re
from html import unescape

import pytest

from attention_docs.figures import course_at_full_size as heads_figure
from attention_docs.lookup import load_results
from tests.browser.visit import url_path

PAGE, FIGURE = "course/at_full_size", ".all-heads"
RECORD = load_results("real_model")
SENTENCES = RECORD["sentences"]
LAYERS, HEADS = len(SENTENCES[0]["percent"]), len(SENTENCES[0]["percent"][0])
# The head that the page shows first.
PRONOUN_HEAD, _ = heads_figure.strongest_heads()["Pronoun"]
MIDDLE_LAYER = 16
OTHER_HEAD = (28, 8)  # the layer and the index of a head that is not chosen at first
STATUS = f"{FIGURE} > output"
# The enlarged heads that are visible.
ENLARGED = """
    [...document.querySelectorAll(".all-heads .state svg")].filter(svg => svg.checkVisibility()).map(svg => {
        const texts = [...svg.querySelectorAll("text")].map(text => text.textContent);
        const numbers = [...svg.querySelectorAll(".numbers text")].map(text => text.textContent);
        const opacities = [...svg.querySelectorAll(".boxes path")].map(box => Number(box.getAttribute("opacity") ?? 1));
        const description = svg.querySelector("desc").textContent;
        return {heading: texts[0], numbers, opacities, tokens: texts.slice(1 + numbers.length), description};
    })
"""
# The shapes of the small pictures of all heads.
SMALL_PICTURES = (
    "[...document.querySelectorAll('.all-heads .small path')].map(path => path.getAttribute('d'))"
)


def choose(visit, layer, head):
    for name, value in (("layer", layer), ("head", head)):
        visit.page.get_by_label(name, exact=True).fill(str(value))
    wait_for_head(visit, layer, head)


def wait_for_head(visit, layer, head):
    visit.wait_until(
        f"document.querySelector('{STATUS}').value.startsWith('Layer {layer}, head {head}.')"
        f" && document.querySelector('.all-heads .state text').textContent === 'layer {layer}, head {head}'"
    )


def assert_shows(visit, layer, head, sentence=SENTENCES[0]):
    """Assert that the figure shows a head as it is recorded."""
    tokens, percents = sentence["tokens"], base64.b64decode(sentence["percent"][layer][head])
    # Another sentence is fetched first, and until then the figure shows the previous one.
    visit.wait_until(
        f"document.querySelector('.all-heads .state .numbers').childElementCount === {len(percents)}"
    )
    (shown,) = visit.page.evaluate(ENLARGED)
    assert shown["heading"] == f"layer {layer}, head {head}"
    assert shown["numbers"] == [str(percent or "") for percent in percents]
    assert shown["opacities"] == [percent / 100 for percent in percents]
    assert shown["tokens"] == [*tokens, *tokens, "asks", "is asked"]
    assert shown["description"] == heads_figure.enlarged_head(sentence, layer, head).description
    status = visit.page.locator(STATUS).inner_text()
    summary = heads_figure.summary_of_head(sentence, layer, head)
    assert status == unescape(re.sub("<[^>]*>", "", summary))
    of_last_token = list(percents[-len(tokens) :])
    largest = max(of_last_token)
    assert f"gives {largest} to “{tokens[of_last_token.index(largest)]}”" in status


def centre_of(visit, layer, head):
    """Return the middle of a small picture, in the window."""
    visit.page.locator(f"{FIGURE} .small").scroll_into_view_if_needed()
    # Playwright finds no box of a shape that is not painted.
    box = visit.page.locator(f"{FIGURE} .target").evaluate(
        "element => element.getBoundingClientRect().toJSON()"
    )
    return (
        box["x"] + box["width"] * (layer + 0.5) / LAYERS,
        box["y"] + box["height"] * (head + 0.5) / HEADS,
    )


def test_fields_enlarge_any_head_and_report_numbers_without_one(open_page):
    visit = open_page(PAGE)
    for layer, head in ((0, 0), (LAYERS - 1, HEADS - 1), (4, 7)):
        choose(visit, layer, head)
        assert_shows(visit, layer, head)
    for text in (str(LAYERS), "-1", "1.5", ""):
        visit.page.get_by_label("layer", exact=True).fill(text)
        message = f"There is no such layer: type a whole number from 0 to {LAYERS - 1}."
        assert visit.page.locator(STATUS).inner_text() == message
        assert visit.page.evaluate(ENLARGED)[0]["heading"] == "layer 4, head 7"


def test_each_sentence_shows_its_tokens_and_small_pictures_of_all_heads(open_page):
    visit = open_page(PAGE)
    for head, sentence in enumerate(SENTENCES):
        visit.page.get_by_label("sentence").select_option(sentence["text"])
        choose(visit, MIDDLE_LAYER, head)  # another head for each sentence
        assert_shows(visit, MIDDLE_LAYER, head, sentence)
        ids = visit.page.locator(f"{FIGURE} .tokens small").all_inner_texts()
        assert [int(id_) for id_ in ids] == sentence["ids"]
        next_tokens = visit.page.locator(f"{FIGURE} dt").all_inner_texts()
        assert next_tokens == list(sentence["next"])
        small = heads_figure.small_pictures(sentence)
        assert visit.page.evaluate(SMALL_PICTURES) == re.findall(r' d="([^"]*)"', small)


def test_each_kind_is_shown_on_its_sentence_and_all_are_printed(open_page):
    visit = open_page(PAGE)
    for kind, (place, index) in heads_figure.strongest_heads().items():
        visit.page.get_by_role("button", name=kind, exact=True).click()
        wait_for_head(visit, *place)
        assert_shows(visit, *place, SENTENCES[index])
        assert visit.page.get_by_label("sentence").input_value() == str(index)
    visit.emulate_print()
    assert len(visit.page.evaluate(ENLARGED)) == len(heads_figure.KINDS)
    assert not visit.page.locator(f"{FIGURE} .hands-on:visible").count()


def test_pointing_shows_a_head_and_clicking_keeps_and_frames_it(open_page):
    visit = open_page(PAGE)
    visit.page.mouse.move(*centre_of(visit, 9, 2))
    wait_for_head(visit, 9, 2)
    assert_shows(visit, 9, 2)
    visit.page.mouse.move(0, 0)
    wait_for_head(visit, *PRONOUN_HEAD)
    visit.page.mouse.click(*centre_of(visit, *OTHER_HEAD))
    visit.page.mouse.move(0, 0)
    wait_for_head(visit, *OTHER_HEAD)
    assert_shows(visit, *OTHER_HEAD)
    assert visit.page.get_by_label("head", exact=True).input_value() == "8"
    x, y = centre_of(visit, *OTHER_HEAD)
    frame = visit.page.locator(f"{FIGURE} .chosen").bounding_box()
    assert frame["x"] + frame["width"] / 2 == pytest.approx(x, abs=1)
    assert frame["y"] + frame["height"] / 2 == pytest.approx(y, abs=1)


def test_keyboard_alone_chooses_sentence_head_and_kind(open_page):
    visit = open_page(PAGE)
    layer, head = PRONOUN_HEAD
    visit.page.get_by_label("sentence").focus()
    visit.page.keyboard.press("ArrowDown")
    for _ in range(3):  # past the reader's own text and its button
        visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("ArrowUp")  # the next layer
    assert visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("ArrowDown")  # the head before
    wait_for_head(visit, layer + 1, head - 1)
    assert_shows(visit, layer + 1, head - 1, SENTENCES[1])
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")  # the button of the pronoun's head
    wait_for_head(visit, layer, head)
    assert_shows(visit, layer, head)


def test_weights_are_fetched_once_by_the_first_choice_that_succeeds(open_page):
    visit = open_page(PAGE)

    def fetched():
        return [url.rpartition("/")[2] for url in visit.requests if "/heads/" in url]

    assert fetched() == []
    visit.page.route("**/heads/*.js", lambda route: route.abort())
    visit.page.get_by_label("layer", exact=True).fill("4")
    visit.page.get_by_text("Could not fetch the weights. Are you online?").wait_for()
    visit.page.unroute_all()
    choose(visit, 4, 7)
    choose(visit, 5, 6)
    assert_shows(visit, 5, 6)
    assert fetched() == ["0.js", "0.js"], "one request failed, and one was enough for both heads"
    visit.errors.clear()  # the request that this test aborted


def test_one_head_of_each_kind_is_shown_without_scripts(phone, address):
    phone.load(address + url_path(PAGE))
    assert phone.page.locator(f"{FIGURE} .state svg").count() == len(heads_figure.KINDS)
    assert all(svg.is_visible() for svg in phone.page.locator(f"{FIGURE} svg").all())
    assert not phone.page.locator(f"{FIGURE} .hands-on:visible").count()


def test_link_keeps_sentence_layer_and_head(open_page):
    visit = open_page(f"{PAGE}/index.html#head=1.{MIDDLE_LAYER}.2", width=320, height=800)
    visit.wait_until(
        f"document.querySelector('{STATUS}').value.startsWith('Layer {MIDDLE_LAYER}, head 2')"
    )
    assert visit.page.get_by_label("sentence").input_value() == "1"
    visit.page.get_by_label("head", exact=True).fill("3")
    visit.wait_until(f"location.hash === '#head=1.{MIDDLE_LAYER}.3'")
    choose(visit, LAYERS - 1, 0)  # on a phone, its small picture is scrolled to
    visit.wait_until(
        "document.querySelector('.all-heads .chosen').getBoundingClientRect().right <= innerWidth"
    )
