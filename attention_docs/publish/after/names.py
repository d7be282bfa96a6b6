"""Line breaks inside the long names in the text of pages."""

import re

# Blocks of code, which do not wrap; or inline code, or a link to an issue like `torch/torch#1`.
BLOCK_OR_NAMES = re.compile(
    r"<pre.*?</pre>|(?P<names><code>[^<]*</code>|>[\w./-]+#\d+</a>)", re.DOTALL
)
# Between the parts of a name: after a dot, underscore or slash, or before a capital letter.
BREAK = re.compile(r"(?<=[\w)\]])[._/](?=[^\W\d])|(?<=[a-z])(?=[A-Z])")


def allow_breaks(page: str) -> str:
    """Allow line breaks between the parts of a name in inline code, or of an issue on GitHub.

    >>> allow_breaks("<code>query.shape, attn_mask, TileState</code>")
    '<code>query.<wbr>shape, attn_<wbr>mask, Tile<wbr>State</code>'
    >>> allow_breaks("<pre><code>attn_mask</code></pre>")
    '<pre><code>attn_mask</code></pre>'
    """

    def add_breaks(match: re.Match[str]) -> str:
        return BREAK.sub(r"\g<0><wbr>", match[0]) if match["names"] else match[0]

    return BLOCK_OR_NAMES.sub(add_breaks, page)
