"""The block under each example: where its numbers come from, and copies to paste."""

import inspect
from html import escape

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.publish.repository import file_link, report_link
from attention_docs.render.code import numpy_steps
from attention_docs.render.latex import latex_steps

BLOCK = """\
<section class="provenance" data-of="{name}">
{button}<details class="info">
<summary>Where do these numbers come from?</summary>
<p>Each time this site is built, {file} computes them, and its doctest compares every digit. \
This command prints them:</p>
{command}
<p>Source: {source}.{report}</p>
{definition}{numpy}{latex}\
</details>
</section>
"""
# Without scripts it could do nothing, so a script shows it.
TRY = """\
<button type="button" class="md-button live-try" data-example="{}" hidden>\
Try your own numbers</button>
"""
FOLDED = "<details{}>\n<summary>{}</summary>\n{}\n</details>\n"
# A page that answers brings this code up to date.
COPY = ' data-copy="{}"'


def provenance(
    name: str, steps: dict[str, Array], repository: str | None, *, can_be_changed: bool
) -> str:
    """Write the block for an example.

    Args:
        name: the name of the example.
        steps: its steps.
        repository: the repository's URL, if it is known, for links.
        can_be_changed: whether a reader can change its inputs.

    Raises:
        LookupError: if there is no such example.
    """
    example = examples.load(name)
    return BLOCK.format(
        name=name,
        button=TRY.format(name) if can_be_changed else "",
        file=file_link(f"attention_docs/examples/{name}.py", repository),
        command=code(f"$ python -m attention_docs show {name}"),
        source=escape(example.SOURCE),
        report=f" {report_link(repository)}." if repository else "",
        definition=FOLDED.format("", "The definition", code(inspect.getsource(example))),
        numpy=FOLDED.format(COPY.format("numpy"), "Copy as NumPy", code(numpy_steps(steps))),
        latex=FOLDED.format(COPY.format("latex"), "Copy as LaTeX", code(latex_steps(steps))),
    )


def code(text: str) -> str:
    """Write code with the theme's own markup, which gives it the theme's copy button."""
    return f'<div class="highlight"><pre><code>{escape(text.rstrip())}\n</code></pre></div>'
