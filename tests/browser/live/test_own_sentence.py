"""The figure of all heads reads a sentence that the reader types, here with a tiny model."""

import os
import runpy
import shutil

import numpy as np
import pytest

from attention_docs.model.gguf_file import read_gguf
from attention_docs.model.sampling import next_token_probabilities
from tests.browser.visit import Visit, served, url_path
from tests.conftest import ROOT
from tests.model import tiny

PAGE, TEXT = "course/at_full_size", "The cat sat at the cat."
PARTS = 3
STATUS = ".own-sentence output"
LAYER, HEAD = 1, 2  # the head that is shown


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    return tiny.write_gguf(tmp_path_factory.mktemp("own") / "tiny.gguf", tiny.WEIGHTS)


@pytest.fixture(scope="module")
def address_with_model(site, model_path, tmp_path_factory):
    """The address where the site is served with the parts of the tiny model."""
    content, folder = model_path.read_bytes(), tmp_path_factory.mktemp("with_model") / "site"
    shutil.copytree(site, folder, copy_function=os.link)
    write_parts = runpy.run_path(ROOT / "scripts" / "real_model" / "parts.py")["write_parts"]
    write_parts(content, folder / "assets" / "model", size=-(-len(content) // PARTS))
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def layers(model_path):
    """The steps of the tiny model on the text, with the model and the ids of the tokens."""
    model, tokenizer = read_gguf(model_path)
    ids = tokenizer.encode(TEXT)
    return model, ids, list(model.run(ids))


@pytest.fixture
def own(browser, address_with_model):
    """The page in a context of its own, with which its cache and its service worker end.

    If they were deleted instead, while the service worker starts, Playwright would wait for it
    without end.
    """
    with Visit(browser, address_with_model + url_path(PAGE)) as visit:
        for name, value in (("layer", LAYER), ("head", HEAD)):
            visit.page.get_by_label(name, exact=True).fill(str(value))
        yield visit
        visit.assert_no_errors()


def read(visit, text=TEXT):
    visit.page.get_by_label("your own text").fill(text)
    visit.page.keyboard.press("Enter")


def wait_for_status(visit, beginning):
    visit.wait_until(f"document.querySelector('{STATUS}').value.startsWith('{beginning}')")
    return visit.page.locator(STATUS).inner_text()


def test_weights_and_next_tokens_are_those_of_python(own, layers):
    model, ids, steps = layers
    read(own)
    status = wait_for_status(own, "The likeliest next tokens")
    probabilities = next_token_probabilities(model.compute_logits(steps[-1].hidden)[-1])
    assert f"” {probabilities.max():.3f}" in status
    shown_ids = own.page.locator(".all-heads > .tokens small").all_inner_texts()
    assert [int(text) for text in shown_ids] == ids
    shares = own.page.locator(".all-heads dd span").all_inner_texts()
    assert shares == [f"{share:.3f}" for share in np.sort(probabilities)[:-11:-1]]
    own.wait_until("document.querySelector('.state text').textContent === 'layer 1, head 2'")
    numbers = own.page.locator(".state:first-child .numbers text").evaluate_all(
        "all => all.map(e => e.textContent)"
    )
    expected = np.rint(100 * steps[LAYER].attention.weights[HEAD][np.tril_indices(len(ids))])
    assert np.abs([int(text or 0) for text in numbers] - expected).max() <= 1
    assert own.page.locator(".small g path").count() == 2 * tiny.LAYERS


def numbers_of(table):
    lines = [line.locator("td").all_inner_texts() for line in table.locator("tr:has(td)").all()]
    return np.array([[float(text.replace("−", "-")) for text in line] for line in lines])


def test_a_weight_opens_its_computation(own, layers):
    _, _, steps = layers
    read(own)
    wait_for_status(own, "The likeliest next tokens")
    row, column = 5, 2
    cell = row * (row + 1) // 2 + column
    own.page.locator(".state:first-child .boxes path").nth(cell).dispatch_event("click")
    own.wait_until("document.querySelectorAll('.steps table').length === 2")
    products, softmax = map(numbers_of, own.page.locator(".steps table").all())
    attention = steps[LAYER].attention
    scores, scaled, powers, weights = softmax.T
    np.testing.assert_allclose(weights, attention.weights[HEAD, row, : row + 1], atol=1e-4)
    np.testing.assert_allclose(scaled, attention.scaled[HEAD, row, : row + 1], atol=1e-3)
    np.testing.assert_allclose(powers / powers.sum(), weights, atol=1e-3)
    query, key, product = products
    np.testing.assert_allclose(query * key, product, atol=1e-3)
    assert product.sum() == pytest.approx(scores[column], abs=0.01)
    own.page.get_by_label("head", exact=True).fill("0")
    assert not own.page.locator(".steps table").count(), "they are of another head"
    for field, index in zip(own.page.locator(".own-tool select").all(), (row, column), strict=True):
        field.select_option(str(index))
    own.page.get_by_role("button", name="Show the head where it is largest").click()
    place = tuple(
        int(own.page.get_by_label(n, exact=True).input_value()) for n in ("layer", "head")
    )
    percent = np.rint([100 * step.attention.weights[:, row, column] for step in steps])
    assert percent[place] == percent.max()


def test_head_is_cut_and_restored_and_tokens_are_written(own, layers):
    model, ids, steps = layers
    read(own)
    before = wait_for_status(own, "The likeliest next tokens")
    own.page.get_by_role("button", name="Cut this head").click()
    result = ".own-tool output"
    own.wait_until(f"document.querySelector('{result}').value.startsWith('The token')")
    status = own.page.locator(result).inner_text()
    assert f"layer {LAYER}, head {HEAD}" in status
    assert own.page.locator(".small > path").get_attribute("d"), "the head is crossed out"

    def cut(number, outputs):
        is_cut = (np.arange(tiny.HEADS) == HEAD) & (number == LAYER)
        return np.where(is_cut[:, None, None], 0, outputs)

    probabilities = next_token_probabilities(model.logits(ids, replace_heads=cut)[-1])
    uncut = next_token_probabilities(model.compute_logits(steps[-1].hidden)[-1])
    for token in np.argmax(probabilities - uncut), np.argmin(probabilities - uncut):
        assert f"”, from {uncut[token]:#.3g} to {probabilities[token]:#.3g}," in status
    own.page.get_by_role("button", name="Restore this head").click()
    own.wait_until(f"document.querySelector('{STATUS}').value === '{before}'")
    assert not own.page.locator(result).inner_text()
    own.page.get_by_role("button", name="Write three tokens, by chance").click()
    own.wait_until("document.querySelectorAll('.written small').length === 3")


def test_interrupted_fetch_goes_on_where_it_was(own):
    last = f"**/*-{PARTS - 1}.bin"
    own.context.route(last, lambda route: route.abort())
    read(own)
    assert "Press the button again" in wait_for_status(own, "The fetch stopped at ")
    own.wait_until("document.querySelector('.all-heads:not([data-reading]) > output').value")
    own.context.unroute(last)
    own.requests.clear()
    own.page.get_by_role("button", name="Read it with the model").click()
    wait_for_status(own, "The likeliest next tokens")
    fetched = [url.rsplit("-", 1)[1] for url in own.requests if url.endswith(".bin")]
    assert fetched == [f"{PARTS - 1}.bin"], "parts that were fetched are kept"
    own.errors.clear()  # the request that this test aborted


def test_long_text_is_refused(own):
    read(own, "a " * 41)
    assert "at most 40" in wait_for_status(own, "The text has ")


def test_small_memory_is_told(own):
    huge = {"bytes": 2**50, "parts": []}
    own.context.route("**/parts.json", lambda route: route.fulfill(json=huge))
    read(own)
    wait_for_status(own, "The memory of this device is too small for the model.")


def test_text_is_read_if_the_storage_is_full(own):
    devtools = own.context.new_cdp_session(own.page)
    devtools.send("Storage.overrideQuotaForOrigin", {"origin": own.page.url, "quotaSize": 1})
    read(own)
    wait_for_status(own, "The likeliest next tokens")
    kept = own.page.evaluate("caches.match(`${attentionDocs.folder}model/parts.json`)")
    assert kept is None


def test_page_and_model_are_kept_for_a_visit_without_network(own):
    read(own)
    wait_for_status(own, "The likeliest next tokens")
    for _ in range(600):
        if own.page.evaluate("caches.match(location.href).then(Boolean)"):
            break
        own.page.wait_for_timeout(50)
    own.context.set_offline(True)
    own.page.reload()
    read(own)
    wait_for_status(own, "The likeliest next tokens")
    own.errors.clear()  # what was not there without network


def test_home_hands_a_sentence_to_the_page(open_page):
    visit = open_page()
    visit.page.get_by_label("a real model").check()
    visit.page.get_by_label("your own text").fill(TEXT)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url(f"**/{PAGE}/#sentence=*")
    visit.wait_until(f"document.querySelector('.own-sentence input').value === '{TEXT}'")
    wait_for_status(visit, "This copy of the site does not have the model.")
    sent = [url.split("#")[0] for url in visit.requests]
    assert not [url for url in sent if "sat" in url], "the text stays in the browser"
    visit.errors.clear()  # the list of parts is not found
