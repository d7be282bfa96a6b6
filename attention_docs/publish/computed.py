"""Steps and graphs of the worked examples, computed with the array library of the build.

Some examples train a model, so results are cached between builds.
"""

import base64
import functools
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from attention_docs import examples
from attention_docs.arrays import Array, backend, to_numpy
from attention_docs.live import graph as live
from attention_docs.live.library import UnknownOperationError
from attention_docs.live.literals import LiteralError
from attention_docs.publish.cache import package_digest, project_cache
from attention_docs.publish.errors import PublishError, format_error
from attention_docs.render.references import StepArray, with_step


class ComputedExamples:
    """The steps and the graph of each example, computed at most once in a build.

    Attributes:
        steps: a function from the name of an example to its steps, which know their references, so
            that figures can attach these to the numbers.
    """

    def __init__(self, root: Path) -> None:
        """Open the cache, whose results depend on the array library and on all code of examples."""
        package = package_digest(root / "attention_docs")
        library = selected_library().__name__
        this_module = Path(__file__).read_bytes()  # not among the files of `package_digest`
        self.cache = project_cache(root).with_version(package, library, this_module)
        # Cached for each instance: a decorator of the method would keep every instance alive.
        self.steps = functools.cache(self._steps)

    def graph(self, name: str) -> str:
        return self._load_or_compute(record_graph, name)

    def _steps(self, name: str) -> dict[str, StepArray]:
        """Return the steps of an example as NumPy arrays that know their references."""
        text = self._load_or_compute(compute_steps, name)
        steps: dict[str, Array] = pickle.loads(base64.b64decode(text))
        return {step: with_step(array, f"{name}.{step}") for step, array in steps.items()}

    def _load_or_compute(self, compute: Callable[[str], str], name: str) -> str:
        """Return what a function returns for an example, computed now unless it is cached."""
        key = f"{compute.__name__} {name}"
        if key not in self.cache:
            try:
                self.cache[key] = compute(name)
            except (UnknownOperationError, LiteralError) as error:
                raise PublishError(str(error)) from error
            except Exception as error:
                # For an unknown example, the caller names the macro or the figure in its error.
                if name not in examples.names():
                    raise
                root = Path(examples.__file__).parents[2]
                raise PublishError(format_error(error, root)) from error
        return self.cache[key]


def compute_steps(name: str) -> str:
    steps = examples.steps(name, selected_library())
    arrays = {step: to_numpy(array) for step, array in steps.items()}
    return base64.b64encode(pickle.dumps(arrays)).decode()


def record_graph(name: str) -> str:
    return live.to_json(live.graph(name))


def selected_library() -> ModuleType:
    """Return the array library named by ATTENTION_BACKEND, or NumPy."""
    try:
        return backend(os.environ.get("ATTENTION_BACKEND", "numpy"))
    except (ValueError, RuntimeError) as error:
        raise PublishError(f"ATTENTION_BACKEND: {error}") from error
