"""Heads, word order, encoder and decoder, the source's classes: each against another way."""

import math
import statistics

import numpy as np
import pytest

from attention_docs import MultiHeadAttention, examples
from tests import reference


def test_head_i_takes_the_i_th_columns_of_every_token():
    steps = examples.steps("head_splitting")
    heads = [steps["X"][:, :2], steps["X"][:, 2:]]
    for i, head in enumerate(heads, start=1):
        np.testing.assert_array_equal(steps[f"head_{i}"], head)
        assert np.any(steps[f"wrong_head_{i}"] != head)
    np.testing.assert_array_equal(steps["merged"], steps["X"])
    assert np.any(steps["wrong_merged"] != steps["X"])
    outputs = [reference.attention(head / 10, head / 10, head / 10)[1] for head in heads]
    np.testing.assert_allclose(steps["output"], np.hstack(outputs), rtol=1e-12)
    assert np.all(steps["wrong_output"] != steps["output"])


def test_multi_head_equals_a_slow_loop():
    steps = examples.steps("multi_head")
    q, k, v = (
        np.asarray(reference.matmul(steps[x], steps[w]))
        for x, w in (("X_q", "W_Q"), ("X_kv", "W_K"), ("X_kv", "W_V"))
    )
    heads = []
    for i in (0, 1):
        weights, head = reference.attention(
            q[:, 3 * i : 3 * i + 3], k[:, 3 * i : 3 * i + 3], v[:, 4 * i : 4 * i + 4]
        )
        np.testing.assert_allclose(steps[f"weights_{i + 1}"], weights, rtol=1e-12)
        np.testing.assert_allclose(steps[f"head_{i + 1}"], head, rtol=1e-12)
        heads.append(head)
    output = reference.matmul(np.hstack(heads), steps["W_O"])
    np.testing.assert_allclose(steps["output"], output, rtol=1e-11)
    np.testing.assert_allclose(steps["added_1"] + steps["added_2"], output, rtol=1e-11)


def test_one_head_adds_the_scores_of_both_before_its_softmax():
    steps = examples.steps("multi_head")
    np.testing.assert_allclose(steps["one_head_scores"], steps["scores_1"] + steps["scores_2"])
    weights, _ = reference.attention(steps["Q"], steps["K"], steps["V"])
    np.testing.assert_allclose(steps["one_head_weights"], weights, rtol=1e-12)
    favourites = [steps[name][2].argmax() for name in ("weights_1", "weights_2")]
    assert steps["one_head_weights"][2].argmax() not in favourites


def test_bert_base_has_as_many_parameters_as_the_layer_of_pytorch(torch):
    d_model, heads, d_k, entries = (int(n) for n in examples.steps("multi_head")["bert_base"])
    theirs = torch.nn.MultiheadAttention(d_model, heads)
    assert theirs.head_dim == d_k
    assert theirs.out_proj.weight.numel() == entries
    sizes = {axes: sum(p.numel() for p in theirs.parameters() if p.ndim == axes) for axes in (1, 2)}
    expected = [sizes[2], sizes[1], sizes[1] + sizes[2]]
    np.testing.assert_array_equal(examples.steps("multi_head")["bert_base_layer"], expected)


def test_each_japanese_word_finds_its_english_one():
    steps = examples.steps("word_order")
    weights, output = reference.attention(steps["Q"], steps["K"], steps["V"])
    np.testing.assert_allclose(steps["weights"], weights, rtol=1e-12)
    np.testing.assert_allclose(steps["output"], output, rtol=1e-12)
    english, japanese = ["I", "eat", "apples", "today"], ["today", "apples", "eat"]
    assert [english[i] for i in steps["aligned"]] == japanese


def with_weights(torch, theirs, matrices):
    """Copy our matrices into PyTorch's attention layer; its Linear holds transposes."""
    w_q, w_k, w_v, w_o = (torch.tensor(matrix, dtype=torch.float64) for matrix in matrices)
    theirs.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
    theirs.out_proj.weight.copy_(w_o.T)


