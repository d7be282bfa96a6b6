"""The picture of each page that other sites show beside a link to it.

It holds the page's title, its first figure or diagram in the colours of the light scheme, and the
site's name. It does not depend on the machine: the fonts come from npm, the colours from the style
sheets, and resvg promises the same pixels everywhere.
"""

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape, unescape
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import resvg_py
from jinja2.filters import do_striptags
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from attention_docs.publish.cache import Cache

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
THEME_STYLE = re.compile(r"assets/stylesheets/main\.\w+\.min\.css")
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


def add_pictures(config: MkDocsConfig, files: Files, drawn: Callable[[str], str]) -> None:
    """Publish a picture of each page, and tell the page's template of it.

    Args:
        config: MkDocs' settings, with the site's address.
        files: the files of the site, among them the pages, whose content is known.
        drawn: puts the drawings into a page's content, in place of their placeholders.
    """
    root = Path(config.config_file_path).parent
    fonts = root / "node_modules" / FONTS
    look = site_look(config, files, fonts)
    cache = picture_cache(root, fonts)
    for page in [file.page for file in files.documentation_pages() if file.page]:
        title = config.site_name if is_home(page) else do_striptags(page.title)
        drawing = first_drawing(drawn(page.content or ""))
        path = picture_path(page)
        page.meta["picture"] = {"path": path, "title": title, "shows": name_of(drawing) or title}
        content = cached_png(card(title, drawing, look), fonts, cache)
        files.append(File.generated(config, path, content=content))
    cache.save()


def is_home(page: Page) -> bool:
    """Tell the home page; MkDocs does not where the navigation has it in a section."""
    return page.file.src_uri == "index.md"


def picture_path(page: Page) -> str:
    return f"assets/pictures/{PurePosixPath(page.file.src_uri).with_suffix('.png')}"


def site_look(config: MkDocsConfig, files: Files, fonts: Path) -> Look:
    """Read from the site's own files how it looks in the light scheme."""
    # Not at the top: fontTools takes long to import, and many builds have no pictures.
    from attention_docs.publish.truetype import character_widths

    texts = {file.src_uri: file.content_string for file in files.css_files()}
    theme = [text for path, text in texts.items() if THEME_STYLE.fullmatch(path)]
    icon = Path(config.docs_dir, config.theme["favicon"]).read_text(encoding="utf-8")
    return Look(
        config.site_name,
        icon,
        light_values([*theme, texts[STYLE]]),
        "".join(DIAGRAM_RULE.findall(texts[STYLE])),
        character_widths(fonts / BOLD),
    )


def picture_cache(root: Path, fonts: Path) -> Cache:
    """Return the pictures of the last build, if this resvg and these fonts drew them."""
    parts = (Path(__file__).read_bytes(), (fonts / "package.json").read_bytes())
    return Cache(root / ".cache" / "pictures.json", resvg_py.__version__, *parts)


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
