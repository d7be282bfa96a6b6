"""Numbers in the columns of tables, aligned at the decimal point."""

import re
from collections.abc import Sequence
from html import unescape

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(?P<tag>t[hd])[^>]*>(?P<content>.*?)</t[hd]>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
NUMBER = re.compile(r"[−-]?[\d,]+(?P<decimals>\.\d+)?")
# The texts of cells without a number that a column of numbers may have.
NO_NUMBER = ("", "—", "not measured")
# As wide as the decimals that a number lacks. It is invisible, and neither read aloud nor copied.
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
    rows = [row_texts(row) for row in ROW.findall(table)]
    has_merged_cells = len({len(row) for row in rows}) != 1
    if has_merged_cells:
        return table
    columns = zip(*rows[1:], strict=True)  # without the header
    widths = [decimal_width(column) for column in columns]

    def align_row(row: re.Match[str]) -> str:
        remaining_widths = iter(widths)
        return CELL.sub(lambda cell: align_cell(cell, next(remaining_widths)), row[0])

    return ROW.sub(align_row, table)


def row_texts(row: str) -> list[str]:
    return [text_of(cell["content"]) for cell in CELL.finditer(row)]


def text_of(content: str) -> str:
    return unescape(TAG.sub("", content)).strip()


def decimal_width(column: Sequence[str]) -> int | None:
    """Return the number of characters of the longest decimal part in a column, with its point.

    A column that needs no alignment, because it has a text or fewer than two numbers, has None.

    >>> decimal_width(["1", "0.25", "not measured"]), decimal_width(["1", "one"])
    (3, None)
    """
    matches = [NUMBER.fullmatch(text) for text in column if text not in NO_NUMBER]
    numbers = [match for match in matches if match]
    if len(numbers) < 2 or len(numbers) < len(matches):
        return None
    return max(len(number["decimals"] or "") for number in numbers)


def align_cell(cell: re.Match[str], width: int | None) -> str:
    """Align a match of CELL to the right, and pad its decimals to a width; None leaves it as is."""
    if width is None:
        return cell[0]
    number = NUMBER.fullmatch(text_of(cell["content"]))
    missing_width = width - len(number["decimals"] or "") if number else 0
    longest_decimals = "." + "0" * (width - 1)
    padding = PADDING.format(longest_decimals[-missing_width:]) if missing_width else ""
    tag = cell["tag"]
    return f'<{tag} style="text-align: right;">{cell["content"]}{padding}</{tag}>'