def copied(torch, theirs, **attentions):
    """Copy our weights into PyTorch's transformer layer, and zero all its biases."""
    example = examples.load("encoder_decoder")
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
        for attribute, matrices in attentions.items():
            with_weights(torch, getattr(theirs, attribute), matrices)
        theirs.linear1.weight.copy_(torch.tensor(example.W_1).T)
        theirs.linear2.weight.copy_(torch.tensor(example.W_2).T)
    return theirs


def test_encoder_and_decoder_equal_the_layers_of_pytorch(torch):
    example, steps = examples.load("encoder_decoder"), examples.steps("encoder_decoder")
    options = {"dim_feedforward": 6, "dropout": 0.0, "batch_first": True, "dtype": torch.float64}
    encoder = copied(
        torch, torch.nn.TransformerEncoderLayer(4, 2, **options), self_attn=example.ENCODER
    )
    decoder = copied(
        torch,
        torch.nn.TransformerDecoderLayer(4, 2, **options),
        self_attn=example.DECODER,
        multihead_attn=example.CROSS,
    )
    x, y = (torch.tensor(steps[name].tolist(), dtype=torch.float64)[None] for name in "XY")
    later = torch.triu(torch.ones(2, 2, dtype=torch.bool), diagonal=1)
    memory = encoder(x)
    output = decoder(y, memory, tgt_mask=later)
    np.testing.assert_allclose(steps["memory"], memory[0].detach().numpy(), atol=1e-13)
    np.testing.assert_allclose(steps["output"], output[0].detach().numpy(), atol=1e-13)


def test_norm_feed_forward_and_probabilities_equal_slow_loops():
    steps = examples.steps("encoder_decoder")
    normed = []
    for row, mean, variance in zip(
        *(steps[f"encoder_{name}"].tolist() for name in ("sum", "mean", "variance")), strict=True
    ):
        assert mean == pytest.approx(statistics.fmean(row))
        assert variance == pytest.approx(statistics.pvariance(row))
        normed.append([(x - mean) / math.sqrt(variance + 1e-5) for x in row])
    np.testing.assert_allclose(steps["encoder_normed"], normed, rtol=1e-11)
    hidden = [[max(0.0, x) for x in row] for row in reference.matmul(normed, steps["W_1"])]
    np.testing.assert_allclose(steps["encoder_hidden"], hidden, atol=1e-13)
    np.testing.assert_allclose(
        steps["encoder_fed"], reference.matmul(hidden, steps["W_2"]), atol=1e-13
    )
    logits = reference.matmul(steps["output"], steps["W_vocabulary"])
    probabilities = [reference.softmax_row(row) for row in logits]
    np.testing.assert_allclose(steps["probabilities"], probabilities, rtol=1e-12)
    assert steps["next_token"] == max(range(5), key=probabilities[-1].__getitem__)


def test_an_earlier_target_position_does_not_see_a_later_one(monkeypatch):
    example = examples.load("encoder_decoder")
    before = example.steps()["probabilities"]
    monkeypatch.setattr(example, "TARGET_TOKENS", [example.TARGET_TOKENS[0], [3, -1, 2, 0]])
    after = example.steps()["probabilities"]
    np.testing.assert_array_equal(after[0], before[0])
    assert np.all(after[1] != before[1])


def heads_in_a_loop(q, k, v, scale):
    """Two heads of two features, one after the other; `scale` multiplies what is there."""
    q, k, v = (np.asarray(a) for a in (q, k, v))
    pairs = [slice(0, 2), slice(2, 4)]
    return np.hstack([reference.attention(q[:, i] * scale, k[:, i], v[:, i])[1] for i in pairs])


