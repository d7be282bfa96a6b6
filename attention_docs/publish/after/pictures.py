"""The picture and the Open Graph tags by which other sites show links to a page.

A picture shows the page's title, below it the first figure or diagram in the light colour scheme,
and the site's name. It is reproducible: fonts come from npm, colours from the style sheets, and
resvg draws the same pixels on every machine.
"""

import base64
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape, unescape
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import resvg_py

from attention_docs.publish.cache import Cache, files_digest
from attention_docs.publish.page_files import PageFile
from attention_docs.publish.project import Project

# Lengths are in pixels. Most sites show this size without cropping.
WIDTH, HEIGHT = 1200, 630
MARGIN = 60
BAR = 16  # the coloured bar at the bottom
ICON_SIZE = 44
SPACE_ABOVE_BAR, SPACE_BESIDE_ICON = 30, 16
ICON_TOP = HEIGHT - BAR - SPACE_ABOVE_BAR - ICON_SIZE
TITLE_SIZE = 56
TITLE_LINE_HEIGHT = 68
TITLE_DESCENT = 16  # from the baseline to the bottom of a line
# The maximum number of characters in a line of the title.
TITLE_CHARACTERS = 28
SITE_NAME_SIZE = 28
BASELINE_DROP = 0.35  # from the middle of a line to its baseline, in font sizes
SPACE_AROUND_DRAWING = 24  # above it the title, below it the site's name
# A larger scale would make small drawings look coarse.
MAX_SCALE = 2.5
FONTS = Path("dejavu-fonts-ttf")
FAMILY, REGULAR, BOLD = "DejaVu Sans", "ttf/DejaVuSans.ttf", "ttf/DejaVuSans-Bold.ttf"
STYLE_SHEET = "assets/site.css"
HOME = "index.html"
ICON = "assets/favicon.svg"
THEME_STYLE_SHEETS = "assets/stylesheets/main.*.min.css"
PAGE_TITLE = re.compile(r"<title>(.*?)</title>")
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')
CANONICAL = re.compile(r'<link rel="canonical" href="([^"]*)">')
# X reads the rest from the Open Graph tags.
TAGS = """\
<meta property="og:type" content="{kind}">
<meta property="og:site_name" content="{name}">
<meta property="og:title" content="{title}">
<meta property="og:description" content="{description}">
<meta property="og:url" content="{url}">
<meta property="og:image" content="{image}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="{width}">
<meta property="og:image:height" content="{height}">
<meta property="og:image:alt" content="{alt}">
<meta name="twitter:card" content="summary_large_image">
"""
# Not a stage of the side panel, whose colours are in the style sheet.
DRAWING = re.compile(r'<svg(?![^>]* class="step")\b[^>]* role="img".*?</svg>', re.DOTALL)
PANELS = re.compile(
    r'<div class="panels"[^>]* aria-label="(?P<name>[^"]*)">(?P<drawings>.*?)</div>', re.DOTALL
)
FIGURE = re.compile(r'<svg\b[^>]* class="drawing')
PANEL_GAP = 24
DRAWING_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)
DRAWING_SIZE = re.compile(r'\s(width|height)="([\d.]+)"')
LIGHT_SCHEME = re.compile(r'(?::root|\[data-md-color-scheme="?default"?\])\s*\{([^{}]*)\}')
DECLARATION = re.compile(r"(--[\w-]+):\s*([^;]+)")
VARIABLE = re.compile(r"var\((--[\w-]+)(?:,\s*([^()]*))?\)")
# Only at the start of a line: indented rules are for print or forced colours.
DIAGRAM_RULE = re.compile(r"^\.diagram [^{}]*\{[^{}]*\}", re.MULTILINE)

# Reduces the antialiasing of text to six levels of opacity, which makes pictures full of numbers a
# third smaller. Colours stay the same.
FEW_STEPS_FILTER = (
    '<filter id="few-steps"><feComponentTransfer>'
    '<feFuncA type="discrete" tableValues="0 0.2 0.4 0.6 0.8 1"/>'
    "</feComponentTransfer></filter>"
)


class Style(NamedTuple):
    """What all pictures of a site share.

    Args:
        site_name: the site's name.
        icon: the site's icon, as SVG.
        variables: the values of the CSS variables in the light scheme.
        diagram_rules: the CSS rules for diagrams.
    """

    site_name: str
    icon: str
    variables: Mapping[str, str]
    diagram_rules: str


