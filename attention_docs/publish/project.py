"""The project as all build stages see it: its folder, its examples, its cached results."""

from pathlib import Path

from attention_docs.publish import assets, repository
from attention_docs.publish.cache import results, sources_digest, versions
from attention_docs.publish.computed import ComputedExamples


class Project:
    """A snapshot of the project in a folder, and the settings of its site.

    Args:
        root: the project's folder.
        name: the name of the site.
        address: the URL of the site; by default that of the repository's GitHub Pages.
        offline: whether the site is for reading from files, without a server or an address.
        preview: whether MkDocs serves the site with live reload.

    Attributes:
        modules: the `node_modules` folder.
        cache: results of builds with the same installed versions.
        examples: the steps and graphs of the worked examples.
        repository: the repository's URL, if known.

    Raises:
        PublishError: if the browser assets or the array library are not available.
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
        self.root = root
        self.name = name
        self.offline = offline
        self.preview = preview
        self.modules = assets.ensure(root)
        self.cache = results(root).with_key(versions(), sources_digest(root / "package-lock.json"))
        self.examples = ComputedExamples(root)
        self.repository = repository.address(root)
        github_pages = repository.pages_address(self.repository) if self.repository else None
        self.address = None if offline else address or github_pages
