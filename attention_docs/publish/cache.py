"""Results of earlier builds, each stored under a digest of everything it depends on."""

import hashlib
import os
import platform
import time
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy

# A month in seconds: long enough to switch branches or settings and come back.
MAX_AGE = 30 * 24 * 60 * 60


class Cache:
    """A dictionary of strings that is kept between builds, one file per entry.

    Args:
        version: what all results depend on, in addition to their keys.
    """

    def __init__(self, folder: Path, *version: bytes | str) -> None:
        self.folder = folder
        self.version = digest(*version)

    def with_version(self, *version: bytes | str) -> "Cache":
        """Return a cache in the same folder whose results also depend on this version."""
        return Cache(self.folder, self.version, *version)

    def __contains__(self, key: str) -> bool:
        return self._file(key).is_file()

    def __getitem__(self, key: str) -> str:
        """Return a stored result, and mark it as used, so that `prune` keeps it."""
        file = self._file(key)
        os.utime(file)
        return file.read_text(encoding="utf-8")

    def __setitem__(self, key: str, result: str) -> None:
        file = self._file(key)
        self.folder.mkdir(parents=True, exist_ok=True)
        # The file is renamed when complete, so an interrupted build leaves no partial one. Its
        # temporary name is unique, because two threads may store the same result.
        with NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as temporary:
            temporary.write(result)
        os.replace(temporary.name, file)

    def prune(self) -> None:
        """Delete results that have not been used for a month."""
        for file in self.folder.glob("*"):
            seconds_since_use = time.time() - file.stat().st_mtime
            if seconds_since_use > MAX_AGE:
                file.unlink(missing_ok=True)  # a parallel build may have deleted it

    def _file(self, key: str) -> Path:
        return self.folder / digest(self.version, key)


def project_cache(root: Path) -> Cache:
    return Cache(root / ".cache" / "results")


def digest(*parts: bytes | str) -> str:
    # With a separator, ("ab", "c") and ("a", "bc") have different digests.
    joined = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(joined).hexdigest()


def files_digest(*paths: Path) -> str:
    """Return a digest of the names and contents of files.

    Args:
        paths: files or folders. A folder stands for all files in it and in its subfolders, except
            bytecode.
    """
    files: list[Path] = []
    for path in paths:
        contents = [path] if path.is_file() else path.rglob("*")
        files += (file for file in contents if file.is_file() and "__pycache__" not in file.parts)
    return digest(*(f"{file.name} {digest(file.read_bytes())}" for file in sorted(files)))


def package_digest(package: Path) -> str:
    """Return a digest of what examples and notebooks depend on.

    These are the installed versions and the package, except `publish/`, which neither the rest of
    the package nor a notebook imports.
    """
    hashed_paths = sorted(set(package.iterdir()) - {package / "publish"})
    return digest(installed_versions(), files_digest(*hashed_paths))


def installed_versions() -> str:
    """Return the versions of Python and of the packages in site-packages, one on each line.

    They are read from the names of the folders `NAME-VERSION.dist-info`, because loading
    importlib.metadata takes longer.
    """
    site_packages = Path(numpy.__file__).parents[1]  # the folder where NumPy is installed
    packages = sorted(path.name for path in site_packages.glob("*.dist-info"))
    return "\n".join([platform.python_version(), *packages])
