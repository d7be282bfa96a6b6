"""No published number was typed: each is computed, an input, or of one of a few allowed kinds.

The tests cover text and attributes of pages (with notebooks and docstrings), figures, cards, scripts
and the README.
"""

import ast
import json
import re
import sys

import pytest
from bs4 import BeautifulSoup, Comment

from attention_docs.examples import models_by_name
from attention_docs.figures.registry import FIGURES
from attention_docs.figures.side_panel import SIDE_PANELS, side_panel
from attention_docs.publish.before.values import CODE_OR_MATH
from attention_docs.publish.computed import ComputedExamples
from attention_docs.render import numbers
from tests.conftest import ROOT

STEPS = ComputedExamples(ROOT).steps
COMPUTED = "¤"  # replaces a number of known origin
# CSS selectors of elements.
KNOWN_ORIGIN = "[data-val], [data-spoken], [data-computed], .printed"
CHECKED_ELSEWHERE = (
    "script, style, template, svg.drawing, svg.step, [data-md-component=search], .md-footer-meta"
)
# Formulas are checked in their MathML, without subscripts.
SKIPPED = ".padding, .katex-html, msub > :nth-child(2), msubsup > :nth-child(2)"
METADATA = "meta[name=description], meta[property='og:title']"
METADATA_OR_CONTENT = re.compile(r"<meta [^>]*>|<article.*?</article>", re.DOTALL)
# The tests run code blocks, but do not check their comments.
COMMENT = re.compile(r"(?<!\S)# .*")
TEXT_ATTRIBUTES = ("alt", "aria-label", "data-hint", "title")
BLOCK_TAGS = re.compile(
    "^(p|li|t[dh]|d[td]|h[1-6]|figcaption|summary|label|option|text|desc|title|button|div|section"
    "|blockquote|caption|pre)$"
)
NUMBER_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    "|seventy|eighty|ninety|hundred|thousand|million"
)
DIGITS = r"(?<![\w.^√])(?:\d+(?:,\d{3})*(?:\.\d+)*(?:e[-−+]?\d+)?|\.\d+)"
NUMBER = re.compile(
    rf"{DIGITS}[ -]?(?:times|fold)\b"
    rf"|(?:{DIGITS}|(?<![{COMPUTED}\w])(?i:{NUMBER_WORDS}))[ -]?(?:%|percent|per cent)"
    rf"|{DIGITS}(?: ?[/⁄] ?\d+)?|[½⅓⅔¼-¾⅐-⅞]"
)
# Numbers up to twelve may be typed anywhere, and others if they are of one of these kinds.
UP_TO_TWELVE = re.compile(r"\d|1[0-2]")
ALLOWED_KINDS = {
    "a year of a publication": r"(?:\(|, |\. |others |first |since |in |\b[A-Z]\w+ )"
    r"(?:18\d\d|19\d\d|20[0-3]\d)(?=[).,:;]| \(|$)",
    "a part of a publication": r"(?i:sections?|appendi(?:x|ces)|equation|theorem|table|figure) "
    r"[A-Z]?[\d.]*\d(?:(?:,| and) [A-Z]?[\d.]*\d)*",
    "a publication's number or volume": r"arXiv:\d{4}\.\d{4,5}|\b\d+\(\d+\)",
    "a publication's title": "An Image is Worth 16x16 Words",
    "the file of a publication": r"\b00\d_[0-9a-f]{16}\.txt",
    "a thread": r"(?:\b[\w.-]+/[\w.-]+)?#\d+",
    "the width of a number format": r"\b(?:16|32|64)(?:[ -](?:or|and) (?:32|64))?[ -]bits?\b",
    "a power of ten": r"\b10 ?\^[-−]?\d+|[-−]1e\d+\b|\be-07\b",
    "zero over zero": r"\b0 / 0\b",
    "a default or an argument in code": r"(?<![\\\w])\w+=-?[\d.e]+(?:-\d+)?|default: [\d.e]+(?:-\d+)?"
    r"|--\w+ \d+",
    "a root in code": r"\*\* ?0\.25|\*\* 0\.5",
    "a block of keys that a mistake loses": r"\bblock of (?:16|32|64)\b",
    "a size in the list of cases, which the code computes with": r"\babout \d+ keys\b"
    r"|\bheads of width \d+\b",
    "the report of a check, which a test compares": r"is [\d.]+; expected [\d.]+",
    "a shape in code": r"\((?:\d+|[mn])(?:, (?:\d+|[mn]))+\)",
    "a version": r"\b\d+\.\d+\.\d+|(?:PyTorch|NumPy|Python|CuPy|version) ?\d+(?:\.\d+)+"
    r"|Attention 2\d(?: and 2\d)?",
    "a public thread": r"\b[\w.-]+/[\w.-]+#\d+\b",
    "an address": r"https?://\S+",
    "a colour": r"#[0-9a-f]{6}\b",
    "what to type into a field": r"like 0\.5 or −2e-3|the largest number, 1\.8e308",
    "a license": r"CC BY 4\.0",
    "the name of a model": rf"(?:{'|'.join(map(re.escape, models_by_name.MODELS))})(?![.\w-])",
}


