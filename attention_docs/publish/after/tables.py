"""Numbers in the columns of tables, aligned at the decimal point."""

import re
from collections.abc import Sequence
from html import unescape

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(?P<tag>t[hd])[^>]*>(?P<content>.*?)</t[hd]>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
NUMBER = re.compile(r"[−-]?[\d,]+(?P<decimals>\.\d+)?")
NO_NUMBER = ("", "—", "not measured")
# As wide as the decimals that a number lacks, but neither seen, read nor copied.
PADDING = '<span class="padding" aria-hidden="true">{}</span>'


def align_numbers(page: str) -> str:
    """Align the columns of numbers in the tables of a page.

    >>> page = "<table><tr><th>n</th></tr><tr><td>1</td></tr><tr><td>0.25</td></tr></table>"
    >>> print(align_numbers(page).replace("<tr>", "\\n<tr>"))  # doctest: +ELLIPSIS
    <table>
    <tr><th style="text-align: right;">n</th></tr>
    <tr><td style="text-align: right;">1<span class="padding"...>.00</span></td></tr>
    <tr><td style="text-align: right;">0.25</td></tr></table>
    """
    return TABLE.sub(lambda table: align_table(table[0]), page)


def align_table(table: str) -> str:
    """Align the columns of numbers in one table, unless it has merged cells."""
    rows = [[text_of(cell["content"]) for cell in CELL.finditer(row)] for row in ROW.findall(table)]
    row_lengths = {len(row) for row in rows}
    if len(row_lengths) != 1:
        return table
    _header, *body = rows
    widths = [decimal_width(column) for column in zip(*body, strict=True)]

    def align_row(row: re.Match[str]) -> str:
        width_of_cell = iter(widths)
        return CELL.sub(lambda cell: align_cell(cell, next(width_of_cell)), row[0])

    return ROW.sub(align_row, table)


def text_of(content: str) -> str:
    return unescape(TAG.sub("", content)).strip()


def decimal_width(column: Sequence[str]) -> int | None:
    """Return the width of the longest decimal part with its point, in characters.

    It is None if the column has a text, or fewer than two numbers, which need no alignment.
    """
    numbers = [NUMBER.fullmatch(text) for text in column if text not in NO_NUMBER]
    if len(numbers) < 2 or None in numbers:
        return None
    return max(len(number["decimals"] or "") for number in numbers if number)


def align_cell(cell: re.Match[str], width: int | None) -> str:
    """Align one cell to the right, and pad its decimal part to a width in characters.

    A cell of another column, whose width is None, stays as it is.
    """
    if width is None:
        return cell[0]
    number = NUMBER.fullmatch(text_of(cell["content"]))
    missing = width - len(number["decimals"] or "") if number else 0
    # The invisible padding repeats the end of the longest decimal part, such as `.00`.
    padding = PADDING.format(("." + "0" * (width - 1))[-missing:]) if missing else ""
    tag = cell["tag"]
    return f'<{tag} style="text-align: right;">{cell["content"]}{padding}</{tag}>'
