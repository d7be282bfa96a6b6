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
    r"\\(?:left|right|[bB]igg?[lr]?|footnotesize|displaystyle|qq?uad)(?![A-Za-z])|\\[,;:! ]|&"
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
ADJACENT_MATRICES = re.compile(r"(?<=[A-Z])(?=[A-Z])")
SPACE_AFTER_OPENING = re.compile(r"(?<=[(\[^_]) ")
SPACE_BEFORE_CLOSING = re.compile(r" (?=[)\],.;^_])")
SPACE_AFTER_FUNCTION = re.compile(r"(?<=[a-z]{2}) (?=\()")


def formula_text(tex: str) -> str:
    r"""Return a formula as text, up to its first matrix.

    >>> formula_text(r"A = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right)")
    'A = softmax((Q K^T)/sqrt(d_k))'
    >>> formula_text(r"-\infty \to \from{a.weights[0;1]}{0.4683}, X W_{\text{out}} = \val{a.Q}")
    '- inf → 0.4683, X W_out'
    """
    tex = tex.partition(r"\val{")[0].rstrip("&= ")
    text = HIDDEN_ARGUMENT.sub("", LINE_BREAK.sub("; ", tex))
    text = LAYOUT.sub(" ", unwrap_arguments(text))
    text = COMMAND.sub(lambda command: f" {SIGNS.get(command[1], command[1])} ", text)
    text = ADJACENT_MATRICES.sub(" ", re.sub(r"[{}\\]", "", text))
    text = SPACE_AFTER_OPENING.sub("", " ".join(text.split()))
    return SPACE_AFTER_FUNCTION.sub("", SPACE_BEFORE_CLOSING.sub("", text))


def unwrap_arguments(tex: str) -> str:
    """Replace fractions and roots by their text, and other arguments by their content."""
    while True:
        text = FRACTION.sub(lambda match: f" {as_factor(match[1])}/{as_factor(match[2])} ", tex)
        text = ROOT.sub(r" sqrt(\1) ", text)
        # One at a time, because a fraction must be found before its second argument is.
        text = ARGUMENT.sub(r" \1 ", text, count=1)
        if text == tex:
            return text
        tex = text


def as_factor(text: str) -> str:
    """Return a numerator or denominator, in parentheses unless it is a single factor.

    >>> as_factor(" Q K"), as_factor(" sqrt(d_k) ")
    ('(Q K)', 'sqrt(d_k)')
    """
    text = text.strip()
    return f"({text})" if " " in text else text
