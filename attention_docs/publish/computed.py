"""The steps of the worked examples, computed with the array library that the build names."""

import functools
import os
from types import ModuleType

from attention_docs import examples
from attention_docs.arrays import Array, backend, to_numpy
from attention_docs.publish.errors import PublishError
from attention_docs.render.references import named


class ComputedExamples:
    """The steps of each example, computed at most once in a build."""

    def __init__(self, library: ModuleType) -> None:
        self.library = library
        self.steps = functools.cache(self._steps)
        self.named_steps = functools.cache(self._named_steps)

    def _steps(self, name: str) -> dict[str, Array]:
        steps = examples.steps(name, self.library)
        return {step: to_numpy(array) for step, array in steps.items()}

    def _named_steps(self, name: str) -> dict[str, Array]:
        """Return the steps for a figure, which says of each number which result it is."""
        return {step: named(array, f"{name}.{step}") for step, array in self.steps(name).items()}


def selected_library() -> ModuleType:
    """Return the array library named by ATTENTION_BACKEND, or NumPy.

    Raises:
        PublishError: if the library is unknown or not installed, or finds no GPU.
    """
    try:
        return backend(os.environ.get("ATTENTION_BACKEND", "numpy"))
    except (ValueError, RuntimeError) as error:
        raise PublishError(f"ATTENTION_BACKEND: {error}") from error
