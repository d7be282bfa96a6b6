"""Unusual arguments of every public function give the correct result or an error that names them.

Each specification below draws ordinary arguments. They are converted to other dtypes and memory
layouts, and one is replaced by an unusual value. The result must equal that of the same function for
contiguous float64 arrays, which the tests of each function compare with its definition.
"""

import contextlib
import io
import math
import re
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attention_docs
from attention_docs import examples, render
from attention_docs.render import figures

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# The tolerance of a result by the dtype of the arrays of the call.
TOLERANCES = {
    "int8": 1e-9,
    "uint8": 1e-9,
    "int16": 1e-9,
    "int64": 1e-9,
    "uint64": 1e-9,
    "float64": 1e-9,
    "float32": 1e-4,
    "float16": 2e-2,
    "bfloat16": 5e-2,
}
EXAMPLES_PER_FUNCTION = settings.default.max_examples // 5
sizes = st.integers(1, 3)


def dtype_of(name):
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


# ---- The same numbers in other memory layouts ----


def strided_view(array):
    """Return a view of every other column of a wider array."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def reversed_view(array):
    return array[..., ::-1].copy()[..., ::-1]


def read_only_copy(array):
    frozen = array.copy()
    frozen.flags.writeable = False
    return frozen


def with_first_row_repeated(array):
    """Repeat the first row with a stride of zero, which makes the array read-only."""
    return np.broadcast_to(array[:1], array.shape)


LAYOUTS = (
    np.ascontiguousarray,
    np.asfortranarray,
    strided_view,
    reversed_view,
    read_only_copy,
    with_first_row_repeated,
)

# ---- Unusual arguments: a function of the ordinary one, or a value in its place ----


def with_first_element(value):
    """Return a function that sets the first element to a value, or to a function of the dtype."""

    def change(array):
        changed = array.copy()
        with np.errstate(all="ignore"):
            changed.flat[:1] = value(array.dtype) if callable(value) else value
        return changed

    return change


def largest_number(dtype):
    if dtype.kind in "iu":
        return np.iinfo(dtype).max
    return ml_dtypes.finfo(dtype).max


def with_first_float(value):
    """Return a function that sets the first element, after converting integers to floats."""

    def change(array):
        floats = array * 1.0 if array.dtype.kind in "iub" else array
        return with_first_element(value)(floats)

    return change


ODD_ARRAYS = {
    "None": lambda array: None,
    "a list": lambda array: array.tolist(),
    "a ragged list": lambda array: [[1.0], [2.0, 3.0]],
    "a number": lambda array: 2,
    "a NumPy number": lambda array: np.float64(2),
    "text": lambda array: array.astype(float).astype(str),
    "objects": lambda array: np.full(array.shape, None),
    "complex": lambda array: array.astype(complex),
    "booleans": lambda array: array > 0,
    "float32": lambda array: array.astype(np.float32),
    "int8": lambda array: np.zeros(array.shape, np.int8),
    "nan": with_first_float(np.nan),
    "inf": with_first_float(np.inf),
    "-inf": with_first_float(-np.inf),
    "-inf everywhere": lambda array: np.full(array.shape, -np.inf),
    "inf everywhere": lambda array: np.full(array.shape, np.inf, array.dtype if array.dtype.kind == "f" else float),
    "the largest number": with_first_element(largest_number),
    "the largest number everywhere": lambda array: np.full(array.shape, largest_number(array.dtype), array.dtype),
    "no rows": lambda array: array[:0],
    "no columns": lambda array: array[..., :0],
    "another length": lambda array: np.concatenate([array, array], axis=0),
    "another width": lambda array: np.concatenate([array, array], axis=-1),
    "one axis less": lambda array: array[0],
    "one axis more": lambda array: array[None],
    "a batch of two": lambda array: np.stack([array, array]),
    "a batch of three": lambda array: np.stack([array] * 3),
    "no batch": lambda array: np.stack([array] * 2)[:0],
}  # fmt: skip

ODD_SCALARS = (
    *(None, True, False, 0, 1, 2, 3, -1, 2.0, 2.5, 1j, "2", [2], [1, 2]),
    *(math.nan, math.inf, -math.inf, 1e-300, 1e300, 5e-324),
    *(np.int8(2), np.uint8(2), np.int64(2), np.float16(2), np.float64(2.5), np.True_),
    *(ml_dtypes.bfloat16(2), np.array(2), np.array(2.5), np.array([2]), np.array([1.0, 2.0])),
)
TOO_LARGE = (2**60, 2**63, 2**70, 10**400)
# Not for sizes, because allocating so many rows fails.
LARGE = 2**40


# Arrays of another shape may or may not fit the other arguments, and an error may name any of them.
ODD_SHAPES = {kind for kind in ODD_ARRAYS if re.match("no |another |one |a batch ", kind)}


class Specification(NamedTuple):
    """How to test one public function.

    Attributes:
        draw: draws its ordinary arguments by name: float64 arrays, and numbers.
        call: calls it with them, and returns the values to compare.
        slow: its definition as a loop; the function itself on float64 arrays if left out.
        sizes: the arguments that set the size of an array.
        fixed: the arguments that are never replaced, such as names.
        has_integers: whether the arrays hold integers, as lengths do.
        has_products: whether a large number is multiplied by many others, so that an error may
            name any of them.
    """

    draw: object
    call: object
    slow: object = None
    sizes: tuple = ()
    fixed: tuple = ()
    has_integers: bool = False
    has_products: bool = False


def as_float64(value):
    """Return arrays and numbers as contiguous float64 (scalar integers as int64)."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return np.array(value, dtype=float)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    if value.dtype.kind in "iu" and not value.ndim:
        return np.int64(value)
    is_real = value.dtype.kind in "iuf" or value.dtype == BFLOAT16
    return value.astype(float, order="C") if is_real else value


