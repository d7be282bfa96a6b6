"""cuDNN's kernel: which inputs it takes, what it is told, and on a GPU what comes out."""

import tomllib

import numpy as np
import pytest

from attention_docs import (
    attention_steps,
    inputs,
    scaled_dot_product_attention,
    window_mask,
)
from attention_docs.inputs import Arguments
from attention_docs.kernels import blockwise, fused
from attention_docs.kernels.bounds import largest_of_16_bits
from attention_docs.kernels.selection import Method, prepare, select
from tests import stand_ins
from tests.conftest import ROOT, require
from tests.stand_ins import on_device

attend = scaled_dot_product_attention


@pytest.fixture
def cudnn(monkeypatch):
    """The stand-in for cuDNN, with arrays of the stand-in for CuPy."""
    library, xp = stand_ins.cudnn_front_end(), stand_ins.cupy_namespace()
    monkeypatch.setattr(fused, "cudnn", lambda: library)
    monkeypatch.setattr(inputs, "namespace", lambda **arrays: xp)
    monkeypatch.setattr(blockwise, "parallel", pytest.fail)
    fused.graph.cache_clear()
    fused.handle.cache_clear()
    yield library
    fused.graph.cache_clear()
    fused.handle.cache_clear()


def checked(*qkv, **options):
    inputs, _ = prepare(Arguments(*qkv, **options))
    return inputs


def method(*qkv, **options):
    return select(*prepare(Arguments(*qkv, **options)))


def normal(*shapes, dtype="float16"):
    generator = np.random.default_rng(0)
    return [on_device(generator.standard_normal(shape).astype(dtype)) for shape in shapes]


def self_attention(*leading, length=160, d=16, dtype="float16"):
    return normal(*[(*leading, length, d)] * 3, dtype=dtype)


CALLS = {  # shapes of query, key and value, and the options
    "full": ((2, 4, 160, 16), (2, 4, 160, 16), (2, 4, 160, 16), {}),
    "one head": ((160, 16), (160, 16), (160, 16), {}),
    "cross": ((4, 150, 16), (4, 220, 16), (4, 220, 48), {}),
    "causal": ((2, 4, 160, 16), (2, 4, 160, 16), (2, 4, 160, 16), {"is_causal": True}),
    "causal, more queries": ((220, 16), (150, 16), (150, 16), {"is_causal": True}),
    "causal, more keys": ((150, 16), (220, 16), (220, 16), {"is_causal": True}),
    "window": ((160, 16), (160, 16), (160, 16), {"window": (16, 4)}),
    "window of one": ((160, 16), (160, 16), (160, 16), {"window": (0, 0)}),
    "window to the left": ((150, 16), (220, 16), (220, 16), {"window": (5, None)}),
    "window to the right": ((220, 16), (150, 16), (150, 16), {"window": (None, 3)}),
    "window that hides nothing": ((220, 16), (150, 16), (150, 16), {"window": (219, 149)}),
    "window that hides two keys": ((160, 16), (160, 16), (160, 16), {"window": (158, 158)}),
    "causal window": ((160, 16), (160, 16), (160, 16), {"window": (9, 7), "is_causal": True}),
    "grouped": ((2, 8, 160, 16), (2, 2, 160, 16), (2, 4, 160, 16), {"enable_gqa": True}),
    "one key head": ((2, 8, 160, 16), (2, 1, 160, 16), (2, 8, 160, 16), {}),
    "keys for a whole batch": ((1, 4, 160, 16), (4, 160, 16), (160, 16), {}),
    "five axes": ((2, 3, 4, 160, 16), (2, 3, 4, 160, 16), (2, 3, 1, 160, 16), {}),
    "scale": ((160, 16), (160, 16), (160, 16), {"scale": np.float32(-1.5)}),
    "largest head": ((160, 256), (160, 256), (160, 8), {}),
}


@pytest.mark.parametrize("case", CALLS)
def test_cudnn_is_told_what_gives_the_right_output(cudnn, case):
    *shapes, options = CALLS[case]
    qkv = normal(*shapes)
    assert method(*qkv, **options) is Method.FUSED
    output = attend(*qkv, **options)
    assert output.dtype == "float16"
    assert cudnn.streams == [("handle", 7)]
    expected = attention_steps(*(np.asarray(a, "float64") for a in qkv), **options).output
    np.testing.assert_allclose(np.asarray(output), expected, rtol=0, atol=2e-3)


