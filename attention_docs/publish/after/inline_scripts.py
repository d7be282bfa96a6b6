"""Check of the inline scripts of pages, which the Content-Security-Policy allows by their hashes.

A page may run the theme's inline scripts and ours. Any other, which a plugin may add, stops the
build. Scripts and other files from foreign hosts are blocked by the policy itself.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

# Only the inline scripts of these templates may run. main.html is ours, the others the theme's.
TEMPLATES = (
    "main.html",
    "partials/javascripts/base.html",
    "partials/javascripts/content.html",
    "partials/javascripts/palette.html",
)
INLINE_SCRIPT = re.compile(
    r"<script(?P<attributes>(?![^>]*\ssrc\s*=)[^>]*)>(?P<code>.*?)</script\s*>",
    re.DOTALL | re.IGNORECASE,
)
EXCERPT_LENGTH = 60  # characters of a script in an error message
# Data blocks, such as the theme's settings, do not run.
DATA = re.compile(r'\stype="application/(?:ld\+)?json"')
# In an escaped pattern, a template expression, which stands for the path to the root of the site.
TEMPLATE_EXPRESSION = re.compile(r"\\\{\\\{.*?\\\}\\\}")
# A relative path, or an absolute one; `//` would begin the name of a foreign host.
PATH_TO_ROOT = r"(?:\.{1,2}(?:/\.\.)*|/(?!/)[\w./-]*)"


def allowed_scripts(folders: Sequence[str | Path]) -> list[re.Pattern[str]]:
    """Return a pattern for each inline script that pages may have: those of `TEMPLATES`.

    Args:
        folders: the folders of templates. A template in one hides those of the same name in later
            ones.
    """
    patterns = []
    for name in TEMPLATES:
        template = find_template(name, folders)
        if template:
            scripts = inline_scripts(template.read_text(encoding="utf-8"))
            patterns += [script_pattern(script) for script in scripts]
    return patterns


def inline_scripts(page: str) -> list[str]:
    """List the inline scripts of a page that a browser would run.

    >>> inline_scripts('<script>start()</script><script src="a.js"></script>')
    ['start()']
    """
    scripts = INLINE_SCRIPT.finditer(page)
    return [script["code"] for script in scripts if not DATA.search(script["attributes"])]


def find_template(name: str, folders: Sequence[str | Path]) -> Path | None:
    """Return the first file of this name in the folders, if any."""
    for folder in folders:
        template = Path(folder, name)
        if template.is_file():
            return template
    return None


def script_pattern(script: str) -> re.Pattern[str]:
    r"""Return a pattern that matches a template's script with any path to the root of the site.

    >>> bool(script_pattern('go("{{ base_url }}")').fullmatch('go("../..")'))
    True
    >>> bool(script_pattern('go("{{ base_url }}")').fullmatch('go("//host/")'))
    False
    """
    return re.compile(TEMPLATE_EXPRESSION.sub(lambda _: PATH_TO_ROOT, re.escape(script)))


def forbidden_scripts(page: str, allowed: Iterable[re.Pattern[str]]) -> Iterator[str]:
    """Yield a message for each inline script of a page that may not run.

    >>> list(forbidden_scripts("<script>spy()</script>", [script_pattern("start()")]))
    ["inline script 'spy()' is neither the theme's nor ours; remove it, or load it from a file"]
    """
    for script in inline_scripts(page):
        if not any(pattern.fullmatch(script) for pattern in allowed):
            excerpt = " ".join(script.split())[:EXCERPT_LENGTH]
            yield (
                f"inline script {excerpt!r} is neither the theme's nor ours; "
                "remove it, or load it from a file"
            )