def test_each_mistake_of_the_source_class_equals_a_slow_loop():
    steps = examples.steps("source_classes")
    x = steps["X"]
    projected = [reference.matmul(x, steps[f"W_{letter}"]) for letter in "QKV"]
    cases = {
        "output": (projected, 1),
        "output_scaled_by_embed_size": (projected, 2**0.5 / 2),
        "output_not_projected": ([x, x, x], 1),
        "output_as_in_the_source": ([x, x, x], 2**0.5 / 2),
    }
    for name, (qkv, scale) in cases.items():
        expected = heads_in_a_loop(*qkv, scale) @ steps["W_O"]
        np.testing.assert_allclose(steps[name], expected, rtol=1e-11, err_msg=name)
    q, k, v = (np.asarray(a) for a in projected)
    np.testing.assert_array_equal(steps["scores_2"], reference.matmul(q[:, 2:], k[:, 2:].T))
    np.testing.assert_allclose(steps["merged"], heads_in_a_loop(q, k, v, 1), rtol=1e-11)
    right = steps["output"]
    for name in list(cases)[1:]:
        assert np.all(np.abs(steps[name] - right) > 1e-4), name


def test_the_source_class_as_it_stands(torch):
    """Its computation in PyTorch's words: no projections, the root of embed_size, its output layer."""
    steps = examples.steps("source_classes")
    heads = torch.tensor(steps["X"].tolist(), dtype=torch.float64).reshape(3, 2, 2).transpose(0, 1)
    attended = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads, scale=4**-0.5)
    merged = attended.transpose(0, 1).reshape(3, 4).numpy()
    np.testing.assert_allclose(steps["output_as_in_the_source"], merged @ steps["W_O"], rtol=1e-13)
    unused = torch.nn.Linear(2, 4, bias=False)
    assert steps["unused_parameters"] == 3 * unused.weight.numel()
    assert steps["features_if_applied"] == 2 * unused.out_features
    scores = steps["scores_1_not_projected"]
    np.testing.assert_array_equal(scores, (heads[0] @ heads[0].T).numpy())
    np.testing.assert_array_equal(scores, scores.T)
    repeated = steps["repeated_head_output"]
    np.testing.assert_array_equal(repeated[:, :2], repeated[:, 2:])


def test_its_cross_attention_class_equals_the_layer_of_the_package(torch):
    """Its computation in PyTorch's words, with a mask in which no row is empty."""
    steps = examples.steps("source_classes")
    matrices = {f"W_{letter}": steps[f"W_{letter}"] for letter in "QKVO"}
    biases = {f"b_{letter}": np.arange(4) / (i + 3) for i, letter in enumerate("QKVO")}

    def linear(rows, letter):
        weight, bias = matrices[f"W_{letter}"].T, biases[f"b_{letter}"]
        return torch.nn.functional.linear(rows, torch.tensor(weight), torch.tensor(bias))

    memory = torch.arange(40, dtype=torch.float64).reshape(2, 5, 4).sin()
    query = torch.arange(24, dtype=torch.float64).reshape(2, 3, 4).cos()
    q, k, v = (
        linear(rows, letter).unflatten(2, (2, 2)).transpose(1, 2)
        for rows, letter in ((query, "Q"), (memory, "K"), (memory, "V"))
    )
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    energy = (q @ k.mT / 2**0.5).masked_fill(mask == 0, -1e20)
    attended = torch.softmax(energy, dim=-1) @ v
    theirs = linear(attended.transpose(1, 2).flatten(2), "O").numpy()

    ours = MultiHeadAttention(**matrices, **biases, num_heads=2)
    output = ours(query.numpy(), memory.numpy(), memory.numpy(), attn_mask=mask.bool().numpy())
    np.testing.assert_allclose(output, theirs, rtol=0, atol=1e-13)


def test_pytorch_gives_nan_for_a_query_that_may_see_nothing_and_we_give_the_bias(torch):
    steps = examples.steps("source_classes")
    theirs = torch.nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
    x = torch.tensor(steps["X"])[None]
    hidden = torch.tensor([[True] * 3, [False] * 3, [False] * 3])
    assert torch.isnan(theirs(x, x, x, attn_mask=hidden)[0][0, 0]).all()
    ours = MultiHeadAttention(*(steps[f"W_{letter}"] for letter in "QKVO"), num_heads=2)
    output = ours(steps["X"], steps["X"], steps["X"], attn_mask=~hidden.numpy())
    np.testing.assert_array_equal(output[0], np.zeros(4))
    assert np.all(output[1] == steps["output"][1])
