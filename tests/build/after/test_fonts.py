"""KaTeX's fonts: cut to what is drawn, complete for it, and the same font otherwise."""

import base64
import io
import re
from types import SimpleNamespace

import pytest
from fontTools.ttLib import TTFont

from attention_docs.publish.after import fonts, truetype
from attention_docs.publish.cache import Cache
from attention_docs.publish.errors import PublishError

MAIN = "KaTeX_Main-Regular"
FORMULA = '<span class="katex"><mi>hidden ß</mi><span class="katex-html" aria-hidden="true"><span class="mord mathnormal mtight">φ<span style="">ψ</span></span><span class="mord">Σ&lt;⊤\u200b</span></span></span>'


@pytest.fixture
def publish(assets, tmp_path):
    def published(*formulas):
        project = SimpleNamespace(modules=assets, cache=Cache(tmp_path))
        return fonts.style_sheet(project, formulas)

    return published


def font(style, family):
    (encoded,) = re.findall(rf"font-family:{family};[^}}]*base64,([\w+/=]+)\)", style)
    return TTFont(io.BytesIO(base64.b64decode(encoded)))


def test_a_font_has_what_formulas_draw_and_what_numbers_need_and_no_more(publish):
    cut = {chr(code) for code in font(publish(FORMULA), "KaTeX_Main").getBestCmap()}
    assert {"Σ", "<", "⊤"} <= cut
    assert set("0123456789.−×∞nanTF") <= cut
    assert not cut & set("ßQφψ")


def test_a_character_goes_into_the_font_that_draws_it(publish):
    cut = {chr(code) for code in font(publish(FORMULA), "KaTeX_Math").getBestCmap()}
    assert {"φ", "ψ"} <= cut
    assert not cut & set("Σ<⊤ß")


def test_what_is_left_of_a_font_is_drawn_as_before(publish, assets):
    whole = TTFont(assets / "katex" / "dist" / "fonts" / f"{MAIN}.woff2")
    cut = font(publish(FORMULA), "KaTeX_Main")
    assert cut["head"].unitsPerEm == whole["head"].unitsPerEm
    assert cut["hhea"].ascent == whole["hhea"].ascent
    assert cut["hhea"].descent == whole["hhea"].descent
    for character in "Σ⊤7":
        before, after = (each.getBestCmap()[ord(character)] for each in (whole, cut))
        assert cut["hmtx"][after] == whole["hmtx"][before]


def test_a_character_that_no_font_has_stops_the_build(publish):
    with pytest.raises(PublishError, match="KaTeX_Main-Regular has no 'Ж'"):
        publish(FORMULA.replace("&lt;", "Ж"))


def test_the_style_sheet_has_the_fonts_that_are_drawn_within_it_and_no_others(publish):
    style = publish(FORMULA)
    assert style.count("@font-face") == style.count("url(data:font/woff2;base64,") == 2
    assert style.count("url(") == 2
    bold = publish(
        FORMULA, FORMULA.replace("mathnormal", "mathbf").replace("φ", "k").replace("ψ", "q")
    )
    assert bold.count("@font-face") == 3


def test_a_font_is_cut_once(publish, monkeypatch):
    first = publish(FORMULA)
    monkeypatch.setattr(truetype, "subset", lambda font, text: pytest.fail("cut again"))
    assert publish(FORMULA) == first
