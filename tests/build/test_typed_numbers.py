"""No number of what is published was typed: each is computed, an input, or of one of a few kinds.

Looked at is what a reader gets: the pages' text and attributes, notebooks and published docstrings
included, what figures draw, what cards say, and the README.
"""

import ast
import json
import re
import sys

import pytest
from bs4 import BeautifulSoup, Comment

from attention_docs import examples
from attention_docs.publish.before.figures.registry import FIGURES
from attention_docs.publish.before.values import CODE_OR_MATH
from attention_docs.render import numbers
from tests.conftest import ROOT

# What stands for a number whose origin the page knows.
COMPUTED = "¤"
HAS_ORIGIN = "[data-val], [data-spoken], [data-computed], .printed"
# Checked elsewhere: code runs as a test, and figures are drawn below.
CHECKED = "script, style, template, svg.drawing, [data-md-component=search], .md-footer-meta"
# A formula is read once, in its MathML, and without the indices of its letters.
UNREAD = ".katex-html, msub > :nth-child(2), msubsup > :nth-child(2)"
# The comments of a block of code, which no test runs.
COMMENT = re.compile(r"(?<!\S)# .*")
SPOKEN = ("alt", "aria-label", "title")
SHARED = "meta[name=description], meta[property='og:title'], meta[property='og:image:alt']"
BLOCKS = re.compile(
    "^(p|li|t[dh]|d[td]|h[1-6]|figcaption|summary|label|option|text|desc|title|button|div|section"
    "|blockquote|caption|pre)$"
)
COUNT = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    "|seventy|eighty|ninety|hundred|thousand|million"
)
DIGITS = r"(?<![\w.^√])(?:\d+(?:,\d{3})*(?:\.\d+)*(?:e[-−+]?\d+)?|\.\d+)"
TYPED = re.compile(
    rf"{DIGITS}[ -]?(?:times|fold)\b"
    rf"|(?:{DIGITS}|(?<![{COMPUTED}\w])(?i:{COUNT}))[ -]?(?:%|percent|per cent)"
    rf"|{DIGITS}(?: ?[/⁄] ?\d+)?|[½⅓⅔¼-¾⅐-⅞]"
)
SMALL = re.compile(r"\d|1[0-2]")
# Numbers that nothing computes, and why each kind may be typed.
KINDS = {
    "a year of a publication": r"(?:\(|, |\. |others |first |since |in |\b[A-Z]\w+ )"
    r"(?:18\d\d|19\d\d|20[0-3]\d)(?=[).,:;]| \(|$)",
    "a part of a publication": r"(?i:sections?|appendi(?:x|ces)|equation|theorem|table|figure) "
    r"[A-Z]?[\d.]*\d(?:(?:,| and) [A-Z]?[\d.]*\d)*",
    "a publication's number or volume": r"arXiv:\d{4}\.\d{4,5}|\b\d+\(\d+\)",
    "a publication's title": "An Image is Worth 16x16 Words",
    "a source's file": r"\b00\d_[0-9a-f]{16}\.txt",
    "lines of a source": r"^[\d–, ]+(?=: )|(?i:\blines?) \d+(?:(?:–| to | and )\d+)?",
    "the width of a number format": r"\b(?:16|32|64)(?:[ -](?:or|and) (?:32|64))?[ -]bits?\b",
    "a power of ten": r"\b10 ?\^[-−]?\d+|[-−]1e\d+\b|\be-07\b",
    "zero over zero": r"\b0 / 0\b",
    "a default or an argument in code": r"(?<![\\\w])\w+=-?[\d.e]+|default: [\d.]+|--\w+ \d+",
    "a root in code": r"\*\* 0\.5",
    "a shape in code": r"\((?:\d+|[mn])(?:, (?:\d+|[mn]))+\)",
    "a version": r"\b\d+\.\d+\.\d+|(?:PyTorch|NumPy|Python|CuPy|version) ?\d+(?:\.\d+)+"
    r"|Attention 2\d(?: and 2\d)?",
    "an address": r"https?://\S+",
    "a colour": r"#[0-9a-f]{6}\b",
    "what to type into a field": r"like 0\.5 or −2e-3|the largest number, 1\.8e308",
    "a license": r"CC BY 4\.0",
}


def published(html):
    """Yield each text of a page, with every number of known origin replaced."""
    page = BeautifulSoup(html, "html.parser")
    for comment in page.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    yield from (element["content"] for element in page.select(SHARED))
    for element in page.select(f"{CHECKED}, {UNREAD}"):
        element.decompose()
    for code in page.select("pre"):
        code.string = " ".join(COMMENT.findall(code.get_text()))
    for element in page.select(HAS_ORIGIN):
        element.replace_with(COMPUTED)
    for raised in page.select("sup, sub, msup > :nth-child(2)"):
        raised.replace_with("^" + raised.get_text())
    for root in page.select("msqrt"):
        root.insert(0, "√")
    for symbol in page.select("math *"):
        symbol.append(" ")
    for element in page.find_all(True):
        yield from (element[name] for name in SPOKEN if element.get(name))
    # The last first, so that a block has lost the blocks inside it.
    for block in reversed(page.find_all(BLOCKS)):
        yield " ".join(block.get_text().split())
        block.extract()


