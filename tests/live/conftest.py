"""The graphs of the examples."""

import json

import pytest

from attention_docs import examples
from attention_docs.live.graph import DRAWN_IN_BULK, graph, text


@pytest.fixture(scope="package")
def graphs():
    """The graph of each example that has one, as the page gets it."""
    names = [name for name in examples.names() if name not in DRAWN_IN_BULK]
    return {name: json.loads(text(graph(name))) for name in names}
