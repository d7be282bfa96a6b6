"""Under each example: where its numbers come from, and a copy to take away."""

import inspect
import re
import textwrap

from attention_docs import examples
from attention_docs.publish import computed, later
from attention_docs.render.code import numpy_steps
from attention_docs.render.latex import latex_steps

WRITTEN = re.compile(r'<section class="provenance".*?</section>', re.DOTALL)

# A section, not a div: Material's search stops excluding at the end of the first inner element
# of the same name, and tabs are divs.
BLOCK = """\
<section class="provenance" data-search-exclude markdown>
??? info "Where do these numbers come from?"
    Each time this site is built, {file} computes them, and its doctest compares every digit.
    This command prints them:

    ```console
    $ python -m attention_docs show {name}
    ```

    They follow {source}.{report}

    === "The definition"

{definition}
    === "Copy as NumPy"

{numpy}
    === "Copy as LaTeX"

{latex}
</section>
"""


def provenance(name: str, repository: str | None) -> str:
    """Write the block for an example, with links if the repository's address is known.

    Raises:
        LookupError: if there is no such example.
    """
    example = examples.load(name)
    path = f"attention_docs/examples/{name}.py"
    steps = computed.steps(name)
    return BLOCK.format(
        name=name,
        file=f"[`{path}`]({repository}/blob/main/{path})" if repository else f"`{path}`",
        source=example.SOURCE,
        report=f" [Report a wrong number]({report_link(repository)})." if repository else "",
        definition=fenced("python", inspect.getsource(example)),
        # To copy, not to read: colours would double the weight of the page.
        numpy=fenced("text", numpy_steps(steps)),
        latex=fenced("text", latex_steps(steps)),
    )


def put_off_blocks(page: str) -> str:
    """Keep the blocks back, once they are HTML: highlighted code is slow to search through."""
    return WRITTEN.sub(lambda block: later.put_off(block[0]), page)


def report_link(repository: str) -> str:
    return f"{repository}/issues/new?template=wrong-number.yml"


def fenced(language: str, code: str) -> str:
    """Put code in a fence, indented to stand in a tab."""
    return textwrap.indent(f"```{language}\n{code.rstrip()}\n```\n", " " * 8)
