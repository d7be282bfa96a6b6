"""An array library that computes with NumPy and remembers each operation.

An example takes its array library as an argument, `steps(xp)`. Given this one, it computes the same
numbers as with NumPy, to the last bit, and leaves a list of nodes: which operation was applied to
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

# The operations that can be recorded, by their names in the standard; those that a page computes,
# in docs/assets/live/operations.js, are the same. First those that have an operator of Python.
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
# The second argument of these is no array but an attribute of this name.
ATTRIBUTES = {"permute_dims": "axes", "repeat": "repeats", "reshape": "shape"}
# Those that `Namespace` and `RecordedArray` write out.
METHODS = {"arange", "asarray", "astype", "eye", "full", "getitem"}
OPERATIONS = {
    *(BINARY | COMPARISONS | UNARY).values(),
    *FUNCTIONS,
    *ATTRIBUTES,
    *METHODS,
}
FILLED = {"zeros", "ones", "full", "zeros_like", "ones_like", "full_like"}
# What a namespace offers besides operations on arrays.
PLAIN = {"bool", "float32", "float64", "int32", "int64", "inf", "nan", "pi", "e", "newaxis"}
PLAIN |= {"finfo", "iinfo", "isdtype", "result_type"}


class UnknownOperationError(AttributeError):
    """An operation that cannot be recorded; the message names it."""


class Node(NamedTuple):
    """One operation that was carried out.

    Attributes:
        operation: its name in the array API standard.
        inputs: the numbers of the nodes that it was applied to.
        attributes: its other arguments, by name, as JSON has them.
        literal: for `asarray`, the list or array that was written in the example.
    """

    operation: str
    inputs: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = {}
    literal: Any = None


class Read(NamedTuple):
    """A moment in which Python asked for the value of an array, and went on by the answer.

    Attributes:
        node: the number of the array's node.
        answer: what Python got.
        time: how many nodes there were.
    """

    node: int
    answer: bool | int | float
    time: int


class Tape:
    """What was computed so far.

    Args:
        turned: which of the reads, counted from 0, is to answer the opposite of the truth.

    Examples:
        >>> tape = Tape()
        >>> x = tape.xp.asarray([1.0, 2.0])
        >>> (2 * x).value
        array([2., 4.])
        >>> [node.operation for node in tape.nodes]
        ['asarray', 'asarray', 'multiply']
    """

    def __init__(self, turned: int | None = None) -> None:
        self.turned = turned
        self.nodes: list[Node] = []
        self.reads: list[Read] = []
        self.xp = Namespace(self)

    @property
    def has_turned(self) -> bool:
        """Whether an answer was the opposite of the truth, so what follows has no sense."""
        return self.turned is not None and len(self.reads) > self.turned

    def array(self, value: Any, operation: str, *inputs: int, **attributes: Any) -> "RecordedArray":
        """Remember a node and return its array."""
        self.nodes.append(Node(operation, inputs, described(attributes)))
        return RecordedArray(self, len(self.nodes) - 1, value)

    def literal(self, source: Any, value: Any) -> "RecordedArray":
        """Remember numbers that come from no operation.

        A page shows matrices, so an array of more axes becomes a stack of them.
        """
        if value.ndim > 2:
            parts = [self.literal(*part) for part in zip(source, value, strict=True)]
            stacked = NUMPY.stack([part.value for part in parts])
            return self.array(stacked, "stack", *(part.node for part in parts))
        attributes = {"value": value.tolist(), "dtype": name_of(value.dtype)}
        literal = None if isinstance(source, Number) else source
        self.nodes.append(Node("asarray", attributes=attributes, literal=literal))
        return RecordedArray(self, len(self.nodes) - 1, value)

    def apply(
        self, operation: str, function: Callable[..., Any], *arguments: Any, **attributes: Any
    ) -> "RecordedArray":
        """Carry out an operation on arrays and numbers, and remember it.

        Raises:
            UnknownOperationError: if an argument is neither; the message names the operation.
        """
        dtypes = [each.dtype for each in arguments if isinstance(each, RecordedArray)]
        inputs = []
        for argument in arguments:
            if isinstance(argument, Number):
                dtype = np.result_type(
                    *dtypes,
                    argument,  # type: ignore[arg-type]  # NumPy's stubs leave out numbers.Number
                )
                argument = self.literal(argument, np.asarray(argument, dtype=dtype))
            elif not isinstance(argument, RecordedArray):
                raise UnknownOperationError(
                    f"{operation} cannot be recorded with a {type(argument).__name__}"
                )
            inputs.append(argument.node)
        value = function(*map(plain, arguments), **attributes)
        return self.array(value, operation, *inputs, **attributes)

    def read(self, array: "RecordedArray", convert: Callable[[Any], Any]) -> Any:
        """Give Python the value of an array as one of its own, and remember that it asked."""
        answer = convert(array.value)
        if len(self.reads) == self.turned:
            answer = not answer
        self.reads.append(Read(array.node, answer, len(self.nodes)))
        return answer


class RecordedArray:
    """An array of NumPy that knows which node it is; all that the standard says of an array.

    Attributes:
        value: the numbers.
        node: the number of its node on the tape.
    """

    # An operation with an array of NumPy on the left comes here too, and is refused by name.
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
    def T(self) -> "RecordedArray":  # noqa: N802, as the standard calls it
        return self.tape.array(self.value.T, "matrix_transpose", self.node)

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
        entries = [
            index_entry(entry) for entry in (index if isinstance(index, tuple) else (index,))
        ]
        value, node = self.value[index], self.tape.nodes[self.node]
        if node.operation == "stack" and is_leading(entries) and not node.attributes.get("axis"):
            return RecordedArray(self.tape, node.inputs[entries[0]], value)
        return self.tape.array(value, "getitem", self.node, index=entries)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise UnknownOperationError("an assignment to elements cannot be recorded; take xp.where")

    __hash__ = None  # type: ignore[assignment]  # how Python says that there is none


def _operator(symbol: str, operation: str, *, reflected: bool = False) -> Callable[..., Any]:
    function = getattr(operator, f"__{symbol}__")

    def method(*operands: Any) -> RecordedArray:
        tape = operands[0].tape
        ordered = reversed(operands) if reflected else operands
        result: RecordedArray = tape.apply(operation, function, *ordered)
        return result

    return method


for _symbol, _operation in (BINARY | COMPARISONS | UNARY).items():
    setattr(RecordedArray, f"__{_symbol}__", _operator(_symbol, _operation))
for _symbol, _operation in BINARY.items():
    setattr(RecordedArray, f"__r{_symbol}__", _operator(_symbol, _operation, reflected=True))


class Namespace(ModuleType):
    """The namespace `xp` of one tape.

    >>> Tape().xp.svd
    Traceback (most recent call last):
    attention_docs.live.library.UnknownOperationError: svd cannot be recorded
    """

    def __init__(self, tape: Tape) -> None:
        super().__init__(__name__)
        self._tape = tape

    # All namespaces are equal, so a cache by namespace keeps one of them and not every tape.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namespace)

    def __hash__(self) -> int:
        return hash(Namespace)

    def __getattr__(self, name: str) -> Any:
        if name in PLAIN:
            return getattr(NUMPY, name)
        if name in FILLED:
            return functools.partial(self._filled, name)
        if name in OPERATIONS:
            return functools.partial(self._operation, name)
        raise UnknownOperationError(f"{name} cannot be recorded")

    def _operation(self, name: str, *arguments: Any, **attributes: Any) -> RecordedArray:
        function = getattr(NUMPY, name)
        if name in ATTRIBUTES and len(arguments) == 2:
            attributes[ATTRIBUTES[name]] = arguments[1]
            arguments = arguments[:1]
        if name in ("concat", "stack"):
            (arrays,) = arguments
            return self._tape.apply(name, _of_list(function), *arrays, **attributes)
        return self._tape.apply(name, function, *arguments, **attributes)

    def _filled(self, name: str, like: Any, *fill: Any, **attributes: Any) -> RecordedArray:
        value = getattr(NUMPY, name)(plain(like), *fill, **attributes)
        fill_value = value.flat[0].item() if value.size else 0
        return self._tape.array(
            value, "full", shape=value.shape, fill_value=fill_value, dtype=value.dtype
        )

    def count_nonzero(self, array: RecordedArray) -> RecordedArray:
        """Count what is true: recorded as the sum, as only booleans are counted."""
        return self._operation("sum", array)

    def asarray(self, source: Any, **options: Any) -> RecordedArray:
        if isinstance(source, RecordedArray):
            return self.astype(source, options.get("dtype") or source.dtype)
        value = NUMPY.asarray(source, **options)
        if value.dtype == object:
            raise UnknownOperationError(
                "asarray cannot be recorded with arrays in a list; take xp.stack"
            )
        return self._tape.literal(source, value)

    def astype(self, array: RecordedArray, dtype: Any, **options: Any) -> RecordedArray:
        if array.dtype == dtype:
            return array
        value = NUMPY.astype(array.value, dtype, **options)
        return self._tape.array(value, "astype", array.node, dtype=dtype)

    def arange(
        self, start: float, stop: float | None = None, step: float = 1, **options: Any
    ) -> RecordedArray:
        start, stop = (0, start) if stop is None else (start, stop)
        value = NUMPY.arange(start, stop, step, **options)
        return self._tape.array(
            value, "arange", start=start, stop=stop, step=step, dtype=value.dtype
        )

    def eye(self, rows: int, columns: int | None = None, **options: Any) -> RecordedArray:
        value = NUMPY.eye(rows, columns, **options)
        return self._tape.array(
            value,
            "eye",
            n_rows=value.shape[0],
            n_cols=value.shape[1],
            k=options.get("k", 0),
            dtype=value.dtype,
        )

    def nonzero(self, array: RecordedArray) -> tuple[np.ndarray, ...]:
        """Return the indices of what is true, for the message of an error.

        They are no part of the graph, as their number depends on the values. After an answer that
        was turned nothing may be true; then the first element stands for what would be.
        """
        if self._tape.has_turned and not np.any(array.value):
            return tuple(np.zeros(1, dtype=int) for _ in array.shape)
        found: tuple[np.ndarray, ...] = np.nonzero(array.value)
        return found


def _of_list(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of several arrays in place of one of their list."""
    return lambda *arrays, **attributes: function(arrays, **attributes)


