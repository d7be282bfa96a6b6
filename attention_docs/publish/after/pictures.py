"""The picture of each page that other sites show beside a link to it.

It holds the page's title, its first figure or diagram in the colours of the light scheme, and the
site's name. It does not depend on the machine: the fonts come from npm, the colours from the style
sheets, and resvg promises the same pixels everywhere.
"""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape, unescape
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import resvg_py

from attention_docs.publish.after import truetype
from attention_docs.publish.cache import Cache, sources_digest
from attention_docs.publish.project import Project
from attention_docs.publish.sources import Source

# The size that most sites show uncut.
WIDTH, HEIGHT = 1200, 630
MARGIN, BAR = 60, 16
# Sizes of text, in pixels, and the height of a line in those of its text.
TITLE, PLAIN_TITLE, NAME, LINE = 56, 88, 28, 1.2
FONTS = Path("dejavu-fonts-ttf")
FAMILY, REGULAR, BOLD = "DejaVu Sans", "ttf/DejaVuSans.ttf", "ttf/DejaVuSans-Bold.ttf"
# In sizes of the font, the width to assume of a character that it lacks.
WIDEST = 1.0
STYLE = "assets/site.css"
HOME = "index.html"
ICON = "assets/favicon.svg"
THEME_STYLES = "assets/stylesheets/main.*.min.css"
TITLE_OF_PAGE = re.compile(r"<title>(.*?)</title>")
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')
CANONICAL = re.compile(r'<link rel="canonical" href="([^"]*)">')
# What other sites read of a page. X reads the rest from Open Graph's tags.
TAGS = """\
<meta property="og:type" content="{kind}">
<meta property="og:site_name" content="{name}">
<meta property="og:title" content="{title}">
<meta property="og:description" content="{description}">
<meta property="og:url" content="{url}">
<meta property="og:image" content="{image}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta property="og:image:alt" content="{shows}">
<meta name="twitter:card" content="summary_large_image">
"""
DRAWING = re.compile(r'<svg\b[^>]* role="img".*?</svg>', re.DOTALL)
PANELS = re.compile(r'<div class="panels"[^>]* aria-label="([^"]*)">(.*?)</div>', re.DOTALL)
FIGURE = re.compile(r'<svg\b[^>]* class="drawing')
# Between the drawings of one figure.
GAP = 24
NAME_OF_DRAWING = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)
SIDE_OF_DRAWING = re.compile(r'\s(width|height)="([\d.]+)"')
LIGHT = re.compile(r'(?::root|\[data-md-color-scheme="?default"?\])\s*\{([^{}]*)\}')
DECLARATION = re.compile(r"(--[\w-]+):\s*([^;]+)")
VARIABLE = re.compile(r"var\((--[\w-]+)(?:,\s*([^()]*))?\)")
# At the start of a line: what is indented holds for paper or forced colours only.
DIAGRAM_RULE = re.compile(r"^\.diagram [^{}]*\{[^{}]*\}", re.MULTILINE)

# Smooth edges in six steps, not in 256: without it, pictures that are full of numbers weigh half
# as much again. Colours stay as they are.
FEW_STEPS = (
    '<filter id="few-steps"><feComponentTransfer>'
    '<feFuncA type="discrete" tableValues="0 0.2 0.4 0.6 0.8 1"/>'
    "</feComponentTransfer></filter>"
)


class Box(NamedTuple):
    """A place in the picture, in pixels."""

    x: float
    y: float
    width: float
    height: float


# A wide drawing stands below the title, a high one beside it.
BELOW = Box(MARGIN, 150, WIDTH - 2 * MARGIN, 360)
BESIDE = Box(540, 40, WIDTH - MARGIN - 540, HEIGHT - BAR - 2 * 40)
COLUMN = BESIDE.x - MARGIN - 40
# A small drawing enlarged more would look coarse.
LARGEST_SCALE = 2.5


class Look(NamedTuple):
    """What the pictures of a site have in common.

    Args:
        name: the site's name.
        icon: the site's icon, as SVG.
        values: the light scheme's value of each CSS variable.
        rules: the rules of the style sheet for diagrams.
        bold: how wide each character of a title is, in sizes of the font.
    """

    name: str
    icon: str
    values: Mapping[str, str]
    rules: str
    bold: Mapping[str, float]


