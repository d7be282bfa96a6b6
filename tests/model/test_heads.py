"""Scores of heads, sampling, and the sentences that end with a pronoun."""

from itertools import islice

import numpy as np
import pytest

from attention_docs.lookup import load_results
from attention_docs.model import antecedents, heads, record
from attention_docs.model.gguf_file import read_gguf
from attention_docs.model.heads import Head
from attention_docs.model.sampling import continue_greedily, next_token_probabilities
from tests.model import tiny

# The key that gets all the weight of each query, in three heads.
KEYS = [
    [0, 0, 1, 2, 3, 4, 5, 6],  # the previous token
    [0, 0, 0, 0, 0, 0, 0, 0],  # the first token
    [0, 0, 0, 0, 1, 2, 3, 4],  # the token after an earlier copy: tokens 4 to 7 repeat 0 to 3
]
WEIGHTS = np.eye(8)[KEYS]


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (heads.previous_token_score, [1, 1 / 7, 1 / 7]),
        (heads.first_token_score, [1 / 7, 1, 3 / 7]),
        (heads.induction_score, [0, 0, 1]),
    ],
)
def test_score_is_highest_for_its_kind_of_head(score, expected):
    np.testing.assert_allclose(score(WEIGHTS), expected)


def test_first_of_word_scores_tokens_two_or_more_after_the_first():
    starts = [0, 1, 1, 1, 1, 5, 6, 7]  # only tokens 3 and 4 count
    np.testing.assert_allclose(heads.first_of_word_score(WEIGHTS, starts), [0, 0, 1 / 2])


@pytest.mark.parametrize(
    "frames",
    [antecedents.SELECTION_FRAMES, antecedents.HELD_OUT_FRAMES],
    ids=["selection", "held out"],
)
def test_each_noun_is_the_antecedent_once_first_and_once_second(frames):
    sentences = antecedents.sentences(frames)
    nouns = [noun for first, second, *_ in frames for noun in (first, second)]
    assert sorted((sentence.antecedent, sentence.is_first) for sentence in sentences) == sorted(
        (f"{noun}s", is_first) for noun in nouns for is_first in (True, False)
    )


def test_held_out_frames_share_no_word_with_selection_frames():
    selection, held_out = (
        {word for frame in frames for word in frame}
        for frames in (antecedents.SELECTION_FRAMES, antecedents.HELD_OUT_FRAMES)
    )
    assert not selection & held_out


def test_positions_of_noun_decode_to_it(tokenizer):
    tokens = tokenizer.encode("The cats saw dogs")
    positions = record.noun_positions(tokenizer, tokens, "cats")
    assert tokenizer.decode([tokens[position] for position in positions]) == " cats"


def test_positions_of_missing_noun_raise(tokenizer):
    with pytest.raises(ValueError, match="no tokens of 'birds'"):
        record.noun_positions(tokenizer, tokenizer.encode("The cats saw dogs"), "birds")


def test_greedy_continuation_with_cache_equals_argmax_without_cache(model, tokenizer):
    text = tokenizer.encode("The cat")
    for token in islice(continue_greedily(model, text), 6):
        assert token == np.argmax(model.logits(text)[-1])
        text = [*text, token]


def test_zeroed_head_equals_zeroed_output_projection(model, tokenizer):
    tokens = tokenizer.encode("The cat")
    zeroed = Head(layer=1, head=2)
    layers = list(model.layers)
    W_O = layers[zeroed.layer].W_O.copy()
    W_O[zeroed.head * tiny.D_K : (zeroed.head + 1) * tiny.D_K] = 0
    layers[zeroed.layer] = layers[zeroed.layer]._replace(W_O=W_O)
    expected = model._replace(layers=layers).logits(tokens)
    logits = model.logits(tokens, replace_heads=record.output_replacement(zeroed, 0.0))
    np.testing.assert_allclose(logits, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.5, 0.125, 0.25, 0.125]),
        ({"temperature": 0.5}, [16 / 22, 1 / 22, 4 / 22, 1 / 22]),
        ({"top_k": 2}, [2 / 3, 0, 1 / 3, 0]),
        ({"top_p": 0.75}, [2 / 3, 0, 1 / 3, 0]),
        ({"top_p": 0.4}, [1, 0, 0, 0]),
        ({"top_k": 9, "top_p": 1}, [0.5, 0.125, 0.25, 0.125]),
    ],
)
def test_sampling_renormalises_the_kept_tokens(options, expected):
    logits = np.log([4, 1, 2, 1])
    np.testing.assert_allclose(next_token_probabilities(logits, **options), expected, atol=1e-12)


@pytest.mark.thorough
def test_real_model_measurements_equal_the_record():
    try:
        path = record.weights_file()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert_close(record.record(*read_gguf(path)), load_results("real_model"), "record")


def assert_close(measured, expected, where):
    """Compare nested results; numbers may differ by rounding."""
    if isinstance(measured, dict):
        for key, value in measured.items():
            assert_close(value, expected[key], f"{where}.{key}")
    elif isinstance(measured, list):
        assert len(measured) == len(expected), where
        for index, pair in enumerate(zip(measured, expected, strict=True)):
            assert_close(*pair, f"{where}.{index}")
    elif ".percent." in where:
        rows = zip(record.unpack_percents(measured), record.unpack_percents(expected), strict=True)
        for row, recorded in rows:
            assert row == pytest.approx(recorded, abs=1), where
    elif isinstance(measured, float | int) and not isinstance(measured, bool):
        assert measured == pytest.approx(expected, rel=1e-3, abs=0.011), where
    else:
        assert measured == expected, where
