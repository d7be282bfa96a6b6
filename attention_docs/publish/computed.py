"""The steps of the worked examples, computed with the array library that the build names, and
their graphs.

Some of them train a model, so both are kept from one build to the next, and a process of its own
computes what is new while the build goes on with the pages.
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
from attention_docs.publish.cache import package_digest, results
from attention_docs.publish.errors import PublishError, told
from attention_docs.render.references import with_step


class ComputedExamples:
    """The steps and the graph of each example, computed at most once in a build.

    Args:
        root: the folder of the project, with what earlier builds computed. What another library
            computed, or what comes from other sources, is computed again.
    """

    def __init__(self, root: Path) -> None:
        package, library = package_digest(root / "attention_docs"), selected_library().__name__
        self.cache = results(root).part(package, library, Path(__file__).read_bytes())
        self.jobs: dict[str, Future[str]] = {}
        self.steps = functools.cache(self._steps)
        self.named_steps = functools.cache(self._named_steps)

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Have another process compute what the last build did not; without it, if this fails."""
        pool = ProcessPoolExecutor(1, get_context("spawn"), end_at_once_when_interrupted)
        for kind, name in itertools.product(WRITERS, examples.names()):
            if (item := f"{kind} of {name}") not in self.cache:
                self.jobs[item] = pool.submit(compute, kind, name)
        try:
            yield
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        pool.shutdown(wait=False)

    def graphs(self) -> dict[str, str]:
        """Return the graph of every example."""
        return {name: self.graph(name) for name in examples.names()}

    def graph(self, name: str) -> str:
        """Return the graph of an example as JSON.

        Raises:
            PublishError: if an operation cannot be recorded, or a literal cannot be edited.
        """
        return self._text("graph", name)

    def _steps(self, name: str) -> dict[str, Array]:
        return read(self._text("steps", name))

    def _named_steps(self, name: str) -> dict[str, Array]:
        """Return the steps for a figure, which says of each number which result it is."""
        return {
            step: with_step(array, f"{name}.{step}") for step, array in self.steps(name).items()
        }

    def _text(self, kind: str, name: str) -> str:
        item = f"{kind} of {name}"
        if item not in self.cache:
            job = self.jobs.get(item)
            # Steps that the pool has not begun are there sooner if they are computed here. A graph
            # is not: it needs the recordings of all examples, which the pool has.
            if job and not (kind == "steps" and job.cancel()):
                self.cache[item] = job.result()
            else:
                self.cache[item] = compute(kind, name)
        return self.cache[item]


def computed_steps(name: str) -> str:
    steps = examples.steps(name, selected_library())
    return written({step: to_numpy(array) for step, array in steps.items()})


def recorded_graph(name: str) -> str:
    return live.to_json(live.graph(name))


def compute(kind: str, name: str) -> str:
    """Compute the steps or the graph of an example.

    Raises:
        LookupError: if there is no such example.
        PublishError: naming the line that fails, the operation that cannot be recorded or the
            literal that cannot be edited.
    """
    try:
        return WRITERS[kind](name)
    except (UnknownOperationError, LiteralError) as error:
        raise PublishError(str(error)) from error
    except Exception as error:
        if name not in examples.names():
            raise
        raise PublishError(told(error, Path(examples.__file__).parents[2])) from error


def end_at_once_when_interrupted() -> None:
    """Let Ctrl-C end a process, and not its current job alone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


WRITERS = {"steps": computed_steps, "graph": recorded_graph}


def written(steps: dict[str, np.ndarray]) -> str:
    """Write arrays as text that holds every bit of them."""
    return base64.b64encode(pickle.dumps(steps)).decode()


def read(text: str) -> dict[str, Array]:
    """Read what `written` wrote.

    >>> read(written({"nothing": np.zeros((0, 2)), "undefined": np.asarray(-np.nan)}))
    {'nothing': array([], shape=(0, 2), dtype=float64), 'undefined': array(nan)}
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
