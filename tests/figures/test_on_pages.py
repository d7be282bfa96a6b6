"""Every figure of the site: readability, references, the claims of its caption, and its page."""

import inspect
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.figures.registry import FIGURES, site_figure
from attention_docs.figures.side_panel import SIDE_PANELS, side_panel
from attention_docs.publish.before.figures import (
    PHONE_TEXT_WIDTH,
    TEXT_WIDTH,
    draw_for,
    figure_block,
)
from attention_docs.publish.before.values import resolve
from attention_docs.publish.computed import ComputedExamples
from attention_docs.publish.errors import PublishError
from attention_docs.render.figures.scales import FILLS, SWATCH_HEIGHT
from attention_docs.render.figures.svg import ROLES, attribute_value
from attention_docs.render.numbers import drawn_number, short_number
from tests.conftest import ROOT
from tests.figures.drawing import SVG, faults_of_layout, name_and_description, shapes, size, svgs_of

STEPS = ComputedExamples(ROOT)
STYLE = (ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8")
# A sentence with one of these words compares, so it needs a claim.
COMPARING = re.compile(
    r"\b(almost|close|fall|fast|grow|half|hundredth|larg|less|main|more|most|near|small|slow|steep"
    r"|than|times|twice)\w*",
    re.IGNORECASE,
)
# Sentences that explain how to read a drawing, which the tests of drawings check.
LEGENDS = (
    "Four scores that grow with $\\sqrt{d_k}$, as random scores do without the division",
    "The largest entry of the Jacobian of the same softmax",
    "The thicker a line, the larger the weight",
)


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name, monkeypatch):
    claims = record_claims(name, monkeypatch)
    wide, narrow = draw(name), draw(name, PHONE_TEXT_WIDTH)
    root = ElementTree.fromstring(wide)
    faults = [*faults_of_caption(name, claims), *faults_of_colours(root), *faults_of_cells(root)]
    for shown, expected in shown_and_expected_numbers(root):
        if shown != expected:
            faults.append(f"{shown!r} is shown instead of {expected!r}")
    for picture in svgs_of(wide):
        faults += [*faults_of_description(picture), *faults_of_margins(picture)]
    for picture in {*svgs_of(wide), *svgs_of(narrow)}:
        faults += faults_of_layout(picture)
    assert faults == []


def draw(name, width=TEXT_WIDTH):
    return draw_for(FIGURES[name], STEPS.steps, width)


def record_claims(name, monkeypatch):
    """Return a list that gets the claims of a figure when it is drawn: quotes, and if they hold."""
    claims = []
    module = inspect.getmodule(FIGURES[name])
    if hasattr(module, "claim"):
        monkeypatch.setattr(module, "claim", lambda holds, quote: claims.append((quote, holds)))
    return claims


def faults_of_caption(name, claims):
    caption = " ".join(inspect.getdoc(FIGURES[name]).split())
    for quote, holds in claims:
        if not holds:
            yield f"the data contradict: {quote}"
        if quote not in caption:
            yield f"claim that is not in the caption: {quote}"
    quotes = [*dict(claims), *LEGENDS]
    for sentence in filter(COMPARING.search, re.split(r"(?<=[.:]) ", caption)):
        if not any(quote in sentence for quote in quotes):
            yield f"add claim(...) or reword: {sentence}"


def faults_of_description(picture):
    """Yield what screen readers miss."""
    root = ElementTree.fromstring(picture)
    description_id = root.find(f"{SVG}desc").get("id")
    if (root.get("role"), root.get("aria-describedby")) != ("img", description_id):
        yield "its description does not describe an image"
    title, description = name_and_description(picture)
    if not title or len(description) <= 30:
        yield f"no title or a short description: {title!r}, {description!r}"