SQUARE = (160, 16), (160, 16), (160, 16)
# Arrays that only cuDNN can refuse are not widened before; the bound of their scores is rough then.
OTHER_METHODS = {
    "small": (Method.FORMULA, (128, 16), (128, 16), (128, 16), {}),
    "odd dimension": (Method.BOUNDED, (160, 12), (160, 12), (160, 16), {}),
    "odd dimension of values": (Method.BOUNDED, (160, 16), (160, 16), (160, 12), {}),
    "large dimension": (Method.ONLINE, (160, 264), (160, 264), (160, 16), {}),
    "softcap": (Method.BOUNDED, *SQUARE, {"softcap": 20.0}),
    "boolean mask": (Method.BOUNDED, *SQUARE, {"attn_mask": window_mask(160, left=3)}),
    "mask that hides all": (Method.BOUNDED, *SQUARE, {"attn_mask": np.zeros((160, 160)) > 0}),
    "float mask": (Method.BOUNDED, *SQUARE, {"attn_mask": np.zeros((160, 160))}),
    "behind a window": (Method.BOUNDED, (220, 16), (150, 16), (150, 16), {"window": (5, 0)}),
    "broadcast batch": (Method.BOUNDED, (2, 4, 160, 16), (1, 4, 160, 16), (2, 4, 160, 16), {}),
    "broadcast queries": (Method.BOUNDED, (1, 160, 16), (4, 160, 16), (4, 160, 16), {}),
    "no heads": (Method.FORMULA, (0, 160, 16), (0, 160, 16), (0, 160, 16), {}),
}


@pytest.mark.parametrize("case", OTHER_METHODS)
def test_what_cudnn_does_not_take_is_computed_by_another_method(cudnn, case):
    expected_method, *shapes, options = OTHER_METHODS[case]
    qkv = normal(*shapes)
    assert method(*qkv, **options) is expected_method
    output = attend(*qkv, **options)
    assert output.dtype == "float16"
    assert cudnn.streams == []
    expected = attention_steps(*(np.asarray(a, "float64") for a in qkv), **options).output
    np.testing.assert_allclose(np.asarray(output), expected, rtol=0, atol=2e-3)


def test_arrays_of_more_than_16_bits_use_blocks(cudnn):
    assert method(*self_attention(dtype="float32")) is Method.BOUNDED


def test_where_cudnn_has_no_kernel_for_this_gpu_blocks_are_used(cudnn):
    qkv = self_attention(d=stand_ins.DIMENSION_WITHOUT_KERNEL)
    assert method(*qkv) is Method.ONLINE
    assert attend(*qkv).dtype == "float16"
    assert len(cudnn.graphs) == 1  # its answer is kept as well


@pytest.mark.parametrize("options", [{}, {"is_causal": True}], ids=str)
def test_scores_that_may_overflow_are_looked_at_one_by_one(cudnn, options):
    qkv = self_attention()
    assert method(*qkv, scale=1e36, **options) is Method.FORMULA
    with pytest.raises(ValueError, match="the scores of query and key hold"):
        attend(*qkv, scale=1e38, **options)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_by_name(cudnn, bad):
    query, key, value = self_attention()
    key[3, 5] = bad
    with pytest.raises(ValueError, match=rf"key holds {bad} at \[3, 5\]; expected finite"):
        attend(query, key, value)


def strided(shape, order):
    """An array of this shape whose axes lie in memory in another order."""
    (array,) = normal(tuple(shape[axis] for axis in order))
    return array.transpose(np.argsort(order))


@pytest.mark.parametrize(
    ("array", "steps"),
    [
        (normal((2, 3, 5, 16))[0], (240, 80, 16, 1)),
        (normal((5, 16))[0], (80, 80, 16, 1)),
        (normal((3, 5, 16))[0], (240, 80, 16, 1)),
        (strided((2, 3, 5, 16), (0, 2, 1, 3)), (240, 16, 48, 1)),  # tokens before heads
        (normal((2, 3, 10, 16))[0][:, :, ::2], (480, 160, 32, 1)),
        (normal((2, 3, 5, 32))[0][..., 8:24], (480, 160, 32, 1)),
        (normal((2, 1, 3, 5, 16))[0], (240, 80, 16, 1)),
        (normal((3, 3, 1, 16))[0][:2], (48, 16, 16, 1)),
        (normal((3, 4, 20))[0][:, 3:, :16], (240, 80, 16, 1)),  # the step to no second row
    ],
)
def test_arrays_are_described_by_sizes_and_steps(array, steps):
    batch = array.shape[:-2]
    sizes = (1, 1, 1, 1, *array.shape)[-4:] if array.ndim < 5 else (2, *array.shape[-3:])
    assert fused.layout(array, batch) == (sizes, steps)


