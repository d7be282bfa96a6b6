"""Call the reader's function in a subprocess, which is restarted if it dies or times out.

Output is captured at the file descriptors, because native libraries do not write to `sys.stdout`.
"""

import contextlib
import io
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling, libraries, loading
from attention_docs.diagnosis.calling import Description, Settings
from attention_docs.diagnosis.cases import Case, output_gradient
from attention_docs.diagnosis.libraries import LoadError, UnsupportedError
from attention_docs.diagnosis.recipe import LayerCall

# Time limit of the import in seconds: PyTorch and JAX may take minutes on a slow disk.
IMPORT_LIMIT = 300.0


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
        problems: what is wrong apart from the numbers: changed inputs, another dtype or device.
        notes: side effects of the call: prints, warnings.
        item: the index, key or attribute of the output in what was returned.
    """

    results: dict[str, Array] = field(default_factory=dict)
    failure: str = ""
    kind: str = ""
    traceback: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    item: Any = None


class Worker:
    """Calls the reader's function in a subprocess.

    Args:
        target: `module:function` or `path/to/file.py:function`.
        limit: time limit of a case in seconds.
    """

    def __init__(self, target: str, limit: float = 10.0) -> None:
        self.target, self.limit = target, limit
        self.process: subprocess.Popen[bytes] | None = None
        self.answers: queue.Queue[Any] = queue.Queue()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def describe(self, settings: Settings) -> Description:
        """Import the function and inspect it.

        Raises:
            LoadError: if that fails; the message says in one line what to do.
        """
        answer = self.ask(settings, IMPORT_LIMIT)
        if isinstance(answer, LoadError):
            raise answer
        if answer is None:
            module_name = self.target.rpartition(":")[0]
            failure = self.stop_and_explain(IMPORT_LIMIT)
            raise LoadError(
                f"the import of {module_name} {failure}; import it by itself to see why"
            )
        description: Description = answer
        return description

    def run(self, case: Case, description: Description, settings: Settings) -> Outcome:
        """Call the function with a case."""
        if self.process is None:
            self.describe(settings)
        if description.layer is not None:  # the process has its weights
            assert isinstance(case.call, LayerCall)
            case = replace(case, call=replace(case.call, weights={}, biases={}))
        answer = self.ask((case, description, settings), self.limit)
        if answer is None:
            return Outcome(failure=f"it {self.stop_and_explain(self.limit)}", kind="died")
        outcome: Outcome = answer
        return outcome

    def ask(self, message: object, limit: float) -> Any:
        """Send a message and return the answer, or None if it does not come in time."""
        if self.process is None:
            self.start()
        assert self.process
        assert self.process.stdin
        with contextlib.suppress(OSError):  # the process has died: the queue gets None
            pickle.dump(message, self.process.stdin)
            self.process.stdin.flush()
        with contextlib.suppress(queue.Empty):
            return self.answers.get(timeout=limit)
        return None

    def start(self) -> None:
        """Start the subprocess, and a thread that receives its answers."""
        # Not with -m: classes defined in __main__ cannot be unpickled in another process.
        code = "import sys; from attention_docs.diagnosis import worker; worker.main(sys.argv[1])"
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
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.answers = queue.Queue()
        arguments = (self.process, self.answers)
        threading.Thread(target=forward_answers, args=arguments, daemon=True).start()

    def stop_and_explain(self, limit: float) -> str:
        """Stop the process and return how it ended: by itself, or by the time limit."""
        assert self.process
        status = self.process.poll()
        self.stop()
        if status is None:
            return f"gave no answer within {limit:g} s and was stopped"
        cause = signal.Signals(-status).name if status < 0 else f"status {status}"
        return f"ended its process with {cause}"

    def stop(self) -> None:
        """Kill the subprocess and close its pipes."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe
                with contextlib.suppress(OSError):
                    pipe.close()
            self.process = None


