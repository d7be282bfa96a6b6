"""The letters in the formulas of chapters, and the tables of the notation page."""

import re

import pytest

from attention_docs.publish.before.values import CODE_OR_MATH
from tests.conftest import ROOT

CHAPTERS = [
    "around_softmax", "bits_and_batches", "chosen_keys", "delta_rule", "kv_cache",
    "latent_attention", "mask_functions", "position_biases", "rotary", "rotary_variants", "tiles",
]  # fmt: skip
NOTATION = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
BRACES = r"\{(?:[^{}]|\{[^{}]*\})*\}"
NOT_LETTERS = re.compile(rf"\\(?:val|number|text|mathrm|operatorname|begin|end){BRACES}")
GREEK = re.compile(r"\\(?:alpha|beta|gamma|Gamma|ell|lambda|omega|rho|sigma|varepsilon)")
LETTER_OR_COMMAND = re.compile(r"\\[A-Za-z]+|[A-Za-z]")
# The beginning of a symbol: a colour, if the letter has its general meaning, as in a score.
SYMBOL = r"(\\(?:query|key|value|scores|weights|output)\{)?(\\[A-Za-z]+|[A-Za-z])"


def letters_of(markdown):
    r"""Return the letters of all formulas, except commands such as `\sum`."""
    formulas = [match["math"] or "" for match in CODE_OR_MATH.finditer(markdown)]
    found = LETTER_OR_COMMAND.findall(NOT_LETTERS.sub(" ", " ".join(formulas)))
    return {letter for letter in found if letter[0] != "\\" or GREEK.fullmatch(letter)}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_letter_of_a_chapter_is_in_the_notation(chapter):
    page = (ROOT / "docs" / "mechanisms" / f"{chapter}.md").read_text(encoding="utf-8")
    common, further = NOTATION.split("### Further letters")
    for_this = [line for line in further.splitlines() if f"/{chapter}." in line]
    counting = re.search(r"Letters that only count.*", further)[0]
    listed = letters_of("\n".join([common, *for_this, counting])) | {"e"}
    assert letters_of(page) - listed == set()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_letter_of_a_chapter_has_two_meanings(chapter):
    page = (ROOT / "docs" / "mechanisms" / f"{chapter}.md").read_text(encoding="utf-8")
    further = NOTATION.split("### Further letters")[1].split("| letter |")[0]
    rows = [line.split(" | ")[0] for line in further.splitlines() if f"/{chapter}." in line]
    symbols = [set(re.findall(rf"\${SYMBOL}", row)) for row in rows]
    letters = [letter for row in symbols for letter in dict(map(reversed, row))]
    assert len(letters) == len(set(letters)), letters
    own = {letter for row in symbols for colour, letter in row if not colour}
    general = {letter for colour, letter in re.findall(SYMBOL, page) if colour}
    assert own & general == set()