def plain(argument: Any) -> Any:
    """Return the value of a recorded array, and anything else as it is."""
    return argument.value if isinstance(argument, RecordedArray) else argument


def described(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as JSON has them, without those that say nothing.

    >>> described({"axis": None, "keepdims": False, "shape": (2, 1), "dtype": np.float64})
    {'shape': [2, 1], 'dtype': 'float64'}
    """
    found = {}
    for name, value in attributes.items():
        if name in ("copy", "device") or value is None or (name == "keepdims" and not value):
            continue
        if name == "dtype":
            value = name_of(value)
        found[name] = list(value) if isinstance(value, tuple) else value
    return found


@functools.cache  # NumPy works it out each time, which takes longer than most operations here
def name_of(dtype: Any) -> str:
    name: str = np.dtype(dtype).name
    return name


def is_leading(entries: list[Any]) -> bool:
    """Whether an index picks one entry of the first axis, with all that it holds.

    >>> [is_leading(entries) for entries in ([1], [0, "..."], ["...", 0], [0, 1])]
    [True, True, False, False]
    """
    first, *others = entries
    whole: tuple[Any, ...] = ("...", {"slice": [None, None, None]})
    return isinstance(first, int) and all(entry in whole for entry in others)


def index_entry(entry: Any) -> Any:
    """Return one entry of an index as JSON has it.

    Raises:
        UnknownOperationError: if it is none of integer, slice, new axis and ellipsis.

    >>> [index_entry(entry) for entry in (0, None, ..., slice(1, None))]
    [0, None, '...', {'slice': [1, None, None]}]
    """
    if entry is None:
        return None
    if entry is Ellipsis:
        return "..."
    if isinstance(entry, slice):
        return {"slice": [entry.start, entry.stop, entry.step]}
    if isinstance(entry, RecordedArray):
        raise UnknownOperationError(
            "an array as index cannot be recorded; take xp.take or xp.where"
        )
    return operator.index(entry)
