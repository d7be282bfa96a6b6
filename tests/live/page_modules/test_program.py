"""The NumPy program of an example prints the digits that the page shows."""

import contextlib
import io
import re

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.render.numbers import number
from tests.live.graphs import page_graph, page_graphs
from tests.live.page_modules.nodejs import in_node


def printed_output(program):
    """Run a program and return the names and numbers that it prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), np.errstate(all="ignore"):
        exec(compile(program, "program", "exec"), {})
    return re.sub(r"[\[\]]", " ", output.getvalue()).split()


def expected_output(steps):
    """Return the names and numbers of steps, as the program should print them."""
    output = []
    for step, array in steps.items():
        output += [step, *map(number, np.asarray(array).reshape(-1).tolist())]
    return output


@pytest.mark.thorough
def test_program_of_every_example_prints_its_digits():
    programs = in_node(
        """Object.fromEntries(Object.entries(data).map(([name, json]) => {
            const parsed = graph.parse(json);
            return [name, program.program(parsed, parsed.values)];
        }))""",
        page_graphs(),
    )
    for name, program in programs.items():
        assert printed_output(program) == expected_output(examples.steps(name)), name


def test_program_contains_edits():
    program = in_node(
        """(() => {
            const parsed = graph.parse(data);
            const edited = arrays.asarray([[3, 0], [0, -1.5], [1, 0], [0, 1]], "float64");
            const { values } = graph.evaluate(parsed, new Map([["W_Q", edited]]));
            return program.program(parsed, values);
        })()""",
        page_graph("self_attention"),
    )
    assert "W_Q = np.array([[3, 0], [0, -1.5], [1, 0], [0, 1]], dtype=float)\n" in program
    assert "weights = softmax(scaled)\noutput = weights @ V\n" in program
    assert "-1.5000" in printed_output(program)
