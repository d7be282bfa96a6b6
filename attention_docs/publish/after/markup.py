"""What the theme's HTML lacks on every page: classes for the layout, line breaks, preload links."""

import re

ARTICLE = '<article class="md-content__inner md-typeset'
CLASS_OF_ELEMENT = {
    'class="promise"': "home",
    'class="progress"': "course",
    'class="panel"': "beside-panel",
}
# Blocks of code, which do not wrap; or inline code, or a link to an issue like `torch/torch#1`.
BLOCK_OR_NAMES = re.compile(
    r"<pre.*?</pre>|(?P<names><code>[^<]*</code>|>[\w./-]+#\d+</a>)", re.DOTALL
)
# Between the parts of a name: after a dot, underscore or slash, or before a capital letter.
BREAK = re.compile(r"(?<=[\w)\]])[._/](?=[^\W\d])|(?<=[a-z])(?=[A-Z])")
# With low priority, because the first paint needs style sheets but no scripts.
PRELOAD = '<link rel="preload" href="{}" as="script" fetchpriority="low">'
SCRIPT_SOURCE = re.compile(r'<script src="([^"]+)"')


def add_classes(page: str) -> str:
    """Add to the article of a page a class for each element on which the layout depends.

    The style sheet could ask for them with `:has`, but while a page is loading they are missing, so
    the text would move when they arrive.

    >>> add_classes(f'{ARTICLE}"><h1>Masks</h1><details class="progress">')
    '<article class="md-content__inner md-typeset course"><h1>Masks</h1><details class="progress">'
    """
    head, article, content = page.partition(ARTICLE)
    classes = [name for element, name in CLASS_OF_ELEMENT.items() if element in content]
    return head + " ".join([article, *classes]) + content


def without_blank_lines(page: str) -> str:
    r"""Drop the blank lines of the navigation, which are 15 kB of a page, but none of the text.

    >>> without_blank_lines("<nav>\n  \n\n<a>\n<article>\n\n<pre>")
    '<nav>\n<a>\n<article>\n\n<pre>'
    """
    navigation, article, text = page.partition("<article")
    return re.sub(r"\n\s*\n", "\n", navigation) + article + text


def allow_breaks(page: str) -> str:
    """Allow line breaks between the parts of a name in inline code, or of an issue on GitHub.

    >>> allow_breaks("<code>query.shape, attn_mask, TileState</code>")
    '<code>query.<wbr>shape, attn_<wbr>mask, Tile<wbr>State</code>'
    >>> allow_breaks("<pre><code>attn_mask</code></pre>")
    '<pre><code>attn_mask</code></pre>'
    """
    return BLOCK_OR_NAMES.sub(
        lambda match: BREAK.sub(r"\g<0><wbr>", match[0]) if match["names"] else match[0], page
    )


def with_preloads(page: str) -> str:
    """Add a preload link for each script file of a page, in front of its first script.

    Browsers scan the HTML ahead for scripts to load, but not on a page whose head has a
    Content-Security-Policy. Behind a script the links would be found late.

    >>> with_preloads('<script>start()</script><script src="a.js">').partition("<script>")[0]
    '<link rel="preload" href="a.js" as="script" fetchpriority="low">'
    """
    links = map(PRELOAD.format, SCRIPT_SOURCE.findall(page))
    return page.replace("<script", "".join(links) + "<script", 1)