def with_pictures(
    site: Path,
    pages: Mapping[str, str],
    sources: Mapping[str, Source],
    project: Project,
) -> dict[str, str]:
    """Draw a picture of each page into a site, and name it in the page's head.

    Args:
        site: the folder of the site.
        pages: the pages, with their drawings, by their paths in the site.
        sources: what some of them were written from; only these get a picture.
        project: the project, with the site's address.
    """
    look = site_look(site, project)
    fonts = project.modules / FONTS
    drawn_by = sources_digest(Path(__file__), fonts / "package.json")
    cache = project.cache.part("pictures", drawn_by)
    tagged = {}
    for path, source in sources.items():
        page = pages[path]
        title = look.name if path == HOME else title_of(page).removesuffix(f" - {look.name}")
        drawing = first_drawing(page)
        picture = f"assets/pictures/{PurePosixPath(source.address).with_suffix('.png')}"
        (site / picture).parent.mkdir(parents=True, exist_ok=True)
        (site / picture).write_bytes(cached_png(card(title, drawing, look), fonts, cache))
        tags = TAGS.format(
            kind="website" if path == HOME else "article",
            name=escape(look.name),
            title=escape(title),
            description=DESCRIPTION.findall(page)[0],
            url=CANONICAL.findall(page)[0],
            image=f"{project.address}{picture}",
            shows=escape(name_of(drawing) or title),
        )
        tagged[path] = page.replace("</head>", f"{tags}</head>", 1)
    return tagged


def title_of(page: str) -> str:
    found = TITLE_OF_PAGE.search(page)
    return unescape(found[1]) if found else ""


def site_look(site: Path, project: Project) -> Look:
    """Read from the site's own files how it looks in the light scheme."""
    style = (site / STYLE).read_text(encoding="utf-8")
    theme = [path.read_text(encoding="utf-8") for path in site.glob(THEME_STYLES)]
    return Look(
        project.name,
        (site / ICON).read_text(encoding="utf-8"),
        light_values([*theme, style]),
        "".join(DIAGRAM_RULE.findall(style)),
        truetype.character_widths(project.modules / FONTS / BOLD),
    )


def light_values(styles: Iterable[str]) -> dict[str, str]:
    """Read the CSS variables of the light scheme; a later style sheet overrides an earlier one.

    >>> theme = "[data-md-color-scheme=default]{--a:red;--b:#fff}"
    >>> light_values([theme, ":root { --a: blue; }"])
    {'--a': 'blue', '--b': '#fff'}
    """
    blocks = (block for style in styles for block in LIGHT.findall(style))
    return {name: value.strip() for block in blocks for name, value in DECLARATION.findall(block)}


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Put the values of CSS variables into SVG or CSS, or what stands there for want of one.

    >>> with_values('<g fill="var(--a, red)" stroke="var(--b, red)"/>', {"--a": "blue"})
    '<g fill="blue" stroke="red"/>'
    """
    return VARIABLE.sub(lambda found: values.get(found[1], found[2] or "none"), text)


def first_drawing(html: str) -> str | None:
    """Return the first figure or diagram of a page, in one piece.

    >>> first_drawing('<svg class="icon"/><svg id="a" role="img"><g/></svg><svg role="img"></svg>')
    '<svg id="a" role="img"><g/></svg>'
    """
    panels, found = PANELS.search(html), DRAWING.search(html)
    if panels and found and panels.start() < found.start():
        return row(panels[1], DRAWING.findall(panels[2]))
    return found[0] if found else None


def row(name: str, drawings: Sequence[str]) -> str:
    """Put the drawings of one figure side by side.

    >>> row("Two", ['<svg width="5" height="3"/>', '<svg width="4" height="6"/>'])[:61]
    '<svg class="drawing" width="33" height="6"><title>Two</title>'
    """
    widths, heights = zip(*map(size, drawings), strict=True)
    *left, end = accumulate((width + GAP for width in widths), initial=0)
    moved = (
        drawing.replace("<svg", f'<svg x="{x:g}"', 1)
        for x, drawing in zip(left, drawings, strict=True)
    )
    return (
        f'<svg class="drawing" width="{end - GAP:g}" height="{max(heights):g}">'
        f"<title>{name}</title>{''.join(moved)}</svg>"
    )


def name_of(drawing: str | None) -> str | None:
    """Return the name that a drawing has for screen readers."""
    found = NAME_OF_DRAWING.search(drawing or "")
    return unescape(found[1]) if found else None


def card(title: str, drawing: str | None, look: Look) -> str:
    """Write the picture of a page as SVG."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
        ' color="var(--md-default-fg-color)" fill="var(--md-primary-fg-color)">'
        f"<style>{look.rules} text {{ filter: url(#few-steps) }}</style>{FEW_STEPS}"
        '<rect width="100%" height="100%" fill="var(--md-default-bg-color)"/>'
        f'<rect y="{HEIGHT - BAR}" width="100%" height="{BAR}"/>'
        f"{title_and_drawing(title, drawing, look.bold)}{signature(title, look)}</svg>"
    )
    return with_values(svg, look.values)