def faults_of_margins(picture):
    corners = np.concatenate([shape.corners for shape in shapes(picture)])
    margins = [*corners.min(axis=0), *(size(picture) - corners.max(axis=0))]
    # The page's script can turn the arrows of a plane, whose names need room on all sides.
    room_for_names = 12 if "data-plane" in picture else 0
    limits = [40 + room_for_names, 8, 80, 16 + room_for_names]
    if not np.all(np.less(margins, limits)):
        yield f"margins at the left, top, right and bottom: {margins}; expected below {limits}"


def faults_of_colours(root):
    """Yield colours that are not CSS variables defined in both schemes."""
    light, dark = re.findall(r'\[data-md-color-scheme="\w+"\] \{(.*?)\n *\}', STYLE, re.DOTALL)
    paints = {element.get(name) for element in root.iter() for name in ("fill", "stroke")}
    for paint in paints - {None, "none", "currentColor"}:
        variable_with_fallback = re.fullmatch(r"var\((--[\w-]+), #[0-9a-f]{6}\)", paint)
        definition = f"{variable_with_fallback[1]}:" if variable_with_fallback else ""
        # Cells have the same colours in both schemes.
        in_dark = definition in dark or definition.startswith("--fill-")
        if not (definition and definition in light and in_dark):
            yield f"a colour of no scheme: {paint}"


def faults_of_cells(root):
    """Yield the cells that do not name their step and index."""
    # A box with a stroke is a frame, and one as low as a swatch belongs to the legend.
    boxes = [box for box in root.iter(f"{SVG}rect") if "stroke" not in box.attrib]
    named_cells = set(root.findall(f".//{SVG}g[@data-val]/{SVG}g[@data-at]/{SVG}rect"))
    for box in boxes:
        if float(box.get("height")) != SWATCH_HEIGHT and box not in named_cells:
            yield f"a cell without a reference: {box.attrib}"


def shown_and_expected_numbers(root):
    """Yield the numbers that are shown, and those of their references, both as text."""
    for matrix in root.findall(f".//{SVG}g[@data-val]"):
        is_short = "short" in matrix.get("data-set", "").split()
        number_format = short_number if is_short else drawn_number
        for cell_or_line in matrix.findall(f".//{SVG}g[@data-at]"):
            value, shown = number_at(matrix, cell_or_line), shown_text(cell_or_line)
            if value.dtype == bool:
                yield shown, "✓" if value else ""
            elif shown:  # other cells are masked
                yield shown, number_format(value)
    for series in root.findall(f".//{SVG}g[@data-axis]"):
        factor = float(series.get("data-set").rpartition(" ")[2])
        slope, start, _, *logarithmic = series.get("data-axis").split()
        for point in series.findall("*[@data-at]"):
            shown, _, _ = shown_text(point).rpartition(" at ")
            value = number_at(series, point)
            yield shown, drawn_number(value * factor)
            # Where an edit would move it, were the edited number the same.
            height = float(slope) * (np.log(value) if logarithmic else value) + float(start)
            yield point.get("transform").split()[-1].rstrip(")"), attribute_value(height)
    for point in root.findall(f".//{SVG}path[@data-val][{SVG}title]"):
        coordinates = referenced_number(point.get("data-val"))
        yield shown_text(point), ", ".join(map(drawn_number, coordinates))


def shown_text(element):
    """Return the text of an element, or what follows the colon in its tooltip.

    A minus sign may be printed in a cell that has a tooltip.
    """
    return "".join(element.itertext()).rpartition(": ")[2].removesuffix("−")


def number_at(group, element):
    """Return the number of a drawn step, a group, to which an element in the group belongs."""
    return referenced_number(f"{group.get('data-val')}[{element.get('data-at')}]")


def referenced_number(reference):
    """Return the number, or the part of a row, that a reference like `a.Q[2,0:2]` stands for."""
    example, step, index = re.fullmatch(r"(\w+)\.(\w+)\[([\d,:]+)\]", reference).groups()
    key = []
    for part in index.split(","):
        start, colon, stop = part.partition(":")
        key.append(slice(int(start), int(stop)) if colon else int(start))
    return np.asarray(STEPS.steps(example)[step])[tuple(key)]


