"""Call the reader's function in a subprocess, which is restarted if it dies or times out.

Output is captured at the file descriptors, because native libraries do not write to `sys.stdout`.
"""

import contextlib
import copy
import functools
import inspect
import io
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import IO, Any

import numpy as np

from attention_check import calling, libraries, loading, positions, recipe
from attention_check.calling import Interface, Settings
from attention_check.cases import Case, output_gradient
from attention_check.libraries import LoadError, UnsupportedError
from attention_check.recipe import Array, LayerCall

# Time limit of the import in seconds: PyTorch and JAX may take minutes on a slow disk.
IMPORT_TIME_LIMIT_S = 300.0
# How many calls of a traceback are reported, the innermost ones.
MOST_FRAMES = 3


@dataclass(frozen=True)
class Outcome:
    """The outcome of one call.

    Attributes:
        results: float64 arrays by name; empty if the call failed.
        failure: why the call failed: the function raised, timed out, ended its process or does not
            support the case; empty if it succeeded.
        kind: `unsupported` if the function does not take the case, `refused` if its own code raised
            the error, `raised` if other code did, `died` if it gave no answer.
        traceback: the lines of the traceback that are in the function's own code.
        has_own_backward: whether a backward pass of its own gave the gradients.
        problems: what is wrong apart from the numbers: changed inputs.
        mismatch: in what the dtype or the device of the output differs from the input's.
        item: the index, key or attribute of the output in what was returned.
    """

    results: dict[str, Array] = field(default_factory=dict)
    failure: str = ""
    kind: str = ""
    traceback: str = ""
    problems: tuple[str, ...] = ()
    mismatch: str = ""
    has_own_backward: bool = False
    item: Any = None


class Worker:
    def __init__(self, target: str, settings: Settings, time_limit_s: float = 10.0) -> None:
        self.target = target
        self.settings = settings
        self.time_limit_s = time_limit_s
        self.process: subprocess.Popen[bytes] | None = None
        self.answers: queue.Queue[Any] = queue.Queue()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def describe(self) -> Interface:
        """Import the function, and return what its signature says of how to call it."""
        answer = self.ask(self.settings, IMPORT_TIME_LIMIT_S)
        if isinstance(answer, LoadError):
            raise answer
        if answer is None:
            module_name = self.target.rpartition(":")[0]
            failure = self.stop_and_explain(IMPORT_TIME_LIMIT_S)
            raise LoadError(
                f"the import of {module_name} {failure}; import it by itself to see why"
            )
        interface: Interface = answer
        return interface

    def run(self, case: Case, interface: Interface) -> Outcome:
        """Call the function with a case; if it hangs or dies, the next call starts a process."""
        if self.process is None:
            self.describe()
        answer = self.ask((case, replace(interface, layers=())), self.time_limit_s)
        if answer is None:
            return Outcome(failure=f"it {self.stop_and_explain(self.time_limit_s)}", kind="died")
        outcome: Outcome = answer
        return outcome

    def ask(self, message: object, time_limit_s: float) -> Any:
        """Send a message to a process and await the answer; None if it is too slow or dies."""
        if self.process is None:
            self.start()
        assert self.process
        assert self.process.stdin
        with contextlib.suppress(OSError):  # the process has died: the queue gets None
            pickle.dump(message, self.process.stdin)
            self.process.stdin.flush()
        with contextlib.suppress(queue.Empty):
            return self.answers.get(timeout=time_limit_s)
        return None

    def start(self) -> None:
        # Not with -m: classes defined in __main__ cannot be unpickled in another process.
        code = "import sys; from attention_check import worker; worker.main(sys.argv[1])"
        command = [sys.executable, "-c", code, self.target]
        # Inherit sys.path, so that the same imports work. Write no bytecode: it would litter the
        # reader's folder and go stale after an edit within a second that keeps the file's size.
        # Limit BLAS to one thread: for small matrices a second one only spins.
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(["", *sys.path]).lstrip(os.pathsep),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        # JAX compiles every operation for every shape, and small arrays need no fast code.
        environment.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.answers = queue.Queue()
        arguments = (self.process, self.answers)
        threading.Thread(target=forward_answers, args=arguments, daemon=True).start()

    def stop_and_explain(self, time_limit_s: float) -> str:
        """Stop a process that gave no answer, and say whether it had ended or was too slow."""
        assert self.process
        status = self.process.poll()
        self.stop()
        if status is None:
            return f"gave no answer within {time_limit_s:g} s and was stopped"
        # A negative status is the number of the signal that ended the process.
        cause = signal.Signals(-status).name if status < 0 else f"status {status}"
        return f"ended its process with {cause}"

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe
                with contextlib.suppress(OSError):
                    pipe.close()
            self.process = None


