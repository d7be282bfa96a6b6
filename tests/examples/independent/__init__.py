"""Independent computations of the examples' steps, one module for each group of examples."""

import importlib
import pkgutil
import re

from attention_docs import examples
from tests.examples.comparison import COMPUTATIONS
from tests.examples.independent.one_head import steps_of_one_head

# Examples that have only the steps of one head are compared with a loop.
INPUTS = {"X", "X_q", "X_kv", "W_Q", "W_K", "W_V"}
ONE_HEAD_STEPS = {"Q", "K", "V", "weights", "output"}

# Each module registers its computations when it is imported.
for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")


def step_names(name):
    """Return the names of an example's steps from its docstring, without computing them."""
    return set(re.findall(r"^([A-Za-z]\w*)", examples.expected(name), re.M))


def has_one_head(name):
    """Whether an example has the steps of one head, and no other steps."""
    optional_steps = INPUTS | {"scores", "scaled"}
    return ONE_HEAD_STEPS <= step_names(name) <= ONE_HEAD_STEPS | optional_steps


def computations_of(name):
    """Return the independent computations of an example."""
    if has_one_head(name) and not COMPUTATIONS[name]:
        return [steps_of_one_head(step_names(name) - INPUTS)]
    return COMPUTATIONS[name]
