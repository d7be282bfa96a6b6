"""The box to paste an output into: keyboard access and announcements."""

from tests.build.before.pasted_outputs import RIGHT, WRONG

PAGE = "check"
LABEL = "Your output, as it was printed"


def test_diagnosis_is_announced_reachable_by_keyboard_and_follows_the_text(open_page):
    visit = open_page(PAGE)
    visit.page.get_by_label(LABEL).focus()
    visit.page.keyboard.insert_text(f"tensor({WRONG.tolist()}, dtype=torch.float64)")
    status = visit.page.get_by_role("status").filter(has_text="This is the output of")
    assert "a softmax over the queries" in status.inner_text()
    assert visit.page.locator(".paste mark").inner_text().startswith(f"{WRONG[0, 0]:.3f}")
    visit.page.keyboard.press("Tab")
    focused = visit.page.evaluate("document.activeElement.href")
    assert focused.endswith("mechanisms/common_mistakes/#softmax-over-the-other-axis")
    area = visit.page.get_by_label(LABEL)
    area.fill(str(RIGHT))
    assert visit.page.locator(".paste mark").count() == 0
    visit.page.get_by_text("This is the right output of this call").wait_for()
    first_row = RIGHT[:1]
    area.fill(str(first_row))
    visit.page.get_by_text("It is 1 × 3; expected 4 × 3.").wait_for()
    area.fill("no numbers")
    visit.page.get_by_text("paste a printed array").wait_for()
