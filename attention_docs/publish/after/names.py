"""Long names in the text of pages, which may break between their parts."""

import re

# Blocks of code do not wrap. A thread has a name like `torch/torch#1`.
PLACE = re.compile(r"<pre.*?</pre>|(?P<names><code>[^<]*</code>|>[\w./-]+#\d+</a>)", re.DOTALL)
JOINT = re.compile(r"(?<=[\w)\]])[._/](?=[^\W\d])|(?<=[a-z])(?=[A-Z])")


def break_names(page: str) -> str:
    """Let the names in the inline code of a page break, and those of threads on GitHub.

    >>> break_names("<code>query.shape, attn_mask, TileState</code>")
    '<code>query.<wbr>shape, attn_<wbr>mask, Tile<wbr>State</code>'
    >>> break_names("<pre><code>attn_mask</code></pre>")
    '<pre><code>attn_mask</code></pre>'
    """

    def break_place(place: re.Match[str]) -> str:
        return JOINT.sub(r"\g<0><wbr>", place[0]) if place["names"] else place[0]

    return PLACE.sub(break_place, page)
