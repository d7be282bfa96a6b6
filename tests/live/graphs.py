"""The graph of each example, recorded at most once per process."""

import functools
import json

from attention_docs.live import graph as live
from attention_docs.live.recording import recorded_names


@functools.cache
def page_graph(name):
    # Not from the build's cache: recording an example also finds its literals, which tests edit, before
    # one of them runs copied code in the example's module.
    return json.loads(live.to_json(live.graph(name)))


def page_graphs():
    """Return the graph of each example that has one."""
    return {name: page_graph(name) for name in recorded_names()}
