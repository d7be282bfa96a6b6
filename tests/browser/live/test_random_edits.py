"""Edits dim every sentence about the words of the course: random edits of a page."""

import re

import pytest

from attention_docs.examples.course_sentence import FEATURES, VOCABULARY
from tests.browser.live.editing import PAGES_WITH_DARES, wait_for_fields

WORDS = [*VOCABULARY, *FEATURES]
EDITS = 10
# Makes random edits, and resets the page after every third. Returns the blocks that emphasise one of the words
# and are not dimmed after an edit, other than headings, boxes to try something, and unchanged figures.
VISIBLE_CLAIMS = """
    async ([words, count]) => {
        let state = 36;
        const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
        const pause = (delay) => new Promise(done => setTimeout(done, delay));
        const reset = [...document.querySelectorAll(".live-bar button")].find(b => b.textContent === "Reset");
        const emphasised = "article > *:not(.panel, .try, .live-inputs) em";
        const exempt = ".live-dimmed, .try, figure:not(:has(.live-changed)), h2, h3";
        const claims = () => !document.querySelector(".live-changed") ? [] :
            [...document.querySelectorAll(emphasised)].filter(em =>
                words.includes(em.textContent.toLowerCase()) && !em.closest(exempt) && em.checkVisibility());
        const seen = new Set();
        for (let i = 0; i < count; i++) {
            const fields = [...document.querySelectorAll(".live-field")];
            const field = fields[Math.floor(random() * fields.length)];
            field.value = (8 * random() - 4).toFixed(1);
            field.dispatchEvent(new Event("input"));
            await pause(130);
            // A busy machine takes longer to dim the prose.
            if (claims().length) await pause(1000);
            for (const em of claims()) seen.add(em.parentElement.textContent.slice(0, 200));
            if (i % 3 === 2) reset.click();
        }
        return [...seen];
    }
"""


@pytest.mark.of_each_kind
@pytest.mark.parametrize("page", PAGES_WITH_DARES)
def test_random_edits_dim_every_sentence_about_the_words(open_page, page):
    visit = open_page(page)
    visit.page.locator(".live-try").last.dispatch_event("click")
    wait_for_fields(visit)  # an earlier edit would be dimmed later
    seen = visit.page.evaluate(VISIBLE_CLAIMS, [WORDS, EDITS])
    assert [re.sub(r"\s+", " ", text) for text in seen] == []