@pytest.mark.parametrize(
    ("array", "batch"),
    [
        (normal((2, 3, 5, 20))[0], (2, 3)),  # rows that are not whole vectors
        (normal((2, 3, 5, 32))[0][..., ::2], (2, 3)),
        (normal((2, 3, 5, 16))[0][:, :, ::-1], (2, 3)),
        (np.broadcast_to(normal((5, 16))[0], (2, 3, 5, 16)), (2, 3)),
        (normal((1, 3, 5, 16))[0], (2, 3)),
        (strided((2, 4, 3, 5, 16), (1, 0, 2, 3, 4)), (2, 4, 3)),  # axes that are no one axis
    ],
)
def test_arrays_that_would_have_to_be_copied_are_not_taken(array, batch):
    assert fused.layout(array, batch) is None


def test_a_bound_that_hides_nothing_is_none(cudnn):
    def bounds(window):
        key = fused.graph_key(checked(*normal((160, 16), (180, 16), (180, 16)), window=window))
        assert key.device == 0
        return key.left, key.right

    assert bounds((159, 179)) == bounds((300, 300)) == bounds(None) == (None, None)
    assert bounds((158, 178)) == (158, 178)


def test_an_address_between_vectors_is_not_taken(cudnn):
    query, key, value = normal((160, 32), (160, 16), (160, 16))
    assert method(query[:, 8:24], key, value) is Method.FUSED
    assert method(query[:, 4:20], key, value) is not Method.FUSED


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (2, 0, 1, 3)], ids=str)
def test_arrays_of_any_order_are_read_where_they_lie(cudnn, order):
    qkv = [strided((2, 4, 160, 16), order) for _ in range(3)]
    assert method(*qkv) is Method.FUSED
    expected = attention_steps(*(np.asarray(a, "float64") for a in qkv)).output
    np.testing.assert_allclose(np.asarray(attend(*qkv)), expected, rtol=0, atol=2e-3)


def test_a_graph_is_built_once_for_all_calls_of_its_kind(cudnn):
    query, key, value = self_attention(4)
    for _ in range(3):
        attend(query, key, value, is_causal=True)
        attend(query.copy(), key, value, window=(None, 0))
    attend(query, key, value, is_causal=True, scale=0.25)  # as 1/sqrt(16)
    assert len(cudnn.graphs) == 1
    assert fused.handle.cache_info().currsize == 1


@pytest.mark.parametrize(
    "other",
    [
        {"scale": 0.3},
        {"is_causal": True},
        {"window": (3, None)},
        {"window": (None, 3)},
        {"qkv": self_attention(4, length=161)},
        {"qkv": self_attention(4, d=24)},
        {"qkv": [strided((4, 160, 16), (1, 0, 2))] * 3},
    ],
    ids=["scale", "causal", "left", "right", "length", "width", "strides"],
)
def test_what_a_graph_depends_on_is_in_its_key(cudnn, other):
    qkv = self_attention(4)
    attend(*qkv)
    attend(*other.pop("qkv", qkv), **other)
    assert len(cudnn.graphs) == 2


def test_the_kind_of_number_is_in_the_key(cudnn):
    dtype = pytest.importorskip("ml_dtypes").bfloat16
    cudnn.data_type.BFLOAT16 = dtype
    halves, shorts = self_attention(), self_attention(dtype=dtype)
    attend(*halves)
    output = attend(*shorts)
    assert len(cudnn.graphs) == 2
    assert output.dtype == dtype
    expected = attention_steps(*(np.asarray(a, "float64") for a in shorts)).output
    np.testing.assert_allclose(np.asarray(output, "float64"), expected, rtol=2**-7, atol=2**-10)


@pytest.mark.parametrize("library", ["array_api_compat.numpy", "array_api_compat.torch", "cupy"])
def test_only_cupy_with_cudnn_has_the_kernel(monkeypatch, library):
    xp = type(np)(library)
    monkeypatch.setattr(fused, "cudnn", lambda: None)
    assert not fused.is_available(xp)
    monkeypatch.setattr(fused, "cudnn", stand_ins.cudnn_front_end)
    assert fused.is_available(xp) is (library == "cupy")


@pytest.mark.parametrize("error", [ImportError, OSError, RuntimeError])
def test_a_front_end_that_is_missing_or_finds_no_library_is_none(monkeypatch, error):
    def broken(name):
        raise error

    monkeypatch.setattr(fused.importlib, "import_module", broken)
    assert fused.cudnn.__wrapped__() is None


