"""Read the shapes of a figure back from its finished SVG: their position, colour and text."""

import functools
import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"
INHERITED_STYLES = {"fill", "stroke", "stroke-opacity", "text-anchor", "font-size"}
INHERITED_REFERENCES = {"data-val", "data-at"}


@dataclass(frozen=True, eq=False)
class Shape:
    """A visible element, whose attributes include those that it inherits."""

    kind: str
    attributes: dict[str, str]
    text: str
    tooltip: str
    corners: np.ndarray  # (n, 2), x to the right and y downwards

    @functools.cached_property
    def box(self):
        """Return left, top, right and bottom."""
        x, y = self.corners.T.tolist()
        return min(x), min(y), max(x), max(y)

    @property
    def centre(self):
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2

    @property
    def is_filled(self):
        return self.attributes.get("fill") != "none"


def svgs_of(figure):
    return re.findall(r"<svg .*?</svg>", figure, re.DOTALL)


@functools.lru_cache(maxsize=4)
def shapes(picture):
    """Return all visible shapes, in the order in which they are painted."""
    return tuple(_visible_shapes(ElementTree.fromstring(picture), lambda points: points))


def size(picture):
    root = ElementTree.fromstring(picture)
    return float(root.attrib["width"]), float(root.attrib["height"])


def _visible_shapes(node, to_paper):
    """Yield the shapes within a node, whose coordinates `to_paper` maps to those of the figure."""
    for child in node:
        for name in (INHERITED_STYLES | INHERITED_REFERENCES) & set(node.attrib):
            child.attrib.setdefault(name, node.attrib[name])
        child_to_paper = _compose(to_paper, child.attrib.get("transform", ""))
        kind = child.tag.removeprefix(SVG)
        if kind == "g":
            yield from _visible_shapes(child, child_to_paper)
        elif kind not in ("title", "desc"):
            tooltip = child.findtext(f"{SVG}title", "")
            text = "".join(child.itertext()) if kind == "text" else ""
            if kind == "text" and not text:
                continue
            corners = child_to_paper(CORNERS[kind](child))
            yield Shape(kind, child.attrib, text, tooltip, corners)


def _compose(to_paper, transform):
    """Return the map of a child to the figure, from that of its parent and its own transform."""
    if transform.startswith("translate"):
        return lambda points: to_paper(points + numbers(transform))
    if transform.startswith("scale"):
        return lambda points: to_paper(points * numbers(transform))
    if transform.startswith("rotate"):
        degrees, *given_centre = numbers(transform)
        centre = given_centre or [0, 0]
        angle = np.radians(degrees)
        rotation = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        return lambda points: to_paper((points - centre) @ rotation + centre)
    assert not transform
    return to_paper


def _attributes(node, *names):
    """Return numeric attributes of a node, 0 where one is missing."""
    return np.array([float(node.get(name, 0)) for name in names])


def _rectangle_corners(node):
    corner = _attributes(node, "x", "y")
    return np.array([corner, corner + _attributes(node, "width", "height")])


def _text_corners(node):
    """Return the box of a text, with the average letter width of common fonts, 0.55 em."""
    # Points, commas and raised digits are half as wide.
    x, y = _attributes(node, "x", "y")
    font_size = float(node.attrib["font-size"])
    text = "".join(node.itertext())
    half_wide_count = len(re.findall("[.,·⁰¹²³⁴⁵⁶⁷⁸⁹]", text))
    width = 0.55 * font_size * (len(text) - half_wide_count / 2)
    left = x - {"start": 0, "middle": width / 2, "end": width}[node.attrib["text-anchor"]]
    # `label` puts the baseline 4 below the middle at every font size; capitals are 0.72 em high.
    middle, half_height = y - 4, 0.36 * font_size
    return np.array([(left, middle - half_height), (left + width, middle + half_height)])


def _path_points(node):
    """Return the end points and control points of a path."""
    points = []
    current = np.zeros(2)
    for command, arguments in re.findall(r"([MLHVCmlhvca])([^A-Za-z]*)", node.attrib["d"]):
        values = numbers(arguments)
        # Lower-case commands are relative to the current point.
        origin = current if command.islower() else np.zeros(2)
        match command.lower():
            case "h":
                ends = [(origin[0] + values[0], current[1])]
            case "v":
                ends = [(current[0], origin[1] + values[0])]
            case "a":  # of the seven numbers of an arc, the last two are its end
                ends = origin + np.reshape(values, (-1, 7))[:, 5:]
            case _:
                ends = origin + np.reshape(values, (-1, 2))
        points += [np.asarray(end) for end in ends]
        current = points[-1]
    return np.array(points)


CORNERS = {
    "rect": _rectangle_corners,
    "text": _text_corners,
    "path": _path_points,
    "line": lambda node: np.reshape(_attributes(node, "x1", "y1", "x2", "y2"), (2, 2)),
}


def horizontal_texts(picture):
    """Return the texts that are not rotated."""
    labels = [shape for shape in shapes(picture) if shape.text]
    return [label for label in labels if "rotate" not in label.attributes.get("transform", "")]


def with_text(picture, text):
    return [shape for shape in shapes(picture) if shape.text == text]


def name_and_description(picture):
    root = ElementTree.fromstring(picture)
    return root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")


def texts(some_shapes):
    return [shape.text for shape in some_shapes]


def left_to_right(some_shapes):
    return sorted(some_shapes, key=lambda shape: shape.centre[0])


def top_to_bottom(some_shapes):
    return sorted(some_shapes, key=lambda shape: shape.centre[1])


def distance(shape, point):
    """Return the distance between the box of a shape and a point."""
    left, top, right, bottom = shape.box
    nearest = np.clip(point, (left, top), (right, bottom))
    return np.linalg.norm(nearest - point)


def numbers(text):
    """Return the numbers in a text, with either minus sign."""
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", text.replace("−", "-"))]


def cells_of(picture, step):
    """Return the shapes of each cell of a matrix, by row and column, with its box first."""
    cells = defaultdict(list)
    for shape in shapes(picture):
        if shape.attributes.get("data-val") == step and "data-at" in shape.attributes:
            row, column = map(int, shape.attributes["data-at"].split(","))
            cells[row, column].append(shape)
    return cells


def faults_of_layout(picture):
    """Yield what is cut off, texts that are tiny, and texts that overlap."""
    width, height = size(picture)
    for shape in shapes(picture):
        left, top, right, bottom = shape.box
        if not (0 <= left <= right <= width and 0 <= top <= bottom <= height):
            yield f"outside of the drawing (do its axes end before its data?): {shape}"
    labels = [shape for shape in shapes(picture) if shape.text]
    for shape in labels:
        if float(shape.attributes["font-size"]) < 12:
            yield f"a tiny text: {shape}"
    for a, b in combinations(labels, 2):
        (left, top, right, bottom), (left_b, top_b, right_b, bottom_b) = a.box, b.box
        if left < right_b and left_b < right and top < bottom_b and top_b < bottom:
            yield f"texts that overlap: {a.text}, {b.text}"


def assert_readable(picture):
    assert list(faults_of_layout(picture)) == []
