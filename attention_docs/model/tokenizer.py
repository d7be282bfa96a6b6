"""Byte-level byte-pair encoding (BPE) with the pre-tokenizer that GGUF files call `smollm`."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

# GGUF's types of special tokens, which are matched literally in a text.
CONTROL, USER_DEFINED = 3, 4
# Python's \s has four control characters that Unicode does not count as white space.
SPACE, OTHER = r"[^\S\x1c-\x1f]", r"[\S\x1c-\x1f]"
# GPT-2's pattern: contractions such as 's, words, other characters, white space. White space before
# a word leaves its last space to the word. [^\W_] matches Unicode letters and numbers.
WORD = re.compile(
    rf"'(?:[sdmt]|ll|ve|re)| ?[^\W_]+| ?(?:(?!{SPACE})[\W_])+|{SPACE}+(?!{OTHER})|{SPACE}+"
)


def split_text(text: str) -> Iterator[str]:
    """Split a text into the pieces that no token crosses: single digits, and GPT-2's words."""
    start = 0
    for end, character in enumerate(text):
        if unicodedata.category(character).startswith("N"):
            yield from WORD.findall(text, start, end)
            yield character
            start = end + 1
    yield from WORD.findall(text, start)


@cache
def byte_characters() -> tuple[str, ...]:
    """Return the printable character that stands for each of the 256 bytes, as in GPT-2.

    >>> byte_characters()[ord(" ")], byte_characters()[ord("a")]
    ('Ġ', 'a')
    """
    # Latin-1 without white space, control characters and the soft hyphen.
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    substitutes = iter(range(256, 512))
    return tuple(chr(byte if byte in printable else next(substitutes)) for byte in range(256))


class Tokenizer:
    """Converts text to token ids and back.

    Args:
        tokens: the tokens in the order of their ids, each byte written as a character.
        merges: pairs of tokens to join, separated by a space, the most frequent first.
        kinds: GGUF's type number of each token.
    """

    def __init__(self, tokens: Sequence[str], merges: Sequence[str], kinds: Sequence[int]) -> None:
        self.tokens = tokens
        self.ids = {token: token_id for token_id, token in enumerate(tokens)}
        self.ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        self.special_tokens = {
            token
            for token, kind in zip(tokens, kinds, strict=True)
            if kind in (CONTROL, USER_DEFINED)
        }
        # The longest token comes first, because the first alternative that fits is taken.
        longest_first = sorted(self.special_tokens, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, longest_first)) or "(?!)"  # which never matches
        self.special_pattern = re.compile(f"({alternatives})")

    @classmethod
    def from_gguf(cls, settings: Mapping[str, Any]) -> "Tokenizer":
        if (rule := settings["tokenizer.ggml.pre"]) != "smollm":
            raise ValueError(f"its tokenizer has the rule {rule!r}; expected 'smollm'")
        names = ("tokens", "merges", "token_type")
        return cls(*(settings[f"tokenizer.ggml.{name}"] for name in names))

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for part in self.special_pattern.split(text):
            if part in self.special_tokens:
                ids.append(self.ids[part])
            else:
                for piece in split_text(part):
                    ids += self._encode_piece(piece)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Convert token ids to text; incomplete UTF-8 becomes U+FFFD."""
        content = b"".join(
            token.encode()
            if token in self.special_tokens
            else bytes(map(byte_characters().index, token))
            for token in map(self.tokens.__getitem__, ids)
        )
        return content.decode("utf-8", errors="replace")

    def _encode_piece(self, piece: str) -> list[int]:
        """Return the token ids of a piece: its bytes, with pairs merged in the order of rank.

        The adjacent pair with the lowest rank is joined wherever it occurs, until no adjacent pair
        has a rank.
        """
        try:
            parts = [byte_characters()[byte] for byte in piece.encode()]
        except UnicodeEncodeError:
            raise ValueError(f"the text holds {piece!r}; expected Unicode text") from None
        while pairs := [pair for pair in pairwise(parts) if pair in self.ranks]:
            first, second = min(pairs, key=self.ranks.__getitem__)
            merged_parts: list[str] = []
            for part in parts:
                if part == second and merged_parts and merged_parts[-1] == first:
                    merged_parts[-1] = first + second
                else:
                    merged_parts.append(part)
            parts = merged_parts
        if unknown := [part for part in parts if part not in self.ids]:
            byte = byte_characters().index(unknown[0])
            raise ValueError(f"the text holds {piece!r}; its byte {byte:#x} is not a token")
        return [self.ids[part] for part in parts]
