"""Controls edit their inputs as typing does."""

import pytest
from playwright.sync_api import expect

from tests.browser.live.editing import press_bar_button

# Dares, which have sliders too, have tests of their own.
SLIDER, BAR = ".try:not(.dare) [data-control=slider]", ".live-bar"
CELLS, CHOICES, STATUS = ".cells td button", ".cells [data-cells]", ".cells [role=status]"


def test_slider_responds_to_keys_undo_address_and_done(open_page):
    visit = open_page("course/order")
    # Its stops are 1 to 8, and it starts at 5.
    slider = visit.page.locator(SLIDER).first
    slider.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.wait_until("location.hash === '#try=&turning_clock.position%5B0%5D=6'")
    visit.page.keyboard.press("ArrowRight")
    visit.wait_until("location.hash.endsWith('=7')")
    assert slider.get_attribute("aria-valuetext") == "7"
    assert visit.page.locator(".live-field").count() == 0
    visit.page.keyboard.press("Control+z")
    visit.wait_until("location.hash.endsWith('=6')")
    assert slider.input_value() == "5"
    visit.page.reload()
    visit.wait_until("document.querySelector('[data-control=slider]').value === '5'")
    press_bar_button(visit, "Done")
    visit.wait_until("location.hash === ''")
    assert slider.input_value() == "4"


def test_slider_edits_survive_opening_the_fields(open_page):
    visit = open_page("course/order")
    slider = visit.page.locator(SLIDER).first
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    visit.wait_until("location.hash.endsWith('=7')")
    visit.page.locator('.live-try[data-example="turning_clock"]').first.click()
    field = visit.page.locator('[data-val="turning_clock.position"] .live-field')
    assert field.input_value() == "7"
    field.fill("6.2")
    visit.wait_until("document.querySelector('[data-control=slider]').value === '5'")
    assert slider.get_attribute("aria-valuetext") == "6.2"


def test_average_stays_if_nouns_are_exchanged_and_follows_a_dragged_noun(open_page):
    visit = open_page("course/averages", width=1280, height=900)
    average, turn = (
        visit.page.locator(f'[data-val="course_plane.{step}"]')
        for step in ("mean[0:2]", "path[1,0:2]")
    )
    turn_before = turn.get_attribute("transform")
    end = average.get_attribute("x2"), average.get_attribute("y2")
    visit.page.locator(CHOICES, has_text="boats pass birds").press("Enter")
    expect(turn).not_to_have_attribute("transform", turn_before)
    assert (average.get_attribute("x2"), average.get_attribute("y2")) == end
    for choice, pressed in (("birds pass boats", "false"), ("boats pass birds", "true")):
        button = visit.page.locator(CHOICES, has_text=choice)
        assert button.get_attribute("aria-pressed") == pressed
    box = visit.page.locator(".handle").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(x - 90, y)  # from (2, 1) to (1, 1)
    # The average is (0.4, 0.6), and the line ends where its arrowhead begins.
    expect(average).to_have_attribute("x2", "63.01")
    visit.page.mouse.up()


def test_chosen_d_is_filled_and_saturates_only_without_the_root(open_page):
    visit = open_page("course/scale")
    visit.page.locator(CHOICES, has_text="1024").click()
    for histograms in visit.page.locator('[data-val="random_scores.selected"]').all():
        expect(histograms.locator("path").last).to_have_attribute("fill-opacity", "0.6")
        assert histograms.locator("path").nth(1).get_attribute("fill-opacity") == "0"
    weights = [
        visit.page.locator(f'svg [data-val="random_scores.{step}"] text').last.text_content()
        for step in ("weights_unscaled", "weights")
    ]
    assert [float(weight) for weight in weights] == pytest.approx([1, 0.5], abs=0.02)


def test_mask_control_accepts_names_clicks_and_keys(open_page):
    visit = open_page("course/mask")
    status = visit.page.locator(STATUS)
    assert status.inner_text() == "No word sees a later one."
    visit.page.locator(CELLS).first.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("Enter")
    assert status.inner_text() == "The future leaks: birds sees pass."
    visit.wait_until("location.hash === '#try=&clicked_mask.mask%5B0,1%5D=True'")
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Space")
    visit.wait_until("location.hash.includes('mask%5B1,1%5D=False')")
    visit.page.keyboard.press("Control+z")
    visit.wait_until("!location.hash.includes('mask%5B1,1%5D')")
    visit.page.locator(CHOICES, has_text="none").click()
    assert status.inner_text().endswith("birds sees pass, birds sees boats, and 8 more.")
    # The control has an example of its own, so its edits do not dim sentences about that of the page.
    visit.wait_for_rest()
    assert visit.page.locator(".live-dimmed").count() == 0


