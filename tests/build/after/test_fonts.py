"""Subsets of KaTeX's fonts in the style sheet."""

import base64
import io
import re
from types import SimpleNamespace

import pytest
from fontTools.ttLib import TTFont

from attention_docs.publish.after import fonts
from attention_docs.publish.cache import Cache
from attention_docs.publish.errors import PublishError

# φ and ψ are italic, Σ, < and ⊤ upright, and ß is in the hidden MathML.
FORMULA = '<span class="katex"><mi>hidden ß</mi><span class="katex-html" aria-hidden="true"><span class="mord mathnormal mtight">φ<span style="">ψ</span></span><span class="mord">Σ&lt;⊤\u200b</span></span></span>'


@pytest.fixture
def style_sheet(assets, tmp_path):
    """A function that returns the style sheet for formulas, with a cache for the test."""

    def style_sheet(*formulas):
        project = SimpleNamespace(node_modules=assets, cache=Cache(tmp_path))
        return fonts.style_sheet(project, formulas)

    return style_sheet


def embedded_font(style, family):
    (encoded,) = re.findall(rf"font-family:{family};[^}}]*base64,([\w+/=]+)\)", style)
    return TTFont(io.BytesIO(base64.b64decode(encoded)))


def characters_of(font):
    return {chr(code) for code in font.getBestCmap()}


def test_font_has_only_the_characters_that_use_it_and_those_always_included(style_sheet):
    style = style_sheet(FORMULA)
    characters = characters_of(embedded_font(style, "KaTeX_Main"))
    assert set("Σ<⊤0123456789.−×∞nanTF") <= characters
    assert not characters & set("ßQφψ")
    characters = characters_of(embedded_font(style, "KaTeX_Math"))
    assert {"φ", "ψ"} <= characters
    assert not characters & set("Σ<⊤ß")


def test_character_missing_from_the_font_stops_the_build(style_sheet):
    with pytest.raises(PublishError, match="KaTeX_Main-Regular has no 'Ж'"):
        style_sheet(FORMULA.replace("&lt;", "Ж"))


def test_style_sheet_embeds_only_used_fonts(style_sheet):
    style = style_sheet(FORMULA)
    assert style.count("@font-face") == 2
    assert style.count("url(") == style.count("url(data:font/woff2;base64,") == 2
    # The bold font has no Greek letters.
    bold_formula = FORMULA.replace("mathnormal", "mathbf").replace("φ", "k").replace("ψ", "q")
    assert style_sheet(FORMULA, bold_formula).count("@font-face") == 3
