"""An array library that computes with NumPy and records each operation.

An example takes its array library as an argument, `steps(xp)`. With this one, it computes the same
numbers as with NumPy, to the last bit, and records a list of nodes: which operation was applied to
which earlier nodes.
"""

import functools
import operator
from collections.abc import Callable, Mapping
from numbers import Number
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from attention_docs.arrays import backend

NUMPY: Any = backend("numpy")

# The operations that can be recorded, by their names in the standard; the page implements the same
# ones in docs/assets/live/operations.js. First the operations that have a Python operator.
BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
}
COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
UNARY = {"neg": "negative", "abs": "abs", "invert": "bitwise_invert"}
FUNCTIONS = {
    *("acos", "ceil", "cos", "exp", "isfinite", "log", "maximum", "round", "sin", "sqrt", "tanh"),
    *("all", "any", "argmax", "max", "mean", "min", "sum", "where"),
    *("concat", "flip", "matrix_transpose", "stack", "take"),
}
# Functions whose second argument is an attribute of this name, not an array.
ATTRIBUTES = {"permute_dims": "axes", "repeat": "repeats", "reshape": "shape"}
# Operations that `Namespace` and `RecordedArray` implement as methods.
METHODS = {"arange", "asarray", "astype", "eye", "full", "getitem"}
OPERATIONS = {
    *(BINARY | COMPARISONS | UNARY).values(),
    *FUNCTIONS,
    *ATTRIBUTES,
    *METHODS,
}
FILL_FUNCTIONS = {"zeros", "ones", "full", "zeros_like", "ones_like", "full_like"}
# Names that examples get from NumPy itself, because they are not operations on arrays.
PASSED_THROUGH = {
    *("bool", "float32", "float64", "int32", "int64", "inf", "nan", "pi", "e", "newaxis"),
    *("finfo", "iinfo", "isdtype", "result_type"),
}


class UnknownOperationError(AttributeError):
    """An operation that cannot be recorded; the message names it."""


class Node(NamedTuple):
    """One recorded operation.

    Attributes:
        literal: for `asarray`, the list or array in the code of the example.
    """

    operation: str
    inputs: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = {}
    literal: Any = None


class Read(NamedTuple):
    """A conversion of an array to a Python scalar, which may steer the control flow.

    Attributes:
        node_count: the number of nodes on the tape at that moment.
    """

    node: int
    answer: bool | int | float
    node_count: int


class Tape:
    """The operations recorded while Python runs an example; one read may answer the opposite."""

    def __init__(self, flipped_read: int | None = None) -> None:
        self.flipped_read = flipped_read
        self.nodes: list[Node] = []
        self.reads: list[Read] = []
        self.xp = Namespace(self)

    def record(
        self, value: Any, operation: str, *inputs: int, **attributes: Any
    ) -> "RecordedArray":
        """Record an operation on the nodes with these indices, and return its value as an array."""
        self.nodes.append(Node(operation, inputs, json_attributes(attributes)))
        return RecordedArray(self, len(self.nodes) - 1, value)

    def record_literal(self, numbers: Any, value: Any) -> "RecordedArray":
        """Record numbers that come from no operation.

        Pages show matrices, so an array with more than two axes becomes a stack of matrices.
        """
        if value.ndim > 2:
            arrays = [
                self.record_literal(item, matrix)
                for item, matrix in zip(numbers, value, strict=True)
            ]
            return self.record(value, "stack", *(array.node for array in arrays))
        attributes = {"value": value.tolist(), "dtype": numpy_dtype_name(value.dtype)}
        # A single number, such as a factor within a formula, is not offered to readers for editing.
        literal = None if isinstance(numbers, Number) else numbers
        self.nodes.append(Node("asarray", attributes=attributes, literal=literal))
        return RecordedArray(self, len(self.nodes) - 1, value)

    def apply(
        self, operation: str, function: Callable[..., Any], *arguments: Any, **attributes: Any
    ) -> "RecordedArray":
        dtypes = [array.dtype for array in arguments if isinstance(array, RecordedArray)]
        inputs = [self._input_node(argument, dtypes, operation) for argument in arguments]
        value = function(*map(unwrap, arguments), **attributes)
        return self.record(value, operation, *inputs, **attributes)

    def _input_node(self, argument: Any, dtypes: list[Any], operation: str) -> int:
        """Return the node of an argument of an operation.

        A number is recorded as a literal, with the dtype that NumPy gives it when it is combined
        with arrays of these dtypes.
        """
        if isinstance(argument, RecordedArray):
            return argument.node
        if not isinstance(argument, Number):
            raise UnknownOperationError(
                f"{operation} cannot be recorded with a {type(argument).__name__}"
            )
        dtype = np.result_type(
            *dtypes,
            argument,  # type: ignore[arg-type]  # NumPy's stubs leave out numbers.Number
        )
        return self.record_literal(argument, np.asarray(argument, dtype=dtype)).node

    def read(self, array: "RecordedArray", convert: Callable[[Any], Any]) -> Any:
        """Convert an array of one element to a Python scalar with `convert`, and record the read.

        The answer of the read to be flipped is negated.
        """
        answer = convert(array.value)
        if len(self.reads) == self.flipped_read:
            answer = not answer
        self.reads.append(Read(array.node, answer, len(self.nodes)))
        return answer


