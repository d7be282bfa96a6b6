"""The colours of figures: contrast, and lines that can be told from the roles."""

import itertools
import re

import numpy as np
import pytest

from attention_docs.render.figures.scales import FILLS, MINUS, OPACITY_UNDER_TEXT
from attention_docs.render.figures.svg import ROLES, SERIES
from tests.conftest import ROOT

STYLE = (ROOT / "docs" / "assets" / "site.css").read_text(encoding="utf-8")
MIN_CONTRAST = 4.5  # of text, for level AA of WCAG 2
# In OKLab, where the two roles that are closest to each other are 0.07 apart.
MIN_DISTANCE = 0.08
# From linear sRGB to the responses of the cones, and from their cube roots to OKLab.
TO_CONES = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
TO_OKLAB = [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]


def rgb(colour):
    """Convert a colour like #1e2129 to its shares of red, green and blue, between 0 and 1."""
    return np.array(list(bytes.fromhex(colour.removeprefix("#")))) / 255


def linear(shares):
    """Return the light intensities that sRGB encodes as these shares of red, green and blue."""
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(shares, other_shares):
    """Return the contrast ratio of two colours, by its definition in WCAG 2."""
    luminances = [linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (shares, other_shares)]
    return (max(luminances) + 0.05) / (min(luminances) + 0.05)


def blended(foreground, background, opacity):
    return opacity * foreground + (1 - opacity) * background


def oklab(colour):
    """Return the coordinates of a colour like #1e2129 in OKLab, whose distances are perceptual."""
    return TO_OKLAB @ np.cbrt(TO_CONES @ linear(rgb(colour)))


def colour_in(scheme, paint):
    """Return the colour of a CSS variable in a scheme of the site, or else its fallback."""
    name, fallback = re.fullmatch(r"var\((--[\w-]+), (#\w+)\)", paint).groups()
    if scheme == "fallback":
        return fallback
    # What the dark scheme does not set is as in the light one.
    style = STYLE.partition(f'[data-md-color-scheme="{scheme}"] {{')[2] + STYLE
    return re.search(rf"{name}: (#\w+)", style)[1]


@pytest.mark.parametrize(
    ("scheme", "background", "ink", "opacity"),
    [
        ("fallback", "#ffffff", "#000000", 0.87),
        ("fallback", "#1e2129", "#e2e4e9", 0.82),
        ("default", "#ffffff", "#000000", 0.87),
        ("slate", "#1e2129", "#e2e4e9", 0.82),
    ],
)
def test_numbers_have_sufficient_contrast_on_the_most_opaque_cell(scheme, background, ink, opacity):
    for paint in (*FILLS.values(), MINUS):
        cell = blended(rgb(colour_in(scheme, paint)), rgb(background), OPACITY_UNDER_TEXT)
        text = blended(rgb(ink), cell, opacity)
        assert contrast(text, cell) >= MIN_CONTRAST, paint


@pytest.mark.parametrize("scheme", ["fallback", "default", "slate"])
def test_lines_without_role_differ_in_colour_from_roles_and_one_another(scheme):
    lines = list(SERIES.values())
    role_paints = [*ROLES.values(), MINUS]
    pairs = [*itertools.product(lines, role_paints), *itertools.combinations(lines, 2)]
    for paint, other_paint in pairs:
        difference = oklab(colour_in(scheme, paint)) - oklab(colour_in(scheme, other_paint))
        assert np.linalg.norm(difference) >= MIN_DISTANCE, (paint, other_paint)
