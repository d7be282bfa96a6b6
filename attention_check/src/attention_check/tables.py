"""Read the tables beside this module: cases, mistakes, conventions, and names that others use."""

import csv
from collections.abc import Iterator
from pathlib import Path


def rows_of(file_name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table by the names of its columns."""
    text = (Path(__file__).parent / file_name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())


def names_of(kind: str) -> dict[str, tuple[str, ...]]:
    """Return the names that other code uses for the things of a kind, the likeliest first.

    >>> names_of("argument")["is_causal"]
    ('is_causal', 'causal', 'use_causal_mask')
    """
    rows = (row for row in rows_of("names.csv") if row["kind"] == kind)
    return {row["ours"]: tuple(row["theirs"].split()) for row in rows}
