"""One process that calls the reader's function, and the side that waits for it.

It is started anew only if it dies or has to be stopped. What the function prints is caught, by
descriptor, so that a library's own output is too.
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
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis import calling, libraries
from attention_docs.diagnosis.calling import Description, LoadError, Settings, UnsupportedError
from attention_docs.diagnosis.cases import Case, output_gradient
from attention_docs.diagnosis.recipe import LayerCall

IMPORT_LIMIT = 300.0


@dataclass(frozen=True)
class Outcome:
    """What came of one call.

    Attributes:
        results: float64 arrays by name; none if there is no result.
        failure: why there is none: it raised, it does not support the case, hung or died.
        broken: whether that is a fault of the function, and not a case it does not support.
        notes: what else it did: printed, warned, changed its inputs, returned a tuple.
    """

    results: dict[str, Array] = field(default_factory=dict)
    failure: str = ""
    broken: bool = False
    notes: tuple[str, ...] = ()


class Worker:
    """The reader's function in a process of its own.

    Args:
        target: `module:function` or `path/to/file.py:function`.
        limit: seconds that a case may take.
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
        """Import the function and find out what it says of itself.

        Raises:
            LoadError: if that fails; the message says in one line what to do.
        """
        found = self.ask(settings, IMPORT_LIMIT)
        if isinstance(found, LoadError):
            raise found
        if found is None:
            place = self.target.rpartition(":")[0]
            ended = self.end(IMPORT_LIMIT)
            raise LoadError(f"the import of {place} {ended}; import it by itself to see why")
        description: Description = found
        return description

    def run(self, case: Case, description: Description, settings: Settings) -> Outcome:
        """Call the function with a case."""
        if self.process is None:
            self.describe(settings)
        outcome = self.ask((case, description, settings), self.limit)
        if outcome is None:
            return Outcome(failure=f"it {self.end(self.limit)}", broken=True)
        answer: Outcome = outcome
        return answer

    def ask(self, message: object, limit: float) -> Any:
        """Send a message and return the answer; nothing if there is none in time."""
        if self.process is None:
            self.start()
        assert self.process
        assert self.process.stdin
        with contextlib.suppress(OSError):  # it is dead already, and the queue will say so
            pickle.dump(message, self.process.stdin)
            self.process.stdin.flush()
        with contextlib.suppress(queue.Empty):
            return self.answers.get(timeout=limit)
        return None

    def start(self) -> None:
        # Not with -m: classes of a module that runs as __main__ cannot be sent to another process.
        code = "import sys; from attention_docs.diagnosis import worker; worker.main(sys.argv[1])"
        command = [sys.executable, "-c", code, self.target]
        # Its path is ours, so that what can be imported here can be imported there. It writes no
        # bytecode: beside the reader's file it would be litter, and stale after an edit that keeps
        # the file's size within one second. The matrices are small, so a second thread of BLAS
        # would do nothing but wait, which it does busily.
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
        read = threading.Thread(target=forward, args=(self.process, self.answers), daemon=True)
        read.start()

    def end(self, limit: float) -> str:
        """Stop the process and say how it ended: by itself, or by us after too long a time."""
        assert self.process
        status = self.process.poll()
        self.stop()
        if status is None:
            return f"gave no answer within {limit:g} s and was stopped"
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        return f"ended its process with {how}"

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe
                with contextlib.suppress(OSError):
                    pipe.close()
            self.process = None


