"""The panels of the course pages: every stage, with its words and the references of its numbers."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_docs.examples.course_learned import REASONS
from attention_docs.examples.course_sentence import VOCABULARY, WORDS
from attention_docs.publish.before.figures.drawings.sentence import THEY
from attention_docs.publish.before.figures.drawings.side_panel import SIDE_PANELS, side_panel
from attention_docs.publish.computed import ComputedExamples
from attention_docs.render.numbers import drawn_number, short_number
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

EXAMPLES = ComputedExamples(ROOT)
each_panel = pytest.mark.parametrize("name", SIDE_PANELS)
MAX_WIDTH = 398


MATRICES = ["by-hand", "learned"]
each_switch_position = pytest.mark.parametrize("matrices", MATRICES)


def draw(name, matrices):
    """Return the stages of a panel that are shown in a position of its switch."""
    html = side_panel(name, EXAMPLES.steps_with_references, str)
    by_hand, learned = html.partition('<div class="stages learned">')[::2]
    return {"by-hand": by_hand, "learned": learned}[matrices]


@each_panel
@each_switch_position
def test_side_panel_stages_are_readable_and_fit_their_width(name, matrices):
    pictures = svgs_of(draw(name, matrices))
    for picture in pictures:
        assert_readable(picture)
        assert size(picture)[0] <= MAX_WIDTH
        stage, description = name_and_description(picture)
        assert stage
        assert "boats" in description or "swim" in description


@each_panel
@each_switch_position
def test_every_matrix_has_words_at_rows_and_columns(name, matrices):
    *stages, next_word = svgs_of(draw(name, matrices))
    for picture in stages:
        assert set(WORDS) <= set(texts(shapes(picture)))
    words = VOCABULARY if matrices == "by-hand" else REASONS
    assert set(words) <= set(texts(shapes(next_word)))


@each_panel
@each_switch_position
def test_side_panel_matrices_name_their_head(name, matrices):
    one_head = matrices == "by-hand" and name in (
        "projections",
        "formula",
        "scale",
        "order",
        "mask",
    )
    for stage in re.findall("<b>(.*?)</b>", draw(name, matrices)):
        is_of_a_head = re.match("queries|.*scores|weights|.*output H", stage)
        assert bool(re.search("head [12]|H[₁₂]", stage)) == bool(is_of_a_head and not one_head)


def test_side_panel_shows_the_probable_words_of_the_learned_model():
    assert EXAMPLES.steps("course_learned")["reasons"].sum() > 0.99


@each_panel
@each_switch_position
def test_cells_have_the_number_of_their_reference(name, matrices):
    for picture in svgs_of(draw(name, matrices)):
        for group in ElementTree.fromstring(picture).iter(f"{SVG}g"):
            if "data-val" not in group.attrib:
                continue
            example, _, step = group.get("data-val").partition(".")
            array = EXAMPLES.steps(example)[step]
            for cell in group.findall(f"{SVG}g"):
                value = array[tuple(map(int, cell.get("data-at").split(",")))]
                tooltip, text = (cell.find(f".//{SVG}{tag}") for tag in ("title", "text"))
                if tooltip is not None:
                    assert tooltip.text.endswith(f": {drawn_number(value)}")
                elif value != -np.inf:
                    assert text.text == short_number(value)


@each_panel
@each_switch_position
def test_enlarged_stage_exists_once_per_head_before_the_next_word(name, matrices):
    classes = re.findall(r'<details class="(stage(?: [^"]*)?)"', draw(name, matrices))
    shows_both_heads = matrices == "by-hand" and name in ("heads", "learned")
    assert sum("main" in each for each in classes) == (2 if shows_both_heads else 1)
    assert "next" in classes[-1]


@each_panel
def test_bars_are_as_long_as_the_probabilities(name):
    step, row = SIDE_PANELS[name].next_word
    bars = cells_of(svgs_of(draw(name, "by-hand"))[-1], step)
    probabilities = EXAMPLES.steps(step.split(".")[0])[step.split(".")[1]][row]
    for (_, word), (bar, *_) in bars.items():
        width, full = (float(bar.attributes[each]) for each in ("width", "data-full"))
        assert width == pytest.approx(full * probabilities[word], abs=0.01)


@each_panel
def test_side_panel_output_leads_to_its_next_word(name):
    """The panel of each page up to the heads is one chain of computations."""
    reference, row = SIDE_PANELS[name].next_word
    *_, matrix = next(stage.matrices for stage in SIDE_PANELS[name].stages if stage.key == "output")
    example, _, step = matrix.step.partition(".")
    output = EXAMPLES.steps(example)[step][THEY]
    they_output = EXAMPLES.steps("course_model")["they_outputs"][
        row if "model" in reference else -1
    ]
    np.testing.assert_allclose(output, they_output, rtol=1e-12)


def test_unknown_panel_error_lists_all_names():
    with pytest.raises(
        LookupError, match=r"panel 'nope' is unknown; expected one of projections, .*"
    ):
        side_panel("nope", EXAMPLES.steps_with_references, str)


def test_every_panel_is_on_the_page_of_its_name():
    for name in SIDE_PANELS:
        page = (ROOT / "docs" / "course" / f"{name}.md").read_text(encoding="utf-8")
        assert f"\\panel{{{name}}}" in page
        assert "toc]" in page
