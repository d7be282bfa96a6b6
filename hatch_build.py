"""Adds the addresses of repository and site to the package's metadata, if the checkout has them."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Address(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        module = Path(self.root, "attention_docs", "publish", "repository.py")
        repository = runpy.run_path(str(module))
        origin = repository["address"](Path(self.root))
        if origin:
            urls = {
                "Documentation": repository["pages_address"](origin),
                "Repository": origin,
                "Issues": f"{origin}/issues",
                "Changelog": f"{origin}/blob/main/CHANGELOG.md",
            }
            metadata.setdefault("urls", urls)  # an sdist has its own
