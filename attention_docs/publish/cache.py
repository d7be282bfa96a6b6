"""Results of earlier builds, each stored under a digest of everything it depends on."""

import hashlib
import os
import platform
import time
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy

DAY = 24 * 60 * 60
# Long enough to switch branches or settings and come back.
MAX_AGE = 30 * DAY


class Cache:
    """Results that outlast a build, each in a file of a folder.

    Args:
        folder: the folder, which need not exist.
        key: what all results depend on besides their own keys.

    >>> import tempfile
    >>> cache = Cache(Path(tempfile.mkdtemp()), "version 1")
    >>> cache["question"] = "answer"
    >>> cache["question"], "question" in cache.with_key("more")
    ('answer', False)
    """

    def __init__(self, folder: Path, *key: bytes | str) -> None:
        self.folder = folder
        self.key = digest(*key)

    def with_key(self, *key: bytes | str) -> "Cache":
        """Return a cache in the same folder whose results depend on this key as well."""
        return Cache(self.folder, self.key, *key)

    def __contains__(self, key: str) -> bool:
        return self._file(key).is_file()

    def __getitem__(self, key: str) -> str:
        file = self._file(key)
        os.utime(file)
        return file.read_text(encoding="utf-8")

    def __setitem__(self, key: str, result: str) -> None:
        file = self._file(key)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Renamed when complete, so an interrupted build leaves no partial file; temporary names
        # are unique, because two threads may store the same result.
        with NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as temporary:
            temporary.write(result)
        os.replace(temporary.name, file)

    def prune(self) -> None:
        """Delete results that have not been used for a month."""
        for file in self.folder.glob("*"):
            if time.time() - file.stat().st_mtime > MAX_AGE:
                file.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self.folder / digest(self.key, key)


def results(root: Path) -> Cache:
    """Return the cache of a project."""
    return Cache(root / ".cache" / "results")


def digest(*parts: bytes | str) -> str:
    joined = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(joined).hexdigest()


def sources_digest(*paths: Path) -> str:
    """Hash files and the contents of folders, without Python's bytecode."""
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return digest(
        *(
            f"{file.name} {digest(file.read_bytes())}"
            for file in sorted(files)
            if file.is_file() and "__pycache__" not in file.parts
        )
    )


def package_digest(package: Path) -> str:
    """Hash the installed versions and the package, which examples and notebooks depend on.

    `publish/` is left out because neither the rest of the package nor a notebook imports it.
    """
    sources = set(package.iterdir()) - {package / "publish"}
    return digest(versions(), sources_digest(*sorted(sources)))


def versions() -> str:
    """List the packages installed beside NumPy, by folder names, which include versions."""
    installed = (path.name for path in Path(numpy.__file__).parents[1].glob("*.dist-info"))
    return "\n".join([platform.python_version(), *sorted(installed)])