class InProcessWorker(Worker):
    """Calls a trusted function in the current process, which is faster."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(getattr(function, "__name__", "function"))
        self.function = function

    def describe(self, settings: Settings) -> Description:
        return loading.describe(self.function, settings)

    def run(self, case: Case, description: Description, settings: Settings) -> Outcome:
        return run_case(self.function, case, description, settings, stdout=1)


def forward_answers(process: subprocess.Popen[bytes], answers: queue.Queue[Any]) -> None:
    """Put each answer into the queue, and None once the pipe has closed."""
    assert process.stdout
    # EOFError: the process ended between two answers. UnpicklingError: it ended within an answer.
    # OSError and ValueError: `Worker.stop` closed the pipe before or during a read.
    with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
        while True:
            answers.put(pickle.load(process.stdout))
    # A dying process closes its pipe before it has an exit status, for which `stop_and_explain`
    # polls as soon as it gets None. A process that has closed only its pipe times out here.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    answers.put(None)


def main(target: str) -> None:
    """Answer the messages of a `Worker`, in its subprocess, until the input ends.

    Settings are answered with a description of the function or a LoadError; a case, with a
    description and settings, is answered with an outcome.
    """
    with protected_streams() as (messages, answers, stdout):
        function: Any = None
        while True:
            try:
                message = pickle.load(messages)
            except EOFError:
                return
            if isinstance(message, Settings):
                try:
                    function = function or loading.load(target)
                    answer: Any = loading.describe(function, message)
                except LoadError as error:
                    # Without its cause, which may not be possible to pickle.
                    answer = error.with_traceback(None)
                    answer.__cause__ = answer.__context__ = None
            else:
                case, description, settings = message
                answer = run_case(function, case, description, settings, stdout)
            pickle.dump(answer, answers)
            answers.flush()


@contextlib.contextmanager
def protected_streams() -> Iterator[tuple[io.BufferedReader, io.BufferedWriter, int]]:
    """Reserve the pipes for messages and redirect stdout and stderr to a temporary file.

    Yields:
        the pipes of messages and of answers, and the descriptor of the temporary file.
    """
    stdin, stdout, stderr = 0, 1, 2
    messages, answers = os.fdopen(os.dup(stdin), "rb"), os.fdopen(os.dup(stdout), "wb")
    with tempfile.TemporaryFile() as file:
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, stdin)  # a function that reads stdin gets end of file
        os.dup2(file.fileno(), stdout)
        os.dup2(file.fileno(), stderr)
        yield messages, answers, file.fileno()


def run_case(
    function: Callable[..., Any],
    case: Case,
    description: Description,
    settings: Settings,
    stdout: int,
) -> Outcome:
    """Call the function with a case, and note its warnings and whether it prints.

    Args:
        function: the function.
        case: the case.
        description: the function's properties.
        settings: how to call it.
        stdout: the descriptor of the file or pipe that stdout is written to.
    """
    size_before = os.fstat(stdout).st_size
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = call_function(function, case, description, settings)
        except UnsupportedError as error:
            outcome = Outcome(failure=str(error), kind="unsupported")
        except (Exception, SystemExit) as error:
            outcome = failed_outcome(error)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fstat(stdout).st_size > size_before:
        outcome = replace(outcome, notes=(*outcome.notes, "it prints"))
    caught_warnings = [
        f"it warns: {warning.category.__name__}: {loading.first_line(warning.message)}"
        for warning in caught
    ]
    return replace(outcome, notes=(*outcome.notes, *dict.fromkeys(caught_warnings)))


def failed_outcome(error: BaseException) -> Outcome:
    """Describe an error; it is a refusal if a `raise` or `assert` of the reader's code made it."""
    frames = traceback.extract_tb(error.__traceback__)
    our_folder = os.path.dirname(__file__)
    their_frames = [frame for frame in frames if not frame.filename.startswith(our_folder)]
    last_line = (their_frames[-1].line or "") if their_frames else ""
    is_refusal = last_line.startswith(("raise ", "assert "))
    return Outcome(
        failure=f"it raised {type(error).__name__}: {loading.first_line(error)}",
        kind="refused" if is_refusal or isinstance(error, NotImplementedError) else "raised",
        traceback="".join(traceback.format_list(their_frames[-3:])),
    )


def call_function(
    function: Callable[..., Any], case: Case, description: Description, settings: Settings
) -> Outcome:
    """Call the function; return its results by name, and problems such as changed inputs."""
    dtype, library = case.dtype or settings.dtype, settings.library or "numpy"
    values = calling.translate_arguments(case.call, description, settings)
    if description.layer is not None and library == "torch":
        function.to(getattr(sys.modules["torch"], dtype))  # type: ignore[attr-defined]
    arguments = {name: to_argument(value, case, library, dtype) for name, value in values.items()}
    if case.compares_gradients:
        return Outcome(gradients(function, case, description, settings, arguments))
    out_name = description.names.get("out", "")
    array_names = [name for name, value in values.items() if isinstance(value, np.ndarray)]
    before = {name: libraries.to_numpy(arguments[name]) for name in array_names}
    returned = call_by_position(function, arguments, description)
    if description.is_required("out") and returned is None:
        returned = arguments[out_name]
    output, item = find_output(returned, case, description, settings)
    changed = [
        name
        for name, array in before.items()
        if name != out_name
        and not np.array_equal(array, libraries.to_numpy(arguments[name]), equal_nan=True)
    ]
    problems = [f"it changes its input {', '.join(changed)}"] if changed else []
    notes = []
    mismatches = dtype_or_device_mismatches(output, arguments[array_names[0]])
    if library == "torch":
        problems += mismatches
    elif case.dtype == "float32":
        notes = mismatches  # no problem, because NumPy itself widens, for example by np.float64
    results = {"output": output_from_layout(output, case, description, settings)}
    return Outcome(results, problems=tuple(problems), notes=tuple(notes), item=item)


