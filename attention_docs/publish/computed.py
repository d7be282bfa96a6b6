"""The steps of the worked examples, computed once in a build."""

import functools

from attention_docs import examples

# Of one build: the hooks import this module afresh for the next.
steps = functools.cache(examples.steps)
