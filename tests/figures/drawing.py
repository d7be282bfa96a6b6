"""A figure measured with a ruler: what stands where, from nothing but the finished SVG."""

import re
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

SVG = "{http://www.w3.org/2000/svg}"


class Shape(NamedTuple):
    """One visible element: its kind, its attributes, its words and its corners on the paper."""

    kind: str
    attributes: dict[str, str]
    text: str
    tip: str
    corners: np.ndarray  # (n, 2), x to the right and y downwards

    @property
    def box(self):
        """Return left, top, right and bottom."""
        return (*self.corners.min(axis=0), *self.corners.max(axis=0))

    @property
    def centre(self):
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2

    @property
    def strength(self):
        return float(self.attributes["fill-opacity"])

    @property
    def upright(self):
        return "rotate" not in self.attributes.get("transform", "")


def shapes(picture):
    """Return all that is drawn, in the order in which it is painted."""
    return list(_drawn(ElementTree.fromstring(picture), lambda points: points))


def size(picture):
    root = ElementTree.fromstring(picture)
    return float(root.attrib["width"]), float(root.attrib["height"])


def _drawn(node, place):
    for child in node:
        inner = _within(child.attrib.get("transform", ""), place)
        kind = child.tag.removeprefix(SVG)
        if kind == "g":
            yield from _drawn(child, inner)
        elif kind not in ("title", "desc"):
            tip = child.findtext(f"{SVG}title", "")
            text = child.text if kind == "text" else ""
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
    return [float(node.attrib.get(name, 0)) for name in names]


def _rectangle(node):
    x, y, width, height = _attributes(node, "x", "y", "width", "height")
    return np.array([(x, y), (x + width, y + height)])


def _text(node):
    """Return the box of a text in a common font: a letter is 0.55 as wide as the font is high."""
    x, y = _attributes(node, "x", "y")
    font = float(node.attrib.get("font-size", 12))
    width = 0.55 * font * len(node.text)
    left = x - {"start": 0, "middle": width / 2, "end": width}[node.attrib["text-anchor"]]
    # A label's middle line is 4 above its foot, whatever its size.
    return np.array([(left, y - 4 - font * 0.36), (left + width, y - 4 + font * 0.36)])


def _path(node):
    """Return each point that a path goes to or is bent by."""
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
    """Return the shapes that say just this."""
    return [shape for shape in shapes(picture) if shape.text == text]


def name(picture):
    return ElementTree.fromstring(picture).findtext(f"{SVG}title")


def told(picture):
    """Return what a figure says to those who do not see it."""
    return ElementTree.fromstring(picture).findtext(f"{SVG}desc")


def numbers(text):
    return [float(found) for found in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]


def cells_of(picture):
    """Return the coloured cells; the swatches of the scale are lower."""
    tall = [s for s in shapes(picture) if s.kind == "rect" and s.attributes["fill"] != "none"]
    return [cell for cell in tall if float(cell.attributes["height"]) > 8]


def swatches_of(picture):
    """Return the coloured boxes of the scales."""
    boxes = [s for s in shapes(picture) if s.kind == "rect" and s.attributes["fill"] != "none"]
    return [box for box in boxes if float(box.attributes["height"]) == 8]


def marks_of(picture):
    """Return the boxes around what is marked."""
    return [s for s in shapes(picture) if s.attributes.get("stroke-width") == "2.5"]
