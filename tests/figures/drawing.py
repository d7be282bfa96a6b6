"""A ruler for figures: what stands where, and what it says, read from the finished SVG alone."""

import functools
import re
from collections import defaultdict
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from attention_docs.render.figures.svg import ROLES

SVG = "{http://www.w3.org/2000/svg}"
INHERITED = {"fill", "stroke", "stroke-opacity", "text-anchor", "font-size", "data-val", "data-at"}


@dataclass(frozen=True, eq=False)
class Shape:
    """A visible element: its kind, attributes, text, tooltip, and corners on the paper.

    Its attributes include those that it inherits.
    """

    kind: str
    attributes: dict[str, str]
    text: str
    tip: str
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
    def filled(self):
        return self.attributes.get("fill") != "none"


def drawings_of(figure):
    """Return the drawings of a figure, one or several."""
    return re.findall(r"<svg .*?</svg>", figure, re.DOTALL)


@functools.lru_cache(maxsize=4)
def shapes(picture):
    """Return everything that is drawn, in the order in which it is painted."""
    return tuple(_drawn(ElementTree.fromstring(picture), lambda points: points))


def size(picture):
    root = ElementTree.fromstring(picture)
    return float(root.attrib["width"]), float(root.attrib["height"])


def _drawn(node, place):
    for child in node:
        for name in INHERITED & set(node.attrib):
            child.attrib.setdefault(name, node.attrib[name])
        inner = _within(child.attrib.get("transform", ""), place)
        kind = child.tag.removeprefix(SVG)
        if kind == "g":
            yield from _drawn(child, inner)
        elif kind not in ("title", "desc"):
            tip = child.findtext(f"{SVG}title", "")
            text = "".join(child.itertext()) if kind == "text" else ""
            yield Shape(kind, child.attrib, text, tip, inner(CORNERS[kind](child)))


def _within(transform, place):
    if transform.startswith("translate"):
        return lambda points: place(points + numbers(transform))
    if transform.startswith("rotate"):
        degrees, *centre = numbers(transform)
        angle = np.radians(degrees)
        turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        return lambda points: place((points - centre) @ turn + centre)
    assert not transform
    return place


def _attributes(node, *names):
    return np.array([float(node.get(name, 0)) for name in names])


def _rectangle(node):
    corner, size = _attributes(node, "x", "y"), _attributes(node, "width", "height")
    return np.array([corner, corner + size])


def _text(node):
    """Return the box of a text in a common font, whose letters are 0.55 of its size wide."""
    x, y = _attributes(node, "x", "y")
    font = float(node.attrib["font-size"])
    width = 0.55 * font * len("".join(node.itertext()))
    left = x - {"start": 0, "middle": width / 2, "end": width}[node.attrib["text-anchor"]]
    # The middle of a label is 4 above its baseline, whatever the size of its font.
    return np.array([(left, y - 4 - font * 0.36), (left + width, y - 4 + font * 0.36)])


def _path(node):
    """Return the end points and control points of a path."""
    points, at = [], np.zeros(2)
    for command, given in re.findall(r"([MLHVCmlhvca])([^A-Za-z]*)", node.attrib["d"]):
        given = numbers(given)
        start = at if command.islower() else np.zeros(2)
        match command.lower():
            case "h":
                steps = [(start[0] + given[0], at[1])]
            case "v":
                steps = [(at[0], start[1] + given[0])]
            case "a":
                steps = start + np.reshape(given, (-1, 7))[:, 5:]
            case _:
                steps = start + np.reshape(given, (-1, 2))
        points += [np.asarray(step) for step in steps]
        at = points[-1]
    return np.array(points)


CORNERS = {
    "rect": _rectangle,
    "text": _text,
    "path": _path,
    "line": lambda node: np.reshape(_attributes(node, "x1", "y1", "x2", "y2"), (2, 2)),
}


def words_of(picture):
    """Return the texts that are written from left to right."""
    upright = (s for s in shapes(picture) if "rotate" not in s.attributes.get("transform", ""))
    return [shape for shape in upright if shape.text]


def named(picture, text):
    """Return the shapes with exactly this text."""
    return [shape for shape in shapes(picture) if shape.text == text]


def told(picture):
    """Return the name and the description that a screen reader says."""
    root = ElementTree.fromstring(picture)
    return root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")


def texts(found):
    return [shape.text for shape in found]


def leftmost(found):
    return sorted(found, key=lambda shape: shape.centre[0])


def topmost(found):
    return sorted(found, key=lambda shape: shape.centre[1])


def distance(shape, point):
    """Return how far a shape is from a point."""
    left, top, right, bottom = shape.box
    return np.hypot(*(np.clip(point, (left, top), (right, bottom)) - point))


def numbers(text):
    return [float(found) for found in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]


def paint(role):
    return ROLES.get(role, "currentColor")


def cells_of(picture, step):
    """Return the shapes in each cell of a named matrix, by row and column; its box comes first."""
    found = defaultdict(list)
    for shape in shapes(picture):
        if shape.attributes.get("data-val") == step and "data-at" in shape.attributes:
            found[tuple(map(int, shape.attributes["data-at"].split(",")))].append(shape)
    return found


def overlap(one, other):
    left, top, right, bottom = one.box
    left_, top_, right_, bottom_ = other.box
    return min(right, right_) - max(left, left_) > 0 and min(bottom, bottom_) - max(top, top_) > 0


def assert_readable(picture):
    """Assert that nothing is cut off and that no text is tiny or lies on other text."""
    width, height = size(picture)
    drawn = shapes(picture)
    for shape in drawn:
        left, top, right, bottom = shape.box
        assert 0 <= left <= right <= width, shape
        assert 0 <= top <= bottom <= height, shape
    words = [shape for shape in drawn if shape.text]
    for shape in words:
        assert float(shape.attributes["font-size"]) >= 10, shape
    for index, one in enumerate(words):
        for other in words[index + 1 :]:
            assert not overlap(one, other), (one.text, other.text)
