"""Run the doctests of the package and every code block of the pages."""

import numpy as np
import pytest

import attention_docs

NAMES = {"np": np, **{name: getattr(attention_docs, name) for name in attention_docs.__all__}}


@pytest.fixture(autouse=True)
def names_in_doctests(doctest_namespace):
    """Docstrings use the public names and NumPy without importing them."""
    doctest_namespace.update(NAMES)
