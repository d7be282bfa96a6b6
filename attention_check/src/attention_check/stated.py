"""Read what a function's docstring and comments state: the axes of its arrays, and its masks."""

import inspect
import re
from typing import Any

# Words for an axis, by its letter. N is the batch beside another word for positions.
AXES = {
    "b": r"b|bs|bsz|batch(_size)?|batches",
    "h": r"h|nh|heads?|n_?heads?|num_heads|q_heads|kv_heads|h_\w+",
    "n": (
        r"n|m|s|t|l|i|j|seq\w*|len\w*|tokens?|positions?|[qk]v?_len|time|steps?|quer\w+|keys?"
        r"|\w+_len\w*"
    ),
    "d": r"d|c|e|hd|dim\w*|head_dim|d_\w+|features?|channels?|embed\w*|width|depth|\w+_dim",
}
KEEPS = r"keep|kept|attend|token|tak\w+ part|visible|valid|allow|real|look|includ|participat|use"
HIDES = r"mask|hid|pad|ignor|block|exclu|drop|disallow|forbid|remov|not (be )?attend|\bnot\b|ban"
# What is said of True or 1: `True = visible`, `ones mark padding`, `1 for real tokens`.
TRUTH = (
    r"(?<![-.\w])(?:true|1(?:\.0)?|ones?|non-?zero)\b((?:\s*(?:=|:|->)|\s+(?:means?|marks?|is|are"
    r"|for|where|at|if|indicates?|keeps?|hides?|lets|takes?|masks?))[^.;,\n)]{0,45})"
)


# What makes attention another than the plain one, as code names it.
VARIANTS = (
    r"alibi|slopes|rel(?:ative)?_?pos\w*|rel(?:ative)?_bias|position_bias|neighbou?rhood|dilat\w+"
    r"|sinks|qk_?norm|layer_?norm|rms_?norm|l2_?norm|sigmoid"
)


def variant(function: Any) -> str:
    """Return the word in a function's or layer's code that names a variant of attention, or ""."""
    try:
        source = inspect.getsource(function if inspect.isroutine(function) else type(function))
    except (OSError, TypeError):
        return ""
    found = re.search(VARIANTS, source.lower())
    return found[0] if found else ""


def text_of(function: Any) -> str:
    """Return the docstrings and comments of a function, or of a layer's class and its method."""
    owners = [function, getattr(function, "forward", None)]
    if not inspect.isroutine(function):
        owners.append(type(function))
    parts = [getattr(function, "__name__", "").replace("_", " ")]
    for owner in owners:
        try:
            # An installed library's documentation describes more cases than one.
            if owner is None or "site-packages" in (inspect.getsourcefile(owner) or ""):
                continue
            source = inspect.getsource(owner)
        except (OSError, TypeError):
            continue
        parts += [inspect.getdoc(owner) or "", *re.findall(r"#(.*)", source)]
    return "\n".join(parts)


def layout(text: str) -> str | None:
    """Return the layout of the shapes of arrays that a text states, if it is one.

    >>> layout("q, k, v: (batch, seq_len, heads, head_dim)")
    'bnhd'
    >>> layout("x: (N, L, E), a mask is (b, 1, m, n)")
    'bnd'
    """
    named = re.search(r"(?<![a-z])(b[hns]{2}d|[ns]bhd|b[lt]hd|bh[lt]d)(?![a-z])", text.lower())
    if named:
        return re.sub("[slt]", "n", named[1])
    layouts = set()
    for shape in re.findall(r"[(\[]([^()\[\]]+)[)\]]", text):
        words = [word.strip().lower() for word in re.split(r"[,x×]\s+|,", shape)]
        letters = [
            next((axis for axis, names in AXES.items() if re.fullmatch(names, word)), "")
            for word in words
        ]
        if letters[:1] == ["n"] and words[0] == "n" and letters.count("n") == 2:
            letters[0] = "b"
        found = "".join(letters)
        if len(found) == len(words) == len(set(found)) > 1 and {"n", "d"} <= set(found):
            layouts.add(found)
    return layouts.pop() if len(layouts) == 1 else None


def mask(text: str) -> str | None:
    """Return whether a text states that True in a mask keeps or hides a key.

    >>> mask("mask: bool, True = position takes part"), mask("True marks padding")
    ('keep', 'hide')
    """
    found = set()
    for said in re.findall(TRUTH, text.lower()):
        clause = re.split(r"\b(?:0|false|zeros?)\b", said)[0]
        if re.search(HIDES, clause):
            found.add("hide")
        elif re.search(KEEPS, clause):
            found.add("keep")
    return found.pop() if len(found) == 1 else None