def test_arrow_is_dragged_to_the_nearest_stop_in_one_undo_step(open_page):
    visit = open_page("course/formula", width=1280, height=900)
    handle = visit.page.locator(".handle")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    pixels_per_unit = 26
    to_stop = (-1.75 - 1) * pixels_per_unit
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    for share in (0.2, 0.4, 0.6, 0.8, 1):  # ends 2 pixels from the stop
        visit.page.mouse.move(x + share * (to_stop - 2), y + 1)
        visit.page.wait_for_selector(BAR)
    visit.page.mouse.up()
    visit.wait_until("location.hash.includes('turned_query.Q%5B0,0%5D=-1.75')")
    moved = handle.bounding_box()
    assert moved["x"] - box["x"] == pytest.approx(to_stop, abs=1)
    assert visit.page.locator(SLIDER).first.get_attribute("aria-valuetext") == "-1.75"
    press_bar_button(visit, "Undo")
    visit.wait_until("location.hash === ''")


def test_hand_of_the_clock_is_dragged_to_the_nearest_position(open_page):
    visit = open_page("course/order", width=1280, height=900)
    visit.page.locator(".handle").drag_to(visit.page.locator(".try text", has_text="3: boats"))
    visit.wait_until("location.hash === '#try=&turning_clock.position%5B0%5D=3'")


def test_triangle_of_values_follows_an_edit(open_page):
    visit = open_page("course/formula")
    outline = visit.page.locator("[data-joins]")
    path_before = outline.get_attribute("d")
    visit.page.evaluate("location.hash = 'try=turned_query&turned_query.V[0,0]=0'")
    expect(outline).not_to_have_attribute("d", path_before)
    moved_corner, _, other_corners = outline.get_attribute("d").partition("L")
    point = visit.page.locator('[data-val="turned_query.V[0,0:2]"]').get_attribute("transform")
    assert point == f"translate({moved_corner.removeprefix('M')})"
    assert other_corners == path_before.partition("L")[2]


@pytest.mark.parametrize("width", [320, 1280])
def test_sliders_of_a_box_have_one_length_and_a_mark_at_their_own_number(open_page, width):
    visit = open_page("mechanisms/kv_cache", width=width, height=800)
    sliders = visit.page.locator(".slider").evaluate_all(
        """sliders => sliders.map(slider => {
            const [input, ends] = slider.querySelectorAll("input, small");
            const {left, width} = input.getBoundingClientRect();
            const mark = getComputedStyle(ends, "::before");
            const middle = parseFloat(mark.left) + parseFloat(mark.width) / 2 - 8;
            return [left, width, middle / (width - 16) - input.value / input.max];
        })"""
    )
    assert len({(left, length) for left, length, _ in sliders}) == 1
    assert sliders[0][1] >= 200
    assert max(abs(error) for *_, error in sliders) < 0.01


def test_switch_leaves_a_part_of_the_model_out_and_follows_undo(open_page):
    visit = open_page("course/next_token")
    switch = visit.page.get_by_label("head 1", exact=True)
    endings = visit.page.locator('[data-val="course_ablation.endings"] text')
    before = endings.all_text_contents()
    switch.uncheck()
    expect(endings).to_have_text(["0.50", "0.50", "≈0"] * 2)
    expect(visit.page.locator(".next text").filter(has_text="0.50")).to_have_count(2)
    visit.page.keyboard.press("Control+z")
    expect(endings).to_have_text(before)
    expect(switch).to_be_checked()


def test_write_button_draws_a_sentence_word_by_word(open_page):
    visit = open_page("course/writing")
    visit.page.evaluate("matchMedia = () => ({ matches: true })")  # reduced motion, on this page
    words = visit.page.locator(".writing [data-words]")
    assert words.all_inner_texts() == ["follow", "snakes", "because", "they", "fly"]
    # With this draw each word is the first whose piece ends beyond the middle of the line.
    visit.page.evaluate("Math.random = () => 0.5")
    visit.page.get_by_role("button", name="Write").click()
    visit.wait_until("location.hash.includes('draws%5B4%5D=0.5')")
    expect(words).to_have_text(["lead", "snakes", "because", "they", "fly"])
    # The last slider is the temperature's.
    needle = visit.page.get_by_label("draw of word 2")
    needle.press("Home")
    expect(words.first).not_to_have_text("lead")
    assert needle.get_attribute("aria-valuetext") == "0"
