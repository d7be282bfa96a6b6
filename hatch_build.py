"""Adds the repository's address to the package's metadata, if the checkout knows it."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Address(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        module = Path(self.root, "attention_docs", "publish", "repository.py")
        origin = runpy.run_path(str(module))["origin"](Path(self.root))
        if origin:
            metadata.setdefault("urls", {"Repository": origin})  # an sdist has its own
