"""Scores of heads, sampling, and the sentences that end with a pronoun."""

from itertools import islice

import numpy as np
import pytest

from attention_docs.model import antecedents, heads
from attention_docs.model.gguf_file import read_gguf
from attention_docs.model.heads import Head
from attention_docs.model.record import (
    positions_of,
    record,
    unpack_percents,
    weights_file,
    with_output_of,
)
from attention_docs.model.sampling import continue_greedily, next_token_probabilities
from attention_docs.publish.before.results import load_results
from tests.model import tiny


@pytest.fixture(scope="module")
def model_and_tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    return read_gguf(tiny.write_gguf(path, tiny.tiny_weights()))


def test_scores_recognise_heads_built_for_each_kind():
    n = 8
    previous, first, repeated = (np.zeros((n, n)) for _ in range(3))
    previous[0, 0] = first[:, 0] = 1
    for i in range(1, n):
        previous[i, i - 1] = 1
    repeated[:4, 0] = 1
    for i in range(4, n):
        repeated[i, i - 3] = 1
    weights = np.stack([previous, first, repeated])
    np.testing.assert_allclose(heads.previous_token(weights), [1, 1 / 7, 1 / 7])
    np.testing.assert_allclose(heads.first_token(weights), [1 / 7, 1, 3 / 7])
    np.testing.assert_allclose(heads.induction(weights), [0, 0, 1])
    starts = [0, 1, 1, 1, 1, 5, 6, 7]  # tokens 3 and 4 are at least two positions into their word
    np.testing.assert_allclose(heads.first_of_word(weights, starts), [0, 0, 0.5])
    with pytest.raises(ValueError, match="no later word of three tokens"):
        # The first token of the first word is a sink.
        heads.first_of_word(weights, [0, 0, 0, *range(3, n)])


def test_each_noun_is_equally_often_first_second_antecedent_and_other():
    for frames in (antecedents.SELECTION_FRAMES, antecedents.HELD_OUT_FRAMES):
        sentences = list(antecedents.sentences(frames))
        assert len(sentences) == len({each.text for each in sentences}) == 20
        assert sum(each.is_first for each in sentences) == 10
        for one, two, *_ in frames:
            for noun in (one, two):
                of_noun = [s for s in sentences if f"{noun}s" == s.antecedent]
                assert sorted(s.is_first for s in of_noun) == [False, True]
        for each in sentences:
            order = [each.text.index(f" {noun} ") for noun in (each.antecedent, each.other)]
            assert (order[0] < order[1]) == each.is_first


def test_held_out_frames_share_no_word_with_selection_frames():
    selection, held_out = (
        {word for frame in frames for word in frame}
        for frames in (antecedents.SELECTION_FRAMES, antecedents.HELD_OUT_FRAMES)
    )
    assert not selection & held_out


def test_positions_of_noun_decode_to_it(model_and_tokenizer):
    _, tokenizer = model_and_tokenizer
    tokens = tokenizer.encode("The cats saw dogs")
    positions = positions_of(tokenizer, tokens, "cats")
    assert tokenizer.decode([tokens[position] for position in positions]) == " cats"
    with pytest.raises(ValueError, match="no tokens of 'birds'"):
        positions_of(tokenizer, tokens, "birds")


def test_greedy_continuation_with_cache_equals_argmax_without_cache(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    text = tokenizer.encode("The cat")
    continued = list(islice(continue_greedily(model, text), 6))
    for token in continued:
        assert token == np.argmax(model.logits(text)[-1])
        text = [*text, token]


def test_zeroed_head_equals_zeroed_output_projection(model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    tokens = tokenizer.encode("The cat")
    layer = model.layers[1]
    projected_to_zero = layer._replace(
        W_O=layer.W_O * (np.arange(tiny.D) // tiny.D_K != 2)[:, None]
    )
    without = model._replace(layers=[model.layers[0], projected_to_zero, model.layers[2]])
    np.testing.assert_allclose(
        model.logits(tokens, replace_heads=with_output_of(Head(1, 2), 0.0)),
        without.logits(tokens),
        atol=1e-5,
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.5, 0.125, 0.25, 0.125]),
        ({"temperature": 0.5}, np.array([16, 1, 4, 1]) / 22),
        ({"top_k": 2}, [2 / 3, 0, 1 / 3, 0]),
        ({"top_p": 0.75}, [2 / 3, 0, 1 / 3, 0]),
        ({"top_p": 0.4}, [1, 0, 0, 0]),
        ({"top_k": 9, "top_p": 1}, [0.5, 0.125, 0.25, 0.125]),
    ],
)
def test_sampling_renormalises_the_kept_tokens(options, expected):
    logits = np.log2(np.array([4.0, 1.0, 2.0, 1.0])) * np.log(2)
    np.testing.assert_allclose(next_token_probabilities(logits, **options), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0}, "temperature is 0; expected a positive number"),
        ({"temperature": np.nan}, "temperature is nan"),
        ({"top_k": 0}, "top_k is 0; expected 1 or more"),
        ({"top_p": 0}, "top_p is 0; expected a number above 0"),
        ({"top_p": 1.5}, "top_p is 1.5"),
    ],
)
def test_invalid_sampling_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        next_token_probabilities(np.zeros(3), **options)


@pytest.mark.thorough
def test_real_model_measurements_equal_the_record():
    try:
        path = weights_file()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert_close(record(*read_gguf(path)), load_results("real_model"), "record")


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
        rows = zip(unpack_percents(measured), unpack_percents(expected), strict=True)
        for row, recorded in rows:
            assert row == pytest.approx(recorded, abs=1), where
    elif isinstance(measured, float | int) and not isinstance(measured, bool):
        assert measured == pytest.approx(expected, rel=1e-3, abs=0.011), where
    else:
        assert measured == expected, where