# ---- Definitions ----


def slow_padding_mask(lengths, keys):
    """Return the mask of padding, element by element."""
    mask = np.zeros((*lengths.shape, 1, keys), bool)
    for *index, _, j in np.ndindex(mask.shape):
        mask[(*index, 0, j)] = j < lengths[tuple(index)]
    return mask


def slow_rms_norm(x, weight, epsilon):
    """Divide each row by the root of its mean square, number by number."""
    rows = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        divisor = math.sqrt(math.fsum(v * v for v in x[index]) / x.shape[-1] + epsilon)
        rows[index] = [v / divisor * g for v, g in zip(x[index], weight, strict=True)]
    return rows


# ---- The specifications ----


@st.composite
def integers(draw, *shape, low=-128, high=127):
    """Draw an array of integers: every dtype has them, and their products can overflow int8."""
    if draw(st.booleans()):  # half of the arrays have small numbers
        low, high = max(low, -3), min(high, 3)
    count = math.prod(shape)
    numbers = draw(st.lists(st.integers(low, high), min_size=count, max_size=count))
    return np.array(numbers, dtype=float).reshape(shape)


def draw_arrays(draw, low=-128, high=127, **shapes):
    """Draw an array of integers of each shape, by name."""
    return {name: draw(integers(*shape, low=low, high=high)) for name, shape in shapes.items()}


def draw_attention(draw):
    m, n, d_k, d_v = (draw(sizes) for _ in range(4))
    options = [{}, {"is_causal": True}, {"window": (1, 1)}, {"attn_mask": np.zeros((m, n))}]
    qkv = draw_arrays(draw, query=(m, d_k), key=(n, d_k), value=(n, d_v))
    scale = draw(st.sampled_from([None, 0.5]))
    return {**qkv, "scale": scale, "is_causal": False, **draw(st.sampled_from(options))}


def call_attention(**arguments):
    output = attention_docs.scaled_dot_product_attention(**arguments)
    steps = attention_docs.attention_steps(**arguments)
    assert np.array_equal(output, steps.output)
    return steps.weights, steps.output


def draw_backward(draw):
    arguments = draw_attention(draw)
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            arguments[name] = np.clip(value, -3, 3)
    shape = (len(arguments["query"]), arguments["value"].shape[1])
    return {"grad_output": draw(integers(*shape, low=-3, high=3)), **arguments}


def divided_by_bound(gradients, grad_output, query, key, value, scale=None, **_):
    """Divide gradients by a bound of their terms: errors are relative to these, as terms cancel."""
    factors = [1.0 if scale is None else max(1.0, abs(float(scale)))]
    for array in (grad_output, query, key, value):
        factors.append(max([1.0, *(abs(float(number)) for number in array.flat)]))
    with np.errstate(over="ignore"):
        bound = np.prod(factors)
    return [np.asarray(gradient, dtype=float) / bound for gradient in gradients]


