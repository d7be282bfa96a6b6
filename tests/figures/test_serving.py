"""The player of a server: what its steps do to the pages."""

from attention_docs.figures import serving


def test_pages_hold_the_tokens_of_each_request_in_order():
    computed = []
    for step in serving.serve():
        owned = [page for pages in step.table.values() for page in pages]
        assert len(owned) == len(set(owned))
        for name, numbers in step.table.items():
            slots = [slot for page in numbers for slot in step.pages[page] if slot.owner]
            assert [slot.words for slot in slots] == [f"{name}{i + 1}" for i in range(len(slots))]
        new = [slot.words for page in step.pages for slot in page if slot.is_new]
        assert len(new) == step.tokens <= serving.BUDGET
        computed += new
    # The last token that a request generates is never computed.
    expected = [
        f"{name}{i + 1}"
        for name, (prompt, generated) in serving.REQUESTS.items()
        for i in range(prompt + generated - 1)
    ]
    assert sorted(computed) == sorted(expected)
