"""What the copy buttons put on the clipboard."""


def copied_text(page, button):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button.click()
    page.locator(".md-dialog--active").wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def test_session_is_copied_without_prompts_and_output(open_page):
    page = open_page("mechanisms/distinct_sizes").page
    block = page.locator(".highlight:has(.gp)").first
    block.scroll_into_view_if_needed()
    code = copied_text(page, block.locator("[data-clipboard-target]"))
    assert code.startswith("from attention_docs import ")
    assert ">>>" not in code
    outputs = [text for text in block.locator(".go").all_text_contents() if text.strip()]
    assert outputs
    assert not any(output in code for output in outputs)


def test_program_of_page_is_copied(open_page):
    page = open_page("course/next_token").page
    code = copied_text(page, page.get_by_role("button", name="Copy this page as a program"))
    assert code.startswith("# The next token\nimport numpy as np\n")