class RecordedArray:
    """A NumPy array with its node on the tape; has the array attributes of the standard."""

    # Makes NumPy defer to our operators, whose error for a NumPy array names the operation.
    __array_ufunc__ = None

    def __init__(self, tape: Tape, node: int, value: Any) -> None:
        self.tape = tape
        self.node = node
        self.value = value

    def __array_namespace__(self, *, api_version: str | None = None) -> "Namespace":
        return self.tape.xp

    def __repr__(self) -> str:
        return f"RecordedArray({self.value!r})"

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.value.shape
        return shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(self.value.size)

    @property
    def T(self) -> "RecordedArray":  # noqa: N802, the standard's name
        return self.tape.record(self.value.T, "matrix_transpose", self.node)

    mT = T

    def __bool__(self) -> bool:
        return bool(self.tape.read(self, bool))

    def __int__(self) -> int:
        return int(self.tape.read(self, int))

    def __float__(self) -> float:
        return float(self.tape.read(self, float))

    def __index__(self) -> int:
        return operator.index(self.tape.read(self, operator.index))

    def __getitem__(self, index: Any) -> "RecordedArray":
        """Index the array; a vector may be indexed by an array of integers."""
        if isinstance(index, RecordedArray) and index.dtype.kind == "i" and self.ndim == 1:
            # As in the standard, `take` has a vector of indices.
            xp = self.tape.xp
            elements: RecordedArray = xp.take(self, xp.reshape(index, (-1,)), axis=0)
            return self.tape.apply("reshape", NUMPY.reshape, elements, shape=index.shape)
        index_tuple = index if isinstance(index, tuple) else (index,)
        entries = [index_entry(entry) for entry in index_tuple]
        value = self.value[index]
        node = self.tape.nodes[self.node]
        whole_axes: tuple[Any, ...] = ("...", {"slice": [None, None, None]})
        is_one_entry = isinstance(entries[0], int) and all(e in whole_axes for e in entries[1:])
        if node.operation == "stack" and not node.attributes.get("axis") and is_one_entry:
            # The entry was stacked from an array with a node of its own.
            return RecordedArray(self.tape, node.inputs[entries[0]], value)
        return self.tape.record(value, "getitem", self.node, index=entries)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise UnknownOperationError("an assignment to elements cannot be recorded; use xp.where")

    __hash__ = None  # type: ignore[assignment]  # makes it unhashable


def _operator(name: str, operation: str, *, reflected: bool = False) -> Callable[..., Any]:
    """Return the method for a Python operator; a reflected one is the right operand's."""
    function = getattr(operator, f"__{name}__")

    def method(*operands: Any) -> RecordedArray:
        tape = operands[0].tape
        operands_in_order = reversed(operands) if reflected else operands
        result: RecordedArray = tape.apply(operation, function, *operands_in_order)
        return result

    return method


for _name, _operation in (BINARY | COMPARISONS | UNARY).items():
    setattr(RecordedArray, f"__{_name}__", _operator(_name, _operation))
for _name, _operation in BINARY.items():
    setattr(RecordedArray, f"__r{_name}__", _operator(_name, _operation, reflected=True))


