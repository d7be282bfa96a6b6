"""Today's models: what their mistakes change."""

from attention_docs import examples
from attention_docs.render.text import as_text

BIASES = examples.steps("position_biases")


def test_softcap_after_mask_leaks_hidden_positions():
    late = BIASES["weights_capped_late"]
    for i in range(4):
        assert as_text(late[i]) != as_text(BIASES["weights_capped"][i])
        assert (late[i, i + 1 :] > 0).all()


CACHE = examples.steps("kv_cache")


def test_new_token_at_position_0_changes_every_number():
    wrong, right = CACHE["from_position_0"][0], CACHE["last_output"][0]
    assert all(as_text(a) != as_text(b) for a, b in zip(wrong, right, strict=True))


GROUPED = examples.steps("grouped_queries")


def test_wrong_groups_change_the_middle_heads():
    wrong, right = GROUPED["wrong"], GROUPED["output"]
    assert [as_text(a) == as_text(b) for a, b in zip(wrong, right, strict=True)] == [True, False, False, True]  # fmt: skip


LATENT = examples.steps("latent_attention")


def test_default_scale_changes_every_absorbed_number():
    for wrong, right in zip(LATENT["default_scale"][0], LATENT["output"][0], strict=True):
        assert as_text(wrong) != as_text(right)


def test_absorbed_query_cannot_include_rotation():
    wrong, right = LATENT["turned_absorbed"][0], LATENT["turned_scores"][0]
    assert [as_text(a) == as_text(b) for a, b in zip(wrong, right, strict=True)] == [True] + [
        False
    ] * 4


TILES = examples.steps("tiles")


def test_missing_rescale_changes_every_number():
    for wrong, right in zip(TILES["not_rescaled"], TILES["output"][0], strict=True):
        assert as_text(wrong) != as_text(right)
