r"""Short formulas, such as `$d_k = 2$`, as plain HTML.

Most formulas within a sentence are a letter with an index, a number, or a few of them on one line.
KaTeX would write some twenty elements for each symbol. So these are set in its fonts without it, in
one or two, which a screen reader reads like any other text.
"""

import re

ROLES = ("input", "query", "key", "value", "scores", "weights", "output")
GREEK = {
    r"\alpha": "α",
    r"\beta": "β",
    r"\kappa": "κ",
    r"\lambda": "λ",
    r"\mu": "μ",
    r"\omega": "ω",
    r"\pi": "π",
    r"\rho": "ρ",
    r"\sigma": "σ",
    r"\theta": "θ",
    r"\varepsilon": "ε",
}
# With the spaces that TeX sets around them.
SIGNS = {
    "=": " = ",
    "<": " &lt; ",
    ">": " &gt; ",
    "+": " + ",
    "/": "/",
    ",": ", ",
    "(": "(",
    ")": ")",
    r"\times": " × ",
    r"\cdot": " ⋅ ",
    r"\le": " ≤ ",
    r"\ge": " ≥ ",
    r"\dots": "…",
    r"\infty": "∞",
    r"\,": "\N{SIX-PER-EM SPACE}",
    r"\;": "\N{FOUR-PER-EM SPACE}",
    r"\quad": "\N{EM SPACE}",
    r"\qquad": "\N{EM SPACE}" * 2,
}


def one_of(words: dict[str, str]) -> str:
    """Match one of some commands or characters, a command up to its end."""
    return "|".join(
        re.escape(word) + ("(?![A-Za-z])" if word[1:].isalpha() else "") for word in words
    )


LETTER = rf"(?P<letter>[A-Za-z]|{one_of(GREEK)})"
# q_1, q_i, d_{\text{model}}, X_{kv}, \alpha_{1,2}
INDEX = r"""
(?:_(?:
    (?P<letter_index>[A-Za-z]) | (?P<digit_index>\d)
    | \{(?: (?P<letters>[a-z]+) | (?P<digits>\d[\d,]*) | \\text\{(?P<word>[a-z]+)\} )\}
))?
"""
ROLE = rf"\\(?P<role>{'|'.join(ROLES)})"
SYMBOL = re.compile(rf"{LETTER}{INDEX}\s*", re.VERBOSE)
COLOURED = re.compile(rf"{ROLE}\{{{SYMBOL.pattern}\}}\s*", re.VERBOSE)
NUMBER_OR_WORDS = r"(?P<number>\d+(?:\.\d+)?) | \\text\{(?P<words>[a-z\ ]+)\}"
# A number that says which result it is, a shape, or a number that the build computed otherwise.
RESULT = (
    r"(?:\\from\{(?P<reference>[^{}]+)\}|\\computed)"
    r"\{(?P<result>-?[\d./]+(?:\ \\times\ \d+)*)\}"
)
MINUS_OR_SIGN = rf"(?P<minus>-) | (?P<sign>{one_of(SIGNS)})"
OTHER = re.compile(rf"(?: {RESULT} | {NUMBER_OR_WORDS} | {MINUS_OR_SIGN} )\s*", re.VERBOSE)
# What stands above or below the line is KaTeX's.
RAISED = re.compile(r"[\^_']")


def plain(tex: str) -> str | None:
    r"""Write a formula of one line as HTML; None if it is more than that.

    >>> plain(r"\query{q_i}")
    '<span class="symbols"><i class="query">q<sub>i</sub></i></span>'
    >>> plain(r"d_k = -0.5"), plain("n^2")
    ('<span class="symbols"><i>d<sub>k</sub></i> = −0.5</span>', None)
    >>> plain(r"\from{course_scale.scores[0;1]}{-0.5000}")
    '<span class="symbols"><span data-val="course_scale.scores[0,1]">−0.5000</span></span>'
    >>> plain(r"d_k = \computed{64}")
    '<span class="symbols"><i>d<sub>k</sub></i> = <span data-computed>64</span></span>'
    """
    written, end = "", 0
    while end < len(tex):
        found = COLOURED.match(tex, end) or SYMBOL.match(tex, end) or OTHER.match(tex, end)
        if not found or RAISED.match(tex, found.end()):
            return None
        written += html_of(found, written)
        end = found.end()
    return f'<span class="symbols">{written}</span>'


def html_of(found: re.Match[str], before: str) -> str:
    """Write one symbol, number or sign.

    Args:
        found: what it is in TeX.
        before: the HTML that stands before it.
    """
    parts = found.groupdict()
    if parts.get("letter"):
        role = f' class="{parts["role"]}"' if parts.get("role") else ""
        return f"<i{role}>{GREEK.get(found['letter'], found['letter'])}{index(found)}</i>"
    if parts["result"]:
        shown = found["result"].replace("-", "−").replace(r" \times ", " × ")
        reference = found["reference"]
        mark = f'data-val="{reference.replace(";", ",")}"' if reference else "data-computed"
        return f"<span {mark}>{shown}</span>"
    if parts["minus"]:
        is_sign = not before or before[-1] in "(/" or before[-1].isspace()
        return "−" if is_sign else " − "
    return parts["number"] or parts["words"] or SIGNS[found["sign"]]


def index(found: re.Match[str]) -> str:
    """Write the index of a symbol, if it has one: letters slanted, digits and words upright."""
    if slanted := found["letter_index"] or found["letters"]:
        return f"<sub>{slanted}</sub>"
    upright = found["digit_index"] or found["digits"] or found["word"]
    return f'<sub class="upright">{upright}</sub>' if upright else ""