def output_from_layout(
    output: Any, case: Case, description: Description, settings: Settings
) -> Array:
    """Convert an output to a (b, h, m, d_v) array, or that of a layer to (b, m, d_model)."""
    result = libraries.to_numpy(output)
    if isinstance(case.call, LayerCall):
        return calling.layer_to_layout(result, settings.layout or "bnd")
    return calling.from_layout(result, calling.output_layout(description, settings))


def dtype_or_device_mismatches(output: Any, argument: Any) -> list[str]:
    """Describe where the dtype or the device of an output differs from an argument's."""
    mismatches = []
    for attribute in ("dtype", "device"):
        expected, actual = (
            str(getattr(array, attribute, "")).removeprefix("torch.")
            for array in (argument, output)
        )
        if actual != expected:
            mismatches.append(f"its result has {attribute} {actual}; expected {expected}")
    return mismatches


def call_by_position(
    function: Callable[..., Any], arguments: dict[str, Any], description: Description
) -> Any:
    """Pass query, key and value by position if possible, as some of them are positional-only."""
    positional = description.by_position
    keywords = {name: value for name, value in arguments.items() if name not in positional}
    return function(*(arguments[name] for name in positional), **keywords)


def to_argument(value: Any, case: Case, library: str, dtype: str) -> Any:
    """Convert an array, or each array of a tuple, to the function's library.

    In a strided case it is not contiguous. Other values are returned as they are.
    """
    if isinstance(value, tuple) and any(isinstance(item, np.ndarray) for item in value):
        return tuple(to_argument(item, case, library, dtype) for item in value)
    if not isinstance(value, np.ndarray):
        return value
    array = libraries.to_library_array(np.array(value, order="C"), library, dtype)
    is_strided = case.is_strided and array.ndim > 1 and value.dtype != bool
    return libraries.with_transposed_memory(array) if is_strided else array


def find_output(
    returned: Any, case: Case, description: Description, settings: Settings
) -> tuple[Any, Any]:
    """Return the output in a tuple, list, dict or object, and its index, key or attribute.

    It is the first array of the expected shape, or else the first array.

    Raises:
        UnsupportedError: if there is none.
    """
    if hasattr(returned, "shape"):
        return returned, None
    kind = type_name(returned)
    if isinstance(returned, tuple | list):
        items = dict(enumerate(returned))
    else:
        items = returned if isinstance(returned, dict) else getattr(returned, "__dict__", {})
    arrays = {name: item for name, item in items.items() if hasattr(item, "shape")}
    if settings.output_item in arrays:
        return arrays[settings.output_item], settings.output_item
    if not arrays:
        if isinstance(returned, dict | tuple | list):
            kind += f" that begins with {type_name(next(iter(items.values()), None))}"
        raise UnsupportedError(f"it returns {kind}; expected an array")
    layout = calling.output_layout(description, settings)
    if isinstance(case.call, LayerCall):
        shape = calling.layer_to_layout(case.call.query, settings.layout or "bnd").shape
    else:
        shape = calling.to_layout(case.expected()["output"], layout).shape
    name = next((name for name, item in arrays.items() if item.shape == shape), next(iter(arrays)))
    return arrays[name], name


def type_name(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def gradients(
    function: Callable[..., Any],
    case: Case,
    description: Description,
    settings: Settings,
    arguments: dict[str, Any],
) -> dict[str, Array]:
    """Return the gradients of query, key and value, keyed by these names."""
    layout, library = settings.layout or "bhnd", settings.library or "numpy"
    if settings.stack_axis is not None or description.is_required("out"):
        raise UnsupportedError("its arguments hold more than one array")
    their_names = {name: description.names[name] for name in ("query", "key", "value")}

    def output(**keywords: Any) -> Any:
        returned = call_by_position(function, keywords, description)
        return find_output(returned, case, description, settings)[0]

    assert not isinstance(case.call, LayerCall)
    upstream = calling.to_layout(
        output_gradient(case.call), calling.output_layout(description, settings)
    )
    upstream = to_argument(upstream, case, library, case.dtype or settings.dtype)
    results = libraries.gradients(output, library, arguments, list(their_names.values()), upstream)
    return {
        ours: calling.from_layout(libraries.to_numpy(results[theirs]), layout)
        for ours, theirs in their_names.items()
    }
