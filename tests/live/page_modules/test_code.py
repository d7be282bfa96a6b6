"""The code that "Copy code" copies computes an example with the reader's edits."""

import contextlib
import io

import pytest

from attention_docs import examples, show
from attention_docs.live.literals import nested_lists
from tests.live.edits import inputs
from tests.live.graphs import page_graphs
from tests.live.page_modules.nodejs import in_node
from tests.live.replay import replay


def output(function, *arguments):
    """Return what a function prints, up to an error that an example may raise."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(ValueError):
        function(*arguments)
    return text.getvalue().strip()


@contextlib.contextmanager
def restored_constants():
    """Put back the items of the lists in all examples, which copied code replaces."""
    constants = [value for name in examples.names() for value in vars(examples.load(name)).values()]
    lists = [value for constant in constants for value, _ in nested_lists(constant)]
    items = [value[:] for value in lists]
    try:
        yield
    finally:
        for value, original in zip(lists, items, strict=True):
            value[:] = original


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_copied_code_of_every_example_prints_its_steps_with_edits():
    graphs = page_graphs()
    edits = {  # each boolean is negated, and each number grows by one
        name: {
            step: array == 0 if array.dtype == bool else array + 1
            for step, array in inputs(graph).items()
        }
        for name, graph in graphs.items()
    }
    # As text, because JSON has no infinities.
    cases = [
        [
            name,
            graph,
            [
                [step, a.astype(float).astype(str).tolist(), a.dtype.name]
                for step, a in edits[name].items()
            ],
        ]
        for name, graph in graphs.items()
    ]
    codes = in_node(
        """data.map(([name, json, inputs]) => code.codeOf({
            name,
            graph: graph.parse(json),
            edits: new Map(inputs.map(([input, text, dtype]) => [input, arrays.asarray(text, dtype)])),
        }))""",
        cases,
    )
    for name, edited in zip(graphs, codes, strict=True):
        expected = output(show, replay(name, edits[name]).steps)
        with restored_constants():
            assert output(exec, edited, {}) == expected, name