def typed(text):
    """Return the typed numbers of a text that are of no kind."""
    for kind in KINDS.values():
        text = re.sub(kind, "", text)
    return [match[0] for match in TYPED.finditer(text) if not SMALL.fullmatch(match[0])]


def faults(texts):
    return [(numbers, text[:200]) for text in texts if (numbers := typed(text))]


@pytest.fixture
def shown(monkeypatch):
    """The values that the drawings of a test show, without their signs."""
    original, values = numbers.number, set()

    def number(value):
        values.add(abs(float(value)))
        return original(value)

    for module in list(sys.modules.values()):
        if getattr(module, "number", None) is original:
            monkeypatch.setattr(module, "number", number)
    return values


def undrawn(html, shown):
    """Return the typed numbers in the text of drawings that show these values."""
    drawn = {numbers.number(value) for value in shown}
    drawn |= {text.rstrip("0") for text in drawn if "e" not in text}
    texts = published(html.replace('class="drawing', 'class="'))
    return [number for text in texts for number in typed(text) if number not in drawn]


@pytest.mark.parametrize(
    "html",
    [
        "<p>about 0.9943 of it</p>",
        "<p>97 percent, or <b>9/10</b></p>",
        "<p>ninety percent, <i>half</i> of it</p>",
        "<p>almost 17 times as much</p>",
        "<p>a threefold, or 3-fold, increase</p>",
        "<p>after 2013 steps</p>",
        "<p>of all tokens in 2048.</p>",
        "<p>⅜ of it</p>",
        "<p>a weight of .97</p>",
        '<img alt="the weight is 43">',
        '<meta name="description" content="½ of it">',
        "<p><math><mrow data-spoken='a.b'>0.5</mrow><mo>=</mo><mn>0.97</mn></math></p>",
        "<pre>weights  # 0.97 of it</pre>",
        "<svg><text>0.97</text></svg>",
    ],
)
def test_typed_number_is_reported(html):
    assert len(faults(published(html))) == 1


@pytest.mark.parametrize(
    "html",
    [
        '<p>about <span data-val="a.b">0.9943</span> of it, in 3 rows</p>',
        "<p>Vaswani and others, 2017, section 3.2.1, in 64 bits</p>",
        "<p><math><msub><mi>O</mi><mn>21</mn></msub><mrow data-computed>64</mrow></math></p>",
        "<pre>0.97</pre>",
    ],
)
def test_number_of_known_origin_is_not_reported(html):
    assert faults(published(html)) == []


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.[mi][dp]*"))


def page_of(site, path):
    folder = path.parent if path.stem == "index" else path.with_suffix("")
    return (site / folder / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_page_types_no_number(site, path):
    assert faults(published(page_of(site, path))) == []


def test_readme_types_no_number():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    prose = CODE_OR_MATH.sub(lambda found: "" if found["fence"] else found[0], readme)
    assert faults(prose.splitlines()) == []


@pytest.mark.parametrize("name", FIGURES)
def test_figure_types_no_number(name, shown):
    drawing = FIGURES[name](examples.steps)
    assert undrawn(drawing, shown) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_figure_of_a_notebook_types_no_number(site, path, shown):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    exec("\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code"), {})
    page = BeautifulSoup(page_of(site, path.relative_to(ROOT / "docs")), "html.parser")
    assert [n for svg in page.select("svg.drawing") for n in undrawn(str(svg), shown)] == []


# What stands between quotes, in a script without its comments.
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
COMMENTS = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.DOTALL)
INSERTED = re.compile(r"\$\{[^{}]*\}")
# It writes programs, which tests run.
SCRIPTS = sorted(
    set((ROOT / "docs" / "assets").rglob("*.js")) - {ROOT / "docs/assets/live/program.js"}
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_words_of_a_script_type_no_number(script):
    code = COMMENTS.sub("", script.read_text(encoding="utf-8"))
    assert faults(INSERTED.sub(COMPUTED, text) for text in QUOTED.findall(code)) == []


@pytest.mark.parametrize("name", examples.names())
def test_words_of_an_example_type_no_number(name):
    tree = ast.parse((ROOT / f"attention_docs/examples/{name}.py").read_text(encoding="utf-8"))
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    texts = {text for text in constants if isinstance(text, str)}
    assert faults(texts - {ast.get_docstring(tree, clean=False)}) == []
