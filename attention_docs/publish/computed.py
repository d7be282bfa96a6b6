"""The steps of the worked examples, computed with the array library that the build names.

Some of them train a model, so the steps are kept from one build to the next.
"""

import base64
import functools
import io
import os
from pathlib import Path
from types import ModuleType

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array, backend, to_numpy
from attention_docs.publish.cache import Cache, package_digest
from attention_docs.publish.errors import PublishError
from attention_docs.render.references import named


class ComputedExamples:
    """The steps of each example, computed at most once in a build.

    Args:
        root: the folder of the project, with the steps of the last build.
        library: what computes them. Steps that another library computed, or that come from other
            sources, are computed again.

    Attributes:
        cache: the steps that are known, not saved yet.
    """

    def __init__(self, root: Path, library: ModuleType) -> None:
        self.library = library
        package = package_digest(root / "attention_docs")
        self.cache = Cache(root / ".cache" / "steps.json", package, library.__name__)
        self.steps = functools.cache(self._steps)
        self.named_steps = functools.cache(self._named_steps)

    def _steps(self, name: str) -> dict[str, Array]:
        if name not in self.cache:
            steps = examples.steps(name, self.library)
            self.cache[name] = written({step: to_numpy(array) for step, array in steps.items()})
        return read(self.cache[name])

    def _named_steps(self, name: str) -> dict[str, Array]:
        """Return the steps for a figure, which says of each number which result it is."""
        return {step: named(array, f"{name}.{step}") for step, array in self.steps(name).items()}


def written(steps: dict[str, np.ndarray]) -> str:
    """Write arrays as text that holds every bit of them."""
    file = io.BytesIO()
    np.savez(file, **steps)  # type: ignore[arg-type]  # one of its own options is a bool
    return base64.b64encode(file.getvalue()).decode()


def read(text: str) -> dict[str, Array]:
    """Read what `written` wrote.

    >>> read(written({"nothing": np.zeros((0, 2)), "undefined": np.asarray(-np.nan)}))
    {'nothing': array([], shape=(0, 2), dtype=float64), 'undefined': array(nan)}
    """
    with np.load(io.BytesIO(base64.b64decode(text))) as arrays:
        return dict(arrays)


def selected_library() -> ModuleType:
    """Return the array library named by ATTENTION_BACKEND, or NumPy.

    Raises:
        PublishError: if the library is unknown or not installed, or finds no GPU.
    """
    try:
        return backend(os.environ.get("ATTENTION_BACKEND", "numpy"))
    except (ValueError, RuntimeError) as error:
        raise PublishError(f"ATTENTION_BACKEND: {error}") from error