class InThisProcess(Worker):
    """A function that is here already and is trusted to end; it starts no process."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(getattr(function, "__name__", "function"))
        self.function = function

    def describe(self, settings: Settings) -> Description:
        return calling.describe(self.function, settings)

    def run(self, case: Case, description: Description, settings: Settings) -> Outcome:
        return outcome(self.function, case, description, settings, printed=1)


def forward(process: subprocess.Popen[bytes], answers: queue.Queue[Any]) -> None:
    """Put each answer into the queue, and None when the process has ended."""
    assert process.stdout
    with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
        while True:
            answers.put(pickle.load(process.stdout))
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    answers.put(None)


def main(target: str) -> None:
    """Answer messages until there are no more."""
    with protected_streams() as (messages, answers, printed):
        function: Any = None
        while True:
            try:
                message = pickle.load(messages)
            except EOFError:
                return
            if isinstance(message, Settings):
                try:
                    function = function or calling.load(target)
                    answer: Any = calling.describe(function, message)
                except LoadError as error:
                    answer = error.with_traceback(None)
                    answer.__cause__ = answer.__context__ = None
            else:
                case, description, settings = message
                answer = outcome(function, case, description, settings, printed)
            pickle.dump(answer, answers)
            answers.flush()


@contextlib.contextmanager
def protected_streams() -> Iterator[tuple[io.BufferedReader, io.BufferedWriter, int]]:
    """Keep the pipes for ourselves, and let all that is printed go to a file."""
    messages, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with tempfile.TemporaryFile() as file:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)  # a function that asks for input gets the end of it
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        yield messages, answers, file.fileno()


def outcome(
    function: Callable[..., Any],
    case: Case,
    description: Description,
    settings: Settings,
    printed: int,
) -> Outcome:
    """Call the function with a case and note what it does besides."""
    before = os.fstat(printed).st_size
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            results, notes = call(function, case, description, settings)
            found = Outcome(results, notes=tuple(notes))
        except UnsupportedError as error:
            found = Outcome(failure=str(error))
        except (Exception, SystemExit) as error:
            failure = f"it raised {type(error).__name__}: {calling.first_line(error)}"
            # A name that nothing has is a slip of the pen and no case that is not supported.
            found = Outcome(failure=failure, broken=isinstance(error, NameError))
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fstat(printed).st_size > before:
        found = replace(found, notes=(*found.notes, "prints"))
    messages = (f"warns: {w.category.__name__}: {calling.first_line(w.message)}" for w in warned)
    return replace(found, notes=(*found.notes, *dict.fromkeys(messages)))


def call(
    function: Callable[..., Any], case: Case, description: Description, settings: Settings
) -> tuple[dict[str, Array], list[str]]:
    """Call the function and return its results by name, and notes."""
    dtype = case.dtype or settings.dtype
    plain = calling.arguments(case.call, description.names, settings)
    given = {
        name: converted(value, case, description.library, dtype) for name, value in plain.items()
    }
    if description.names.get("mask") in description.required:
        given = {description.names["mask"]: None, **given}
    arrays = [name for name, value in plain.items() if isinstance(value, np.ndarray)]
    before = {name: libraries.to_numpy(given[name]) for name in arrays}
    if "weights" in description.names and isinstance(case.call, LayerCall):
        libraries.set_weights(function, case.call, dtype)
    if case.gradients:
        return gradients(function, case, description, settings, given), []
    answer = positional_first(function, given, description)
    output, notes = the_output(answer)
    after = {name: libraries.to_numpy(given[name]) for name in arrays}
    changed = [name for name in arrays if not np.array_equal(before[name], after[name])]
    if changed:
        notes.append(f"changes its input {', '.join(changed)}")
    layout = settings.layout or ("bnd" if isinstance(case.call, LayerCall) else "bhnd")
    result = libraries.to_numpy(output)
    if isinstance(case.call, LayerCall):
        return {"output": calling.rows_arranged(result, layout)}, notes
    return {"output": calling.restored(result, layout)}, notes


def positional_first(
    function: Callable[..., Any], given: dict[str, Any], description: Description
) -> Any:
    """Pass query, key and value by position where it can be: some take them in no other way."""
    first = description.by_position
    rest = {name: value for name, value in given.items() if name not in first}
    return function(*(given[name] for name in first), **rest)


def converted(value: Any, case: Case, library: str, dtype: str) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    array = libraries.to_library(np.ascontiguousarray(value), library, dtype)
    is_strided = case.strided and array.ndim > 1 and value.dtype != bool
    return libraries.strided(array) if is_strided else array


def the_output(answer: Any) -> tuple[Any, list[str]]:
    """Return the array that a function returns, or the first of a tuple, list or mapping.

    Raises:
        UnsupportedError: if there is none.
    """
    notes, returned = [], in_a_word(answer)
    if isinstance(answer, dict | tuple | list):
        notes.append(f"returns {returned}; its first item is taken")
        items = answer.values() if isinstance(answer, dict) else answer
        answer = next(iter(items), None)
        returned += f" that begins with {in_a_word(answer)}"
    if not hasattr(answer, "shape"):
        raise UnsupportedError(f"it returns {returned}; expected an array")
    return answer, notes


def in_a_word(answer: Any) -> str:
    return "None" if answer is None else f"a {type(answer).__name__}"


def gradients(
    function: Callable[..., Any],
    case: Case,
    description: Description,
    settings: Settings,
    given: dict[str, Any],
) -> dict[str, Array]:
    layout = settings.layout or "bhnd"
    ours = {description.names[name]: name for name in ("query", "key", "value")}

    def output(**arguments: Any) -> Any:
        return the_output(positional_first(function, arguments, description))[0]

    assert not isinstance(case.call, LayerCall)
    upstream = calling.arranged(output_gradient(case.call), layout)
    upstream = converted(upstream, case, description.library, case.dtype or settings.dtype)
    found = libraries.gradients(output, description.library, given, list(ours), upstream)
    return {
        ours[name]: calling.restored(libraries.to_numpy(array), layout)
        for name, array in found.items()
    }