def test_clock_hands_have_references_and_point_there():
    hands = ElementTree.fromstring(draw("course_clock")).findall(f".//{SVG}line[@data-val]")
    # The last hand is that of position 5, and the hands of later positions stay with it.
    points = STEPS.steps("course_order")["E"][[0, 1, 2, 3, 4, 4, 4, 4], -2:]
    for hand, point in zip(hands, points, strict=True):
        np.testing.assert_allclose(referenced_number(hand.get("data-val")), point, atol=1e-12)
        x1, y1, x2, y2 = (float(hand.get(end)) for end in ("x1", "y1", "x2", "y2"))
        drawn_hand = np.array([x2 - x1, y1 - y2])  # y grows downwards on paper
        direction = drawn_hand / np.linalg.norm(drawn_hand)
        np.testing.assert_allclose(direction, point, atol=0.02)


def test_false_claim_stops_build_with_page_and_quote():
    def steps_with_equal_weights(name):
        return {**examples.steps(name), "weights": np.full((10, 10), 0.1)}

    with pytest.raises(PublishError) as error_info:
        resolve(
            "A page.\n\n\\figure{batched_second_pair}\n",
            {"figure": lambda name, _: figure_block(name, steps_with_equal_weights, str)},
            lambda line: f"page.md:{line + 1}",
        )
    quote = "less than a hundredth of the weight"
    assert str(error_info.value) == (
        rf"page.md:3: \figure{{batched_second_pair}}: its data contradict its caption: {quote!r}"
    )


def test_duplicate_figure_name_is_refused():
    def course_words(steps_of):
        raise AssertionError("a refused figure is not drawn")

    with pytest.raises(
        ValueError, match=r"figure 'course_words' is in both .*course_averages and .*pages"
    ):
        site_figure(course_words)


def test_every_figure_is_on_exactly_one_page_by_the_name_of_its_module():
    modules = {"course": "course_{}", "reference": "api_pages"}  # by folder of the page
    places = [
        (name, modules.get(page.parent.name, "{}").format(page.stem))
        for page in (ROOT / "docs").rglob("*.md")
        for name in re.findall(r"\\figure\{(\w+)\}", page.read_text(encoding="utf-8"))
    ]
    assert sorted(places) == sorted(
        (name, draw.__module__.rpartition(".")[2]) for name, draw in FIGURES.items()
    )


# The steps of each role, by their names in the notation.
STEPS_OF_ROLE = {
    "input": {"X"},
    "query": {"Q"},
    "key": {"K"},
    "value": {"V"},
    "scores": {"Z", "scores", "scaled", "masked"},
    "weights": {"A", "weights"},
    "output": {"O", "output", "probabilities"},
}


def role_of_step(reference):
    """Return the role of a step like `course_heads.weights_1` or `backward.dA`, if it has one."""
    step = reference.split(".")[1]
    letter, word = re.match(r"d?([A-Z])$|([A-Za-z]+?)\d*(?:_|$)", step).groups()
    roles = [role for role, steps in STEPS_OF_ROLE.items() if (letter or word) in steps]
    return roles[0] if roles else None


def test_cells_have_the_hue_of_their_role():
    drawings = [draw(name) for name in FIGURES]
    drawings += [side_panel(name, STEPS.steps, str) for name in SIDE_PANELS]
    drawn_roles = set()
    for picture in svgs_of("".join(drawings)):
        for group in ElementTree.fromstring(picture).findall(f".//{SVG}g[@data-val]"):
            if group.find(f"{SVG}g/{SVG}rect") is not None:  # a matrix of cells
                reference = group.get("data-val")
                role = role_of_step(reference)
                drawn_roles.add(role)
                assert role is None or group.get("fill") in (FILLS[role], ROLES[role]), reference
    assert drawn_roles >= set(ROLES)
