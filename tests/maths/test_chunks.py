"""Attention over Dask arrays: the same output, lazily, in the same bits each time, or an error."""

import numpy as np
import pytest

from attention_docs import attention_steps, scaled_dot_product_attention

da = pytest.importorskip("dask.array", reason="Dask is missing: pip install '.[distributed]'")


def drawn(*leading, m=10, n=13, d_k=4, d_v=3):
    shapes = [(*leading, m, d_k), (*leading, n, d_k), (*leading, n, d_v)]
    return [
        np.sin(np.arange(np.prod(shape), dtype=float) ** 2 + i).reshape(shape)
        for i, shape in enumerate(shapes)
    ]


def chunked(arrays, *chunks):
    return [da.from_array(a, chunks=(*c, -1)) for a, c in zip(arrays, chunks, strict=True)]


@pytest.mark.parametrize(
    "chunks", [(10, 13, 13), (3, 5, 5), (4, 1, 1), (1, 13, 2), ((2, 7, 1), (6, 7), 4)]
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"window": (2, 1)},
        {"window": (0, None)},
        {"scale": 3.0, "softcap": 2.0},
    ],
    ids=str,
)
def test_chunks_give_the_output_of_one_machine(chunks, options):
    arrays = drawn()
    output = scaled_dot_product_attention(*chunked(arrays, *((c,) for c in chunks)), **options)
    assert isinstance(output, da.Array)
    assert (output.shape, output.dtype) == ((10, 3), np.float64)
    expected = attention_steps(*arrays, **options).output
    np.testing.assert_allclose(output.compute(scheduler="sync"), expected, rtol=1e-12, atol=1e-14)


def test_queries_that_see_no_chunk_get_zeros():
    arrays = drawn(m=20, n=3)
    output = scaled_dot_product_attention(*chunked(arrays, (5,), (2,), (2,)), window=(0, 0))
    expected = attention_steps(*arrays, window=(0, 0)).output
    assert not expected[3:].any()
    np.testing.assert_allclose(output.compute(scheduler="sync"), expected, rtol=1e-12)


def test_batch_and_heads_may_be_cut_too():
    arrays = drawn(2, 3)
    output = scaled_dot_product_attention(
        *chunked(arrays, (1, 2, 4), (2, 1, 6), (2, 3, 13)), is_causal=True
    )
    expected = attention_steps(*arrays, is_causal=True).output
    np.testing.assert_allclose(output.compute(scheduler="sync"), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_the_dtype_is_that_of_one_machine(dtype):
    arrays = [(10 * array).astype(dtype) for array in drawn()]
    output = scaled_dot_product_attention(*chunked(arrays, (3,), (4,), (4,)))
    expected = scaled_dot_product_attention(*arrays)
    assert output.dtype == expected.dtype
    tolerance = {"float32": 1e-5, "float16": 1e-2, "int8": 1e-12}[dtype]
    np.testing.assert_allclose(
        output.compute(scheduler="sync"), expected, rtol=tolerance, atol=tolerance
    )


def test_every_schedule_gives_the_same_bits():
    output = scaled_dot_product_attention(*chunked(drawn(m=50, n=70), (7,), (9,), (9,)))
    one_by_one = output.compute(scheduler="sync")
    for _ in range(3):
        np.testing.assert_array_equal(
            output.compute(scheduler="threads", num_workers=4), one_by_one
        )


def test_nothing_is_computed_before_it_is_asked_for():
    def refuse(block):
        raise AssertionError("computed")

    lazy = [
        array.map_blocks(refuse, dtype=float, meta=np.zeros((0, 0)))
        for array in chunked(drawn(), (3,), (4,), (4,))
    ]
    output = scaled_dot_product_attention(*lazy, is_causal=True)
    with pytest.raises(AssertionError, match="computed"):
        output.compute(scheduler="sync")


def test_chunks_that_no_query_sees_are_not_computed():
    query, key, value = drawn(m=12, n=12)
    key[8:] = np.nan
    output = scaled_dot_product_attention(
        *chunked([query, key, value], (4,), (4,), (4,)), is_causal=True
    )
    expected = attention_steps(query[:8], key[:8], value[:8], is_causal=True).output
    np.testing.assert_allclose(
        output[:8].compute(scheduler="sync"), expected, rtol=1e-12, atol=1e-14
    )
    with pytest.raises(ValueError, match=r"key holds nan at \[0, 0\]; .* begin at \(8, 8\)"):
        output.compute(scheduler="sync")


Q, K, V = chunked(drawn(), (3,), (4,), (4,))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: (Q, K[da.from_array(np.arange(13) % 2 == 0, chunks=4)], V), ValueError, "key has chunks of unknown size; expected known ones, for example key.compute_chunk_sizes()"),
        (lambda: (Q, K.rechunk({1: 1}), V), ValueError, "key has 4 chunks of features; expected one, for example key.rechunk({-1: -1})"),
        (lambda: (Q, K, drawn()[2]), TypeError, "value is a numpy array; expected dask to match query"),
        (lambda: (Q, K[:, :3], V), ValueError, "key has shape (13, 3); expected (..., n, 4) to match query (10, 4)"),
        (lambda: (Q, K[None], V[None]), ValueError, "key has shape (1, 13, 4); expected the leading axes of query (10, 4)"),
        (lambda: (Q, K, V, np.ones((10, 13), bool)), ValueError, "attn_mask was given with Dask arrays; expected is_causal or window in its place"),
        (lambda: (Q, K.astype("float32"), V), TypeError, "key has dtype float32; expected float64 to match query"),
    ],
)  # fmt: skip
def test_refuses_with_the_argument_what_was_expected_and_what_came(call, error, message):
    with pytest.raises(error) as caught:
        scaled_dot_product_attention(*call())
    assert str(caught.value) == message
