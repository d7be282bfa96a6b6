"""What all phases of a build share: the project's folder, settings, examples and cache."""

from pathlib import Path

from attention_docs.publish import assets, repository
from attention_docs.publish.cache import files_digest, installed_versions, project_cache
from attention_docs.publish.computed import ComputedExamples


class Project:
    """A project as one build sees it, with the settings of its site.

    Args:
        address: the URL of the site; by default the URL of the repository's GitHub Pages.
        offline: whether the site is read from files, so that it has no address.
        preview: whether MkDocs serves the site with live reload.
    """

    def __init__(
        self,
        root: Path,
        name: str,
        address: str | None = None,
        *,
        offline: bool = False,
        preview: bool = False,
    ) -> None:
        """Install the browser assets if they are missing, and open the caches."""
        self.root = root
        self.name = name
        self.offline = offline
        self.preview = preview
        self.node_modules = assets.install(root)
        npm_lock = files_digest(root / "package-lock.json")
        self.cache = project_cache(root).with_version(installed_versions(), npm_lock)
        self.examples = ComputedExamples(root)
        self.repository = repository.address(root)
        pages_address = self.repository and repository.pages_address(self.repository)
        self.address = None if offline else address or pages_address