def call_backward(**arguments):
    steps = attention_docs.attention_backward(**arguments)
    inputs = attention_docs.scaled_dot_product_attention_backward(**arguments)
    for name in ("query", "key", "value"):
        assert np.array_equal(getattr(inputs, name), getattr(steps, name))
    gradients = (steps.value, steps.weights, steps.scaled, steps.query, steps.key)
    return divided_by_bound(gradients, **arguments)


def draw_additive(draw):
    m, n, d_q, d_k, a = (draw(sizes) for _ in range(5))
    weights = {"query_weight": (d_q, a), "key_weight": (d_k, a), "score_weight": (a,)}
    return draw_arrays(draw, query=(m, d_q), key=(n, d_k), **weights)


def draw_layer(draw):
    d_q, d_k, d_v, d_out, m, n, h = (draw(sizes) for _ in range(7))
    width_k, width_v = h * draw(st.integers(1, 2)), h * draw(st.integers(1, 2))
    inputs = {"query": (m, d_q), "key": (n, d_k), "value": (n, d_v)}
    projections = {"W_Q": (d_q, width_k), "W_K": (d_k, width_k), "W_V": (d_v, width_v)}
    biases = {"b_Q": (width_k,), "b_K": (width_k,), "b_V": (width_v,), "b_O": (d_out,)}
    shapes = {**inputs, **projections, "W_O": (width_v, d_out), **biases}
    arrays = draw_arrays(draw, low=-3, high=3, **shapes)
    return {**arrays, "num_heads": h, "is_causal": False}


def call_layer(**arguments):
    inputs = ("query", "key", "value", "attn_mask", "is_causal")
    weights = {name: value for name, value in arguments.items() if name not in inputs}
    layer = attention_docs.MultiHeadAttention(**weights)
    return layer(**{name: value for name, value in arguments.items() if name in inputs})


def seeded_weights(**arguments):
    layer = attention_docs.MultiHeadAttention.seeded(**arguments)
    names = [f"{kind}_{letter}" for kind in "Wb" for letter in "QKVO"]
    return [getattr(layer, name) for name in names if getattr(layer, name) is not None]


