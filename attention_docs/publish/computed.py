"""The steps of the worked examples, computed once in a build."""

import functools
import os
from types import ModuleType

from attention_docs import examples
from attention_docs.arrays import Array, backend, to_numpy
from attention_docs.publish.errors import PublishError


def library() -> ModuleType:
    """Return the array library of this build: `numpy`, or what ATTENTION_BACKEND names.

    Raises:
        PublishError: if the library is unknown, not installed, or finds no GPU.
    """
    try:
        return backend(os.environ.get("ATTENTION_BACKEND", "numpy"))
    except (ValueError, RuntimeError) as error:
        raise PublishError(f"ATTENTION_BACKEND: {error}") from error


# Of one build: the hooks import this module afresh for the next.
@functools.cache
def steps(name: str) -> dict[str, Array]:
    """Return the steps of an example, computed with the library of this build, on the host."""
    return {step: to_numpy(a) for step, a in examples.steps(name, library()).items()}
