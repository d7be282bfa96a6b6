"""Results of the last build, each stored under a digest of all that it depends on."""

import hashlib
import json
import platform
from pathlib import Path

import numpy


class Cache:
    """Results that outlast a build, in a file; those that a build does not use are dropped.

    Args:
        file: the file, which need not exist.
        setting: what every result depends on besides its own item.
    """

    def __init__(self, file: Path, *setting: bytes | str) -> None:
        self.file = file
        self.setting = digest(*setting)
        self.stored = read(file)
        self.known = dict(self.stored)
        self.used: dict[str, str] = {}

    def __contains__(self, item: str) -> bool:
        return digest(self.setting, item) in self.known

    def __getitem__(self, item: str) -> str:
        key = digest(self.setting, item)
        return self.used.setdefault(key, self.known[key])

    def __setitem__(self, item: str, result: str) -> None:
        key = digest(self.setting, item)
        self.known[key] = self.used[key] = result

    def save(self) -> None:
        """Write the results that this build used, atomically."""
        if self.used == self.stored:
            return
        self.file.parent.mkdir(exist_ok=True)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.used), encoding="utf-8")
        new.replace(self.file)


def digest(*parts: bytes | str) -> str:
    joined = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(joined).hexdigest()


def read(file: Path) -> dict[str, str]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def package_digest(package: Path) -> str:
    """Hash what examples and notebooks depend on: the installed versions, and the package.

    `publish/` is left out: nothing outside it imports it, and no notebook does.
    """
    parts = [platform.python_version(), *installed()]
    for path in sorted(set(package.rglob("*.py")) - set((package / "publish").rglob("*"))):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        parts.append(f"{path.relative_to(package).as_posix()} {content}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def installed() -> list[str]:
    """List the distributions installed beside NumPy, by folder names, which hold the versions."""
    return sorted(path.name for path in Path(numpy.__file__).parents[1].glob("*.dist-info"))
