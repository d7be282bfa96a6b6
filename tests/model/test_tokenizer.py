"""Byte-pair encoding: round trips, merges compared with a slow implementation, and errors."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs.model.tokenizer import Tokenizer, byte_characters, split_text

ALPHABET = "abc"
MERGES = ["a b", "b c", "ab c", "a a", "aa ab", "c c"]
TOKENS = ["<|end|>", *byte_characters(), *(merge.replace(" ", "") for merge in MERGES)]
TOKENIZER = Tokenizer(TOKENS, MERGES, [3] + [1] * (len(TOKENS) - 1))


def slow_merges(word):
    """Merge the first of the lowest-ranked pairs, one at a time."""
    parts = list(word)
    while True:
        ranks = [
            (MERGES.index(f"{a} {b}"), i)
            for i, (a, b) in enumerate(pairwise(parts))
            if f"{a} {b}" in MERGES
        ]
        if not ranks:
            return parts
        i = min(ranks)[1]
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


@given(st.text(ALPHABET, max_size=12))
def test_merges_equal_slow_implementation(word):
    assert [TOKENS[token] for token in TOKENIZER.encode(word)] == slow_merges(word)


texts = st.text(st.characters(exclude_categories=["Cs"]))  # Unicode text has no surrogates


@given(texts)
def test_decode_inverts_encode(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(texts)
def test_each_digit_is_a_piece_of_its_own(text):
    for piece in split_text(text):
        if any(unicodedata.category(character).startswith("N") for character in piece):
            assert len(piece) == 1


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("They're 12 cats.\n", ["They", "'re", " ", "1", "2", " cats", ".", "\n"]),
        ("a  b\r\n\r\n  c", ["a", " ", " b", "\r\n\r\n ", " c"]),
        ("x_y --z", ["x", "_", "y", " --", "z"]),
        ("½ Ⅷ 東京 é", ["½", " ", "Ⅷ", " 東京", " é"]),
        ("a\x1c b\u3000 c", ["a", "\x1c", " b", "\u3000", " c"]),
        ("", []),
    ],
)
def test_text_is_split_like_gpt2_after_single_digits(text, pieces):
    assert list(split_text(text)) == pieces


def test_control_tokens_are_matched_literally():
    tokens = [TOKENS.index("a"), TOKENS.index("<|end|>"), TOKENS.index("b")]
    assert TOKENIZER.encode("a<|end|>b") == tokens
    assert TOKENIZER.decode(tokens) == "a<|end|>b"


def test_incomplete_utf8_is_decoded_to_replacement_character():
    first_byte = TOKENIZER.encode("é")[0]
    assert TOKENIZER.decode([first_byte]) == "\ufffd"


def test_surrogates_are_refused():
    with pytest.raises(ValueError, match="expected Unicode text"):
        TOKENIZER.encode("\udcff")


def test_byte_without_token_is_refused():
    with pytest.raises(ValueError, match="its byte 0x62 is not a token"):
        Tokenizer(["a"], [], [1]).encode("ab")
