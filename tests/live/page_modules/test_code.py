"""The code that "Copy code" copies computes an example with the reader's edits."""

import contextlib
import io

import pytest

from attention_docs import show
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


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_copied_code_of_every_example_prints_its_steps_with_edits():
    graphs = page_graphs()
    originals = {name: inputs(graph) for name, graph in graphs.items()}
    edits = {  # each boolean is negated, and each number grows by one
        name: {
            step: array == 0 if array.dtype == bool else array + 1 for step, array in arrays.items()
        }
        for name, arrays in originals.items()
    }
    # As text, because JSON has no infinities.
    cases = [
        [name, graph]
        + [
            [
                [step, a.astype(float).astype(str).tolist(), a.dtype.name]
                for step, a in arrays.items()
            ]
            for arrays in (edits[name], originals[name])
        ]
        for name, graph in graphs.items()
    ]
    codes = in_node(
        """data.map(([name, json, ...edits]) => edits.map((inputs) => code.codeOf({
            name,
            graph: graph.parse(json),
            edits: new Map(inputs.map(([input, text, dtype]) => [input, arrays.asarray(text, dtype)])),
        })))""",
        cases,
    )
    for name, (edited, original) in zip(graphs, codes, strict=True):
        expected = output(show, replay(name, edits[name]).steps)
        try:
            assert output(exec, edited, {}) == expected, name
        finally:
            output(exec, original, {})
