"""The course: its sizes, its mistakes, and what its pages say about the sentence."""

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.examples.course_next_token import FLY, FLY_WITH_POSITION, PARTS, SAIL
from attention_docs.examples.course_sentence import FEATURES, SWAPPED, VOCABULARY, WORDS
from attention_docs.render.text import as_text

MATRICES = examples.load("course_sentence").given_matrices(np)
SIZES = examples.steps("course_sentence")["sizes"].tolist()
# The two sizes without a name are h d_k and h d_v.
N, D_MODEL, D_K, D_V, H, _, _, D_FF, VOCABULARY_SIZE = SIZES
BIRDS, PASS, BOATS, BECAUSE, THEY = range(N)
FIRST_NOUN = 0
EXAMPLES_OF_COURSE = [name for name in examples.names() if name.startswith("course_")]
FORMULA = examples.steps("course_formula")
ORDER = examples.steps("course_order")
HEADS = examples.steps("course_heads")
BLOCK = examples.steps("course_block")
NEXT = examples.steps("course_next_token")
ABLATIONS = ["nothing", *PARTS]
# log(fly / sail) after each sentence, by what is left out of the model.
LOG_ODDS = dict(zip(ABLATIONS, NEXT["log_odds"].T, strict=True))


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-13)


def test_nine_sizes_are_one_to_nine():
    assert sorted(SIZES) == list(range(1, 10))


def test_matrices_have_the_sizes():
    shapes = {
        "X": (N, D_MODEL),
        "E": (N, D_MODEL),
        "W_V": (D_MODEL, D_V),
        "W_1": (D_MODEL, D_FF),
        "b_1": (D_FF,),
        "W_2": (D_FF, D_MODEL),
        "W_vocabulary": (D_MODEL, VOCABULARY_SIZE),
    }
    for i in range(1, H + 1):
        shapes |= dict.fromkeys((f"W_Q_{i}", f"W_K_{i}"), (D_MODEL, D_K))
        shapes[f"W_O_{i}"] = (D_V, D_MODEL)
    assert {name: matrix.shape for name, matrix in MATRICES.items()} == shapes


@pytest.mark.parametrize("name", EXAMPLES_OF_COURSE)
def test_every_matrix_of_the_course_has_words_at_rows_and_columns(name):
    for step, array in examples.steps(name).items():
        labels = examples.labels(name, step)
        if array.ndim == 2 or labels:
            assert tuple(map(len, labels)) == array.shape, f"{name}.{step}"


@pytest.mark.parametrize("name", EXAMPLES_OF_COURSE)
def test_matrices_of_course_fit_on_its_pages(name):
    shown_in_halves_or_as_figures = ("W_O", "W_vocabulary", "gradient")
    for step, array in examples.steps(name).items():
        assert array.size <= 45 or step in shown_in_halves_or_as_figures, step


def test_clock_hand_turns_by_the_same_angle_at_each_position():
    *_, right, up = np.vstack([MATRICES["E"], FLY_WITH_POSITION]).T
    hands = right + 1j * up
    clockwise_by_angle_of_triangle_3_4_5 = (3 - 4j) / 5
    assert_close(hands[1:] / hands[:-1], clockwise_by_angle_of_triangle_3_4_5)


def mirrored(names):
    """Return the indices of the names with air and water, and the words for them, exchanged."""
    partners = {"air": "water", "birds": "boats", "fly": "sail"}
    partners |= {partner: name for name, partner in partners.items()}
    return [names.index(partners.get(name, name)) for name in names]


def test_mirrored_sentence_has_the_nouns_exchanged():
    assert_close(MATRICES["X"][:, mirrored(FEATURES)], MATRICES["X"][mirrored(WORDS)])


@pytest.mark.parametrize("name", ["W_Q_1", "W_K_1", "W_Q_2", "W_K_2", "W_1"])
def test_queries_keys_and_rule_treat_air_and_water_alike(name):
    assert_close(MATRICES[name][mirrored(FEATURES)], MATRICES[name])


def test_mirrored_features_predict_mirrored_words():
    w = MATRICES["W_vocabulary"]
    assert_close(w[mirrored(FEATURES)], w[:, mirrored(VOCABULARY)])


def test_exchanged_nouns_exchange_the_probabilities_of_their_words():
    probabilities = NEXT["probabilities"][:, mirrored(VOCABULARY)]
    assert_close(NEXT["probabilities_swapped"], probabilities)


def test_pronoun_cannot_tell_the_nouns_apart_without_positions():
    weights = FORMULA["weights"][THEY]
    assert weights[BIRDS] == weights[BOATS] > 0.4


def test_scaling_increases_the_slope_of_the_largest_weight():
    steps = examples.steps("course_scale")
    assert steps["scores"].argmax() == PASS, "the slopes are those of pass"
    slope_without_scaling, *_ = steps["slope_by_d"]
    assert steps["slope"] > 5 * slope_without_scaling


def test_one_softmax_for_both_heads_finds_the_wrong_noun():
    weights = HEADS["one_head_weights"][THEY]
    assert weights.argmax() == BOATS
    assert weights[BIRDS] < 0.02


