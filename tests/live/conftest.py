"""The graphs of the examples."""

import json

import pytest

from attention_docs.live.graph import graph, text
from attention_docs.live.recording import recorded_names


@pytest.fixture(scope="package")
def graphs():
    """The graph of each example that has one, as the page gets it."""
    return {name: json.loads(text(graph(name))) for name in recorded_names()}
