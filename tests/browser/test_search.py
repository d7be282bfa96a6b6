"""Search in Chromium."""

import re
from pathlib import Path

# The pages that the search worker of an open page finds for each query, best first.
PAGES_FOUND = """
    async queries => {
        const { base, search } = JSON.parse(document.querySelector("#__config").textContent);
        const root = new URL(base, location);
        const worker = new Worker(new URL(search, location));
        const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
        const ask = (message, type) => new Promise(resolve => {
            worker.onmessage = ({ data }) => data.type === type && resolve(data.data);
            worker.postMessage(message);
        });
        const index = await (await fetch(new URL("search/search_index.json", root))).json();
        await ask({ type: SETUP, data: { ...index, options: {} } }, READY);
        const found = [];
        for (const data of queries) {
            const { items } = await ask({ type: QUERY, data }, RESULT);
            found.push(items.map(([best]) => best.location.replace(/#.*/, "")));
        }
        worker.terminate();
        return found;
    }
"""


def test_queries_find_a_page_that_answers_among_the_first_three(open_page):
    """One in twenty queries may miss it."""
    lines = Path(__file__).with_name("queries.txt").read_text("utf-8").splitlines()
    answers = dict(re.split(r" {2,}", line) for line in lines if not line.startswith("#"))
    assert len(answers) >= 160
    results = open_page().page.evaluate(PAGES_FOUND, list(answers))
    misses = [
        f"{query}: found {', '.join(found[:3])}"
        for (query, pages), found in zip(answers.items(), results, strict=True)
        if not {f"{page}/" for page in pages.split()} & set(found[:3])
    ]
    assert len(misses) <= len(answers) / 20, "\n".join(misses)


def test_search_reads_operators_as_punctuation(open_page):
    queries = ["soft-max*", "softmax", "(softmax)", "-softmax", "softmax:", "softmax^", '"softmax']
    found_with_hyphen, found_by_word, *found_with_operator = open_page().page.evaluate(
        PAGES_FOUND, queries
    )
    assert found_with_hyphen
    assert found_by_word
    assert all(found == found_by_word for found in found_with_operator)


def search_requests(visit):
    paths = [url.partition("?")[0] for url in visit.requests]
    return [path for path in paths if "/search/documents" in path or "/workers/" in path]


def test_search_loads_on_first_letter_and_keeps_the_query(open_page):
    visit = open_page()
    page = visit.page
    held_requests = []
    page.route("**/documents.json", lambda route: held_requests.append(route), times=1)
    page.get_by_placeholder("Search").click()
    assert search_requests(visit) == []
    with page.expect_request("**/documents.json"):
        page.keyboard.type("softm")
    page.keyboard.type("ax")
    page.wait_for_timeout(200)
    held_requests[0].continue_()
    results = page.locator(".md-search-result__item")
    results.filter(has_text=re.compile("softmax", re.IGNORECASE)).first.wait_for()
    text = " ".join(results.all_inner_texts())
    # "<" before a space is a comparison in code.
    assert not re.search(r"</?\w|\\|katex|&#", text), "the results have markup"
    assert sum("documents" in url for url in search_requests(visit)) == 1


def test_search_retries_after_a_failed_fetch(open_page):
    visit = open_page()
    page = visit.page
    page.route("**/documents.json", lambda route: route.abort(), times=1)
    with page.expect_event("requestfailed"):
        page.get_by_placeholder("Search").press_sequentially("s")
    assert page.locator(".md-search-result__item").count() == 0
    page.keyboard.type("oftmax")
    page.locator(".md-search-result__item").first.wait_for()
    visit.errors.clear()  # the request that this test aborted
