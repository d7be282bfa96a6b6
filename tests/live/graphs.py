"""The graph of each example, recorded at most once per process."""

import functools
import json

from attention_docs.live import graph as live
from attention_docs.live.recording import recorded_names

graph = functools.cache(live.graph)


@functools.cache
def page_graph(name):
    return json.loads(live.to_json(graph(name)))


def page_graphs():
    """Return the graph of each example that has one."""
    return {name: page_graph(name) for name in recorded_names()}
