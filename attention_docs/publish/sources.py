"""The pages as they are written, and where in them something stands, for error messages."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from attention_docs.publish.errors import PublishError

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<settings>.*?\n)---[ \t]*\n+", re.DOTALL)


@dataclass
class Source:
    """A page of `docs/`: a file of Markdown or a notebook.

    Args:
        address: its path in `docs/`.
        content: the file.

    Attributes:
        markdown: its Markdown once the values are inserted.
    """

    address: str
    content: str
    markdown: str = ""

    @property
    def file(self) -> str:
        return f"docs/{self.address}"

    @property
    def is_notebook(self) -> bool:
        return self.address.endswith(".ipynb")

    @cached_property
    def notebook(self) -> dict[str, Any]:
        """The notebook.

        Raises:
            PublishError: if it is not valid JSON.
        """
        try:
            found: dict[str, Any] = json.loads(self.content)
        except json.JSONDecodeError as error:
            raise PublishError(f"{self.file}:{error.lineno}: {error.msg}") from error
        return found

    @cached_property
    def front_matter(self) -> str:
        """The settings above the Markdown, between their lines; of a notebook, its metadata."""
        if self.is_notebook:
            # JSON is YAML.
            return f"---\ndescription: {json.dumps(self.settings['description'])}\n---\n\n"
        found = FRONT_MATTER.match(self.content)
        return found[0] if found else ""

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the front matter says, or the metadata of a notebook."""
        if self.is_notebook:
            return dict(self.notebook["metadata"])
        found = FRONT_MATTER.match(self.content)
        return dict(yaml.safe_load(found["settings"]) or {}) if found else {}

    @cached_property
    def prose(self) -> str:
        """The Markdown before values are inserted; of a notebook, its Markdown cells."""
        if self.is_notebook:
            return "\n\n".join(text for _, text in self._cells())
        return self.content.removeprefix(self.front_matter)

    def _cells(self) -> list[tuple[str, str]]:
        """List the Markdown cells of a notebook, each with its id."""
        cells = self.notebook["cells"]
        return [(c["id"], "".join(c["source"])) for c in cells if c["cell_type"] == "markdown"]

    def location(self, line: int | None = None) -> str:
        """Name a line of the prose, counted from 0; in a notebook, the cell and the line in it."""
        if line is None:
            return self.file
        if not self.is_notebook:
            return f"{self.file}:{self.front_matter.count(chr(10)) + line + 1}"
        start = 0
        for name, text in self._cells():
            end = start + text.count("\n") + 2
            if line < end:
                return f"{self.file}: cell {name}, line {line - start + 1}"
            start = end
        raise ValueError(f"expected a line of {self.file} from 0 to {start - 1}; got {line}")

    def locate(self, pattern: str) -> str:
        """Name the line of the prose where a pattern first matches, if it does."""
        found = re.search(pattern, self.prose)
        # Text with values in it is found in the final Markdown only. That has the same lines,
        # unless a table was inserted.
        if not found and self.markdown.count("\n") == self.prose.count("\n"):
            found = re.search(pattern, self.markdown)
        return self.location(found and found.string.count("\n", 0, found.start()))

    def locate_text(self, text: str) -> str:
        """Locate a text of one or several lines, which the page may indent."""
        return self.locate(r"\s+".join(map(re.escape, text.split())))

    def locate_id(self, name: str) -> str:
        return self.locate(rf'(?:\{{#|id="){re.escape(name)}\b')

    def locate_link(self, address: str, target: str, settings: Path) -> str:
        """Locate a link in its page or, if the theme inserted it, in the settings.

        Args:
            address: the link as in the finished page. Markdown may have changed its path, but not
                its fragment.
            target: the URL it resolves to.
            settings: the path of mkdocs.yml.
        """
        _, sign, fragment = address.partition("#")
        pattern = re.escape(sign + fragment if fragment else address)
        text = settings.read_text(encoding="utf-8")
        setting = re.search(rf"(?<![\w./-]){re.escape(target)}(?![\w./-])", text)
        if setting and not re.search(pattern, self.prose):
            return f"{settings.name}:{text.count(chr(10), 0, setting.start()) + 1}"
        return self.locate(pattern)
