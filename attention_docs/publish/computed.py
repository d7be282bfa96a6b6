"""Steps and graphs of the worked examples, computed with the array library of the build.

Some examples train a model, so results are cached between builds, and a background process computes
the missing ones while the build prepares pages.
"""

import base64
import functools
import itertools
import os
import pickle
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array, backend, to_numpy
from attention_docs.live import graph as live
from attention_docs.live.library import UnknownOperationError
from attention_docs.live.literals import LiteralError
from attention_docs.publish.cache import package_digest, project_cache
from attention_docs.publish.errors import PublishError, format_error
from attention_docs.render.references import with_step


class ComputedExamples:
    """The steps and the graph of each example, computed at most once in a build.

    Args:
        root: the project's folder.

    Attributes:
        cache: steps and graphs as text, by `cache_key`.
        jobs: the background computations, by `cache_key`.
        steps: a function from the name of an example to its steps.
        steps_with_references: a function to the same steps as arrays with references, which figures
            attach to the numbers.
    """

    def __init__(self, root: Path) -> None:
        """Open the cache, whose results depend on the array library and on all code of examples."""
        package = package_digest(root / "attention_docs")
        library = selected_library().__name__
        this_module = Path(__file__).read_bytes()  # not among the files of `package_digest`
        self.cache = project_cache(root).with_key(package, library, this_module)
        self.jobs: dict[str, Future[str]] = {}
        # Cached for each instance: a decorator of the methods would keep every instance alive.
        self.steps = functools.cache(self._steps)
        self.steps_with_references = functools.cache(self._steps_with_references)

    @contextmanager
    def computing_in_background(self) -> Iterator[None]:
        """Compute what is not cached yet in a second process, while the block runs.

        If the block raises, the remaining computations are cancelled. Otherwise they continue after
        the block, and `steps` and `graph` wait for the results.
        """
        pool = ProcessPoolExecutor(
            max_workers=1, mp_context=get_context("spawn"), initializer=exit_on_interrupt
        )
        for kind, name in itertools.product(COMPUTATIONS, examples.names()):
            key = cache_key(kind, name)
            if key not in self.cache:
                self.jobs[key] = pool.submit(compute, kind, name)
        try:
            yield
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        pool.shutdown(wait=False)

    def graphs(self) -> dict[str, str]:
        """Return the computation graph of every example as JSON, by name."""
        return {name: self.graph(name) for name in examples.names()}

    def graph(self, name: str) -> str:
        """Return the computation graph of an example as JSON.

        Raises:
            PublishError: if an operation cannot be recorded, or a literal cannot be edited.
        """
        return self._load_or_compute("graph", name)

    def _steps(self, name: str) -> dict[str, Array]:
        """Return the steps of an example as NumPy arrays."""
        return deserialise(self._load_or_compute("steps", name))

    def _steps_with_references(self, name: str) -> dict[str, Array]:
        """Return the steps of an example as arrays that know their references."""
        steps = self.steps(name)
        return {step: with_step(array, f"{name}.{step}") for step, array in steps.items()}

    def _load_or_compute(self, kind: str, name: str) -> str:
        """Return the steps or the graph of an example as text, computed now unless it is cached.

        Args:
            kind: `steps` or `graph`.
            name: the name of the example.
        """
        key = cache_key(kind, name)
        if key not in self.cache:
            job = self.jobs.get(key)
            # Steps whose job has not begun are computed here, which is faster than waiting for it.
            # Graphs are left to the other process, which holds the recordings of all examples.
            if job and kind == "steps" and job.cancel():
                job = None
            self.cache[key] = job.result() if job else compute(kind, name)
        return self.cache[key]


def cache_key(kind: str, name: str) -> str:
    """Return the key of the steps or of the graph of an example."""
    return f"{kind} of {name}"


def compute_steps(name: str) -> str:
    """Compute the steps of an example with the array library of the build, as text."""
    steps = examples.steps(name, selected_library())
    return serialise({step: to_numpy(array) for step, array in steps.items()})


def record_graph(name: str) -> str:
    """Record the computation graph of an example, as JSON."""
    return live.to_json(live.graph(name))


def compute(kind: str, name: str) -> str:
    """Compute the steps or the graph of an example as text.

    Args:
        kind: `steps` or `graph`.
        name: the name of the example.

    Raises:
        LookupError: if there is no such example.
        PublishError: if a line of the example fails, an operation cannot be recorded, or a literal
            cannot be edited.
    """
    try:
        return COMPUTATIONS[kind](name)
    except (UnknownOperationError, LiteralError) as error:
        raise PublishError(str(error)) from error
    except Exception as error:
        # For an unknown example, the caller raises an error that names the macro or the figure.
        if name not in examples.names():
            raise
        root = Path(examples.__file__).parents[2]
        raise PublishError(format_error(error, root)) from error


def exit_on_interrupt() -> None:
    """Let Ctrl-C end the process instead of raising in its current job."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


COMPUTATIONS = {"steps": compute_steps, "graph": record_graph}


def serialise(steps: dict[str, np.ndarray]) -> str:
    """Encode arrays as text, without loss."""
    return base64.b64encode(pickle.dumps(steps)).decode()


def deserialise(text: str) -> dict[str, Array]:
    """Decode the arrays that `serialise` encoded.

    >>> deserialise(serialise({"empty": np.zeros((0, 2)), "undefined": np.asarray(-np.nan)}))
    {'empty': array([], shape=(0, 2), dtype=float64), 'undefined': array(nan)}
    """
    steps: dict[str, Array] = pickle.loads(base64.b64decode(text))
    return steps


def selected_library() -> ModuleType:
    """Return the array library named by ATTENTION_BACKEND, or NumPy.

    Raises:
        PublishError: if the library is unknown or not installed, or finds no GPU.
    """
    try:
        return backend(os.environ.get("ATTENTION_BACKEND", "numpy"))
    except (ValueError, RuntimeError) as error:
        raise PublishError(f"ATTENTION_BACKEND: {error}") from error
