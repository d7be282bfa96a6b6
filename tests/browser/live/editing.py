"""Edit the inputs of a page, and compute in Python what the page must show."""

import numpy as np

from attention_docs.render.numbers import html_number
from tests.conftest import ROOT
from tests.live.replay import replay

PAGES_WITH_DARES = sorted(
    f"course/{page.stem}"
    for page in (ROOT / "docs" / "course").glob("*.md")
    if "\\dare{" in page.read_text(encoding="utf-8")
)
CHAPTER = "mechanisms/self_attention"
BAR, STATUS = ".live-bar", ".live-bar [role=status]"
FIELD = 'table[data-val="self_attention.X"] input >> nth=0'
PANEL_FIGURE = ".panel .main:visible"
# The HTML of each cell of a table.
TABLE = """
    name => [...document.querySelector(`table[data-val="${name}"]`).querySelectorAll("tbody td")].map(
        cell => cell.innerHTML
    )
"""


def start_editing(visit):
    visit.page.locator(".live-try").first.click()
    visit.page.wait_for_selector(BAR)


def wait_for_fields(visit):
    """Wait until all fields are there, which is when the bar gets a status."""
    visit.wait_until(f"document.querySelector('{STATUS}')?.textContent")


def edit(visit, number):
    """Start editing, and type another first number of X."""
    start_editing(visit)
    visit.page.locator(FIELD).fill(str(number))


def press_bar_button(visit, name):
    visit.page.locator(f"{BAR} button", has_text=name).click()


def status_text(visit):
    return visit.page.locator(STATUS).inner_text()


def shown_step(visit, step):
    return visit.page.evaluate(TABLE, f"self_attention.{step}")


def computed_step(step, **edits):
    """Compute a step with edited inputs in Python, and format its numbers as HTML."""
    steps = replay("self_attention", edits).steps
    return [html_number(value) for value in np.asarray(steps[step]).flat]


def edited_x(value):
    x = np.array(replay("self_attention", {}).steps["X"])
    x[0, 0] = value
    return x
