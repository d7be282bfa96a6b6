"""Measured results in a page: read from the files in `results/`, which name machine and date."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results"


def measured(reference: str, folder: Path = RESULTS) -> str:
    """Show a measured result, like `attention.speed.0.ratio.torch`: three digits, as it is noisy.

    A part that holds named rows becomes the rows of a Markdown table, without its head.

    Args:
        reference: the name of a file without `.json`, then the keys and indices that lead to it.
        folder: where the files are.

    Raises:
        LookupError: if the file or a key is unknown; the message lists the known ones.
        ValueError: if the reference leads to several values that are no named rows.
    """
    name, *keys = reference.split(".")
    part = result(name, folder)
    for key in keys:
        known = inside(part)
        if key not in known:
            raise LookupError(f"key {key!r} is unknown; known are {', '.join(known)}")
        part = known[key]
    rows = list(named_rows(part))
    if not rows:
        return shown(part)
    if not all(names for names, _ in rows):
        raise ValueError(f"expected a value or named rows; {reference} holds {len(rows[0][1])}")
    return "\n".join(row([*names, *map(shown, values)]) for names, values in rows)


def result(name: str, folder: Path = RESULTS) -> Any:
    """Return all that a file of results holds.

    Raises:
        LookupError: if there is no such file; the message lists the known ones.
    """
    files = sorted(path.stem for path in folder.glob("*.json"))
    if name not in files:
        raise LookupError(f"result {name!r} is unknown; known are {', '.join(files)}")
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def inside(part: object) -> dict[str, Any]:
    """Return what a part of a result holds, by key or by index; a single value holds nothing."""
    if isinstance(part, list):
        return {str(index): value for index, value in enumerate(part)}
    return part if isinstance(part, dict) else {}


def named_rows(part: object, *names: str) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield the keys that lead to each innermost group of values, and the values."""
    held = inside(part)
    for name, value in held.items():
        yield from named_rows(value, *names, name)
    if held and not any(map(inside, held.values())):
        yield names, list(held.values())


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def shown(value: float | int | str) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else value
