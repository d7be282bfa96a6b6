r"""Formulas as text for the search, which would otherwise show snippets with holes.

The text is what an engineer would type: `softmax((Q K^T)/sqrt(d_k)) V`.
"""

import re

LINE_BREAK = re.compile(r"\\\\")
# Commands whose first argument is not shown: references, environments and notes below a symbol.
HIDDEN_ARGUMENT = re.compile(r"\\(?:from|begin|end|underset)\{[^{}]*\}")
FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
ROOT = re.compile(r"\\sqrt\{([^{}]*)\}")
# The argument of any other command, or a group.
ARGUMENT = re.compile(r"(?:\\[A-Za-z]+)?(?<!frac)\{([^{}]*)\}")
LAYOUT = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?|footnotesize|displaystyle|qq?uad|enspace|allowbreak)"
    r"(?![A-Za-z])|\\[,;:! ]|&"
)
COMMAND = re.compile(r"\\([A-Za-z]+)")
# Commands that are not written by their names, like `sum` and `alpha`.
SIGNS = {
    "approx": "≈",
    "cdot": "·",
    "cdots": "…",
    "circ": "∘",
    "dots": "…",
    "ell": "l",
    "ge": "≥",
    "in": "∈",
    "infty": "inf",
    "le": "≤",
    "ne": "≠",
    "partial": "d",
    "sim": "~",
    "times": "×",
    "to": "→",
    "top": "T",
    "vdots": "…",
}
BRACE_OR_BACKSLASH = re.compile(r"[{}\\]")
ADJACENT_MATRICES = re.compile(r"(?<=[A-Z])(?=[A-Z])")
SPACE_AFTER_OPENING = re.compile(r"(?<=[(\[^_]) ")
SPACE_BEFORE_CLOSING = re.compile(r" (?=[)\],.;^_])")
SPACE_AFTER_FUNCTION = re.compile(r"(?<=[a-z]{2}) (?=\()")


def formula_text(tex: str) -> str:
    r"""Return a formula as text, up to its first matrix.

    >>> formula_text(r"A = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right)")
    'A = softmax((Q K^T)/sqrt(d_k))'
    >>> formula_text(r"-\infty \to \from{a.weights[0;1]}{0.4683}, X W_{\text{out}} = \table{Q}")
    '- inf → 0.4683, X W_out'
    """
    text = tex.partition(r"\table{")[0].rstrip("&= ")
    text = LINE_BREAK.sub("; ", text)
    text = HIDDEN_ARGUMENT.sub("", text)
    text = unwrap_arguments(text)
    text = LAYOUT.sub(" ", text)
    text = COMMAND.sub(lambda command: f" {SIGNS.get(command[1], command[1])} ", text)
    text = BRACE_OR_BACKSLASH.sub("", text)
    text = ADJACENT_MATRICES.sub(" ", text)
    text = " ".join(text.split())
    for unwanted_space in (SPACE_AFTER_OPENING, SPACE_BEFORE_CLOSING, SPACE_AFTER_FUNCTION):
        text = unwanted_space.sub("", text)
    return text


def unwrap_arguments(tex: str) -> str:
    """Replace fractions and roots by their text, and other arguments by their content.

    The patterns match arguments without braces, so nested ones are replaced from the inside out.
    """
    text = FRACTION.sub(lambda match: f" {as_factor(match[1])}/{as_factor(match[2])} ", tex)
    text = ROOT.sub(r" sqrt(\1) ", text)
    # Only the first, which may be in a numerator: the fraction must be found before the braces of
    # its denominator are removed.
    text = ARGUMENT.sub(r" \1 ", text, count=1)
    return text if text == tex else unwrap_arguments(text)


def as_factor(text: str) -> str:
    """Return a numerator or denominator, in parentheses unless it is a single factor.

    >>> as_factor(" Q K"), as_factor(" sqrt(d_k) ")
    ('(Q K)', 'sqrt(d_k)')
    """
    text = text.strip()
    return f"({text})" if " " in text else text
