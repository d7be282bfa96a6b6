"""The graph of each example, as pages have it: recorded once for all tests and builds."""

import functools
import json

from attention_docs.live.recording import recorded_names
from attention_docs.publish.computed import ComputedExamples
from tests.conftest import ROOT

COMPUTED = ComputedExamples(ROOT)


@functools.cache
def page_graph(name):
    return json.loads(COMPUTED.graph(name))


def page_graphs():
    """Return the graph of each example that has one."""
    return {name: page_graph(name) for name in recorded_names()}
