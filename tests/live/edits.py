"""Edits of the inputs of each example, of every number and at random."""

import itertools

import numpy as np

# What a reader may type, from the ordinary to what Python refuses.
ORDINARY, ROW_OF_INFINITIES = 0.8, 0.05
# Scores of two large numbers could differ by their rounding alone, which depends on the processor.
EXTREME = [0.0, -0.0, 1e-5, 709.0, 1e200, -1e200, np.inf, -np.inf, np.nan]


def inputs(found):
    """Return the numbers of each input of a graph, by one name."""
    steps = {found["steps"][step]: step for step in found["inputs"]}
    named = steps | {node: name for name, node in found["shared"].items()}
    attributes = {name: found["nodes"][node][2] for node, name in named.items()}
    # In a graph, infinity is text.
    return {
        name: np.array(each["value"], dtype=float).astype(each["dtype"])
        for name, each in attributes.items()
    }


def every_number(draw, literals):
    """Change each number of each input, alone."""
    for step, array in literals.items():
        for index in np.ndindex(array.shape):
            yield {step: changed(draw, array, index)}


def every_pair(draw, literals):
    """Change a number of each of two inputs, or two of one, for every pair of inputs."""
    for pair in itertools.combinations_with_replacement(literals, 2):
        edited = {}
        for step in pair:
            array = edited.get(step, literals[step])
            index = np.unravel_index(draw.integers(array.size), array.shape)
            edited[step] = changed(draw, array, index)
        yield edited


def changed(draw, array, index):
    """Return an array with another number at a place."""
    array = array.copy()
    array[index] += draw.choice([-2, -1, 1, 3])
    return array


def edit(draw, literals):
    """Change up to three numbers of one or two inputs."""
    chosen = draw.choice(
        list(literals), size=min(len(literals), draw.integers(1, 3)), replace=False
    )
    edited = {str(step): literals[str(step)].copy() for step in chosen}
    for array in edited.values():
        for place in draw.integers(array.size, size=draw.integers(1, 4)):
            array.flat[place] = new_number(draw, array.dtype)
        if draw.random() < ROW_OF_INFINITIES and array.dtype.kind == "f":
            array[-1:] = -np.inf
    return edited


def new_number(draw, dtype):
    if dtype.kind == "b":
        return draw.random() < 0.5
    if dtype.kind == "i":
        return draw.integers(-3, 4)
    if draw.random() > ORDINARY:
        return draw.choice(EXTREME)
    return draw.choice([draw.integers(-9, 10), draw.integers(-9, 10) / 4, draw.normal() * 3])
