"""Pages and notebooks as files, and the locations in them that error messages name."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from attention_docs.publish.errors import PublishError

# On one line, so that the other lines keep their numbers where claims are left out.
CLAIM = re.compile(r" ?\\claim\{(?P<argument>[^{}\n]*)\}")
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<settings>.*?\n)---[ \t]*\n+", re.DOTALL)


@dataclass
class PageFile:
    """A file of `docs/`: Markdown or a notebook.

    Args:
        markdown: its Markdown after macros are expanded, once that is known.
        plain: the same for other programs, without HTML.
    """

    path: str
    content: str
    markdown: str = ""
    plain: str = ""

    @property
    def file(self) -> str:
        """Its path in the project, for error messages."""
        return f"docs/{self.path}"

    @property
    def is_notebook(self) -> bool:
        return self.path.endswith(".ipynb")

    @cached_property
    def notebook(self) -> dict[str, Any]:
        try:
            notebook: dict[str, Any] = json.loads(self.content)
        except json.JSONDecodeError as error:
            raise PublishError(f"{self.file}:{error.lineno}: {error.msg}") from error
        return notebook

    @cached_property
    def front_matter(self) -> str:
        """The front matter with its delimiters; for a notebook, made from its metadata."""
        if self.is_notebook:
            # A JSON string is valid YAML.
            return f"---\ndescription: {json.dumps(self.settings['description'])}\n---\n\n"
        match = FRONT_MATTER.match(self.content)
        return match[0] if match else ""

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The parsed front matter, or the metadata of a notebook."""
        if self.is_notebook:
            return dict(self.notebook["metadata"])
        match = FRONT_MATTER.match(self.content)
        return dict(yaml.safe_load(match["settings"]) or {}) if match else {}

    @cached_property
    def prose(self) -> str:
        """The Markdown before macros are expanded, without claims."""
        return CLAIM.sub("", self.prose_with_claims)

    @cached_property
    def prose_with_claims(self) -> str:
        """The Markdown below the front matter; for a notebook, its Markdown cells."""
        if self.is_notebook:
            return "\n\n".join(text for _, text in self._markdown_cells())
        return self.content.removeprefix(self.front_matter)

    def _markdown_cells(self) -> list[tuple[str, str]]:
        cells = [cell for cell in self.notebook["cells"] if cell["cell_type"] == "markdown"]
        return [(cell["id"], "".join(cell["source"])) for cell in cells]

    def location(self, line: int) -> str:
        """Return the file and the line in it of a line of the prose, for an error message.

        In a notebook, the location is the file, a cell and a line of the cell.

        Args:
            line: the line of the prose, counted from 0.
        """
        if not self.is_notebook:
            first_line = self.front_matter.count("\n") + 1
            return f"{self.file}:{first_line + line}"
        cell_start = 0
        for cell_id, text in self._markdown_cells():
            # The prose has an empty line between cells.
            next_cell_start = cell_start + len(text.split("\n")) + 1
            if line < next_cell_start:
                return f"{self.file}: cell {cell_id}, line {line - cell_start + 1}"
            cell_start = next_cell_start
        raise ValueError(f"expected a line of {self.file} from 0 to {cell_start - 1}; got {line}")

    def locate_text(self, text: str) -> str:
        """Return the location of a text for an error message.

        It is the file alone if the text does not occur in it. Line breaks and indentation may
        differ between the text and the file.
        """
        pattern = r"\s+".join(map(re.escape, text.split()))
        match = re.search(pattern, self.prose)
        # Text with computed values occurs in the expanded Markdown only. Its lines correspond to
        # the lines of the prose unless a macro expanded to several lines.
        if not match and self.markdown.count("\n") == self.prose.count("\n"):
            match = re.search(pattern, self.markdown)
        if not match:
            return self.file
        line = match.string.count("\n", 0, match.start())
        return self.location(line)
