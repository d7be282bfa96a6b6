"""Results of earlier builds, each stored under a digest of all that it depends on."""

import hashlib
import os
import platform
import time
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy

DAY = 24 * 60 * 60
# Other branches and other settings make other results, which one may come back to.
KEPT = 30 * DAY


class Cache:
    """Results that outlast a build, in a folder with a file for each.

    Args:
        folder: the folder, which need not exist.
        setting: what every result depends on besides its own item.

    >>> import tempfile
    >>> cache = Cache(Path(tempfile.mkdtemp()), "version 1")
    >>> cache["question"] = "answer"
    >>> cache["question"], "question" in cache.part("other setting")
    ('answer', False)
    """

    def __init__(self, folder: Path, *setting: bytes | str) -> None:
        self.folder = folder
        self.setting = digest(*setting)

    def part(self, *setting: bytes | str) -> "Cache":
        """Return the results that depend on this as well."""
        return Cache(self.folder, self.setting, *setting)

    def __contains__(self, item: str) -> bool:
        return self._file(item).is_file()

    def __getitem__(self, item: str) -> str:
        file = self._file(item)
        os.utime(file)
        return file.read_text(encoding="utf-8")

    def __setitem__(self, item: str, result: str) -> None:
        file = self._file(item)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Renamed when complete, so a build that is cut off leaves no half of it; and under a name
        # of its own, because another thread may write the same.
        with NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as new:
            new.write(result)
        os.replace(new.name, file)

    def prune(self) -> None:
        """Delete the results that no build has used for a month."""
        for file in self.folder.glob("*"):
            if time.time() - file.stat().st_mtime > KEPT:
                file.unlink(missing_ok=True)

    def _file(self, item: str) -> Path:
        return self.folder / digest(self.setting, item)


def results(root: Path) -> Cache:
    """Return the results of earlier builds of a project."""
    return Cache(root / ".cache" / "results")


def digest(*parts: bytes | str) -> str:
    joined = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(joined).hexdigest()


def sources_digest(*paths: Path) -> str:
    """Hash files, and all that lies in folders; caches of Python lie in neither."""
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return digest(
        *(
            f"{file.name} {digest(file.read_bytes())}"
            for file in sorted(files)
            if file.is_file() and "__pycache__" not in file.parts
        )
    )


def package_digest(package: Path) -> str:
    """Hash what examples and notebooks depend on: the versions installed, and the package.

    `publish/` is left out: nothing outside it imports it, and no notebook does.
    """
    parts = set(package.iterdir()) - {package / "publish"}
    return digest(versions(), sources_digest(*sorted(parts)))


def versions() -> str:
    """List what is installed beside NumPy, by folder names, which hold the versions."""
    installed = (path.name for path in Path(numpy.__file__).parents[1].glob("*.dist-info"))
    return "\n".join([platform.python_version(), *sorted(installed)])
