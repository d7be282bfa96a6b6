"""Pages as Markdown for other programs: with all numbers, and without what only a browser shows."""

import html
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

from attention_docs import examples
from attention_docs.figures.registry import FIGURES
from attention_docs.lookup import StepsOf, look_up
from attention_docs.publish.before.contents import (
    DIRECTIVE,
    Nav,
    PageFiles,
    page_paths,
    title_and_description,
    title_and_target,
)
from attention_docs.publish.before.results import measured
from attention_docs.publish.before.values import CODE_OR_MATH, Context, Macros, resolve_caption
from attention_docs.publish.inserts import PLACEHOLDER
from attention_docs.render.figures.svg import ROLES
from attention_docs.render.latex import latex
from attention_docs.render.table import is_large
from attention_docs.render.text import as_text

# Macros whose Markdown needs only its tags removed. The others below stand for controls.
KEPT = ("printed", "number", "contents", "lessons", "minutes", "overview", "check")
TEX_MARKUP = re.compile(rf"\\(?:from|short)\{{[^{{}}]*\}}|\\(?:computed|{'|'.join(ROLES)})(?=\{{)")
# What is about things to press: a box, a paragraph, a button.
HANDS_ON = re.compile(
    r"""^<div[ ]class="(?:try|filter)".*?^</div>$
      | ^(?:[^\n]+\n)+\{\.hands-on\}$
      | <(?P<tag>\w+)[ ][^<>\n]*class="[^"\n]*(?:hands-on|live-try).*?</(?P=tag)>""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
OUTPUT = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
MARKUP = re.compile(
    rf"\{{ ?(?:[.:]|data-|download)[^{{}}]*\}}|</?[a-z]+\d?\b[^>]*>|{PLACEHOLDER.pattern}"
)
DIGITS = "Computed by `attention_docs/examples/{}.py`:\n\n```text\n{}\n```"


def plain_macros(macros: Macros, steps_of: StepsOf) -> Macros:
    """Return macros with the names of others that expand to Markdown without HTML."""
    plain: dict[str, Callable[[str, Context], str]] = dict.fromkeys(macros, lambda *_: "")
    plain |= {name: macros[name] for name in KEPT}
    plain |= {
        "val": lambda reference, context: value(reference.replace(" ", ""), steps_of, context),
        "measured": lambda reference, _: measured(reference),
        "example": lambda name, _: DIGITS.format(name, examples.expected(name).strip()),
        "figure": lambda name, _: resolve_caption(
            f"*Figure: {' '.join(str(FIGURES[name].__doc__).split())}*", plain
        ),
    }
    return plain


def value(reference: str, steps_of: StepsOf, context: Context) -> str:
    """Format a value as text or as TeX; of a large matrix in a formula, its shape stands there."""
    array = look_up(reference, steps_of)
    in_text = context is Context.TEXT
    if isinstance(array, tuple):
        return (" × " if in_text else r" \times ").join(map(str, array))
    if in_text:
        return " ".join(as_text(array).split())
    if is_large(array):
        return rf"\text{{({' × '.join(map(str, array.shape))} numbers)}}"
    return latex(array)


def plain_markdown(markdown: str) -> str:
    r"""Remove markup for the site from Markdown, and insert the docstrings that it names.

    >>> plain_markdown(r"**Q**{.query} is $\query{Q} = \from{a.Q}{2}$<br>")
    '**Q** is ${Q} = {2}$:\n'
    """
    with_names = DIRECTIVE.sub(lambda directive: documentation(directive[1]), markdown)
    return "".join(plain_parts(HANDS_ON.sub("", with_names))).strip() + "\n"


def plain_parts(markdown: str) -> Iterator[str]:
    end = 0
    for part in CODE_OR_MATH.finditer(markdown):
        yield plain_text(markdown[end : part.start()])
        yield TEX_MARKUP.sub("", part[0]) if part["math"] else part[0]
        end = part.end()
    yield plain_text(markdown[end:])


def plain_text(text: str) -> str:
    blocks = OUTPUT.sub(lambda pre: f"\n```text\n{html.unescape(pre[1])}\n```\n", text)
    without_markup = MARKUP.sub("", blocks.replace("<br>", ": "))
    return re.sub(r"\n{3,}", "\n\n", html.unescape(without_markup))


def documentation(object_path: str) -> str:
    """Return the signature and the docstring of a public name."""
    documented = pkgutil.resolve_name(object_path)
    name = object_path.rpartition(".")[2]
    # A default that is a module would be shown with its path.
    signature = re.sub(r"<module '(\w+)'[^>]*>", r"\1", str(inspect.signature(documented)))
    text = f"{name}{signature}\n\n{inspect.getdoc(documented)}"
    return f"## {name} {{ #{object_path} }}\n\n```text\n{text}\n```"


def index(name: str, nav: Nav, page_files: PageFiles, address: str | None) -> str:
    """Return a list of all pages as Markdown in the form that llmstxt.org describes."""
    lines = [f"# {name}", "", f"> {title_and_description(page_files['index.md'])[1]}"]
    for title, target in map(title_and_target, nav):
        paths: list[Any] = list(page_paths(target)) if isinstance(target, list) else [target]
        lines += ["", f"## {title}", ""]
        for path in (path.replace(".ipynb", ".md") for path in paths):
            if path in page_files:
                heading, description = title_and_description(page_files[path])
                lines.append(f"- [{heading}]({address or ''}{path}): {description}")
    return "\n".join(lines) + "\n"
