"""Results of the last build, each under a digest of all that it depends on."""

import hashlib
import json
from pathlib import Path


class Cache:
    """A file of results that survives a build; what a build does not use is dropped.

    Args:
        file: where the results are kept; it may be missing.
        setting: all that every result depends on, beside the item it is of.
    """

    def __init__(self, file: Path, *setting: bytes | str) -> None:
        self.file = file
        self.setting = digest(*setting)
        self.known = read(file)
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
        """Write what this build used, whole or not at all."""
        if self.used == read(self.file):
            return
        self.file.parent.mkdir(exist_ok=True)
        whole = self.file.with_suffix(".new")
        whole.write_text(json.dumps(self.used), encoding="utf-8")
        whole.replace(self.file)


def digest(*parts: bytes | str) -> str:
    joined = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.sha256(joined).hexdigest()


def read(file: Path) -> dict[str, str]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
