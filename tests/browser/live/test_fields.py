"""What a reader types into the fields of a page, and what Python computes from it."""

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

# The tables that show all numbers of what they refer to.
FULL = """
    [...document.querySelectorAll("table[data-val]")].filter(table => !/[⋯⋮⋱]/.test(table.textContent))
"""
# What each of them refers to, the texts of its fields if it has any, and those of its cells.
READ = f"""
    () => ({FULL}).map(table => [
        table.dataset.val,
        [...table.querySelectorAll("input")].map(field => field.value),
        [...table.querySelectorAll("td")].map(cell => cell.textContent),
    ])
"""
# Makes one edit after the other, each a list of table, field and text; reads, and takes it back.
TYPE = f"""
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
        const shown = ({READ.strip()})();
        before.reverse().forEach(type);
        return shown;
    }})
"""


def has_example(page):
    file = ROOT / "docs" / f"{page}.md"
    return file.is_file() and r"\example{" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [page for page in PAGES if has_example(page)])
def test_fields_alone_and_in_pairs_drive_the_page_as_python_does(come_to, page):
    visit, draw = come_to(page), np.random.default_rng(0)
    for button in visit.page.locator(".live-try").all():
        button.dispatch_event("click")
        visit.page.wait_for_selector(".live-bar")
        before = visit.page.evaluate(READ)
        fields = [table for table, (_, texts, _) in enumerate(before) if texts]
        assert fields
        edits = [
            [[table, *drawn(draw, before[table][0])] for table in tables]
            for tables in [*((table,) for table in fields), *itertools.pairwise(fields)]
        ]
        for edit, shown in zip(edits, visit.page.evaluate(TYPE, edits), strict=True):
            compare(shown, edited((shown[table][0], *rest) for table, *rest in edit))
        assert visit.page.evaluate(READ) == before


def drawn(draw, reference):
    """Choose a field of a table, and another number for it."""
    numbers = part(input_of(reference), reference).reshape(-1)
    field = int(draw.integers(numbers.size))
    return field, str(changed(draw, numbers, field)[field])


def edited(edit):
    """Return the inputs that an edit changes, by name."""
    arrays = {}
    for reference, field, text in edit:
        name = ".".join(name_of(reference))
        _, array = arrays.setdefault(literal_position("", name), (name, input_of(reference)))
        part(array, reference).flat[field] = float(text)
    return dict(arrays.values())


def compare(shown, edits):
    steps = functools.cache(lambda example: replay(example, edits).steps)
    for reference, fields, cells in shown:
        example, step = name_of(reference)
        # What is drawn at random has no inputs. What Python refuses keeps its last numbers.
        if example not in recorded_names() or not steps(example):
            continue
        numbers = part(steps(example)[step], reference).reshape(-1)
        if fields:
            assert [float(text) for text in fields] == numbers.tolist(), (reference, edits)
        else:
            expected = [re.sub("<.*?>", "", html_number(value)) for value in numbers]
            # What differs in its last bits may be shown otherwise, such as zero as 5.6 × 10−17.
            assert cells == expected or np.allclose(
                [*map(read, cells)], numbers, rtol=0, atol=5.1e-5, equal_nan=True
            ), (reference, edits)


def read(text):
    """Read a number as a page shows it."""
    return float(text.replace("−", "-").replace("∞", "inf").replace(" × 10", "e"))


def name_of(reference):
    """Return the example and the step that a reference names."""
    return reference.partition("[")[0].split(".")


def input_of(reference):
    """Return the literal that a table of fields shows, as the example has it."""
    example, step = name_of(reference)
    return np.array(examples.steps(example)[step])


def part(array, reference):
    """Return what a reference names of a step: `array[:,0]` for `course_sentence.W_1[:,0]`."""
    _, bracket, index = reference.partition("[")
    return np.asarray(eval(f"array{bracket}{index}", {"array": array}))
