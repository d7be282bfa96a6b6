"""The block under each example: where its numbers come from, and code to copy."""

import inspect
from html import escape

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.publish.repository import file_link, report_link
from attention_docs.render.code import numpy_steps
from attention_docs.render.latex import latex_steps

SUMMARY = "Where these numbers come from"
BLOCK = """\
<section class="provenance" data-of="{name}">
{button}{hint}<details class="info">
<summary{label}>{summary}</summary>
<p>Each time this site is built, {file} computes them, and its doctest compares every digit \
that is neither an input nor another example's. This command prints them all:</p>
{command}
<p>Source: {source}.{report}</p>
{definition}{numpy}{latex}\
</details>
</section>
"""
# Hidden until the script that handles its clicks is loaded.
TRY_BUTTON = """\
<button type="button" class="md-button live-try" data-example="{}" hidden>\
Try your own numbers{}</button>
"""
# Hidden with the button before it.
HINT = """\
<p class="hint">Press a number in a formula or a figure to see where it comes from \
and to change it.</p>
"""


def provenance(
    name: str,
    steps: dict[str, Array],
    repository: str | None,
    *,
    is_editable: bool,
    is_one_of_several: bool,
    has_hint: bool,
) -> str:
    """Return the block for an example as HTML.

    Args:
        is_one_of_several: whether the page has other examples, so that the block has to name its
            example.
    """
    example = examples.load(name)
    title_suffix = f": “{escape(example.TITLE)}”" if is_one_of_several else ""
    label = f' aria-label="{SUMMARY}{title_suffix}"' if is_one_of_several else ""
    return BLOCK.format(
        name=name,
        button=TRY_BUTTON.format(name, title_suffix) if is_editable else "",
        hint=HINT if is_editable and has_hint else "",
        label=label,
        summary=SUMMARY,
        file=file_link(f"attention_docs/examples/{name}.py", repository),
        command=code_html(f"$ python -m attention_docs show {name}"),
        source=escape(example.SOURCE),
        report=f" {report_link(repository)}." if repository else "",
        definition=collapsed_code("The definition", inspect.getsource(example)),
        numpy=collapsed_code("Copy as NumPy", numpy_steps(steps), "numpy"),
        latex=collapsed_code("Copy as LaTeX", latex_steps(steps), "latex"),
    )


def collapsed_code(title: str, code: str, code_format: str | None = None) -> str:
    """Return a collapsed block of code as HTML.

    Args:
        code_format: `numpy` or `latex`, if scripts update the code after a reader's edit.
    """
    attribute = f' data-format="{code_format}"' if code_format else ""
    return f"<details{attribute}>\n<summary>{title}</summary>\n{code_html(code)}\n</details>\n"


def code_html(text: str) -> str:
    """Return code as HTML, marked up so that the theme adds a copy button."""
    return f'<div class="highlight"><pre><code>{escape(text.rstrip())}\n</code></pre></div>'