def test_hidden_feature_is_active_for_the_pronoun_alone():
    assert np.flatnonzero(BLOCK["hidden"] > 0).tolist() == [THEY]


def test_next_word_but_one_is_the_full_stop():
    assert VOCABULARY[NEXT["next_but_one"]] == "."


def test_sentence_of_course_test_continues_with_sail():
    assert examples.steps("course_test")["next_token"] == SAIL


def test_sentence_of_course_test_differs_in_its_nouns_only():
    example = examples.load("course_test")
    for i in (PASS, BECAUSE, THEY):
        assert example.WORDS[i] == WORDS[i]
        assert example.X[i] == MATRICES["X"][i].tolist()


def test_words_are_drawn_with_their_probabilities():
    draws = 10_000
    evenly_spaced = (np.arange(draws) + 0.5) / draws
    probabilities = examples.steps("course_writing")["probabilities"][:, 0]
    draw = examples.load("course_writing").draw
    shares = np.mean([draw(np, probabilities, number) for number in evenly_spaced], axis=0)
    np.testing.assert_allclose(shares, probabilities, atol=1 / draws)


def test_both_endings_are_equally_likely_until_positions_are_added():
    # Each row adds to the model what the next page of the course explains.
    unscaled, scaled, with_positions, with_mask = examples.steps("course_model")["next_words"]
    for probabilities in (unscaled, scaled):
        assert_close(probabilities[FLY], probabilities[SAIL])
    for probabilities in (with_positions, with_mask):
        assert probabilities.argmax() == FLY
    assert_close(with_mask, NEXT["probabilities"][THEY])


def test_head_1_decides_between_fly_and_sail():
    fly_first, sail_first = LOG_ODDS["nothing"]
    assert fly_first == -sail_first > 2
    assert LOG_ODDS["head 1"].tolist() == [0, 0]


def test_only_scale_or_one_norm_can_be_ablated_without_errors():
    right = dict(zip(ABLATIONS, NEXT["right"], strict=True))
    rows_of_both_sentences = 2 * N
    without_errors = {part for part in PARTS if right[part] == rows_of_both_sentences}
    assert without_errors == {"scale", "first norm", "second norm"}


def test_ablations_treat_both_sentences_alike():
    assert_close(NEXT["fly"], NEXT["sail"][::-1])


LEARNED_EXAMPLE = examples.load("course_learned")
TRAINED_ON = LEARNED_EXAMPLE.sentences(held_out=False)
HELD_OUT = LEARNED_EXAMPLE.sentences(held_out=True)


def test_sentences_to_learn_are_distinct():
    ordered_pairs_of_nouns, verbs = 6 * 5, 4
    distinct = {tuple(sentence) for sentence in TRAINED_ON + HELD_OUT}
    assert len(distinct) == ordered_pairs_of_nouns * verbs


def test_held_out_pairs_of_nouns_are_not_trained_on():
    trained, held_out = (
        {frozenset([noun, other_noun]) for noun, _, other_noun, *_ in sentences}
        for sentences in (TRAINED_ON, HELD_OUT)
    )
    assert trained.isdisjoint(held_out)


def test_sentences_of_the_course_are_held_out():
    assert [*WORDS, "fly"] in HELD_OUT
    assert [*SWAPPED, "sail"] in HELD_OUT


def test_every_noun_is_trained_in_both_places():
    first_nouns, _, second_nouns, *_ = map(set, zip(*TRAINED_ON, strict=True))
    assert first_nouns == second_nouns == set(LEARNED_EXAMPLE.NOUNS)


@pytest.fixture(scope="module")
def learned():
    """Return the steps of the learned model, whose training takes seconds."""
    return examples.steps("course_learned")


def test_learned_model_completes_every_held_out_sentence(learned):
    assert learned["accuracy"][-1] == 100


def test_nine_of_ten_seeds_learn_every_held_out_sentence(learned):
    assert sorted(learned["accuracy_by_seed"]) == [90] + 9 * [100]


def test_uniform_weights_cannot_learn_the_held_out_sentences(learned):
    assert learned["accuracy_uniform"].max() < 60


def test_learned_model_has_the_sizes_of_the_course():
    model = LEARNED_EXAMPLE.MODEL
    assert (model.length, model.d_model, model.heads) == (N, D_MODEL, H)
    assert (model.d_k, model.d_v, model.d_ff) == (D_K, D_V, D_FF)


def test_learned_model_needs_only_head_2_for_the_sentences_of_the_course(learned):
    completed = [[LEARNED_EXAMPLE.VOCABULARY[i] for i in row] for row in learned["next_words"]]
    # For each sentence: the whole model, without head 1, without head 2.
    assert completed == [["fly", "fly", "crawl"], ["sail", "sail", "crawl"]]


@pytest.mark.parametrize("step", ["weights_2", "weights_2_swapped"])
def test_learned_head_2_finds_the_first_noun(learned, step):
    assert 0.7 < learned[step][THEY, FIRST_NOUN] < 0.95