def add_pictures(
    site: Path,
    pages: Mapping[str, str],
    page_files: Mapping[str, PageFile],
    project: Project,
) -> dict[str, str]:
    """Write the picture of each page into a site, and return the pages with Open Graph tags.

    Args:
        site: the folder of the site.
        pages: the pages, with their drawings, by path in the site.
        page_files: the files of the pages, by the path of the page; only these pages get a picture.
        project: the project, which has an address.
    """
    style = read_style(site, project)
    fonts = project.node_modules / FONTS
    digest = files_digest(Path(__file__), fonts / "package.json")
    cache = project.cache.with_version("pictures", digest)
    pages_with_tags = {}
    for path, page_file in page_files.items():
        page = pages[path]
        title = project.name if path == HOME else page_title(page, project.name)
        drawing = first_drawing(page)
        svg = picture_svg(title, drawing, style)
        picture = f"assets/pictures/{PurePosixPath(page_file.path).with_suffix('.png')}"
        (site / picture).parent.mkdir(parents=True, exist_ok=True)
        (site / picture).write_bytes(cached_png(svg, fonts, cache))
        tags = open_graph_tags(
            page,
            title=title,
            site_name=project.name,
            image=f"{project.address}{picture}",
            alternative_text=drawing_name(drawing) or title,
        )
        pages_with_tags[path] = page.replace("</head>", f"{tags}</head>", 1)
    return pages_with_tags


def open_graph_tags(
    page: str, *, title: str, site_name: str, image: str, alternative_text: str
) -> str:
    """Return the meta tags by which other sites show a link to a page.

    Args:
        page: the HTML of the page, from which its description and its address are taken.
        title: the title of the page, which is the name of the site on the home page.
        site_name: the name of the site.
        image: the URL of the picture.
        alternative_text: what the picture shows.
    """
    return TAGS.format(
        kind="website" if title == site_name else "article",
        name=escape(site_name),
        title=escape(title),
        description=DESCRIPTION.findall(page)[0],
        url=CANONICAL.findall(page)[0],
        image=image,
        width=WIDTH,
        height=HEIGHT,
        alt=escape(alternative_text),
    )


def page_title(page: str, site_name: str) -> str:
    """Return the title of a page without the name of the site."""
    match = PAGE_TITLE.search(page)
    return unescape(match[1]).removesuffix(f" - {site_name}") if match else ""


def read_style(site: Path, project: Project) -> Style:
    """Read the site's icon, the colours of its light scheme and the rules for diagrams."""
    style_sheet = (site / STYLE_SHEET).read_text(encoding="utf-8")
    theme_sheets = [path.read_text(encoding="utf-8") for path in site.glob(THEME_STYLE_SHEETS)]
    return Style(
        site_name=project.name,
        icon=(site / ICON).read_text(encoding="utf-8"),
        variables=light_variables([*theme_sheets, style_sheet]),
        diagram_rules="".join(DIAGRAM_RULE.findall(style_sheet)),
    )


def light_variables(style_sheets: Iterable[str]) -> dict[str, str]:
    """Return the CSS variables of the light scheme; later style sheets override earlier ones.

    >>> theme = "[data-md-color-scheme=default]{--a:red;--b:#fff}"
    >>> light_variables([theme, ":root { --a: blue; }"])
    {'--a': 'blue', '--b': '#fff'}
    """
    variables = {}
    for style_sheet in style_sheets:
        for block in LIGHT_SCHEME.findall(style_sheet):
            for name, value in DECLARATION.findall(block):
                variables[name] = value.strip()
    return variables


def substitute_variables(svg: str, variables: Mapping[str, str]) -> str:
    """Replace the CSS variables in SVG by their values or else their fallbacks.

    >>> substitute_variables('<g fill="var(--a, red)" stroke="var(--b, red)"/>', {"--a": "blue"})
    '<g fill="blue" stroke="red"/>'
    """

    def value_or_fallback(variable: re.Match[str]) -> str:
        name, fallback = variable.groups()
        return variables.get(name, fallback or "none")

    return VARIABLE.sub(value_or_fallback, svg)


def first_drawing(html: str) -> str | None:
    """Return the first figure or diagram of a page as one SVG element.

    >>> first_drawing('<svg class="icon"/><svg id="a" role="img"><g/></svg><svg role="img"></svg>')
    '<svg id="a" role="img"><g/></svg>'
    """
    panels = PANELS.search(html)
    drawing = DRAWING.search(html)
    if panels and drawing and panels.start() < drawing.start():
        return side_by_side(panels["name"], DRAWING.findall(panels["drawings"]))
    return drawing[0] if drawing else None


