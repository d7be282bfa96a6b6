"""Independent computations of the examples' steps, one module for each group of examples."""

import importlib
import pkgutil

from attention_docs import examples
from tests.examples.comparison import COMPUTATIONS
from tests.examples.independent.one_head import steps_of_one_head

# Examples that have only the steps of one head are compared with a loop.
INPUTS = {"X", "X_q", "X_kv", "W_Q", "W_K", "W_V"}
ONE_HEAD_STEPS = {"Q", "K", "V", "weights", "output"}

# Each module registers its computations when it is imported.
for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")


def computations_of(name):
    """Return the independent computations of an example."""
    if COMPUTATIONS[name]:
        return COMPUTATIONS[name]
    steps = examples.steps(name).keys() - INPUTS
    has_one_head = ONE_HEAD_STEPS <= steps <= ONE_HEAD_STEPS | {"scores", "scaled"}
    return [steps_of_one_head(steps)] if has_one_head else []