def visible_texts(html):
    """Yield each text of a page, with numbers of known origin replaced."""
    page = BeautifulSoup(html, "html.parser")
    for comment in page.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    yield from (element["content"] for element in page.select(METADATA))
    for element in page.select(f"{CHECKED_ELSEWHERE}, {SKIPPED}"):
        element.decompose()
    for code in page.select("pre"):
        code.string = " ".join(COMMENT.findall(code.get_text()))
    for element in page.select(KNOWN_ORIGIN):
        element.replace_with(COMPUTED)
    # DIGITS skips numbers after ^ and √.
    for script in page.select("sup, sub, msup > :nth-child(2)"):
        script.replace_with("^" + script.get_text())
    for root in page.select("msqrt"):
        root.insert(0, "√")
    for symbol in page.select("math *"):
        symbol.append(" ")
    for element in page.find_all(True):
        yield from (element[name] for name in TEXT_ATTRIBUTES if element.get(name))
    # In reverse order, so nested blocks are extracted before the blocks around them.
    for block in reversed(page.find_all(BLOCK_TAGS)):
        yield " ".join(block.get_text().split())
        block.extract()


def typed_numbers(text):
    """Return the typed numbers of a text that are of no allowed kind."""
    for kind in ALLOWED_KINDS.values():
        text = re.sub(kind, "", text)
    numbers = [match[0] for match in NUMBER.finditer(text)]
    return [number for number in numbers if not UP_TO_TWELVE.fullmatch(number)]


def texts_with_typed_numbers(texts):
    """Return the typed numbers of each text that has any, and its beginning."""
    results = [(typed_numbers(text), text[:200]) for text in texts]
    return [(numbers, beginning) for numbers, beginning in results if numbers]


@pytest.fixture
def drawn_values(monkeypatch):
    """The absolute values of the numbers that a test formats, collected while it draws."""
    values = set()
    for name in ("number", "short_number"):
        original = getattr(numbers, name)

        def record_and_format(value, original=original):
            values.add(abs(float(value)))
            return original(value)

        for module in list(sys.modules.values()):
            if vars(module).get(name) is original:
                monkeypatch.setattr(module, name, record_and_format)
    return values


def spellings(values):
    """Return the texts by which drawings may write numbers."""
    formatted = {numbers.number(value) for value in values}
    formatted |= {numbers.short_number(value) for value in values}
    without_trailing_zeros = {text.rstrip("0") for text in formatted if "e" not in text}
    with_hyphen = formatted | without_trailing_zeros
    with_minus_sign = {text.replace("-", "−") for text in with_hyphen}
    mantissas = {numbers.typeset(text).partition("·10")[0] for text in formatted}
    # An axis with a tick of five digits separates the thousands in its ticks of four digits.
    with_thousands_separator = {f"{int(text):,}" for text in formatted if text.isdecimal()}
    return with_hyphen | with_minus_sign | mantissas | with_thousands_separator


def typed_numbers_of_drawing(svg, drawn_values):
    """Return the numbers in the text of a drawing that are not among the drawn values."""
    computed = spellings(drawn_values)
    # Without the classes for which visible_texts would leave the drawing out.
    texts = visible_texts(re.sub('class="(drawing|step)', 'class="', svg))
    return [number for text in texts for number in typed_numbers(text) if number not in computed]


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
    assert len(texts_with_typed_numbers(visible_texts(html))) == 1


PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.[mi][dp]*"))


def test_pages_type_no_number(site):
    folders = [path.parent if path.stem == "index" else path.with_suffix("") for path in PAGES]
    first, *others = [(site / folder / "index.html").read_text("utf-8") for folder in folders]
    # Around the content, pages have the text of the template, and titles of other pages.
    contents = ["".join(METADATA_OR_CONTENT.findall(page)) for page in others]
    texts = {text for html in (first, *contents) for text in visible_texts(html)}
    assert texts_with_typed_numbers(texts) == []


def test_readme_types_no_number():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    prose = CODE_OR_MATH.sub(lambda match: "" if match["fence"] else match[0], readme)
    assert texts_with_typed_numbers(prose.splitlines()) == []


def test_figures_and_panels_type_no_number(drawn_values):
    faults = []
    for name in (*FIGURES, *SIDE_PANELS):
        drawn_values.clear()
        drawing = FIGURES[name](STEPS) if name in FIGURES else side_panel(name, STEPS, str)
        faults += [(name, typed) for typed in typed_numbers_of_drawing(drawing, drawn_values)]
    assert faults == []


JAVASCRIPT_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
JAVASCRIPT_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.DOTALL)
TEMPLATE_EXPRESSION = re.compile(r"\$\{[^{}]*\}")
SCRIPTS = sorted((ROOT / "docs" / "assets").rglob("*.js"))


def test_strings_of_scripts_type_no_number():
    texts = []
    for script in SCRIPTS:
        code = JAVASCRIPT_COMMENT.sub("", script.read_text(encoding="utf-8"))
        strings = JAVASCRIPT_STRING.findall(code)
        texts += [TEMPLATE_EXPRESSION.sub(COMPUTED, string) for string in strings]
    assert texts_with_typed_numbers(texts) == []


def test_strings_of_examples_and_notebooks_type_no_number():
    codes = [path.read_text("utf-8") for path in (ROOT / "attention_docs/examples").glob("*.py")]
    for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        codes += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    texts = set()
    for tree in map(ast.parse, codes):
        constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        strings = {constant for constant in constants if isinstance(constant, str)}
        texts |= strings - {ast.get_docstring(tree, clean=False)}  # a doctest compares its digits
    assert texts_with_typed_numbers(texts) == []