def side_by_side(name: str, drawings: Sequence[str]) -> str:
    """Return the panels of a figure as one drawing.

    >>> side_by_side("Two", ['<svg width="5" height="3"/>', '<svg width="4" height="6"/>'])[:61]
    '<svg class="drawing" width="33" height="6"><title>Two</title>'
    """
    sizes = [drawing_size(drawing) for drawing in drawings]
    panels = ""
    left = 0.0
    for drawing, (width, _) in zip(drawings, sizes, strict=True):
        panels += drawing.replace("<svg", f'<svg x="{left:g}"', 1)
        left += width + PANEL_GAP
    total_width = left - PANEL_GAP
    total_height = max(height for _, height in sizes)
    return (
        f'<svg class="drawing" width="{total_width:g}" height="{total_height:g}">'
        f"<title>{name}</title>{panels}</svg>"
    )


def drawing_name(drawing: str | None) -> str | None:
    """Return the accessible name of a drawing; None without a drawing or without a name."""
    match = DRAWING_TITLE.search(drawing or "")
    return unescape(match[1]) if match else None


def picture_svg(title: str, drawing: str | None, style: Style) -> str:
    """Return the picture of a page as SVG: the title, the drawing below it, and the site's name."""
    title_lines = textwrap.wrap(title, TITLE_CHARACTERS)
    drawing_top = MARGIN + len(title_lines) * TITLE_LINE_HEIGHT + SPACE_AROUND_DRAWING
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
        ' color="var(--md-default-fg-color)" fill="var(--md-primary-bg-color)">'
        f"<style>{style.diagram_rules} text {{ filter: url(#few-steps) }}</style>{FEW_STEPS_FILTER}"
        '<rect width="100%" height="100%" fill="var(--md-default-bg-color)"/>'
        f'<rect y="{HEIGHT - BAR}" width="100%" height="{BAR}"/>'
        f"{title_svg(title_lines)}"
        f"{centred_drawing(drawing, drawing_top) if drawing else ''}"
        f"{icon_and_name(title, style)}</svg>"
    )
    return substitute_variables(svg, style.variables)


def title_svg(lines: Sequence[str]) -> str:
    """Return the lines of a title as SVG, in the upper left corner of the picture."""
    svg = ""
    for number, line in enumerate(lines, 1):
        baseline = MARGIN + number * TITLE_LINE_HEIGHT - TITLE_DESCENT
        svg += (
            f'<text x="{MARGIN}" y="{baseline}" font-size="{TITLE_SIZE}" font-weight="bold">'
            f"{escape(line)}</text>"
        )
    return svg


def drawing_size(drawing: str) -> tuple[float, float]:
    """Return the width and the height of a drawing."""
    opening_tag = drawing.partition(">")[0]
    attributes = dict(DRAWING_SIZE.findall(opening_tag))
    return float(attributes["width"]), float(attributes["height"])


def centred_drawing(drawing: str, top: float) -> str:
    """Scale a drawing to the space between `top` and the icon, and return it in its middle."""
    # The CSS rules of the picture apply to diagrams only.
    css_class = "figure" if FIGURE.match(drawing) else "diagram"
    width, height = drawing_size(drawing)
    free_width = WIDTH - 2 * MARGIN
    free_height = ICON_TOP - SPACE_AROUND_DRAWING - top
    scale = min(free_width / width, free_height / height, MAX_SCALE)
    x = (WIDTH - scale * width) / 2
    y = top + (free_height - scale * height) / 2
    transform = f"translate({x:.1f} {y:.1f}) scale({scale:.3f})"
    return f'<g class="{css_class}" fill="#000" transform="{transform}">{drawing}</g>'


def icon_and_name(title: str, style: Style) -> str:
    """Return the site's icon and, beside it, its name, unless that is the title of the picture."""
    icon = style.icon.replace(
        "<svg", f'<svg x="{MARGIN}" y="{ICON_TOP}" width="{ICON_SIZE}" height="{ICON_SIZE}"', 1
    )
    name = "" if title == style.site_name else escape(style.site_name)
    left = MARGIN + ICON_SIZE + SPACE_BESIDE_ICON
    baseline = ICON_TOP + ICON_SIZE / 2 + BASELINE_DROP * SITE_NAME_SIZE
    return f'{icon}<text x="{left}" y="{baseline:.1f}" font-size="{SITE_NAME_SIZE}">{name}</text>'


def cached_png(svg: str, fonts: Path, cache: Cache) -> bytes:
    """Return what `png` returns for this SVG, from the cache if it is there."""
    if svg not in cache:
        cache[svg] = base64.b64encode(png(svg, fonts)).decode()
    return base64.b64decode(cache[svg])


def png(svg: str, fonts: Path) -> bytes:
    """Render SVG with the fonts of a folder, and without system fonts."""
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        skip_system_fonts=True,
        font_files=[str(fonts / REGULAR), str(fonts / BOLD)],
        font_family=FAMILY,
        sans_serif_family=FAMILY,
    )
