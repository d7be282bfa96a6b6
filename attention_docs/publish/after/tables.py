"""Numbers in the columns of tables, aligned at the decimal point."""

import itertools
import re
from collections.abc import Sequence
from html import unescape

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(?P<tag>t[hd])\b[^>]*>(?P<content>.*?)</t[hd]>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
NUMBER = re.compile(r"[−-]?[\d,]+(?P<decimals>\.\d+)?")
# The texts of cells without a number that a column of numbers may have.
NO_NUMBER = ("", "—", "not measured")
# As wide as the decimals that a number lacks. It is invisible, and neither read aloud nor copied.
PADDING = '<span class="padding" aria-hidden="true">{}</span>'


def align_numbers(page: str) -> str:
    """Align the columns of numbers in the tables of a page that have no merged cells.

    >>> rows = "<tr><td>1</td></tr><tr><td>0.25</td></tr>"
    >>> page = f"<table><thead><tr><th>n</th></tr></thead>{rows}</table>"
    >>> print(align_numbers(page).replace("<tr>", "\\n<tr>"))  # doctest: +ELLIPSIS
    <table><thead>
    <tr><th style="text-align: right;">n</th></tr></thead>
    <tr><td style="text-align: right;">1<span class="padding"...>.00</span></td></tr>
    <tr><td style="text-align: right;">0.25</td></tr></table>
    """

    def align_table(table: re.Match[str]) -> str:
        rows = [
            [text_of(cell["content"]) for cell in CELL.finditer(row)]
            for row in ROW.findall(table[0])
        ]
        has_merged_cells = len({len(row) for row in rows}) != 1
        if has_merged_cells:
            return table[0]
        columns = zip(*rows[1:], strict=True)  # without the header
        # The cells of a table are in the order of its rows.
        widths = itertools.cycle([decimal_width(column) for column in columns])
        return CELL.sub(lambda cell: align_cell(cell, next(widths)), table[0])

    return TABLE.sub(align_table, page)


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
