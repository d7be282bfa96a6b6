"""Pages with edited fields show what Python computes from the same inputs."""

import functools
import itertools
import re

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.live.recording import recorded_names
from attention_docs.render.numbers import html_number
from tests.browser.visit import PAGES
from tests.conftest import ROOT
from tests.live.edits import changed
from tests.live.replay import literal_position, replay

# The tables that are not abridged.
FULL = """
    [...document.querySelectorAll("table[data-val]")].filter(table => !/[⋯⋮⋱]/.test(table.textContent))
"""
# For each table: its reference, the texts of its fields, and those of its cells.
TABLES = f"""
    () => ({FULL}).map(table => [
        table.dataset.val,
        [...table.querySelectorAll("input")].map(field => field.value),
        [...table.querySelectorAll("td")].map(cell => cell.textContent),
    ])
"""
# Make each edit, a list of [table, field, text], read the tables, and revert it.
EDIT = f"""
    edits => edits.map(edit => {{
        const tables = {FULL.strip()};
        const type = ([table, field, text]) => {{
            const input = tables[table].querySelectorAll("input")[field];
            const before = [table, field, input.value];
            input.value = text;
            input.dispatchEvent(new Event("input"));
            return before;
        }};
        const before = edit.map(type);
        const shown = ({TABLES.strip()})();
        before.reverse().forEach(type);
        return shown;
    }})
"""


def has_example(page):
    file = ROOT / "docs" / f"{page}.md"
    return file.is_file() and r"\example{" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [page for page in PAGES if has_example(page)])
def test_edited_pages_match_python(open_page, page):
    visit, draw = open_page(page), np.random.default_rng(0)
    for button in visit.page.locator(".live-try").all():
        button.dispatch_event("click")
        visit.page.wait_for_selector(".live-bar")
        before = visit.page.evaluate(TABLES)
        tables = [table for table, (_, texts, _) in enumerate(before) if texts]
        assert tables
        edits = [
            [[table, *random_entry(draw, before[table][0])] for table in edited_tables]
            for edited_tables in [*((table,) for table in tables), *itertools.pairwise(tables)]
        ]
        for edit, shown in zip(edits, visit.page.evaluate(EDIT, edits), strict=True):
            compare(shown, edited((shown[table][0], *rest) for table, *rest in edit))
        assert visit.page.evaluate(TABLES) == before


def random_entry(draw, reference):
    """Choose a field of a table and a new number for it."""
    numbers = select(input_of(reference), reference).reshape(-1)
    field = int(draw.integers(numbers.size))
    return field, str(changed(draw, numbers, field)[field])


def edited(edit):
    """Return the edited inputs by name."""
    arrays = {}
    for reference, field, text in edit:
        name = ".".join(name_of(reference))
        _, array = arrays.setdefault(literal_position("", name), (name, input_of(reference)))
        select(array, reference).flat[field] = float(text)
    return dict(arrays.values())


def compare(shown, edits):
    steps = functools.cache(lambda example: replay(example, edits).steps)
    for reference, fields, cells in shown:
        example, step = name_of(reference)
        # Random examples have no inputs; after edits that Python refuses, the page keeps its numbers.
        if example not in recorded_names() or not steps(example):
            continue
        numbers = select(steps(example)[step], reference).reshape(-1)
        if fields:
            assert [float(text) for text in fields] == numbers.tolist(), (reference, edits)
        else:
            expected = [re.sub("<.*?>", "", html_number(value)) for value in numbers]
            # Rounding errors may be visible, such as 5.6 × 10−17 for zero.
            assert cells == expected or np.allclose(
                [*map(parse, cells)], numbers, rtol=0, atol=5.1e-5, equal_nan=True
            ), (reference, edits)


def parse(text):
    """Parse a number as a page shows it."""
    return float(text.replace("−", "-").replace("∞", "inf").replace(" × 10", "e"))


def name_of(reference):
    """Return the example and the step of a reference."""
    return reference.partition("[")[0].split(".")


def input_of(reference):
    """Return the original value of the input that a table shows."""
    example, step = name_of(reference)
    return np.array(examples.steps(example)[step])


def select(array, reference):
    """Apply the index of a reference: `array[:,0]` for `course_sentence.W_1[:,0]`."""
    _, bracket, index = reference.partition("[")
    return np.asarray(eval(f"array{bracket}{index}", {"array": array}))
