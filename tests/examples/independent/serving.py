"""Serving: one slot, one chunk and one position at a time, in loops over Python numbers."""

from tests import loops
from tests.examples.comparison import independent


def attend(query, tokens):
    """Return the weights and the one feature of the output over tokens, (key, value) pairs."""
    keys, values = zip(*tokens, strict=True)
    weights, output = loops.attention([query], keys, [[value] for value in values])
    return weights[0], output[0][0]


@independent("paged_cache", "one slot at a time", fixed=["TABLE", "LENGTHS"])
def paged_cache(literals):
    page_size, table, lengths = literals["PAGE"], literals["TABLE"], literals["LENGTHS"]

    def token(text, position):
        page, slot = table[text][position // page_size], position % page_size
        row = literals["KEY_PAGES"][page]
        return (row[2 * slot], row[2 * slot + 1]), literals["VALUE_PAGES"][page][slot]

    slots = len(table[0]) * page_size
    weights, outputs, stale = [], [], []
    for text, query in enumerate(literals["Q"]):
        row, output = attend(query, [token(text, i) for i in range(lengths[text])])
        weights.append(row + [0.0] * (slots - len(row)))
        outputs.append(output)
        stale.append(attend(query, [token(text, i) for i in range(slots)])[1])
    # The token that A wrote last is overwritten by that of B at the same position.
    last = lengths[0] - 1
    overwritten = [token(int(i == last), i) for i in range(lengths[0])]
    # Two of the free pages are not full. Of the others, each that is taken costs a page, or all.
    full, taken = lengths[0] // page_size, [max(0, pages - 2) for pages in range(5)]
    return {
        "weights": weights,
        "output": outputs,
        "contiguous": outputs,
        "stale": stale,
        "without_copy": attend(literals["Q"][0], overwritten)[1],
        "found": [
            [page_size * (full - pages) for pages in taken],
            [0 if pages else page_size * full for pages in taken],
        ],
    }


@independent("chunked_prefill", "one token at a time")
def chunked_prefill(literals):
    chunk, window = literals["CHUNK"], literals["WINDOW"]
    n = len(literals["Q"])

    def outputs(first_seen):
        """Attend from each token to those from `first_seen(token)` up to itself."""
        return [
            attend(
                literals["Q"][i],
                [(literals["K"][j], literals["V"][j][0]) for j in range(first_seen(i), i + 1)],
            )[1]
            for i in range(n)
        ]

    def first_in_window(i):
        return max(0, i - window + 1)

    def first_after_cut(i):
        chunk_end = (i // chunk + 1) * chunk
        return max(first_in_window(i), chunk_end - window)

    def masks(first_seen):
        return [[first_seen(i) <= j <= i for j in range(n)] for i in range(n)]

    causal, in_window = outputs(lambda i: 0), outputs(first_in_window)
    return {
        "causal": causal,
        "chunked_causal": causal,
        "seen": masks(first_in_window),
        "output": in_window,
        "chunked": in_window,
        "seen_cut_early": masks(first_after_cut),
        "cut_early": outputs(first_after_cut),
        "one_more": outputs(lambda i: max(0, i - window)),
    }


@independent("padded_batch", "complex numbers and counted positions")
def padded_batch(literals):
    x, padding = literals["X"], literals["PADDING"]
    columns = range(len(x))
    counted = [max(0, column - padding) for column in columns]
    real, every = list(columns)[padding:], list(columns)

    def last_output(tokens, positions, kept, has_rotary):
        q, k, v = (loops.matmul(tokens, literals[f"W_{letter}"]) for letter in "QKV")
        if has_rotary:
            q, k = (
                [
                    loops.rotate_pairs(row, position, 10000)
                    for row, position in zip(rows, positions, strict=True)
                ]
                for rows in (q, k)
            )
        return attend(q[-1], [(k[i], v[i][0]) for i in kept])[1]

    def in_four_ways(has_rotary):
        outputs = []
        for positions, kept in ((counted, real), (counted, real), (every, real), (every, every)):
            added = [literals["P"][position] for position in positions]
            tokens = (
                x
                if has_rotary
                else [
                    [a + b for a, b in zip(row, position_row, strict=True)]
                    for row, position_row in zip(x, added, strict=True)
                ]
            )
            outputs.append(last_output(tokens, positions, kept, has_rotary))
        return outputs

    return {
        "mask": [column >= padding for column in columns],
        "positions": counted,
        "rotary": in_four_ways(has_rotary=True),
        "added": in_four_ways(has_rotary=False),
    }
