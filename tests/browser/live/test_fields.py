"""Pages with edited fields show what Python computes from the same inputs."""

import functools
import re

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.live.recording import recorded_names
from attention_docs.render.numbers import html_number, short_numbers
from tests.browser.live.editing import wait_for_fields
from tests.browser.visit import PAGES
from tests.conftest import ROOT
from tests.live.edits import changed
from tests.live.replay import replay

# The tables that show all their numbers.
COMPLETE_TABLES = """
    [...document.querySelectorAll("table[data-val]")].filter(table => !/[⋯⋮⋱]/.test(table.textContent))
"""
# For each table: its reference, the texts of its fields, and those of its cells.
TABLES = f"""
    () => ({COMPLETE_TABLES}).map(table => [
        table.dataset.val,
        [...table.querySelectorAll("input")].map(field => field.value),
        [...table.querySelectorAll("tbody td")].map(cell => cell.textContent),
    ])
"""
# Make each edit, given as [table, field, text]; return the tables, and revert the edit.
TABLES_AFTER_EDITS = f"""
    edits => edits.map(([table, field, text]) => {{
        const input = ({COMPLETE_TABLES.strip()})[table].querySelectorAll("input")[field];
        const type = text => {{
            input.value = text;
            input.dispatchEvent(new Event("input"));
        }};
        const original = input.value;
        type(text);
        const shown = ({TABLES.strip()})();
        type(original);
        return shown;
    }})
"""


def has_example(page):
    file = ROOT / "docs" / f"{page}.md"
    return file.is_file() and r"\example{" in file.read_text(encoding="utf-8")


@pytest.mark.of_each_kind
@pytest.mark.parametrize("page", [page for page in PAGES if has_example(page)])
def test_edited_pages_match_python(open_page, page):
    visit, draw = open_page(page), np.random.default_rng(0)
    for button in visit.page.locator(".live-try").all():
        button.dispatch_event("click")
        wait_for_fields(visit)
        before = visit.page.evaluate(TABLES)
        references = [reference for reference, _, _ in before]
        # The cells of a mask are clicked, not typed into, and an example may have no other input.
        assert any(fields for _, fields, _ in before)
        editable = [
            table
            for table, (reference, fields, _) in enumerate(before)
            if fields and input_of(reference).dtype != bool
        ]
        edits = [random_edit(draw, table, references[table]) for table in editable]
        shown_after = visit.page.evaluate(TABLES_AFTER_EDITS, edits)
        for (table, field, text), shown in zip(edits, shown_after, strict=True):
            reference = references[table]
            array = input_of(reference)
            select(array, reference).flat[field] = float(text)
            # As many decimals as on the page.
            with short_numbers(visit.page.locator("article.course").count() > 0):
                assert_tables_equal_python(shown, {".".join(name_of(reference)): array})
        assert visit.page.evaluate(TABLES) == before
        visit.page.locator(".live-bar button", has_text="Done").dispatch_event("click")


def random_edit(draw, table, reference):
    """Choose a field of a table and a new number for it."""
    numbers = select(input_of(reference), reference).reshape(-1)
    field = int(draw.integers(numbers.size))
    return [table, field, str(changed(draw, numbers, field)[field])]


def field_value(text):
    return {"True": True, "False": False}[text] if text.isalpha() else float(text)


def assert_tables_equal_python(shown, edits):
    """Assert that the tables of a page show what Python computes after edits."""
    steps = functools.cache(lambda example: replay(example, edits).steps)
    for reference, fields, cells in shown:
        example, step = name_of(reference)
        # Random examples have no inputs; after edits that Python refuses, the page keeps its numbers.
        if example not in recorded_names() or not steps(example):
            continue
        numbers = select(steps(example)[step], reference).reshape(-1)
        if fields:
            assert [*map(field_value, fields)] == numbers.tolist(), (reference, edits)
        else:
            expected = [re.sub("<.*?>", "", html_number(value)) for value in numbers]
            # Rounding errors may be visible, such as 5.6 × 10−17 for zero.
            assert cells == expected or np.allclose(
                [*map(parse, cells)], numbers, rtol=0, atol=5.1e-5, equal_nan=True
            ), (reference, edits)


def parse(text):
    """Parse a number as a page shows it."""
    text = text.replace("−", "-").replace("∞", "inf").replace(" × 10", "e").replace("≈", "")
    return float(text.replace(",", ""))


def name_of(reference):
    return reference.partition("[")[0].split(".")


def input_of(reference):
    """Return the original value of the input that a table shows."""
    example, step = name_of(reference)
    return np.array(examples.steps(example)[step])


def select(array, reference):
    """Apply the index of a reference: `array[:,0]` for `course_sentence.W_1[:,0]`."""
    _, bracket, index = reference.partition("[")
    return np.asarray(eval(f"array{bracket}{index}", {"array": array}))
