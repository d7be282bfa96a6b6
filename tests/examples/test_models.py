"""The examples of today's models, each computed once more in another way."""

import math

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.render.text import text
from tests import reference

ROTARY = examples.steps("rotary")


def test_rotary_scores_are_real_parts_of_complex_products():
    q, k = (ROTARY[name].reshape(3, 2) @ np.array([1, 1j]) for name in "qk")
    distance = np.arange(4)[:, None] - np.arange(5)
    waves = np.exp(1j * distance[..., None] * 64 ** (-np.arange(3) / 3))
    expected = (q * k.conj() * waves).real.sum(axis=-1)
    np.testing.assert_allclose(ROTARY["scores"], expected, rtol=1e-12)


def test_rotary_scores_of_halves_are_those_of_other_pairs():
    q, k = (np.array([1, 1j]) @ ROTARY[name].reshape(2, 3) for name in "qk")
    distance = np.arange(4)[:, None] - np.arange(5)
    waves = np.exp(1j * distance[..., None] * 64 ** (-np.arange(3) / 3))
    expected = (q * k.conj() * waves).real.sum(axis=-1)
    np.testing.assert_allclose(ROTARY["scores_of_halves"], expected, rtol=1e-12)


def test_both_ways_to_go_further_bring_the_slowest_pair_back():
    np.testing.assert_allclose(ROTARY["interpolated_angles"], ROTARY["last_angles"], rtol=1e-15)
    plain, ntk = ROTARY["longer_angles"], ROTARY["ntk_angles"]
    np.testing.assert_allclose(ntk / plain, [1, 1 / 2, 1 / 4], rtol=1e-12)


BIASES = examples.steps("position_biases")


def seen(i, j):
    return j <= i


def slow_weights(score):
    """Weigh all pairs that a causal mask allows, from a score for each pair of positions."""
    scaled = [[reference.dot(q, k) / math.sqrt(3) for k in BIASES["K"]] for q in BIASES["Q"]]
    return [
        reference.softmax_row(
            [score(z, i, j) if seen(i, j) else -math.inf for j, z in enumerate(row)]
        )
        for i, row in enumerate(scaled)
    ]


def test_alibi_is_the_formula_of_its_paper():
    ratio = 2 ** (-8 / 4)  # the slopes are a geometric sequence that starts at this ratio
    np.testing.assert_allclose(BIASES["slopes"], [ratio**head for head in (1, 2, 3, 4)])
    slow = slow_weights(lambda z, i, j: z + ratio * -(i - j))
    np.testing.assert_allclose(BIASES["weights_alibi"], slow, rtol=1e-12)
    np.testing.assert_allclose(BIASES["output_alibi"], slow @ BIASES["V"], rtol=1e-12)
    np.testing.assert_allclose(BIASES["weights"], slow_weights(lambda z, i, j: z), rtol=1e-12)


def test_buckets_are_those_of_the_formula_of_t5():
    def bucket(distance):
        if distance < 4:
            return distance
        return min(4 + math.floor(math.log(distance / 4) / math.log(32 / 4) * 4), 7)

    assert BIASES["buckets"].tolist() == [bucket(d) for d in BIASES["distances"].tolist()]


def test_reach_is_that_of_a_walk_through_the_layers():
    reached = {9}
    for count in BIASES["reach"]:
        reached = {i - step for i in reached for step in (0, 1, 2)}
        assert len(reached) == count


def test_a_sink_is_a_term_of_the_denominator():
    for i, row in enumerate(BIASES["masked"]):
        powers = [math.exp(z) for z in row]
        slow = [power / (math.exp(3) + math.fsum(powers)) for power in powers]
        np.testing.assert_allclose(BIASES["weights_sink"][i], slow, rtol=1e-12)
    expected = BIASES["weights_sink"] @ BIASES["V"]
    np.testing.assert_allclose(BIASES["output_sink"], expected, rtol=1e-12)


def test_a_softcap_before_the_mask_hides_and_one_after_it_does_not():
    slow = slow_weights(lambda z, i, j: 2 * math.tanh(z / 2))
    np.testing.assert_allclose(BIASES["weights_capped"], slow, rtol=1e-12)
    late = BIASES["weights_capped_late"]
    for i in range(4):
        assert text(late[i]) != text(BIASES["weights_capped"][i])
        assert (late[i, i + 1 :] > 0).all()
    ones = [math.exp(-2) / (4 * math.exp(-2) + math.exp(2 * math.tanh(BIASES["masked"][0, 0] / 2)))]
    np.testing.assert_allclose(late[0, 1:], 4 * ones, rtol=1e-12)


CACHE = examples.steps("kv_cache")


