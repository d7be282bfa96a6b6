"""The filters of the catalogue of mistakes and of the tables of models."""

from attention_docs.examples.models_by_name import MODELS

ROWS = "details.note tbody tr:visible"


def test_filter_shows_the_rows_that_have_all_words(open_page):
    page = open_page("mechanisms/common_mistakes").page
    field = page.get_by_label("Show mistakes with these words")
    field.fill("Mask softmax")
    rows = page.locator(ROWS).all_inner_texts()
    assert any("after the softmax" in row for row in rows)
    assert all("softmax" in row for row in rows)
    status = page.locator(".filter").get_by_role("status")
    assert status.inner_text().startswith(f"{len(rows)} of ")
    field.fill("YaRN")  # in the table of mistakes between calls
    assert status.inner_text().startswith("1 of ")
    field.fill("no such mistake")
    assert page.locator("details.note:visible").count() == 0
    field.fill("")
    assert page.locator("details.note:visible").count() > 5
    assert status.inner_text() == ""


def test_filter_shows_a_model_in_each_table(open_page):
    page = open_page("mechanisms/models_by_name").page
    page.get_by_label("Show models with these words").fill("gpt-oss-20b")
    assert page.locator(".filter [role=status]").inner_text() == f"1 of {len(MODELS)}"
    assert (
        page.locator("h3 ~ * tbody tr:visible", has_text="gpt-oss-20b").count() == 4 + 1
    )  # sources
