"""The panels of the course pages: every stage, with its words and the references of its numbers."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_docs.examples.course_learned import REASONS
from attention_docs.examples.course_sentence import VOCABULARY, WORDS
from attention_docs.figures.side_panel import SIDE_PANELS, side_panel
from attention_docs.lookup import look_up_array
from attention_docs.publish.computed import ComputedExamples
from attention_docs.render.figures.bars import WIDTH
from attention_docs.render.numbers import short_number
from tests.conftest import ROOT
from tests.figures.drawing import (
    SVG,
    assert_readable,
    cells_of,
    name_and_description,
    shapes,
    size,
    svgs_of,
    texts,
)

STEPS = ComputedExamples(ROOT).steps
PANELS_WITH_SWITCH = ("learned", "writing")
PANELS_WITH_NEXT_WORD = ("next_token", *PANELS_WITH_SWITCH)
PANELS_WITH_ONE_HEAD = ("projections", "formula", "scale", "order", "mask")
MAX_WIDTH = 398
each_switch_position = pytest.mark.parametrize(
    ("name", "matrices"),
    [(name, "by-hand") for name in SIDE_PANELS]
    + [(name, "learned") for name in PANELS_WITH_SWITCH],
)
LANDMARK = re.compile(r"data-stage=(\w+)")


def draw(name, matrices):
    """Return the stages of a panel that are shown in a position of its switch."""
    html = side_panel(name, STEPS, str)
    by_hand, _, learned = html.partition('<div class="stages learned">')
    return by_hand if matrices == "by-hand" else learned


@each_switch_position
def test_stages_are_readable_and_have_words_and_the_numbers_of_their_references(name, matrices):
    pictures = svgs_of(draw(name, matrices))
    for picture in pictures:
        assert_readable(picture)
        assert size(picture)[0] <= MAX_WIDTH
        stage, description = name_and_description(picture)
        assert stage
        assert "boats" in description or "swim" in description
        groups = ElementTree.fromstring(picture).findall(f".//{SVG}g[@data-val]")
        cells = [
            (group.get("data-val"), cell) for group in groups for cell in group.findall(f"{SVG}g")
        ]
        assert cells
        for step, cell in cells:
            value = look_up_array(step, STEPS)[tuple(map(int, cell.get("data-at").split(",")))]
            tooltip = cell.findtext(f".//{SVG}title")
            if tooltip is not None:
                assert tooltip.endswith(f": {short_number(value)}")
            elif value != -np.inf:  # a score that the mask hides has no text
                assert cell.findtext(f".//{SVG}text") == short_number(value)
    if name in PANELS_WITH_NEXT_WORD:
        next_words = VOCABULARY if matrices == "by-hand" else REASONS
        assert set(next_words) <= set(texts(shapes(pictures.pop())))
    for picture in pictures:
        assert set(WORDS) <= set(texts(shapes(picture)))


@pytest.mark.parametrize("name", SIDE_PANELS)
def test_panel_shows_nothing_that_the_course_introduces_later(name):
    html = side_panel(name, STEPS, str)
    assert ('data-stage="next"' in html) == (name in PANELS_WITH_NEXT_WORD)
    assert ('class="switch"' in html) == (name in PANELS_WITH_SWITCH)
    assert ("head 2" in html) == (name not in PANELS_WITH_ONE_HEAD)
    assert ("clock" in html) == (name not in ("projections", "formula", "scale"))
    assert ("masked" in html) == (name in ("mask", "heads"))


@pytest.mark.parametrize("name", SIDE_PANELS)
def test_landmarks_of_a_page_name_stages_of_its_panel(name):
    text = (ROOT / "docs" / "course" / f"{name}.md").read_text(encoding="utf-8")
    named = set(LANDMARK.findall(text))
    assert named
    assert named <= {"next", *(stage.key for stage in SIDE_PANELS[name].stages)}


@each_switch_position
def test_stage_names_its_head_if_the_panel_shows_two(name, matrices):
    has_two_heads = matrices == "learned" or name not in PANELS_WITH_ONE_HEAD
    for stage in re.findall("<b>(.*?)</b>", draw(name, matrices)):
        belongs_to_a_head = bool(re.match("queries|.*scores|weights|.*output H", stage))
        names_head = bool(re.search("head [12]|H[₁₂]", stage))
        assert names_head == (belongs_to_a_head and has_two_heads)


def test_words_shown_for_the_learned_model_have_nearly_all_probability():
    assert look_up_array("course_learned.reasons", STEPS).sum() > 0.99


@each_switch_position
def test_enlarged_stage_exists_once_per_head(name, matrices):
    classes = re.findall(r'<details class="(stage(?: [^"]*)?)"', draw(name, matrices))
    enlarges_both_heads = matrices == "by-hand" and name in ("heads", "learned")
    enlarged = [stage_class for stage_class in classes if "main" in stage_class]
    assert len(enlarged) == (2 if enlarges_both_heads else 1)


@pytest.mark.parametrize("name", PANELS_WITH_NEXT_WORD)
def test_bars_are_as_long_as_the_probabilities(name):
    reference = SIDE_PANELS[name].next_word
    probabilities = look_up_array(reference, STEPS)
    *_, next_word_picture = svgs_of(draw(name, "by-hand"))
    bars = cells_of(next_word_picture, step=reference.partition("[")[0])
    assert len(bars) == len(VOCABULARY)
    for (_, word), shapes_of_word in bars.items():
        bar = shapes_of_word[0].attributes
        expected_width = WIDTH * probabilities[word]
        assert float(bar["width"]) == pytest.approx(expected_width, abs=0.01)
