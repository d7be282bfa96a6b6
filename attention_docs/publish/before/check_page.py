r"""Sections of the page on the check, written from the data of the check itself.

They are the macros `\check{inputs}`, `\check{paste}`, `\check{cases}` and `\check{mistakes}`, each
on a line of its own, and the number `\check{count}`.
"""

import json
from collections.abc import Callable
from html import escape

from attention_docs import examples
from attention_docs.diagnosis import pasted
from attention_docs.diagnosis.cases import CASES
from attention_docs.diagnosis.mistakes import MISTAKES, Mistake
from attention_docs.publish.before.provenance import code_html
from attention_docs.publish.before.values import computed_span

# For each library, the import statement and the function that makes an array.
LIBRARIES = {
    "NumPy": ("import numpy as np", "np.array"),
    "PyTorch": ("import torch", "torch.tensor"),
    "JAX": ("import jax.numpy as jnp", "jnp.array"),
}
# Other sites may link to the anchors of mistakes from before their names changed.
FORMER_ANCHORS = {
    "causal-without-is-causal": "causal-unasked",
    "keys-as-values": "keys-blended",
    "keys-projected-with-query-weights": "keys-made-with-query-weights",
    "weights-unpacked-by-head": "packed-by-head",
}
PASTE_BOX = """\
<div class="paste">
<label for="printed-output">Your output, as it was printed</label>
<textarea id="printed-output" rows="6" spellcheck="false" autocomplete="off" autocapitalize="off" \
aria-describedby="diagnosis"></textarea>
<div id="diagnosis" role="status"></div>
<noscript><p>This box needs JavaScript; the command below does not.</p></noscript>
<template>{data}</template>
</div>
"""


def section(name: str, add_insert: Callable[[str], str]) -> str:
    """Return a section of the page as Markdown.

    Args:
        name: `count` (of the cases), `inputs`, `paste`, `cases` or `mistakes`.
        add_insert: stores HTML outside the search index, and returns its placeholder.

    Raises:
        LookupError: if there is no such section.

    >>> print(section("cases", str).splitlines()[4])
        | `distinct_sizes` | the formula itself; cross-attention; d_v ≠ d_k |
    """
    section_writers = {
        "inputs": lambda: add_insert(inputs_html()),
        "paste": lambda: add_insert(PASTE_BOX.format(data=diagnosis_data())),
        "count": lambda: computed_span(str(len(CASES))),
        "cases": cases_table,
        "mistakes": mistakes_table,
    }
    if name not in section_writers:
        raise LookupError(
            f"section {name!r} is unknown; expected one of {', '.join(section_writers)}"
        )
    return section_writers[name]()


def inputs_html() -> str:
    """Return the inputs as code for each library, in collapsed blocks."""
    return "".join(
        f"<details>\n<summary>Copy for {library}</summary>\n{code_html(input_code(library))}\n"
        "</details>\n"
        for library in LIBRARIES
    )


def input_code(library: str) -> str:
    """Return code that defines the queries, keys and values of an example.

    >>> print(input_code("PyTorch").splitlines()[0])
    import torch
    """
    import_line, array = LIBRARIES[library]
    steps = examples.steps("distinct_sizes")
    lines = (f"{name} = {array}({steps[name].tolist()})" for name in "QKV")
    return "\n".join([import_line, "", *lines])


def diagnosis_data() -> str:
    """Return JSON for the diagnosis of pasted output, escaped for a template element.

    It is not in a script element, because the theme runs all of them.
    """
    return escape(json.dumps(pasted.as_data(), ensure_ascii=False), quote=False)


def cases_table() -> str:
    """Return a collapsed table of the cases."""
    header = ["| case | what it isolates |", "| --- | --- |"]
    rows = [f"| `{case.name}` | {case.aspect} |" for case in CASES.values()]
    title = f"The {computed_span(str(len(CASES)))} cases, and what each isolates"
    return collapsed_note(title, header + rows)


def mistakes_table() -> str:
    """Return a collapsed table of the catalogue, with an anchor for each mistake."""
    header = ["| mistake | the line that fixes it |", "| --- | --- |"]
    rows = [mistake_row(mistake) for mistake in MISTAKES]
    title = f"The {computed_span(str(len(MISTAKES)))} mistakes, and the line that fixes each"
    return collapsed_note(title, header + rows)


def collapsed_note(title: str, lines: list[str]) -> str:
    return "\n".join([f'??? note "{title}"', "", *(f"    {line}" for line in lines)])


def mistake_row(mistake: Mistake) -> str:
    """Return the table row of a mistake, with its current and its former anchor."""
    anchors = [mistake.anchor]
    if mistake.anchor in FORMER_ANCHORS:
        anchors.append(FORMER_ANCHORS[mistake.anchor])
    targets = "".join(f'<span id="{anchor}"></span>' for anchor in anchors)
    summary = f"[{mistake.summary}]({mistake.section})" if mistake.section else mistake.summary
    return f"| {targets}{summary} | `{mistake.fix}` |"