def printed_text(**arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        attention_docs.show(**arguments)
    return out.getvalue()


def draw_product(draw):
    m, k, n = (draw(sizes) for _ in range(3))
    return {**draw_arrays(draw, a=(m, k), b=(k, n)), "row": 0, "column": 0}


def draw_lines(draw):
    m, n = draw(sizes), draw(sizes)
    names = {"tokens": list("abc")[:m], "keys": list("xyz")[:n]}
    return {"weights": draw(integers(m, n, low=0)), **names, "query": None}


def draw_matrix(draw, name="matrix"):
    side = st.integers(1, 7)
    return {name: draw(integers(draw(side), draw(side)))}


def draw_each(**strategies):
    """Return a function that draws an argument from each strategy."""
    return lambda draw: {name: draw(strategy) for name, strategy in strategies.items()}


def draw_states(draw):
    """Draw the fields of two `TileState`s as separate arguments."""
    m, d_v = draw(sizes), draw(sizes)
    fields = {"maximum": (m,), "total": (m,), "sums": (m, d_v)}
    states = ("one", "other")
    shapes = {f"{state}.{name}": shape for state in states for name, shape in fields.items()}
    return draw_arrays(draw, **shapes)


def call_merge(**arguments):
    fields = list(arguments.values())
    one, other = attention_docs.TileState(*fields[:3]), attention_docs.TileState(*fields[3:])
    return attention_docs.merge(one, other)


def draw_rotary(draw):
    length = draw(sizes)
    arrays = draw_arrays(draw, x=(length, 4), positions=(length,))
    return {**arrays, "base": 100, "interleaved": draw(st.booleans())}


def draw_tile(draw):
    m, n, d_k, d_v = (draw(sizes) for _ in range(4))
    return {**draw_arrays(draw, query=(m, d_k), key=(n, d_k), value=(n, d_v)), "scale": 0.5}


def draw_rms_norm(draw):
    n, d = draw(sizes), draw(sizes)
    return {**draw_arrays(draw, x=(n, d), weight=(d,)), "epsilon": 0.01}


def draw_swiglu(draw):
    n, d, d_ff, d_out = (draw(sizes) for _ in range(4))
    weights = {"W_gate": (d, d_ff), "W_up": (d, d_ff), "W_down": (d_ff, d_out)}
    return draw_arrays(draw, low=-3, high=3, x=(n, d), **weights)


ATTENTION = Specification(draw_attention, call_attention, fixed=("window",))
BACKWARD = Specification(draw_backward, call_backward, fixed=("window",), has_products=True)
SPECIFICATIONS = {
    "additive_scores": Specification(draw_additive, attention_docs.additive_scores),
    "attention_backward, scaled_dot_product_attention_backward": BACKWARD,
    "attention_steps, scaled_dot_product_attention": ATTENTION,
    "causal_mask": Specification(
        draw_each(queries=sizes, keys=sizes), attention_docs.causal_mask, sizes=("queries", "keys")
    ),
    "window_mask": Specification(
        draw_each(queries=sizes, keys=sizes, left=sizes, right=sizes),
        attention_docs.window_mask,
        sizes=("queries", "keys"),
    ),
    "padding_mask": Specification(
        lambda draw: {"lengths": draw(integers(draw(sizes), low=0)), "keys": 200},
        attention_docs.padding_mask,
        slow_padding_mask,
        sizes=("keys",),
        has_integers=True,
    ),
    "softmax": Specification(
        lambda draw: {"scores": draw(integers(draw(sizes), draw(sizes))), "axis": draw(st.integers(-2, 1))},
        attention_docs.softmax,
    ),
    "sinusoidal_positions": Specification(
        draw_each(length=sizes, d_model=st.just(4), base=st.just(100)),
        attention_docs.sinusoidal_positions,
        sizes=("length", "d_model"),
    ),
    "position_rotation": Specification(
        draw_each(shift=sizes, d_model=st.just(4), base=st.just(100)),
        attention_docs.position_rotation,
        sizes=("d_model",),
    ),
    "rotary": Specification(draw_rotary, attention_docs.rotary),
    "rms_norm": Specification(draw_rms_norm, attention_docs.rms_norm, slow_rms_norm),
    "swiglu": Specification(draw_swiglu, attention_docs.swiglu, has_products=True),
    "attend_tile": Specification(draw_tile, attention_docs.attend_tile),
    "merge": Specification(draw_states, call_merge),
    "split_heads": Specification(
        lambda draw: {"features": draw(integers(draw(sizes), 2 * draw(sizes))), "num_heads": 2},
        attention_docs.split_heads,
    ),
    "merge_heads": Specification(
        lambda draw: {"heads": draw(integers(draw(sizes), draw(sizes), draw(sizes)))},
        attention_docs.merge_heads,
    ),
    "MultiHeadAttention": Specification(draw_layer, call_layer, has_products=True),
    "MultiHeadAttention.seeded": Specification(
        draw_each(embed_dim=st.just(4), num_heads=st.just(2), seed=sizes, bias=st.booleans(), kdim=sizes, vdim=sizes),
        seeded_weights,
        sizes=("embed_dim", "kdim", "vdim"),
    ),
    "show": Specification(lambda draw: draw_matrix(draw, "result"), printed_text),
    "heatmap": Specification(draw_matrix, render.heatmap),
    "product_figure": Specification(draw_product, render.product_figure),
    "attention_lines": Specification(draw_lines, render.attention_lines, fixed=("tokens", "keys")),
}  # fmt: skip
# Classes that only hold arrays.
CONTAINERS = {
    "AttentionGradients",
    "AttentionSteps",
    "MultiHeadSteps",
    "InputGradients",
    "TileState",
}
# It takes a function instead of arrays; test_masks.py has its tests.
FUNCTIONS_OF_FUNCTIONS = {"create_mask"}


def test_every_public_name_is_tested():
    public = {*attention_docs.__all__, *render.__all__}
    tested = {name.partition(".")[0] for names in SPECIFICATIONS for name in names.split(", ")}
    assert public == tested | CONTAINERS | FUNCTIONS_OF_FUNCTIONS


# ---- The tests ----


def convert_arrays(draw, arguments, specification):
    """Convert all arrays to one dtype, and each to a random layout."""
    integers = [name for name in TOLERANCES if "int" in name]
    dtype = draw(st.sampled_from(integers if specification.has_integers else list(TOLERANCES)))
    if "int" in dtype:
        lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    elif dtype == "float64":
        lowest, highest = -128, 127
    else:  # narrow floats would round large scores
        lowest, highest = -3, 3
    result = {}
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            if name != "attn_mask":
                value = np.clip(value, lowest, highest).astype(dtype_of(dtype))
            change_layout = draw(st.sampled_from(LAYOUTS))
            value = change_layout(value)
        result[name] = value
    return result


def replace_one_argument(draw, arguments, specification):
    """Replace one argument by an unusual one; return also the names that an error may name."""
    name = draw(st.sampled_from([name for name in arguments if name not in specification.fixed]))
    value = arguments[name]
    if isinstance(value, np.ndarray):
        kind = draw(st.sampled_from(list(ODD_ARRAYS)))
        odd = ODD_ARRAYS[kind](value)
        may_fit = kind in ODD_SHAPES or (specification.has_products and "largest" in kind)
    else:
        large = TOO_LARGE if name in specification.sizes else (*TOO_LARGE, LARGE)
        odd = draw(st.sampled_from(ODD_SCALARS + large))
        may_fit = hasattr(odd, "__index__")
    return {**arguments, name: odd}, list(arguments) if may_fit else [name]


def tolerance_of(arguments):
    dtypes = [str(value.dtype) for value in arguments.values() if isinstance(value, np.ndarray)]
    return max(TOLERANCES.get(dtype, 1e-9) for dtype in ["float64", *dtypes])


def assert_close(result, expected, tolerance):
    if isinstance(result, str | figures.Panel):
        assert result == expected
    elif isinstance(result, tuple | list):
        for item, expected_item in zip(result, expected, strict=True):
            assert_close(item, expected_item, tolerance)
    elif result.dtype.kind in "cOU":  # from functions that only move elements
        np.testing.assert_array_equal(result, expected)
    else:
        np.testing.assert_allclose(result.astype(float), expected, rtol=tolerance, atol=tolerance)


def assert_correct_or_refused(specification, arguments, names):
    """Assert that the result is correct, or that the error names one of the arguments."""
    try:
        result = specification.call(**arguments)
    except (TypeError, ValueError) as error:
        message = str(error)
        assert "; expected " in message
        assert any(re.search(rf"\b{name}\b", message) for name in names), message
        return
    definition = specification.slow or specification.call
    expected = definition(**{name: as_float64(value) for name, value in arguments.items()})
    assert_close(result, expected, tolerance_of(arguments))


@pytest.mark.parametrize("name", SPECIFICATIONS)
@settings(max_examples=EXAMPLES_PER_FUNCTION)
@given(data=st.data())
def test_every_dtype_and_layout_gives_correct_result(name, data):
    specification = SPECIFICATIONS[name]
    arguments = convert_arrays(data.draw, specification.draw(data.draw), specification)
    assert_correct_or_refused(specification, arguments, names=())


@pytest.mark.parametrize("name", SPECIFICATIONS)
@settings(max_examples=3 * EXAMPLES_PER_FUNCTION)
@given(data=st.data())
def test_unusual_argument_gives_correct_result_or_named_error(name, data):
    specification = SPECIFICATIONS[name]
    arguments = convert_arrays(data.draw, specification.draw(data.draw), specification)
    arguments, names = replace_one_argument(data.draw, arguments, specification)
    assert_correct_or_refused(specification, arguments, names)


# Functions that take the array library as an argument.
XP_FUNCTIONS = {
    "causal_mask": lambda xp: attention_docs.causal_mask(2, xp=xp),
    "window_mask": lambda xp: attention_docs.window_mask(2, xp=xp),
    "sinusoidal_positions": lambda xp: attention_docs.sinusoidal_positions(2, 2, xp=xp),
    "position_rotation": lambda xp: attention_docs.position_rotation(1, 2, xp=xp),
    "seeded": lambda xp: attention_docs.MultiHeadAttention.seeded(2, num_heads=1, seed=0, xp=xp),
    "steps": lambda xp: examples.steps("self_attention", xp),
}


@pytest.mark.parametrize("name", XP_FUNCTIONS)
@pytest.mark.parametrize("value", ["numpy", None, 2, np.ones, np.ones(2), math])
def test_invalid_array_library_raises(name, value):
    with pytest.raises(TypeError) as caught:
        XP_FUNCTIONS[name](value)
    assert str(caught.value) == (
        f"xp is {value!r}; expected an array library, for example the module numpy"
    )