def title_and_drawing(title: str, drawing: str | None, bold: Mapping[str, float]) -> str:
    """Write the title, and the drawing where it can be larger: below the title or beside it."""
    if not drawing:
        plain = wrapped(title, BELOW.width / PLAIN_TITLE, bold)
        return heading(plain, 200, PLAIN_TITLE, BELOW.width, bold)
    box = max(BELOW, BESIDE, key=lambda box: scale(drawing, box))
    if box is BELOW:
        return heading([title], 105, TITLE, BELOW.width, bold) + placed(drawing, box)
    narrow = wrapped(title, COLUMN / TITLE, bold)
    return heading(narrow, 105, TITLE, COLUMN, bold) + placed(drawing, box)


def heading(
    lines: Sequence[str], y: float, size: float, room: float, bold: Mapping[str, float]
) -> str:
    """Write the lines of a title, smaller if the longest has not enough room."""
    size = min(size, room / max(width(line, bold) for line in lines))
    return "".join(
        f'<text x="{MARGIN}" y="{y + number * LINE * size:.1f}" font-size="{size:.1f}"'
        f' font-weight="bold">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )


def wrapped(text: str, room: float, bold: Mapping[str, float]) -> list[str]:
    """Break a text into lines of at most that width, in sizes of the font, where words allow.

    >>> wrapped("a b cc", 3, dict.fromkeys("abc ", 1))
    ['a b', 'cc']
    """
    first, *words = text.split()
    lines = [first]
    for word in words:
        longer = f"{lines[-1]} {word}"
        if width(longer, bold) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def width(text: str, bold: Mapping[str, float]) -> float:
    """Measure a text in sizes of its font.

    >>> width("aha", {"a": 0.5, "h": 0.75})
    1.75
    """
    return sum(bold.get(character, WIDEST) for character in text)


def scale(drawing: str, box: Box) -> float:
    wide, high = size(drawing)
    return min(box.width / wide, box.height / high, LARGEST_SCALE)


def size(drawing: str) -> tuple[float, float]:
    """Read the width and the height of a drawing from its first tag."""
    sides = dict(SIDE_OF_DRAWING.findall(drawing.partition(">")[0]))
    return float(sides["width"]), float(sides["height"])


def placed(drawing: str, box: Box) -> str:
    """Put a drawing into the middle of a box, as large as fits; the style sheet is for diagrams."""
    kind = "figure" if FIGURE.match(drawing) else "diagram"
    factor = scale(drawing, box)
    wide, high = size(drawing)
    x = box.x + (box.width - factor * wide) / 2
    y = box.y + (box.height - factor * high) / 2
    place = f"translate({x:.1f} {y:.1f}) scale({factor:.3f})"
    return f'<g class="{kind}" fill="#000" transform="{place}">{drawing}</g>'


def signature(title: str, look: Look) -> str:
    """Write the site's icon and its name, unless the name is the title already."""
    side, y = 44, HEIGHT - BAR - 44 - 30
    icon = look.icon.replace("<svg", f'<svg x="{MARGIN}" y="{y}" width="{side}" height="{side}"', 1)
    name = "" if title == look.name else escape(look.name)
    # The base of a letter lies a third of its size below the middle of its line.
    base = y + side / 2 + 0.35 * NAME
    return f'{icon}<text x="{MARGIN + side + 16}" y="{base:.1f}" font-size="{NAME}">{name}</text>'


def cached_png(svg: str, fonts: Path, cache: Cache) -> bytes:
    if svg not in cache:
        cache[svg] = base64.b64encode(png(svg, fonts)).decode()
    return base64.b64decode(cache[svg])


def png(svg: str, fonts: Path) -> bytes:
    """Draw SVG with the fonts in that folder, and none of the system's."""
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        skip_system_fonts=True,
        font_files=[str(fonts / REGULAR), str(fonts / BOLD)],
        font_family=FAMILY,
        sans_serif_family=FAMILY,
    )
