"""What a reference names: steps of examples with their words, and recorded results."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.render.numbers import with_plural
from attention_docs.render.references import step_name

Steps = Mapping[str, Array]
StepsOf = Callable[[str], Steps]  # from the name of an example to its steps

REFERENCE = re.compile(r"(?P<example>\w+)\.(?P<step>\w+)(?P<shape>\.shape)?(?P<index>\[[^\]]*\])?")
RESULTS = Path(__file__).parents[1] / "results"
# Those of the check are in its package, and what was read of models is beside its example.
CHECK_RESULTS = Path(__file__).parents[1] / "attention_check" / "results"
EXAMPLES = Path(__file__).parent / "examples"


def look_up(reference: str, steps_of: StepsOf) -> Array | tuple[int, ...]:
    """Return the array, or the shape, that a reference names."""
    match = REFERENCE.fullmatch(reference.replace(" ", ""))
    if not match:
        raise ValueError("expected example.step, example.step[index] or example.step.shape")
    steps = steps_of(match["example"])
    if match["step"] not in steps:
        raise LookupError(
            f"step {match['step']!r} is unknown; {match['example']} has {', '.join(steps)}"
        )
    array, index = steps[match["step"]], match["index"]
    if not match["shape"]:
        return apply_index(array, index)
    if not index:
        return array.shape
    try:
        return apply_index(np.asarray(array.shape), index)
    except LookupError:
        sizes = f"{match['step']}.shape has {with_plural(array.ndim, 'size')}"
        raise LookupError(f"{sizes}; index {index} is out of range") from None


def look_up_array(reference: str, steps_of: StepsOf) -> np.ndarray:
    """Return the array that a reference names, and refuse a shape."""
    array = look_up(reference, steps_of)
    if isinstance(array, tuple):
        raise ValueError(f"{reference} is a shape; expected a step, or numbers of a step")
    return np.asanyarray(array)


def look_up_labels(reference: str) -> tuple[list[str], ...]:
    """Return the words along each axis of what a reference names.

    An axis at which the reference has an index is left out. The result is empty if the example has
    no words for the step, or the reference is to a shape or malformed.

    >>> look_up_labels("course_formula.V[4]")  # a row of V, whose features have names
    (['air', 'water', 'action', 'reason'],)
    """
    match = REFERENCE.fullmatch(reference.replace(" ", ""))
    if not match or match["shape"]:
        return ()
    labels = examples.labels(match["example"], match["step"])
    indices = match["index"].strip("[]").split(",") if match["index"] else []
    indices += [":"] * (len(labels) - len(indices))  # an index may leave out the last axes
    # Not strict, because `labels` is empty if the example has no words for the step.
    return tuple(words for words, index in zip(labels, indices, strict=False) if index == ":")


def words_of(array: Array) -> tuple[list[str], ...]:
    """Return the words along each axis of the step that an array is, or is a part of, if any."""
    reference = step_name(array)
    if reference is None:
        raise ValueError("an array that comes from no step of an example has no words")
    return look_up_labels(reference)


def apply_index(array: Array, index: str | None) -> Array:
    """Return the elements of an array at an index in NumPy's notation; without an index, all."""
    if index is None:
        return array
    if not re.fullmatch(r"\[(-?\d+|:)(,(-?\d+|:))*\]", index):
        raise ValueError(f"index {index} is not understood; expected [0], [0,1] or [:,1]")
    positions = index.strip("[]").split(",")
    key = tuple(slice(None) if position == ":" else int(position) for position in positions)
    try:
        return array[key]
    except IndexError:
        shape = " x ".join(map(str, array.shape))
        raise LookupError(f"index {index} is outside the shape {shape}") from None


def load_results(name: str, folder: Path = RESULTS) -> Any:
    folders = (RESULTS, CHECK_RESULTS, EXAMPLES) if folder == RESULTS else (folder,)
    files = {path.stem: path for place in folders for path in sorted(place.glob("*.json"))}
    if name not in files:
        raise LookupError(f"result {name!r} is unknown; expected one of {', '.join(files)}")
    return json.loads(files[name].read_text(encoding="utf-8"))
