"""Interactive sessions in pages: code after `>>>`, copied without prompts and output."""

import ast
import doctest
import re
import textwrap
from collections.abc import Iterator
from html import escape

FENCE = re.compile(r"^(?P<indent> *)```python\n(?P<code>.*?)^ *```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^( *)```python(\n\s*>>>)", re.MULTILINE)
COMPOUND = re.compile(r"^( *)>>> (?:@|(?:class|def|for|with) ).*\n(?:\1\.\.\. .*\n)+", re.MULTILINE)
SECTION = r"^## {}(?: *\{{[^}}]*\}})?\n(?P<text>.*?)(?=^## |\Z)"
BLOCK = re.compile(FENCE.pattern.replace("python", "(?:python|console)"), FENCE.flags)
TABS = re.compile(r"(?:\n*(?: {4}.*|===.*)$)*", re.MULTILINE)
INSTALL = """

<p class="take-away" data-search-exclude markdown="span">To run the code of this page: {}</p>"""
BUTTON = """\
<button type="button" class="md-button copy-program hands-on" data-clipboard-text="{}">\
Copy this page as a program</button>
"""


def mark_sessions(markdown: str) -> str:
    """Change the language of code blocks with prompts from `python` to `pycon`.

    Prompts and output then get classes, by which the style sheet keeps them from being copied. An
    empty line follows each compound statement, because Python's prompt needs it.

    >>> mark_sessions("```python\\n>>> for i in [1]:\\n...     i\\n1\\n```")
    '```pycon\\n>>> for i in [1]:\\n...     i\\n...\\n1\\n```'
    """
    return SESSION.sub(r"\1```pycon\2", COMPOUND.sub(r"\g<0>\1...\n", markdown))


def with_install_line(markdown: str, repository: str | None) -> str:
    """Say below the first block of code that uses one of the packages how to install it.

    >>> with_install_line("```python\\n>>> import attention_docs\\n```", "https://github.com/a/b")
    '...\\n```\\n\\n<p...>To run the code of this page: `pip install git+https://github.com/a/b`</p>'
    """
    for block in BLOCK.finditer(markdown):
        package = re.search("attention[_-](docs|check)", block["code"])
        if not package:
            continue
        folder = "attention_check" if package[1] == "check" else ""
        torch = " torch" if not folder and '=== "PyTorch"' in markdown else ""
        line = f"`pip install ./{folder}{torch}` in a clone of the repository"
        if repository:
            line = f"`pip install git+{repository}{folder and f'#subdirectory={folder}'}{torch}`"
        tabs = TABS.match(markdown, block.end()) if block["indent"] else None
        end = tabs.end() if tabs else block.end()
        return markdown[:end] + INSTALL.format(line) + markdown[end:]
    return markdown


def copy_button(markdown: str, heading: str) -> str:
    """Return a button that copies the sessions of a section as one program.

    The theme's script copies the text, so the style sheet hides the button without scripts.
    """
    return BUTTON.format(escape(program(markdown, heading)))


def program(markdown: str, heading: str) -> str:
    """Return the sessions of a section as one program, which prints what the sessions print.

    The title of the page is the comment in its first line.
    """
    section = re.search(SECTION.format(re.escape(heading)), markdown, re.MULTILINE | re.DOTALL)
    sessions = [fence["code"] for fence in FENCE.finditer(section["text"])] if section else []
    if not sessions:
        raise LookupError(f"expected a section {heading!r} with a block of `>>>` code")
    title = re.search("^# .*", markdown, re.MULTILINE)
    parts = [title[0] if title else ""]
    for session in sessions:
        parts += statements(textwrap.dedent(session))
    return "\n".join(parts)


def statements(session: str) -> Iterator[str]:
    """Yield the statements of a session without prompts and output.

    An expression whose value the session shows is wrapped in `print`. An empty line follows each
    compound statement, because Python's prompt needs it if the program is pasted there.
    """
    for example in doctest.DocTestParser().get_examples(session):
        code = example.source.rstrip()
        statement = ast.parse(code).body[0]
        is_expression = isinstance(statement, ast.Expr)
        shows_value = is_expression and example.want and not code.startswith("print(")
        yield f"print({code})" if shows_value else code
        is_compound = hasattr(statement, "body")
        if is_compound:
            yield ""
