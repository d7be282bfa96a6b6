"""Measured results in a page: read from the files in `results/`, which name machine and date."""

import json
from pathlib import Path
from typing import Any


def measured(reference: str, folder: Path) -> str:
    """Show one measured result, like `attention.speed.0.ratio.torch`: three digits, as it is noisy.

    Args:
        reference: the name of a file without `.json`, then the keys and indices that lead to it.
        folder: where the files are.

    Raises:
        LookupError: if the file or a key is unknown; the message lists the known ones.
        ValueError: if the reference leads to more than one value.
    """
    name, *keys = reference.split(".")
    files = sorted(path.stem for path in folder.glob("*.json"))
    if name not in files:
        raise LookupError(f"result {name!r} is unknown; known are {', '.join(files)}")
    result = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    for key in keys:
        known = inside(result)
        if key not in known:
            raise LookupError(f"key {key!r} is unknown; known are {', '.join(known)}")
        result = known[key]
    if isinstance(result, dict | list):
        raise ValueError(f"expected a single value; {reference} holds {len(result)}")
    return f"{result:.3g}" if isinstance(result, float) else shown(result)


def inside(result: object) -> dict[str, Any]:
    """Return what a part of a result holds, by key or by index; a single value holds nothing."""
    if isinstance(result, list):
        return {str(index): value for index, value in enumerate(result)}
    return result if isinstance(result, dict) else {}


def shown(result: int | str) -> str:
    return f"{result:,}" if isinstance(result, int) else result