def test_every_decoding_step_is_a_row_of_one_pass():
    def turned(matrix):
        z = (matrix[:, :2] + 1j * matrix[:, 2:]) * np.exp(
            1j * np.outer(np.arange(5), [1, 100**-0.5])
        )
        return np.hstack([z.real, z.imag])

    q, k = (turned(CACHE["X"] @ CACHE[name]) for name in ("W_Q", "W_K"))
    weights, output = reference.attention(q, k, CACHE["V"], allowed=seen)
    np.testing.assert_allclose(CACHE["weights"], weights, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(CACHE["output"], output, rtol=1e-12)
    steps = np.vstack([CACHE["prompt_output"], CACHE["decoded"]])
    np.testing.assert_allclose(steps, output, rtol=1e-12)


def test_the_multiplications_of_a_step_are_those_of_loops():
    def loops(projected, pairs):
        inner = [1 for _ in range(projected) for _ in range(6) for _ in range(4 + 4 + 3)]
        return len(inner) + sum(4 + 3 for _ in range(pairs))

    for step, n in enumerate((3, 4, 5)):
        assert CACHE["recomputed"][step] == loops(n, n * n)
        assert CACHE["cached"][step] == loops(1, n)
        visible = loops(n, n * (n + 1) // 2)
        assert CACHE["saved_of_visible"][step] == pytest.approx(visible / loops(1, n))


def test_new_tokens_at_position_0_equal_a_slow_loop_and_change_every_digit():
    q = [reference.dot(CACHE["X"][-1], column) for column in CACHE["W_Q"].T]
    new = reference.matmul(CACHE["X"][2:], CACHE["W_K"])
    _, output = reference.attention([q], [*CACHE["K"][:2], *new], CACHE["V"])
    np.testing.assert_allclose(CACHE["from_position_0"], output, rtol=1e-12)
    wrong, right = CACHE["from_position_0"][0], CACHE["last_output"][0]
    assert all(text(a) != text(b) for a, b in zip(wrong, right, strict=True))


def test_a_cache_along_a_new_axis_gives_each_query_one_value():
    np.testing.assert_array_equal(CACHE["on_another_axis"], CACHE["V"][-1:])


GROUPED = examples.steps("grouped_queries")


def test_grouped_queries_are_heads_of_their_own_keys():
    for head, (keys, values) in enumerate([("K_1", 0), ("K_1", 0), ("K_2", 1), ("K_2", 1)]):
        weights, output = reference.attention(
            GROUPED["Q"][head : head + 1], GROUPED[keys], GROUPED["V"][:, values : values + 1]
        )
        np.testing.assert_allclose(GROUPED["weights"][head], weights[0], rtol=1e-12)
        assert GROUPED["output"][head] == pytest.approx(output[0][0], rel=1e-12)
    wrong, right = GROUPED["wrong"], GROUPED["output"]
    assert [text(a) == text(b) for a, b in zip(wrong, right, strict=True)] == [True, False, False, True]  # fmt: skip


def test_pytorch_groups_as_the_page_says(torch):
    heads = GROUPED["Q"][None, :, None]
    keys = np.stack([GROUPED["K_1"], GROUPED["K_2"]])[None]
    values = GROUPED["V"].T[None, ..., None].copy()
    tensors = (torch.from_numpy(array) for array in (heads, keys, values))
    attend = torch.nn.functional.scaled_dot_product_attention
    output = attend(*tensors, enable_gqa=True)
    np.testing.assert_allclose(GROUPED["output"], output[0, :, 0, 0], rtol=1e-12)


def test_the_bytes_of_a_token_are_those_of_the_arrays_it_brings():
    sizes = examples.steps("cache_sizes")
    layer = [
        [(32, 128), (32, 128)],
        [(8, 128), (8, 128)],
        [(1, 64), (1, 64)],
        [(512,), (64,)],
        [(16, 192), (16, 128)],
    ]
    for model, arrays in enumerate(layer):
        held = sum(np.zeros(shape, "float16").nbytes for shape in arrays)
        assert sizes["bytes"][model] == held * sizes["layers"][model]
    np.testing.assert_allclose(sizes["mebibytes"], 4096 * sizes["bytes"] / 1024**2)
    assert sizes["heads_over_latent"] == pytest.approx(16 * (128 + 64 + 128) / (512 + 64))
    once = sizes["heads_and_one_rotary_key_over_latent"]
    assert once == pytest.approx((16 * (128 + 128) + 64) / (512 + 64))


LATENT = examples.steps("latent_attention")


def test_the_plain_form_of_latent_attention_equals_a_slow_loop():
    latents = reference.matmul(LATENT["X"], LATENT["W_down"])
    keys, values = (reference.matmul(latents, LATENT[name]) for name in ("W_up_K", "W_up_V"))
    query = [*LATENT["query"][0], *LATENT["query_rotary"][0]]
    keys = [
        [*key, *rotary_key] for key, rotary_key in zip(keys, LATENT["keys_rotary"], strict=True)
    ]
    weights, output = reference.attention([query], keys, values)
    np.testing.assert_allclose(LATENT["weights"], weights, rtol=1e-12)
    np.testing.assert_allclose(LATENT["output"], output, rtol=1e-12)


def test_the_absorbed_form_equals_the_plain_one_but_not_with_its_own_scale():
    np.testing.assert_allclose(LATENT["scaled_absorbed"], LATENT["scaled"], rtol=1e-12)
    np.testing.assert_allclose(LATENT["output_absorbed"], LATENT["output"], rtol=1e-12)
    scores = np.array(LATENT["scaled"][0]) * math.sqrt(8 / 5)
    expected = reference.matmul([reference.softmax_row(scores)], LATENT["values"])
    np.testing.assert_allclose(LATENT["default_scale"], expected, rtol=1e-12)
    for wrong, right in zip(LATENT["default_scale"][0], LATENT["output"][0], strict=True):
        assert text(wrong) != text(right)


def test_no_single_absorbed_query_gives_the_scores_of_turned_keys():
    def matrix(place):
        angles = place * 100 ** (-np.arange(3) / 3)
        blocks = np.diag(np.cos(angles)), np.diag(np.sin(angles))
        return np.block([[blocks[0], -blocks[1]], [blocks[1], blocks[0]]])

    query = matrix(4) @ LATENT["query"][0]
    slow = [query @ matrix(j) @ key for j, key in enumerate(LATENT["keys"])]
    np.testing.assert_allclose(LATENT["turned_scores"][0], slow, rtol=1e-12)
    np.testing.assert_allclose(LATENT["turned_absorbed"][0], LATENT["keys"] @ query, rtol=1e-12)
    wrong, right = LATENT["turned_absorbed"][0], LATENT["turned_scores"][0]
    assert [text(a) == text(b) for a, b in zip(wrong, right, strict=True)] == [True] + [False] * 4


TILES = examples.steps("tiles")


def test_all_orders_of_tiles_equal_a_slow_loop():
    _, output = reference.attention(TILES["Q"], TILES["K"], TILES["V"])
    for step in ("output", "in_order", "tree"):
        np.testing.assert_allclose(TILES[step], output, rtol=1e-12)
    np.testing.assert_allclose(TILES["ring"], output[2], rtol=1e-12)


def test_one_pass_has_the_maximum_and_the_total_of_all_scores_so_far():
    for j in range(8):
        row = TILES["z"][: j + 1].tolist()
        assert TILES["maxima"][j] == max(row)
        slow = math.fsum(math.exp(z - max(row)) for z in row)
        assert TILES["sums"][j] == pytest.approx(slow, rel=1e-12)
    assert TILES["plain_sum"] == pytest.approx(TILES["sums"][-1], rel=1e-12)


def test_running_states_are_those_of_the_first_keys():
    for tile in range(4):
        n = 2 * (tile + 1)
        row, values = TILES["z"][:n], TILES["V"][:n]
        powers = [math.exp(z - max(row)) for z in row]
        assert TILES["running_maxima"][tile] == max(row)
        assert TILES["running_totals"][tile] == pytest.approx(math.fsum(powers), rel=1e-12)
        sums = reference.matmul([powers], values)[0]
        np.testing.assert_allclose(TILES["running_sums"][tile], sums, rtol=1e-12)
        output = np.array(sums) / math.fsum(powers)
        np.testing.assert_allclose(TILES["running_outputs"][tile], output, rtol=1e-12)


def test_sums_that_are_not_rescaled_change_every_digit():
    for wrong, right in zip(TILES["not_rescaled"], TILES["output"][0], strict=True):
        assert text(wrong) != text(right)
    assert np.isnan(TILES["hidden_factor_naive"]).all()
    assert not TILES["hidden_output"].any()


def test_the_traffic_is_that_of_arrays_that_go_through_memory():
    arrays, table = 4 * 4096 * 64, 4096 * 4096
    assert TILES["plain_traffic"] == arrays + sum(table for _ in ("S out", "S in", "A out", "A in"))
    blocks = [(128 * 64, 2 * 4096 * 64, 128 * 64) for _ in range(0, 4096, 128)]  # Q, K and V, O
    assert TILES["tiled_traffic"] == sum(map(sum, blocks))
