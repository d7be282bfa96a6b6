"""KaTeX's fonts: cut to what is drawn, complete for it, and the same font otherwise."""

import io

import pytest
from fontTools.ttLib import TTFont

from attention_docs.publish import fonts
from attention_docs.publish.cache import Cache
from attention_docs.publish.errors import PublishError

MAIN = "KaTeX_Main-Regular"
ITALIC = "KaTeX_Math-Italic"
FORMULA = '<span class="katex"><mi>hidden ß</mi><span class="katex-html" aria-hidden="true"><span class="mord mathnormal mtight">φ<span style="">ψ</span></span><span class="mord">Σ&lt;⊤\u200b</span></span></span>'


@pytest.fixture
def publish(assets, tmp_path):
    def published(*formulas):
        return fonts.published(assets, formulas, Cache(tmp_path / "fonts.json"))

    return published


def font(files, name):
    return TTFont(io.BytesIO(files[fonts.addresses(files)[name]]))


def test_a_font_has_what_formulas_draw_and_what_numbers_need_and_no_more(publish):
    cut = {chr(code) for code in font(publish(FORMULA), MAIN).getBestCmap()}
    assert {"Σ", "<", "⊤"} <= cut
    assert set("0123456789.−×∞nanTF") <= cut
    assert not cut & set("ßQφψ")


def test_a_character_goes_into_the_font_that_draws_it(publish):
    cut = {chr(code) for code in font(publish(FORMULA), ITALIC).getBestCmap()}
    assert {"φ", "ψ"} <= cut
    assert not cut & set("Σ<⊤ß")


def test_what_is_left_of_a_font_is_drawn_as_before(publish, assets):
    whole = TTFont(assets / "katex" / "dist" / "fonts" / f"{MAIN}.woff2")
    cut = font(publish(FORMULA), MAIN)
    assert cut["head"].unitsPerEm == whole["head"].unitsPerEm
    assert cut["hhea"].ascent == whole["hhea"].ascent
    assert cut["hhea"].descent == whole["hhea"].descent
    for character in "Σ⊤7":
        before, after = (each.getBestCmap()[ord(character)] for each in (whole, cut))
        assert cut["hmtx"][after] == whole["hmtx"][before]


def test_a_character_that_no_font_has_stops_the_build(publish):
    with pytest.raises(PublishError, match="KaTeX_Main-Regular has no 'Ж'"):
        publish(FORMULA.replace("&lt;", "Ж"))


def test_the_name_of_a_file_changes_with_its_content_and_the_style_sheet_follows(publish):
    few, more = publish(FORMULA), publish(FORMULA, FORMULA.replace("&lt;", "∂"))
    one, other = (fonts.addresses(files)[MAIN] for files in (few, more))
    assert one != other
    for files, address in ((few, one), (more, other)):
        style = files["assets/katex/katex.min.css"].decode()
        assert f"url(fonts/{address.rpartition('/')[2]})" in style
        assert ".ttf" not in style
        assert style.count("url(") == len(files) - 1


def test_a_font_is_cut_once(publish, monkeypatch):
    first = publish(FORMULA)
    monkeypatch.setattr(fonts, "subset", lambda font, text: pytest.fail("cut again"))
    assert publish(FORMULA) == first
