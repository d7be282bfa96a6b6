"""What all steps of a build know of the project: its folder, its examples, its earlier results."""

from pathlib import Path

from attention_docs.publish import assets, repository
from attention_docs.publish.cache import results, sources_digest, versions
from attention_docs.publish.computed import ComputedExamples


class Project:
    """The project in a folder, at one time, and the site that is made of it.

    Args:
        root: the folder.
        name: the name of the site.
        address: the URL of the site; by default that of the repository's GitHub Pages.
        offline: whether the site is to be read without a server, and so has no address.
        preview: whether the site is a preview, which live reload adds a script to.

    Attributes:
        modules: the folder of the browser assets.
        cache: the results of earlier builds with the same installed versions.
        examples: the steps and graphs of the worked examples.
        repository: the repository's URL, if it is known.

    Raises:
        PublishError: if the browser assets cannot be fetched, or no array library computes.
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
        self.cache = results(root).part(versions(), sources_digest(root / "package-lock.json"))
        self.examples = ComputedExamples(root)
        self.repository = repository.address(root)
        pages = repository.pages_address(self.repository) if self.repository else None
        self.address = None if offline else address or pages