class Namespace(ModuleType):
    """The array library of a tape, which an example takes as `xp`.

    It is a module like other array libraries, for the annotation `xp: ModuleType`.
    """

    def __init__(self, tape: Tape) -> None:
        super().__init__(__name__)
        self._tape = tape

    # All namespaces are equal, so that a cache keyed by namespace does not keep every tape alive.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namespace)

    def __hash__(self) -> int:
        return hash(Namespace)

    def __getattr__(self, name: str) -> Any:
        if name in PASSED_THROUGH:
            return getattr(NUMPY, name)
        if name in FILL_FUNCTIONS:
            return functools.partial(self._fill, name)
        if name in OPERATIONS:
            return functools.partial(self._operation, name)
        raise UnknownOperationError(
            f"{name} cannot be recorded; use one of OPERATIONS, "
            "or add it there and in operations.js"
        )

    def _operation(self, name: str, *arguments: Any, **attributes: Any) -> RecordedArray:
        """Compute the operation of the standard with this name, and record it.

        An attribute that is passed by position, such as a shape, is recorded by its name.
        """
        function = getattr(NUMPY, name)
        if name in ATTRIBUTES and len(arguments) == 2:
            array, attribute = arguments
            return self._operation(name, array, **attributes, **{ATTRIBUTES[name]: attribute})
        if name in ("concat", "stack"):
            (arrays,) = arguments
            return self._tape.apply(
                name, lambda *arrays, **options: function(arrays, **options), *arrays, **attributes
            )
        return self._tape.apply(name, function, *arguments, **attributes)

    def _fill(self, name: str, shape_or_array: Any, *fill: Any, **options: Any) -> RecordedArray:
        """Record the array of equal numbers that one of FILL_FUNCTIONS returns, as one node.

        Functions such as `zeros_like` take an array instead of a shape, and `full` and `full_like`
        also the number.
        """
        value = getattr(NUMPY, name)(unwrap(shape_or_array), *fill, **options)
        fill_value = value.flat[0].item() if value.size else 0
        return self._tape.record(
            value, "full", shape=value.shape, fill_value=fill_value, dtype=value.dtype
        )

    def count_nonzero(self, array: RecordedArray) -> RecordedArray:
        """Count the true elements; recorded as a sum, which is the same for booleans only."""
        if array.dtype != bool:
            raise UnknownOperationError(
                f"count_nonzero cannot be recorded with dtype {array.dtype}; use it on booleans"
            )
        return self._operation("sum", array)

    def asarray(self, numbers: Any, **options: Any) -> RecordedArray:
        """Record a literal, or convert a recorded array to another dtype."""
        if isinstance(numbers, RecordedArray):
            return self.astype(numbers, options.get("dtype") or numbers.dtype)
        value = NUMPY.asarray(numbers, **options)
        if value.dtype == object:
            raise UnknownOperationError(
                "asarray cannot be recorded with arrays in a list; use xp.stack"
            )
        return self._tape.record_literal(numbers, value)

    def astype(self, array: RecordedArray, dtype: Any, **options: Any) -> RecordedArray:
        """Convert an array to a dtype, and record this unless it has the dtype already."""
        if array.dtype == dtype:
            return array
        value = NUMPY.astype(array.value, dtype, **options)
        return self._tape.record(value, "astype", array.node, dtype=dtype)

    def arange(
        self, start: float, stop: float | None = None, step: float = 1, **options: Any
    ) -> RecordedArray:
        """Record the numbers from `start` to `stop`, or from 0 to `start`, as one node."""
        start, stop = (0, start) if stop is None else (start, stop)
        value = NUMPY.arange(start, stop, step, **options)
        return self._tape.record(
            value, "arange", start=start, stop=stop, step=step, dtype=value.dtype
        )

    def eye(self, rows: int, columns: int | None = None, **options: Any) -> RecordedArray:
        value = NUMPY.eye(rows, columns, **options)
        return self._tape.record(
            value,
            "eye",
            n_rows=value.shape[0],
            n_cols=value.shape[1],
            k=options.get("k", 0),
            dtype=value.dtype,
        )

    def nonzero(self, array: RecordedArray) -> tuple[np.ndarray, ...]:
        """Return the indices of the true elements, for an error message.

        They are not recorded, because their number depends on the values. If an answer was flipped
        to reach the error, there may be no true element, and the first element takes its place.
        """
        flipped_read = self._tape.flipped_read
        is_flipped = flipped_read is not None and len(self._tape.reads) > flipped_read
        if is_flipped and not np.any(array.value):
            return tuple(np.zeros(1, dtype=int) for _ in array.shape)
        indices: tuple[np.ndarray, ...] = np.nonzero(array.value)
        return indices


def unwrap(argument: Any) -> Any:
    return argument.value if isinstance(argument, RecordedArray) else argument


def json_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as JSON values, without attributes that have no effect."""
    json_values: dict[str, Any] = {}
    for name, value in attributes.items():
        has_effect = name not in ("copy", "device") and (name != "keepdims" or value)
        if value is None or not has_effect:
            continue
        if name == "dtype":
            json_values[name] = numpy_dtype_name(value)
        else:
            json_values[name] = list(value) if isinstance(value, tuple) else value
    return json_values


@functools.cache  # NumPy recomputes the name each time, slower than most operations here
def numpy_dtype_name(dtype: Any) -> str:
    name: str = np.dtype(dtype).name
    return name


def index_entry(entry: Any) -> Any:
    """Return one entry of an index as a JSON value."""
    if entry is None:
        return None
    if entry is Ellipsis:
        return "..."
    if isinstance(entry, slice):
        return {"slice": [entry.start, entry.stop, entry.step]}
    # A recorded array could be converted to an integer, but then an edit of it would be missed.
    if isinstance(entry, RecordedArray):
        raise UnknownOperationError("an array as index cannot be recorded; use xp.take or xp.where")
    try:
        return operator.index(entry)
    except TypeError:
        raise UnknownOperationError(
            f"a {type(entry).__name__} as index cannot be recorded; use xp.take or xp.where"
        ) from None
