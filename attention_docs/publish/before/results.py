"""Measured results from the files in `results/`, which record machine and date."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from attention_docs.publish.before.values import computed

RESULTS = Path(__file__).parents[3] / "results"


def measured(reference: str, folder: Path = RESULTS) -> str:
    """Format a measured result, like `parity.largest_error.float32.self.NumPy`, to three digits.

    More digits would be noise. A reference to named rows gives the rows of a Markdown table,
    without its header.

    Args:
        reference: the name of a file without `.json`, then keys and indices.
        folder: the folder of the files.

    Raises:
        LookupError: if the file or a key is unknown; the message lists the known ones.
        ValueError: if the reference names several values that are not named rows.
    """
    name, *keys = reference.split(".")
    data = result(name, folder)
    for key in keys:
        by_key = children(data)
        if key not in by_key:
            raise LookupError(f"key {key!r} is unknown; known are {', '.join(by_key)}")
        data = by_key[key]
    rows = list(named_rows(data))
    if not rows:
        return computed(formatted(data))
    if not all(names for names, _ in rows):
        raise ValueError(f"expected a value or named rows; {reference} holds {len(rows[0][1])}")
    return "\n".join(
        table_row([*names, *map(computed, map(formatted, values))]) for names, values in rows
    )


def result(name: str, folder: Path = RESULTS) -> Any:
    """Return the contents of a file of results.

    Raises:
        LookupError: if there is no such file; the message lists the known ones.
    """
    files = sorted(path.stem for path in folder.glob("*.json"))
    if name not in files:
        raise LookupError(f"result {name!r} is unknown; known are {', '.join(files)}")
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def children(data: object) -> dict[str, Any]:
    """Return the items of a dictionary or list by key or index; other values have none."""
    if isinstance(data, list):
        return {str(index): value for index, value in enumerate(data)}
    return data if isinstance(data, dict) else {}


def named_rows(data: object, *names: str) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield the keys that lead to each innermost group of values, and the values."""
    values = children(data)
    for name, value in values.items():
        yield from named_rows(value, *names, name)
    if values and not any(map(children, values.values())):
        yield names, list(values.values())


def table_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def formatted(value: float | int | str) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else value
