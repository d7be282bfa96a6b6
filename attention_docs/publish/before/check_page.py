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
from attention_docs.render.numbers import computed_span

INPUTS = "distinct_sizes"  # the example whose inputs readers copy
# For each library, the import statement and the function that makes an array.
LIBRARIES = {
    "NumPy": ("import numpy as np", "np.array"),
    "PyTorch": ("import torch", "torch.tensor"),
    "JAX": ("import jax.numpy as jnp", "jnp.array"),
}
# The former anchors of mistakes whose names have changed: other sites may link to them.
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
        name: `inputs` (code that defines them), `paste` (a box for pasted output), `cases` or
            `mistakes` (tables of them), or `count` (the number of cases).
        add_insert: stores HTML outside the search index, and returns its placeholder.

    >>> print(section("cases", str).splitlines()[4])
        | `distinct_sizes` | the formula itself; cross-attention; d_v ≠ d_k |
    """
    writers = {
        "inputs": lambda: add_insert(inputs_html()),
        "paste": lambda: add_insert(PASTE_BOX.format(data=diagnosis_data())),
        "count": lambda: computed_span(str(len(CASES))),
        "cases": cases_table,
        "mistakes": mistakes_table,
    }
    if name not in writers:
        raise LookupError(f"section {name!r} is unknown; expected one of {', '.join(writers)}")
    return writers[name]()


def inputs_html() -> str:
    """Return code that defines the inputs in each library, in collapsed blocks."""
    html = ""
    for library in LIBRARIES:
        code = code_html(input_code(library))
        html += f"<details>\n<summary>Copy for {library}</summary>\n{code}\n</details>\n"
    return html


def input_code(library: str) -> str:
    """Return code that defines the queries, keys and values to try in a library.

    >>> print(input_code("PyTorch").splitlines()[0])
    import torch
    """
    import_statement, array_function = LIBRARIES[library]
    steps = examples.steps(INPUTS)
    lines = (f"{name} = {array_function}({steps[name].tolist()})" for name in "QKV")
    return "\n".join([import_statement, "", *lines])


def diagnosis_data() -> str:
    """Return the data by which a script diagnoses pasted output, as JSON in a template element.

    It is not in a script element, because the theme would run it.
    """
    return escape(json.dumps(pasted.as_data(), ensure_ascii=False), quote=False)


def cases_table() -> str:
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
    """Return lines of Markdown as a note that unfolds when its title is clicked."""
    return "\n".join([f'??? note "{title}"', "", *(f"    {line}" for line in lines)])


def mistake_row(mistake: Mistake) -> str:
    """Return the table row of a mistake, to which its current and its former anchor lead."""
    anchors = [mistake.anchor]
    if mistake.anchor in FORMER_ANCHORS:
        anchors.append(FORMER_ANCHORS[mistake.anchor])
    link_targets = "".join(f'<span id="{anchor}"></span>' for anchor in anchors)
    summary = f"[{mistake.summary}]({mistake.section})" if mistake.section else mistake.summary
    return f"| {link_targets}{summary} | `{mistake.fix}` |"
