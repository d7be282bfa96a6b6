r"""The parts of the page on the check that are made from what the check itself reads.

`\check{inputs}`, `\check{paste}`, `\check{cases}` and `\check{mistakes}` stand on lines of their
own; `\check{count}` is a number.
"""

import json
from collections.abc import Callable
from html import escape

from attention_docs import examples
from attention_docs.diagnosis import pasted
from attention_docs.diagnosis.cases import CASES
from attention_docs.diagnosis.mistakes import MISTAKES, Mistake
from attention_docs.publish.before.provenance import code
from attention_docs.publish.before.values import computed

# What each library is imported with, and what it makes an array with.
LIBRARIES = {
    "NumPy": ("import numpy as np", "np.array"),
    "PyTorch": ("import torch", "torch.tensor"),
    "JAX": ("import jax.numpy as jnp", "jnp.array"),
}
PASTE = """\
<div class="paste">
<label for="printed-output">Your output, as it was printed</label>
<textarea id="printed-output" rows="6" spellcheck="false" autocomplete="off" autocapitalize="off" \
aria-describedby="diagnosis"></textarea>
<div id="diagnosis" role="status"></div>
<noscript><p>This box needs JavaScript; the command below does not.</p></noscript>
<template>{data}</template>
</div>
"""


def part(name: str, defer: Callable[[str], str]) -> str:
    """Return a part of the page as Markdown.

    Args:
        name: `count` (of the cases), `inputs`, `paste`, `cases` or `mistakes`.
        defer: stores HTML that nobody searches for, and returns what stands in for it.

    Raises:
        LookupError: if there is no such part.

    >>> print(part("cases", str).splitlines()[4])
        | `distinct_sizes` | the formula itself; cross-attention; d_v ≠ d_k |
    """
    parts = {
        "inputs": lambda: defer(inputs()),
        "paste": lambda: defer(PASTE.format(data=as_json())),
        "count": lambda: computed(str(len(CASES))),
        "cases": cases,
        "mistakes": mistakes,
    }
    if name not in parts:
        raise LookupError(f"part {name!r} is unknown; known are {', '.join(parts)}")
    return parts[name]()


def inputs() -> str:
    """Write the inputs of the example for each library, folded."""
    return "".join(
        f"<details>\n<summary>Copy for {library}</summary>\n{code(literals(library))}\n</details>\n"
        for library in LIBRARIES
    )


def literals(library: str) -> str:
    """Write queries, keys and values as code.

    >>> print(literals("PyTorch").splitlines()[0])
    import torch
    """
    imported, array = LIBRARIES[library]
    steps = examples.steps("distinct_sizes")
    lines = (f"{name} = {array}({steps[name].tolist()})" for name in "QKV")
    return "\n".join([imported, "", *lines])


def as_json() -> str:
    """Write the known outputs as JSON in HTML; the theme would run a script of any type."""
    return escape(json.dumps(pasted.as_data(), ensure_ascii=False), quote=False)


def cases() -> str:
    """Tabulate the cases of a check and what each isolates, folded."""
    rows = (f"| `{case.name}` | {case.isolates} |" for case in CASES.values())
    head = "| case | what it isolates |", "| --- | --- |"
    return folded(f"The {computed(str(len(CASES)))} cases, and what each isolates", [*head, *rows])


def mistakes() -> str:
    """Tabulate the catalogue, folded, each mistake with an anchor of its own."""
    head = "| mistake | the line that fixes it |", "| --- | --- |"
    title = f"The {computed(str(len(MISTAKES)))} mistakes, and the line that fixes each"
    return folded(title, [*head, *map(row, MISTAKES)])


def folded(title: str, lines: list[str]) -> str:
    return "\n".join([f'??? note "{title}"', "", *(f"    {line}" for line in lines)])


def row(mistake: Mistake) -> str:
    anchor = f'<span id="{mistake.anchor}"></span>'
    summary = f"[{mistake.summary}]({mistake.section})" if mistake.section else mistake.summary
    return f"| {anchor}{summary} | `{mistake.fix}` |"
