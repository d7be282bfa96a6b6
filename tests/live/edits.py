"""Edits of the inputs of an example: of every row, of pairs and at random."""

import itertools

import numpy as np

# Probabilities of an ordinary number and of a row of infinities.
ORDINARY, ROW_OF_INFINITIES = 0.8, 0.05
# Only one large size: scores of two large numbers could differ by rounding alone.
EXTREME = [0.0, -0.0, 1e-5, 709.0, 1e200, -1e200, np.inf, -np.inf, np.nan]


def inputs(graph):
    """Return the numbers of each input of a graph, by name."""
    steps = {graph["steps"][step]: step for step in graph["inputs"]}
    names = steps | {node: name for name, node in graph["shared"].items()}
    attributes = {name: graph["nodes"][node][2] for node, name in names.items()}
    # Through float, because infinity is a string in a graph.
    return {
        name: np.array(literal["value"], dtype=float).astype(literal["dtype"])
        for name, literal in attributes.items()
    }


def every_row(draw, literals):
    """Yield an edit of each row, by which all its numbers change."""
    for step, array in literals.items():
        for index in np.ndindex(array.shape[:-1]):
            yield {step: changed(draw, array, index)}


def every_pair(draw, literals):
    """Yield an edit of two numbers for every pair of inputs, equal ones included."""
    for pair in itertools.combinations_with_replacement(literals, 2):
        edited = {}
        for step in pair:
            array = edited.get(step, literals[step])
            index = np.unravel_index(draw.integers(array.size), array.shape)
            edited[step] = changed(draw, array, index)
        yield edited


def changed(draw, array, index):
    """Return a copy of an array with different numbers at an index."""
    array = array.copy()
    array[index] = array[index] + draw.choice([-2, -1, 1, 3], size=array[index].shape)
    return array


def random_edit(draw, literals):
    """Return an edit of up to three numbers of one or two inputs."""
    chosen = draw.choice(
        list(literals), size=min(len(literals), draw.integers(1, 3)), replace=False
    )
    edited = {str(step): literals[str(step)].copy() for step in chosen}
    for array in edited.values():
        for index in draw.integers(array.size, size=draw.integers(1, 4)):
            array.flat[index] = random_number(draw, array.dtype)
        if draw.random() < ROW_OF_INFINITIES and array.dtype.kind == "f":
            array[-1:] = -np.inf
    return edited


def random_number(draw, dtype):
    """Return a random number of a dtype; a float may be infinite, nan or very large."""
    if dtype.kind == "b":
        return draw.random() < 0.5
    if dtype.kind == "i":
        return draw.integers(-3, 4)
    if draw.random() > ORDINARY:
        return draw.choice(EXTREME)
    return draw.choice([draw.integers(-9, 10), draw.integers(-9, 10) / 4, draw.normal() * 3])
