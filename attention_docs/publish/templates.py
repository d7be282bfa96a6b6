"""The templates of the pages: compiled once, and without the indentation of their source."""

import re
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.ext import Extension

from attention_docs.publish.cache import digest

SCRIPT_OR_INDENTATION = re.compile(r"(<script\b.*?</script>)|^[ \t]+", re.DOTALL | re.MULTILINE)


class Unindented(Extension):
    """Take a template's indentation out, which was 18 kB of every page.

    Scripts keep theirs, and so does what is inserted into the template.

    >>> from jinja2 import Environment
    >>> template = Environment(extensions=[Unindented]).from_string("<p>\\n  {{ code }}\\n</p>")
    >>> template.render(code="    return 0")
    '<p>\\n    return 0\\n</p>'
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return SCRIPT_OR_INDENTATION.sub(r"\1", source)


def cache(root: Path) -> FileSystemBytecodeCache:
    """Return the compiled templates of the last build: to compile them takes a tenth of one."""
    folder = root / ".cache" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    # Jinja itself notices a change in a template, but not in what is taken out of it.
    return FileSystemBytecodeCache(str(folder), digest(Path(__file__).read_bytes()) + "_%s.cache")
