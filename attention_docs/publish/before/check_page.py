r"""What pages say of the check, written from the data of the check itself.

They are the macros `\check{inputs}`, `\check{paste}`, `\check{cases}`, `\check{mistakes}` and
`\check{moved}`, each on a line of its own, and the number `\check{count}`.
"""

import contextlib
import json
import math
import textwrap
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any

from attention_check import cases, comparing, positions, recipe
from attention_check.mistakes import MISTAKES, Mistake
from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.lookup import load_results
from attention_docs.render.numbers import computed_span

INPUTS = "distinct_sizes"  # the example whose inputs readers copy
# For each library, the import statement and the function that makes an array.
LIBRARIES = {
    "NumPy": ("import numpy as np", "np.array"),
    "PyTorch": ("import torch", "torch.tensor"),
    "JAX": ("import jax.numpy as jnp", "jnp.array"),
}
FILTER = """\
<div class="filter">
<label for="words">Show mistakes with these words</label>
<input id="words" type="search" autocomplete="off"> <span role="status"></span>
</div>
"""
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
            `mistakes` (tables of them), `moved` (links from the old anchors of mistakes), or
            `count` (the number of cases).
        add_insert: stores HTML outside the search index, and returns its placeholder.

    >>> print(section("cases", str).splitlines()[4])
        | `distinct_sizes` | the formula itself; cross-attention; d_v ≠ d_k |
    """
    writers = {
        "inputs": inputs_in_tabs,
        "paste": lambda: add_insert(paste_box()),
        "count": lambda: computed_span(str(len(cases.CASES))),
        "cases": cases_table,
        "mistakes": lambda: f"{add_insert(FILTER)}\n\n{mistakes_tables()}",
        "moved": moved_mistakes,
    }
    if name not in writers:
        raise LookupError(f"section {name!r} is unknown; expected one of {', '.join(writers)}")
    return writers[name]()


def inputs_in_tabs() -> str:
    """Return code that defines the inputs in each library, in tabs."""
    steps = examples.steps(INPUTS)
    tabs = ""
    for library, (import_statement, array_function) in LIBRARIES.items():
        code = f"{import_statement}\n"
        for name in "QKV":
            rows = "".join(f"    {row},\n" for row in steps[name].tolist())
            code += f"\n{name} = {array_function}([\n{rows}])"
        block = textwrap.indent(f"```python\n{code}\n```", "    ")
        tabs += f'=== "{library}"\n\n{block}\n\n'
    return tabs


def paste_box() -> str:
    """Return the box, with the outputs that its script knows as JSON in a template element.

    They are not in a script element, because the theme would run it.
    """
    data = json.dumps(known_outputs(), ensure_ascii=False)
    return PASTE_BOX.format(data=escape(data, quote=False))


def known_outputs() -> list[dict[str, Any]]:
    """Return what a call with the inputs may print, each once, with the right output first.

    Other right matrices follow, then the outputs of mistakes, without and with a causal mask.
    """
    call = cases.example_call()
    causal_call = replace(call, is_causal=True)
    right = attention_steps(call.query, call.key, call.value)
    causal = attention_steps(call.query, call.key, call.value, is_causal=True)
    right_matrices = {
        "the right output of this call, which says nothing of masks, heads or gradients": (
            right.output
        ),
        "the right output with a causal mask": causal.output,
        "the right output, transposed": right.output.swapaxes(-1, -2),
        "the matrix of the right scores, before the scale": right.scores,
        "the matrix of the right scaled scores, before the softmax": right.scaled,
        "the matrix of the right weights, before the sum of the values": right.weights,
    }
    outputs = [known_output(summary, matrix) for summary, matrix in right_matrices.items()]
    for mistake in MISTAKES:
        for variant, suffix in ((call, ""), (causal_call, ", with a causal mask")):
            with contextlib.suppress(ValueError):  # the shapes do not fit
                output = recipe.attend(variant, mistake.changes)
                outputs.append(known_output(mistake.summary + suffix, output, mistake))
    by_numbers: dict[str, dict[str, Any]] = {}
    for output in outputs:
        by_numbers.setdefault(str(output["rows"]), output)
    return list(by_numbers.values())


def known_output(summary: str, matrix: Array, mistake: Mistake | None = None) -> dict[str, Any]:
    """Describe a (1, 1, m, n) matrix, or the output of a mistake, in numbers of six decimals.

    NaN and infinity become strings, because JSON lacks them.
    """

    def rounded(number: float) -> float | str:
        return round(number, 6) + 0.0 if math.isfinite(number) else str(number)  # -0.0 becomes 0.0

    return {
        "summary": summary,
        "right": mistake is None,
        "fix": mistake.fix if mistake else "",
        "anchor": mistake.anchor if mistake else "",
        "rows": [[rounded(number) for number in row] for row in matrix[0, 0].tolist()],
    }


def cases_table() -> str:
    header = ["| case | what it isolates |", "| --- | --- |"]
    rows = [f"| `{case.name}` | {case.aspect} |" for case in cases.CASES.values()]
    title = f"The {computed_span(str(len(cases.CASES)))} cases, and what each isolates"
    return collapsed_note(title, header + rows)


def mistakes_tables() -> str:
    """Return a collapsed table of the mistakes in each subject."""
    threads: dict[str, list[str]] = {}
    for thread, bug in load_results("bugs")["bugs"].items():
        threads.setdefault(bug["reason"], []).append(f"[{thread.split('/', 1)[1]}")
    rows: dict[str, list[str]] = {}
    for mistake in MISTAKES:
        case = cases.CASES[comparing.typical_case(mistake)]
        reported = ", ".join(threads.get(mistake.summary, []))
        row = mistake_row(mistake, digits(mistake, case), case.aspect, reported)
        rows.setdefault(mistake.subject, []).append(row)
    for mistake in positions.MISTAKES.values():
        rows.setdefault(mistake.subject, []).append(mistake_row(mistake))
    header = [
        "| mistake | right, wrong | shown by | the line that fixes it | reported |",
        "| --- | --- | --- | --- | --- |",
    ]
    tables = []
    for subject, of_subject in rows.items():
        title = f"{computed_span(str(len(of_subject)))} mistakes"
        tables += [f"### {subject}", collapsed_note(title, header + of_subject)]
    return "\n\n".join(tables)


def mistake_row(mistake: Mistake, numbers: str = "", aspect: str = "", reported: str = "") -> str:
    section = mistake.section.removeprefix("mechanisms/")
    target = f'<span id="{mistake.anchor}"></span>{mistake.summary}'
    summary = f"[{mistake.summary}]({section})" if section else target
    return f"| {summary} | {numbers} | {aspect} | `{mistake.fix}` | {reported} |"


def moved_mistakes() -> str:
    """Return links to the mistakes, at the anchors that their rows had on the page of the check."""
    links = [
        f"[{mistake.summary}]({mistake.address}){{ #{mistake.anchor} }}"
        for mistake in (*MISTAKES, *positions.MISTAKES.values())
    ]
    return "\n".join([*links, "{ .moved data-search-exclude }"])


def digits(mistake: Mistake, case: cases.Case) -> str:
    """Return the number of a case that a mistake changes most, right and wrong, or else shapes."""
    right, wrong = case.expected()["output"], comparing.output_with(case, (mistake,))
    assert wrong is not None
    if right.shape != wrong.shape:
        return computed_span(f"{right.shape[-2:]}, {wrong.shape[-2:]}")
    worst = comparing.absolute_errors(wrong, right).argmax()
    return computed_span(f"{right.flat[worst]:.4g}, {wrong.flat[worst]:.4g}".replace("-", "−"))


def collapsed_note(title: str, lines: list[str]) -> str:
    """Return lines of Markdown as a note that unfolds when its title is clicked."""
    return "\n".join([f'??? note "{title}"', "", *(f"    {line}" for line in lines)])