def test_without_the_front_end_blocks_are_used_silently(cudnn, monkeypatch):
    monkeypatch.setattr(fused, "cudnn", lambda: None)
    qkv = self_attention()
    assert method(*qkv) is Method.BOUNDED
    assert attend(*qkv).dtype == "float16"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "numbers",
    [[0.0, -0.0], [1.5, -2.0], [-3.0, 2.5], [6e4, -1e-7], [-1.0, -7.0], [1.0, 2.0]],
    ids=str,
)
def test_the_largest_of_16_bits(dtype, numbers):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    array = np.asarray(numbers, dtype=dtype)
    assert largest_of_16_bits(np, array) == np.abs(array.astype("float64")).max()
    turned = np.stack([array, array / 2, array / 4]).astype(dtype)[::2].T
    assert largest_of_16_bits(np, turned) == largest_of_16_bits(np, array)
    array[0] = -np.inf
    assert largest_of_16_bits(np, array) == np.inf
    array[1] = np.nan
    assert np.isnan(largest_of_16_bits(np, array))


def test_the_extra_names_the_front_end():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (front_end,) = settings["project"]["optional-dependencies"]["cudnn"]
    assert front_end.startswith("nvidia-cudnn-frontend>=")
    for page in ("README.md", "CONTRIBUTING.md"):
        assert "cudnn]" in (ROOT / page).read_text(encoding="utf-8")


LARGEST_ERROR = {"float16": 2e-3, "bfloat16": 2e-2}


@pytest.fixture(params=LARGEST_ERROR)
def gpu(request):
    """CuPy with a GPU and cuDNN, and one of the 16-bit dtypes."""
    cupy = require(request, "gpu", "cupy")
    require(request, "gpu", "cudnn")
    if not cupy.cuda.is_available() and not request.config.getoption("gpu"):
        pytest.skip("CuPy finds no GPU")
    if request.param == "float16":
        return cupy, "float16"
    if int(cupy.__version__.partition(".")[0]) < 14:
        pytest.skip("CuPy has bfloat16 from version 14 on")
    return cupy, np.dtype(require(request, "gpu", "ml_dtypes").bfloat16)


def compare_on_gpu(gpu, qkv, expected_method, **options):
    cupy, dtype = gpu
    theirs = [cupy.asarray(np.asarray(a, dtype=dtype)) for a in qkv]
    exact = [a.get().astype("float64") for a in theirs]
    expected = attention_steps(*exact, **options).output
    if "attn_mask" in options:
        options["attn_mask"] = cupy.asarray(options["attn_mask"])
    assert method(*theirs, **options) is expected_method
    output = attend(*theirs, **options)
    assert isinstance(output, cupy.ndarray)
    assert output.dtype == dtype
    error = np.abs(output.get().astype("float64") - expected).max(initial=0)
    assert error < LARGEST_ERROR[np.dtype(dtype).name]


@pytest.mark.parametrize("case", CALLS)
def test_the_kernel_gives_the_right_output(gpu, case):
    *shapes, options = CALLS[case]
    compare_on_gpu(gpu, normal(*shapes), Method.FUSED, **options)


@pytest.mark.parametrize("case", OTHER_METHODS)
def test_the_other_methods_give_the_right_output_on_a_gpu(gpu, case):
    expected_method, *shapes, options = OTHER_METHODS[case]
    compare_on_gpu(gpu, normal(*shapes), expected_method, **options)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (2, 0, 1, 3)], ids=str)
@pytest.mark.parametrize("step", [1, 2])
def test_the_kernel_reads_arrays_of_any_order_where_they_lie(gpu, order, step):
    cupy, dtype = gpu
    shape = tuple((2, 4, 160 * step, 64)[axis] for axis in order)
    qkv = [
        cupy.asarray(np.asarray(a, dtype=dtype)).transpose(np.argsort(order).tolist())
        for a in normal(shape, shape, shape)
    ]
    qkv = [array[:, :, ::step] for array in qkv]
    assert method(*qkv) is Method.FUSED
    expected = attention_steps(*(a.get().astype("float64") for a in qkv)).output
    error = np.abs(attend(*qkv).get().astype("float64") - expected).max()
    assert error < LARGEST_ERROR[np.dtype(dtype).name]


def test_the_kernel_waits_for_what_is_before_it_on_its_stream(gpu):
    cupy, dtype = gpu
    (array,) = normal((8, 2048, 64))
    array = cupy.asarray(np.asarray(array, dtype=dtype))
    expected = attend(array, array, array)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        late = cupy.zeros_like(array)
        for _ in range(200):
            late[...] = array
        output = attend(late, late, late)
        late[...] = 0
        stream.synchronize()
    cupy.testing.assert_array_equal(output, expected)