class InProcessWorker(Worker):
    """Calls a trusted function in the current process, which is faster, without a time limit."""

    def __init__(self, function: Callable[..., Any], settings: Settings) -> None:
        super().__init__(getattr(function, "__name__", type(function).__name__), settings)
        # A copy of a layer, because the check sets its mode and its dtype.
        self.function = copy.deepcopy(function) if hasattr(function, "train") else function

    def describe(self) -> Interface:
        return loading.describe(self.function, self.settings)

    def run(self, case: Case, interface: Interface) -> Outcome:
        return run_case(self.function, case, interface)


def unpickled(stream: IO[bytes]) -> Iterator[Any]:
    with contextlib.suppress(EOFError):
        while True:
            yield pickle.load(stream)


def forward_answers(process: subprocess.Popen[bytes], answers: queue.Queue[Any]) -> None:
    """Put each answer of a process into the queue, and None once its pipe has closed."""
    assert process.stdout
    # UnpicklingError: the process ended within an answer. OSError and ValueError: `Worker.stop`
    # closed the pipe before or during a read.
    with contextlib.suppress(OSError, ValueError, pickle.UnpicklingError):
        for answer in unpickled(process.stdout):
            answers.put(answer)
    # A dying process closes its pipe before it has an exit status, for which `stop_and_explain`
    # polls as soon as it gets None. A process that has closed only its pipe times out here.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    answers.put(None)


def main(target: str) -> None:
    """Answer the messages of a `Worker`, in its subprocess, until the input ends."""
    load_once = functools.cache(loading.load)
    with protected_streams() as (messages, answers):
        for message in unpickled(messages):
            answer: Interface | LoadError | Outcome
            if isinstance(message, Settings):
                try:
                    answer = loading.describe(load_once(target), message)
                except LoadError as error:
                    answer = error
                except Exception as error:
                    answer = LoadError(
                        f"{target} cannot be described: {type(error).__name__}: {error}; wrap it "
                        "in a function of query, key and value"
                    )
            else:
                case, interface = message
                answer = run_case(load_once(target), case, interface)
            pickle.dump(answer, answers)
            answers.flush()


@contextlib.contextmanager
def protected_streams() -> Iterator[tuple[io.BufferedReader, io.BufferedWriter]]:
    """Yield the pipes of messages and answers; what the function reads or prints is empty."""
    messages = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    null_device = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null_device, stream)
    yield messages, answers