def test_learned_head_1_prefers_the_verb_only_slightly(learned):
    weights = learned["weights_1"][THEY]
    assert weights.argmax() == PASS
    assert weights[PASS] < 0.4


def test_accuracy_of_learned_model_depends_on_head_2(learned):
    whole, without_head_1, without_head_2 = learned["accuracy_without"]
    assert (whole, without_head_1, without_head_2) == (100, 90, 20)


def test_learned_model_cannot_tell_the_sentences_apart_without_head_2(learned):
    _, _, (birds_first, boats_first) = learned["log_odds"].T
    assert abs(birds_first - boats_first) < 0.001


def test_some_seeds_need_both_heads():
    def best_accuracy_without_a_head(seed):
        trained = LEARNED_EXAMPLE.checkpoints(LEARNED_EXAMPLE.MODEL, seed)[-1]
        _, without_head_1, without_head_2 = LEARNED_EXAMPLE.with_heads_ablated(trained)
        _, accuracies = LEARNED_EXAMPLE.evaluate_held_out(
            LEARNED_EXAMPLE.MODEL, [without_head_1, without_head_2]
        )
        return max(accuracies)

    assert min(map(best_accuracy_without_a_head, LEARNED_EXAMPLE.SEEDS)) < 60


def test_small_training_step_lowers_the_loss_of_the_other_sentence():
    before, after = examples.steps("course_step")["swapped"]
    assert after < before


def test_large_training_step_raises_the_loss_of_the_other_sentence(monkeypatch):
    loss_after_small_step = examples.steps("course_step")["loss_after"]
    monkeypatch.setattr(examples.load("course_step"), "RATE", [2])
    large = examples.steps("course_step")
    assert large["loss_after"] < loss_after_small_step
    before, after = large["swapped"]
    assert after > before


X, WITH_POSITIONS = MATRICES["X"], MATRICES["X"] + MATRICES["E"]


def attend(rows, **options):
    """Return the output of head 1."""
    q, k, v = (rows @ MATRICES[name] for name in ("W_Q_1", "W_K_1", "W_V"))
    return attention_steps(q, k, v, **options).output


def normalised(rows, axis):
    """Norm rows over an axis as the block does."""
    centred = rows - rows.mean(axis=axis, keepdims=True)
    return centred / np.sqrt(rows.var(axis=axis, keepdims=True) + 1e-5)


AVERAGES = examples.steps("course_averages")
MASK = examples.steps("course_mask")
PROJECTIONS = examples.steps("course_projections")
# For each page: the correct result, and the result of a classical mistake.
MISTAKES = {
    "averages: dots divided by their sum, without the exponential": (
        AVERAGES["weights"],
        AVERAGES["dots"] / AVERAGES["dots"].sum(axis=1, keepdims=True),
    ),
    "projections: queries and keys exchanged": (
        PROJECTIONS["weights"],
        attention_steps(FORMULA["K"], FORMULA["Q"], FORMULA["V"], scale=1.0).weights,
    ),
    "projections: keys made with W_Q": (
        PROJECTIONS["output"],
        attention_steps(FORMULA["Q"], FORMULA["Q"], FORMULA["V"], scale=1.0).output,
    ),
    "scale: divided by d_k": (FORMULA["output"], attend(X, scale=1 / D_K)),
    "scale: divided by the root of d_model": (FORMULA["output"], attend(X, scale=D_MODEL**-0.5)),
    "scale: not divided": (FORMULA["output"], attend(X, scale=1.0)),
    "formula: softmax over the queries": (
        FORMULA["weights"],
        FORMULA["exponentials"] / FORMULA["exponentials"].sum(axis=0),
    ),
    "order: positions not added to the keys": (
        ORDER["output_with_positions"],
        attention_steps(WITH_POSITIONS @ MATRICES["W_Q_1"], FORMULA["K"], FORMULA["V"]).output,
    ),
    "mask: flipped": (MASK["output"], attend(WITH_POSITIONS, attn_mask=~np.tri(N, dtype=bool))),
    "mask: after the softmax": (MASK["output"], FORMULA["weights"] * np.tri(N) @ FORMULA["V"]),
    "heads: side by side in the other order": (
        HEADS["output"],
        np.hstack([HEADS["head_2"], HEADS["head_1"]]) @ HEADS["W_O"],
    ),
    "block: no norm before the rule": (
        BLOCK["before"],
        BLOCK["summed"] @ MATRICES["W_1"] + MATRICES["b_1"],
    ),
    "block: norm over the words": (BLOCK["normed"], normalised(BLOCK["summed"], axis=0)),
    "block: no residual sum": (BLOCK["normed"], normalised(BLOCK["added"], axis=1)),
    "next token: softmax over the words of the sentence": (
        NEXT["probabilities"],
        np.exp(NEXT["logits"]) / np.exp(NEXT["logits"]).sum(axis=0),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_changes_printed_digits(mistake):
    correct, wrong = MISTAKES[mistake]
    assert as_text(correct) != as_text(wrong)
