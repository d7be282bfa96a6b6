r"""Short formulas, such as `$d_k = 2$`, as plain HTML.

Most inline formulas are a letter with a subscript, a number, or a few of them in a row. KaTeX would
write about twenty elements for each symbol. Plain HTML in KaTeX's fonts needs one or two, and
screen readers read it like any other text.
"""

import re

from attention_docs.render.figures.svg import ROLES

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
# The characters of TeX commands, with the spaces that TeX sets around them.
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


def alternatives(tokens: dict[str, str]) -> str:
    r"""Return a regular expression for any of the tokens: \le does not match in `\left`."""
    end_of_command = "(?![A-Za-z])"
    return "|".join(
        re.escape(token) + (end_of_command if token[1:].isalpha() else "") for token in tokens
    )


LETTER = rf"(?P<letter>[A-Za-z]|{alternatives(GREEK)})"
# q_1, q_i, d_{\text{model}}, X_{kv}, \alpha_{1,2}
SUBSCRIPT = r"""
(?:_(?:
    (?P<letter_subscript>[A-Za-z]) | (?P<digit_subscript>\d)
    | \{(?: (?P<letters>[a-z]+) | (?P<digits>\d[\d,]*) | \\text\{(?P<word>[a-z]+)\} )\}
))?
"""
ROLE = rf"\\(?P<role>{'|'.join(ROLES)})"
SYMBOL = re.compile(rf"{LETTER}{SUBSCRIPT}\s*", re.VERBOSE)
COLOURED = re.compile(rf"{ROLE}\{{{SYMBOL.pattern}\}}\s*", re.VERBOSE)
NUMBER_OR_WORDS = r"(?P<number>\d+(?:\.\d+)?) | \\text\{(?P<words>[a-z\ ]+)\}"
# A number or shape with a reference, or another computed number.
COMPUTED = (
    r"(?:\\(?P<macro>from|short)\{(?P<reference>[^{}]+)\}|\\computed)"
    r"\{(?P<computed>(?:\{\\approx\})?-?(?:[\d./]|\{,\})+(?:\ \\times\ \d+)*)\}"
)
MINUS_OR_SIGN = rf"(?P<minus>-) | (?P<sign>{alternatives(SIGNS)})"
OTHER = re.compile(rf"(?: {COMPUTED} | {NUMBER_OR_WORDS} | {MINUS_OR_SIGN} )\s*", re.VERBOSE)
NUMBER_ALONE = re.compile(rf"-?(?: {COMPUTED} | {NUMBER_OR_WORDS} )", re.VERBOSE)
# Superscripts, primes, and subscripts of anything but letters, which are left to KaTeX.
SCRIPT = re.compile(r"[\^_']")


def short_formula(tex: str) -> str | None:
    r"""Return a simple formula as HTML, or None if it needs KaTeX.

    >>> short_formula(r"\query{q_i}")
    '<span class="symbols"><i class="query">q<sub>i</sub></i></span>'
    >>> short_formula(r"d_k = -0.5"), short_formula("n^2")
    ('<span class="symbols"><i>d<sub>k</sub></i> = −0.5</span>', None)
    >>> short_formula(r"\from{course_scale.scores[0;1]}{-0.5000}")
    '<span data-val="course_scale.scores[0,1]">−0.5000</span>'
    >>> short_formula(r"\short{course_scale.weights[0]}{{\approx}0}")
    '<span data-val="course_scale.weights[0]" data-short>≈0</span>'
    >>> short_formula(r"\from{course_values.V.shape}{5 \times 2}")
    '<span data-val="course_values.V.shape">5 × 2</span>'
    >>> short_formula(r"d_k = \computed{64}")
    '<span class="symbols"><i>d<sub>k</sub></i> = <span data-computed>64</span></span>'
    """
    html = ""
    end = 0
    while end < len(tex):
        match = COLOURED.match(tex, end) or SYMBOL.match(tex, end) or OTHER.match(tex, end)
        if not match or SCRIPT.match(tex, match.end()):
            return None
        html += token_html(match, html)
        end = match.end()
    # A number alone is set like the sentence around it, not in KaTeX's digits.
    return html if NUMBER_ALONE.fullmatch(tex) else f'<span class="symbols">{html}</span>'


def token_html(match: re.Match[str], html_before: str) -> str:
    """Return a symbol, number or sign as HTML; by `html_before` a minus is a sign or operator."""
    if match.re is not OTHER:
        css_class = f' class="{match["role"]}"' if match.re is COLOURED else ""
        letter = GREEK.get(match["letter"], match["letter"])
        return f"<i{css_class}>{letter}{subscript(match)}</i>"
    if match["computed"]:
        digits = match["computed"].replace("-", "−").replace("{,}", ",").replace(r" \times ", " × ")
        digits = digits.replace(r"{\approx}", "≈")
        # TeX has ";" in references, because "," would separate attributes in \htmlData.
        reference = match["reference"]
        attribute = f'data-val="{reference.replace(";", ",")}"' if reference else "data-computed"
        is_short = " data-short" if match["macro"] == "short" else ""
        return f"<span {attribute}{is_short}>{digits}</span>"
    if match["minus"]:
        # Signs such as = end in a space.
        is_unary = not html_before or html_before[-1] in "(/" or html_before[-1].isspace()
        return "−" if is_unary else " − "
    return match["number"] or match["words"] or SIGNS[match["sign"]]


def subscript(match: re.Match[str]) -> str:
    """Return the subscript of a symbol, or "": letters italic, digits and words upright."""
    italic = match["letter_subscript"] or match["letters"]
    upright = match["digit_subscript"] or match["digits"] or match["word"]
    if italic:
        return f"<sub>{italic}</sub>"
    return f'<sub class="upright">{upright}</sub>' if upright else ""
