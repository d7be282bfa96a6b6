"""HTML inserted into finished pages, so that neither Markdown nor the search parses it."""

import re
from collections.abc import Mapping
from html import escape, unescape

from attention_docs.publish.cache import digest
from attention_docs.publish.formula_text import formula_text

# A placeholder, and the text that the search finds in its place.
PLACEHOLDER = re.compile(r"<!-- insert: (\w+) -->(?:<!-- text -->[^<]*<!-- end -->)?")

CODE = re.compile(r'<div class="highlight">.*?</pre></div>', re.DOTALL)
FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def placeholder(name: str) -> str:
    """Return the HTML comment that stands for an insert."""
    return f"<!-- insert: {name} -->"


class Inserts(dict[str, str]):
    """The inserts of all pages, by the names in their placeholders."""

    def add(self, html: str) -> str:
        """Add HTML, and return its placeholder.

        >>> inserts = Inserts()
        >>> insert("<p>" + inserts.add("<svg/>") + "</p>", inserts)
        '<p><svg/></p>'
        """
        name = digest(html)[:16]
        self[name] = html
        return placeholder(name)

    def extract_code_and_formulas(self, html: str) -> str:
        r"""Replace blocks of code and formulas by placeholders, which hide them from the search.

        A formula leaves its text behind its placeholder, so that the search finds that.

        >>> inserts = Inserts()
        >>> html = r'The root <span class="arithmatex">\(\sqrt{d}\)</span>.'
        >>> inserts.extract_code_and_formulas(html)
        'The root <!-- insert: 1883eecd6c735fc2 --><!-- text -->sqrt(d)<!-- end -->.'
        """

        def placeholder_and_text(formula: re.Match[str]) -> str:
            text = escape(formula_text(unescape(formula["tex"])), quote=False)
            return f"{self.add(formula[0])}<!-- text -->{text}<!-- end -->"

        without_code = CODE.sub(lambda code: self.add(code[0]), html)
        return FORMULA.sub(placeholder_and_text, without_code)


def insert(page: str, inserts: Mapping[str, str]) -> str:
    """Replace each placeholder in a page by its insert."""
    return PLACEHOLDER.sub(lambda match: inserts[match[1]], page)