def run_case(function: Callable[..., Any], case: Case, interface: Interface) -> Outcome:
    """Call the function with a case; an error that it raises is a failure of its outcome."""
    if case.feature == "three axes":
        interface = replace(interface, layout="bnd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call_function(function, case, interface)
        except UnsupportedError as error:
            return Outcome(failure=str(error), kind="unsupported")
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            our_folder = os.path.dirname(__file__)
            their_frames = [frame for frame in frames if not frame.filename.startswith(our_folder)]
            last_line = (their_frames[-1].line or "") if their_frames else ""
            is_refusal = last_line.startswith(("raise ", "assert ")) or isinstance(
                error, NotImplementedError
            )
            return Outcome(
                failure=f"it raised {type(error).__name__}: {loading.first_line(error)}",
                kind="refused" if is_refusal else "raised",
                traceback="".join(traceback.format_list(their_frames[-MOST_FRAMES:])),
            )


def call_function(function: Callable[..., Any], case: Case, interface: Interface) -> Outcome:
    """Call the function; return its results by name, and problems such as changed inputs."""
    library = interface.library
    if isinstance(case.call, positions.PositionCall):
        return Outcome(positions.call_function(function, case.call, library))
    dtype = case.dtype or interface.dtype
    values = calling.translate_arguments(case.call, interface)
    if interface.layer is not None and hasattr(function, "named_parameters"):
        function = converted_layer(function, dtype)
    arguments = {name: to_argument(value, case, library, dtype) for name, value in values.items()}
    if case.compares_gradients:
        return gradients(function, case, interface, arguments)
    input_names = [name for name, value in values.items() if isinstance(value, np.ndarray)]
    # Copies, because the NumPy array of a PyTorch tensor in float64 shares its memory.
    original_inputs = {name: libraries.to_numpy(arguments[name]).copy() for name in input_names}
    returned = call_by_position(function, arguments, interface)
    changed_names = [
        name
        for name, original in original_inputs.items()
        if not np.array_equal(original, libraries.to_numpy(arguments[name]), equal_nan=True)
    ]
    output, item = find_output(returned, case, interface)
    problems = [f"it changes its input {', '.join(changed_names)}"] if changed_names else []
    mismatch = ""
    if library == "torch":  # and not NumPy, which itself widens, for example by np.float64
        mismatch = dtype_or_device_mismatch(output, arguments[input_names[0]])
    axes = calling.LAYER_AXES if interface.is_layer else calling.AXES
    result = calling.from_layout(libraries.to_numpy(output), interface.output_layout, axes)
    return Outcome({"output": result}, problems=tuple(problems), mismatch=mismatch, item=item)


def converted_layer(layer: Any, dtype: str) -> Any:
    """Return a layer of PyTorch with weights of a dtype, or a copy where it would lose bits."""
    owner: Any = layer.__self__ if inspect.ismethod(layer) else layer
    if dtype != "float64":
        owner = copy.deepcopy(owner)
    # Not `owner.to`, which would drop the imaginary parts of complex buffers.
    for tensor in (*owner.parameters(), *owner.buffers()):
        if tensor.is_floating_point():
            tensor.data = tensor.data.to(getattr(sys.modules["torch"], dtype))
    return getattr(owner, layer.__name__) if inspect.ismethod(layer) else owner


def dtype_or_device_mismatch(output: Any, argument: Any) -> str:
    """Describe in what the dtype or the device of an output differs from an argument's."""
    for attribute in ("dtype", "device"):
        expected, actual = (
            str(getattr(array, attribute, "")).removeprefix("torch.")
            for array in (argument, output)
        )
        if actual != expected:
            return f"its result has {attribute} {actual}; expected {expected}"
    return ""


def call_by_position(
    function: Callable[..., Any], arguments: dict[str, Any], interface: Interface
) -> Any:
    """Call the function with query, key and value by position if possible, as some want."""
    positional = interface.by_position
    keywords = {name: value for name, value in arguments.items() if name not in positional}
    return function(*(arguments[name] for name in positional), **keywords)


def to_argument(value: Any, case: Case, library: str, dtype: str) -> Any:
    """Convert an array, or each array of a tuple, to the function's library.

    In a case about strides, the result is not contiguous. Other values are returned as they are.
    """
    if isinstance(value, tuple) and any(isinstance(item, np.ndarray) for item in value):
        return tuple(to_argument(item, case, library, dtype) for item in value)
    if isinstance(value, SimpleNamespace):  # a module of transformers, with its parameters
        items = {
            name: to_argument(item, case, library, dtype) for name, item in vars(value).items()
        }
        return SimpleNamespace(**items)
    if not isinstance(value, np.ndarray):
        return value
    array = libraries.to_library_array(np.array(value, order="C"), library, dtype)
    is_strided = case.is_strided and array.ndim > 1 and value.dtype != bool
    return libraries.with_transposed_memory(array) if is_strided else array


def find_output(returned: Any, case: Case, interface: Interface) -> tuple[Any, Any]:
    """Return the output that is in a tuple, list, dict or object, and its index, key or attribute.

    An array is the output itself, without an index. In a container, the output is the item given by
    the interface, or else the first array of the expected shape, or else the first array.
    """
    if hasattr(returned, "shape"):
        return returned, None
    if isinstance(returned, tuple | list):
        items = dict(enumerate(returned))
    else:
        items = returned if isinstance(returned, dict) else getattr(returned, "__dict__", {})
    arrays = {name: item for name, item in items.items() if hasattr(item, "shape")}
    if not arrays:
        description_of_returned = type_name(returned)
        if isinstance(returned, dict | tuple | list):
            first_item = next(iter(items.values()), None)
            description_of_returned += f" that begins with {type_name(first_item)}"
        raise UnsupportedError(f"it returns {description_of_returned}; expected an array")
    if interface.output_item in arrays:
        return arrays[interface.output_item], interface.output_item
    right_output = calling.to_layout(case.expected()["output"], interface.output_layout)
    names_of_shape = [name for name, array in arrays.items() if array.shape == right_output.shape]
    name = names_of_shape[0] if names_of_shape else next(iter(arrays))
    return arrays[name], name


def type_name(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def gradients(
    function: Callable[..., Any],
    case: Case,
    interface: Interface,
    arguments: dict[str, Any],
) -> Outcome:
    """Return the gradients of the inputs by our names, or for a layer those along directions."""
    library = interface.library
    if interface.stack_axis is not None:
        raise UnsupportedError("its arguments hold more than one array")
    axes = calling.LAYER_AXES if interface.is_layer else calling.AXES
    if interface.is_backward:
        returned = call_by_position(function, arguments, interface)
        if not isinstance(returned, tuple | list) or len(returned) != len(loading.INPUTS):
            raise UnsupportedError(
                f"it returns {type_name(returned)}; expected the gradients of query, key and value"
            )
        arrays = [
            calling.from_layout(libraries.to_numpy(array), interface.layout, axes)
            for array in returned
        ]
        return Outcome(dict(zip(loading.INPUTS, arrays, strict=True)))
    inputs = ("query", "key", "value", "x") if interface.is_layer else ("query", "key", "value")
    their_names = {name: interface.names[name] for name in inputs if name in interface.names}
    their_names = {ours: name for ours, name in their_names.items() if name in arguments}

    has_own_backward = False

    def compute_output(**keywords: Any) -> Any:
        nonlocal has_own_backward
        returned = call_by_position(function, keywords, interface)
        output = find_output(returned, case, interface)[0]
        has_own_backward = libraries.has_own_backward(output)
        return output

    upstream_values = calling.to_layout(output_gradient(case.call), interface.output_layout)
    upstream = to_argument(upstream_values, case, library, case.dtype or interface.dtype)
    results = libraries.gradients(
        library, compute_output, arguments, list(their_names.values()), upstream
    )
    by_name = {
        ours: calling.from_layout(libraries.to_numpy(results[theirs]), interface.layout, axes)
        for ours, theirs in their_names.items()
    }
    if isinstance(case.call, LayerCall):
        total = sum(by_name.values())  # in self-attention, all are gradients of the same inputs
        by_name = {"input": (total * recipe.direction(case.call)).sum(axis=-1)}
    return Outcome(by_name, has_own_backward=has_own_backward)
