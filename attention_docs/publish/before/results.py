r"""Measured results, for the macro `\measured`, from the files in `results/`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attention_docs.lookup import RESULTS, load_results
from attention_docs.render.numbers import computed_span, raised_exponent

Row = tuple[tuple[str, ...], list[Any]]  # the keys that lead to a row, and its values


def measured(reference: str, folder: Path = RESULTS) -> str:
    """Format a measured result, like `parity.largest_error.float32.self.NumPy`, to three digits.

    More digits would be noise. A reference to a nested dictionary gives the rows of a table in
    Markdown, without a header: first the keys of a row, then its values.

    Args:
        reference: the name of a file without `.json`, then keys and indices.
    """
    data = look_up_result(reference, folder)
    rows = list(named_rows(data))
    if not rows:
        return computed_span(format_value(data))
    if not all(keys for keys, _ in rows):
        raise ValueError(f"expected a value or named rows; {reference} has rows without names")
    lines = []
    for keys, values in rows:
        cells = [*keys, *(computed_span(format_value(value)) for value in values)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def look_up_result(reference: str, folder: Path) -> Any:
    file_name, *keys = reference.split(".")
    data = load_results(file_name, folder)
    for key in keys:
        items = items_by_key(data)
        if key not in items:
            raise LookupError(f"key {key!r} is unknown; expected one of {', '.join(items)}")
        data = items[key]
    return data


def items_by_key(data: object) -> dict[str, Any]:
    """Return the items of a dictionary or list by key or index; other values have none."""
    if isinstance(data, list):
        return {str(index): value for index, value in enumerate(data)}
    return data if isinstance(data, dict) else {}


def named_rows(data: object, *keys: str) -> Iterator[Row]:
    """Yield the keys that lead to each innermost list or dictionary, and its values."""
    items = items_by_key(data)
    for key, item in items.items():
        yield from named_rows(item, *keys, key)
    is_innermost = not any(items_by_key(item) for item in items.values())
    if items and is_innermost:
        yield keys, list(items.values())


def format_value(value: float | int | str) -> str:
    """Format one value; a float is rounded to three digits.

    A float that rounding has changed keeps its trailing zeros, which show its precision. The zeros
    of an exact one are left out.

    >>> format_value(134.7), format_value(23.044), format_value(90.0), format_value(0.013)
    ('135', '23.0', '90', '0.013')
    """
    if isinstance(value, float):
        rounded = f"{value:#.3g}".removesuffix(".")  # `#` keeps trailing zeros
        return raised_exponent(f"{value:.3g}" if float(rounded) == value else rounded)
    if isinstance(value, int):
        return raised_exponent(str(value))
    return value
