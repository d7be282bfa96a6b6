"""The examples of today's models: what their mistakes change."""

from attention_docs import examples
from attention_docs.render.text import as_text

BIASES = examples.steps("position_biases")


def test_a_softcap_before_the_mask_hides_and_one_after_it_does_not():
    late = BIASES["weights_capped_late"]
    for i in range(4):
        assert as_text(late[i]) != as_text(BIASES["weights_capped"][i])
        assert (late[i, i + 1 :] > 0).all()


CACHE = examples.steps("kv_cache")


def test_new_tokens_at_position_0_change_every_digit():
    wrong, right = CACHE["from_position_0"][0], CACHE["last_output"][0]
    assert all(as_text(a) != as_text(b) for a, b in zip(wrong, right, strict=True))


GROUPED = examples.steps("grouped_queries")


def test_the_wrong_groups_change_the_heads_in_the_middle():
    wrong, right = GROUPED["wrong"], GROUPED["output"]
    assert [as_text(a) == as_text(b) for a, b in zip(wrong, right, strict=True)] == [True, False, False, True]  # fmt: skip


LATENT = examples.steps("latent_attention")


def test_the_default_scale_changes_every_digit_of_the_absorbed_form():
    for wrong, right in zip(LATENT["default_scale"][0], LATENT["output"][0], strict=True):
        assert as_text(wrong) != as_text(right)


def test_no_single_absorbed_query_gives_the_scores_of_turned_keys():
    wrong, right = LATENT["turned_absorbed"][0], LATENT["turned_scores"][0]
    assert [as_text(a) == as_text(b) for a, b in zip(wrong, right, strict=True)] == [True] + [False] * 4


TILES = examples.steps("tiles")


def test_sums_that_are_not_rescaled_change_every_digit():
    for wrong, right in zip(TILES["not_rescaled"], TILES["output"][0], strict=True):
        assert as_text(wrong) != as_text(right)
