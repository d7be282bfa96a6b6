"""Position biases, caches, grouped queries, latents and tiles: the effect of their mistakes."""

from attention_docs import examples
from attention_docs.render.text import as_text


def equal_on_page(wrong, correct):
    """Return for each number whether its displayed digits are those of the correct one."""
    return [as_text(a) == as_text(b) for a, b in zip(wrong, correct, strict=True)]


BIASES = examples.steps("position_biases")


def test_softcap_after_mask_leaks_hidden_positions():
    late = BIASES["weights_capped_late"]
    for i in range(4):
        assert as_text(late[i]) != as_text(BIASES["weights_capped"][i])
        assert (late[i, i + 1 :] > 0).all()


CACHE = examples.steps("kv_cache")


def test_new_token_at_position_0_changes_every_number():
    assert not any(equal_on_page(CACHE["from_position_0"][0], CACHE["last_output"][0]))


GROUPED = examples.steps("grouped_queries")


def test_wrong_groups_change_only_the_middle_heads():
    assert equal_on_page(GROUPED["wrong"], GROUPED["output"]) == [True, False, False, True]


LATENT = examples.steps("latent_attention")


def test_default_scale_changes_every_absorbed_output():
    assert not any(equal_on_page(LATENT["default_scale"][0], LATENT["output"][0]))


def test_absorbed_query_cannot_include_rotation():
    at_position_0, *at_later_positions = equal_on_page(
        LATENT["turned_absorbed"][0], LATENT["turned_scores"][0]
    )
    assert at_position_0, "position 0 is not rotated"
    assert not any(at_later_positions)


TILES = examples.steps("tiles")


def test_missing_rescale_changes_every_number():
    assert not any(equal_on_page(TILES["not_rescaled"], TILES["output"][0]))
