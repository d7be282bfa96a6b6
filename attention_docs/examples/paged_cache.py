"""A cache in pages of four tokens, from which three texts are read through a block table.

Texts A and B share the two pages of their first eight tokens; the page that is partly filled is
each text's own. `contiguous` is the output of caches in one piece. Two mistakes change digits:
`stale` reads whole pages, with what lies behind the length of a text, and in `without_copy` B has
written into a page that A reads, too.

`found` has the tokens of A's first pages that are still found, after A and B have ended and a new
text has taken 0 to 4 free pages. The first row frees the pages of a text back to front, and the
second, a mistake, front to back.

>>> show(computed(steps))
weights 3 x 12
[[0.0955 0.0114 0.0955 0.0471 0.0471 0.0471 0.0471 0.0232 0.1936 0.3926      0 0]
 [0.0901 0.0219 0.0444 0.0444 0.0901 0.0444 0.0219 0.0444 0.1828 0.3708 0.0444 0]
 [0.0379 0.1559 0.0092 0.6411 0.1559      0      0      0      0      0      0 0]]
output [3.2198 0.2069 2.7694]
contiguous [3.2198 0.2069 2.7694]
stale [0.9348 1.5661 -4.0841]
without_copy 0.5955
found [[8 8 8 4 0] [8 8 8 0 0]]
"""

import itertools

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "A paged cache with a shared prefix"
SOURCE = "our own example"

# A row is a page of four slots. The keys have two features, so the row of a page has eight.
KEY_PAGES = [
    [0, 1, 1, 0, 2, -1, 0, 0],
    [1, 2, 0, 3, -1, 0, 2, 2],
    [1, 1, 0, -1, 2, 0, 1, 0],
    [1, -1, 3, 0, 0, 3, 2, 2],
    [1, 2, 3, 1, 2, 3, 3, 2],
    [0, 2, 1, 1, -1, 1, 2, 0],
]
VALUE_PAGES = [
    [1, 0, 2, -1],
    [3, -2, 4, 9],
    [0, 2, 1, 1],
    [5, -8, 9, -7],
    [3, 6, -9, 8],
    [2, 0, -1, 3],
]
Q = [[1, 1], [0, 1], [2, 0]]  # of the newest token of each text
TABLE = [[2, 0, 4], [2, 0, 1], [5, 3, 0]]  # C has two pages; the last entry is not used
LENGTHS = [10, 11, 5]
PAGE = 4

TEXTS = ["A", "B", "C"]
# What the slots hold. Behind the length of a text they hold words of texts that have ended.
WORDS = [
    ["to", "the", "sea", "."],
    ["Name", "two", "boats", "fly"],
    ["You", "are", "a", "guide"],
    ["boats", "so", "it", "is"],
    ["Name", "birds", "the", "end"],
    ["Why", "do", "birds", "pass"],
]
PAGES = [f"page {page}" for page in range(len(WORDS))]
LABELS = {
    "K_pages V_pages": (PAGES, []),
    "Q weights": (TEXTS, []),
    "output contiguous stale": (TEXTS,),
    "found": (["tail first", "front first"], [f"{taken} pages taken" for taken in range(5)]),
}


def steps(xp=numpy):
    """Attend from the newest token of each text to the pages that the table names."""
    k_pages, v_pages, q = (
        xp.asarray(rows, dtype=xp.float64) for rows in (KEY_PAGES, VALUE_PAGES, Q)
    )
    table = xp.asarray(TABLE)
    paged, stale, contiguous = [], [], []
    for text, length in enumerate(LENGTHS):
        query = q[text : text + 1, :]
        k, v = gather(k_pages, table[text, :], xp), gather(v_pages, table[text, :], xp)
        is_filled = (xp.arange(k.shape[0]) < length)[None, :]
        paged.append(attention_steps(query, k, v, attn_mask=is_filled))
        stale.append(attention_steps(query, k, v))
        keys, values = (in_one_piece(pages, text, xp) for pages in (k_pages, v_pages))
        contiguous.append(attention_steps(query, keys, values))
    k_written, v_written = (overwrite_shared(pages, xp) for pages in (k_pages, v_pages))
    without_copy = attention_steps(q[:1, :], k_written, v_written)
    return {
        "K_pages": k_pages,
        "V_pages": v_pages,
        "Q": q,
        "weights": xp.concat([attended.weights for attended in paged]),
        "output": xp.stack([attended.output[0, 0] for attended in paged]),
        "contiguous": xp.stack([attended.output[0, 0] for attended in contiguous]),
        "stale": xp.stack([attended.output[0, 0] for attended in stale]),
        "without_copy": without_copy.output[0, 0],
        "found": xp.asarray([[tokens_found(n, order) for n in range(5)] for order in (-1, 1)]),
    }


def gather(pages, page_numbers, xp):
    """Return the tokens of the pages with these numbers, (slots, features)."""
    chosen = xp.take(pages, page_numbers, axis=0)
    return xp.reshape(chosen, (len(TABLE[0]) * PAGE, pages.shape[1] // PAGE))


def in_one_piece(pages, text, xp):
    """Return the tokens of a text, page after page and without empty slots, (tokens, features)."""
    features = pages.shape[1] // PAGE
    tokens = []
    for token in range(LENGTHS[text]):
        page, first = TABLE[text][token // PAGE], token % PAGE * features
        tokens.append(pages[page, first : first + features])
    return xp.stack(tokens)


def overwrite_shared(pages, xp):
    """Return the tokens of A after B has written its last two tokens into A's last page."""
    tokens_a, tokens_b = in_one_piece(pages, 0, xp), in_one_piece(pages, 1, xp)
    return xp.concat([tokens_a[:-1, :], tokens_b[-2:-1, :]])


def tokens_found(taken, order):
    """Return how many tokens of A's full pages are found, if these are freed in order 1 or -1."""
    full = TABLE[0][: LENGTHS[0] // PAGE]
    # Pages that are not full come first: nobody can find them.
    free = TABLE[1][2:] + TABLE[0][2:] + full[::order]
    return PAGE * len(list(itertools.takewhile(lambda page: page not in free[:taken], full)))
