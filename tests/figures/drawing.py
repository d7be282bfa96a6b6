"""A ruler for figures: what stands where, and what it says, read from the finished SVG alone."""

import functools
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from attention_docs.render.figures.svg import ROLES

SVG = "{http://www.w3.org/2000/svg}"
INHERITED = {"fill", "stroke", "stroke-opacity", "text-anchor", "font-size"}


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
    def opacity(self):
        return float(self.attributes["fill-opacity"])

    @property
    def upright(self):
        return "rotate" not in self.attributes.get("transform", "")

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
        elif kind not in ("title", "desc") and not _only_to_point_at(child):
            tip = child.findtext(f"{SVG}title", "")
            text = "".join(child.itertext()) if kind == "text" else ""
            yield Shape(kind, child.attrib, text, tip, inner(CORNERS[kind](child)))


def _only_to_point_at(element):
    return element.attrib.get("fill") == "none" and "stroke" not in element.attrib


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
    return [float(node.attrib.get(name, 0)) for name in names]


def _rectangle(node):
    x, y, width, height = _attributes(node, "x", "y", "width", "height")
    return np.array([(x, y), (x + width, y + height)])


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
    points, at, first = [], np.zeros(2), np.zeros(2)
    for command, given in re.findall(r"([A-Za-z])([^A-Za-z]*)", node.attrib["d"]):
        given = numbers(given)
        start = at if command.islower() else np.zeros(2)
        match command.lower():
            case "h":
                steps = [(start[0] + given[0], at[1])]
            case "v":
                steps = [(at[0], start[1] + given[0])]
            case "z":
                steps = [first]
            case "a":
                steps = start + np.reshape(given, (-1, 7))[:, 5:]
            case "m" | "l" | "c":
                steps = start + np.reshape(given, (-1, 2))
        points += list(map(np.asarray, steps))
        at = points[-1]
        first = at if command.lower() == "m" else first
    return np.array(points, dtype=float)


CORNERS = {
    "rect": _rectangle,
    "text": _text,
    "path": _path,
    "line": lambda node: np.reshape(_attributes(node, "x1", "y1", "x2", "y2"), (2, 2)),
}


def named(picture, text):
    """Return the shapes with exactly this text."""
    return [shape for shape in shapes(picture) if shape.text == text]


def name(picture):
    return ElementTree.fromstring(picture).findtext(f"{SVG}title")


def told(picture):
    """Return what a screen reader says."""
    return ElementTree.fromstring(picture).findtext(f"{SVG}desc")


def texts(found):
    return [shape.text for shape in found]


def leftmost(found):
    return sorted(found, key=lambda shape: shape.centre[0])


def topmost(found):
    return sorted(found, key=lambda shape: shape.centre[1])


def numbers(text):
    return [float(found) for found in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]


class Table(NamedTuple):
    """The grid lines of a drawn matrix: their places from left to right, and downwards."""

    x: np.ndarray
    y: np.ndarray

    @property
    def shape(self):
        return len(self.y) - 1, len(self.x) - 1

    def box(self, row=None, column=None):
        """Return the box around a row, a column, a cell, or the whole table."""
        (top, bottom), (left, right) = (
            (lines[0], lines[-1]) if i is None else lines[i % (len(lines) - 1) :][:2]
            for i, lines in ((row, self.y), (column, self.x))
        )
        return left, top, right, bottom

    def cell(self, point):
        """Return the row and the column in which a point lies."""
        x, y = point
        return int(np.searchsorted(self.y, y)) - 1, int(np.searchsorted(self.x, x)) - 1


def tables_of(picture):
    """Return the grids of all matrices."""
    found = []
    for shape in shapes(picture):
        if shape.kind == "path" and shape.attributes.get("stroke-opacity") == "0.3":
            lines = shape.corners.reshape(-1, 2, 2)
            down = lines[:, 0, 0] == lines[:, 1, 0]
            found.append(Table(np.sort(lines[down, 0, 0]), np.sort(lines[~down, 0, 1])))
    return found


def contents_of(picture, table):
    """Return what stands in each cell: its coloured box and its text."""
    found = defaultdict(list)
    left, top, right, bottom = table.box()
    for shape in shapes(picture):
        x, y = shape.centre
        inside = left < x < right and top < y < bottom
        if inside and (shape.text or (shape.kind == "rect" and shape.filled)):
            found[table.cell(shape.centre)].append(shape)
    return found


def crosses_of(picture, table):
    """Return the cells that are crossed out by two diagonals."""
    diagonals = defaultdict(set)
    for shape in shapes(picture):
        if shape.attributes.get("stroke-opacity") == "0.45":
            for start, end in shape.corners.reshape(-1, 2, 2):
                # A diagonal that left its cell would end in another.
                (cell,) = {table.cell(start), table.cell(end)}
                diagonals[cell].add(float(np.sign(np.prod(end - start))))
    assert all(found == {-1, 1} for found in diagonals.values())
    return set(diagonals)


class Legend(NamedTuple):
    """A colour scale: its swatches from left to right, and the numbers below them."""

    swatches: list[Shape]
    labels: list[Shape]

    @property
    def box(self):
        corners = np.concatenate([swatch.corners for swatch in self.swatches])
        return (*corners.min(axis=0), *corners.max(axis=0))

    def read(self, painted):
        """Return the number that a colour stands for, in shares of the scale's largest number."""
        known = [(swatch, self.at(swatch)) for swatch in self.swatches]
        same = [pair for pair in known if pair[0].attributes["fill"] == painted.attributes["fill"]]
        swatch, share = max(same, key=lambda pair: pair[0].opacity)
        return share * painted.opacity / swatch.opacity

    def at(self, swatch):
        """Return the number at the middle of a swatch, by the first and the last label."""
        low, high = self.labels[0], self.labels[-1]
        lowest = float(low.text) / float(high.text)
        share = (swatch.centre[0] - low.centre[0]) / (high.centre[0] - low.centre[0])
        return lowest + share * (1 - lowest)


def legends_of(picture):
    """Return the colour scales, whose swatches stand side by side and are lower than cells."""
    groups, drawn = [], shapes(picture)
    for shape in drawn:
        if shape.kind == "rect" and shape.filled and np.ptp(shape.corners[:, 1]) < 10:
            (left, top, *_), before = shape.box, groups[-1][-1].box if groups else (0, 0, 0, 0)
            if top == before[1] and abs(left - before[2]) < 0.1:
                groups[-1].append(shape)
            else:
                groups.append([shape])
    found = []
    for group in groups:
        left, _, right, bottom = Legend(group, []).box
        below = [
            s
            for s in drawn
            if s.text and left <= s.centre[0] <= right and 0 < s.centre[1] - bottom < 16
        ]
        found.append(Legend(group, leftmost(below)))
    return found


def paint(role):
    return ROLES.get(role, "currentColor")


def marks_of(picture):
    """Return the boxes around what is marked."""
    return [s for s in shapes(picture) if s.kind == "rect" and "stroke-width" in s.attributes]


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
