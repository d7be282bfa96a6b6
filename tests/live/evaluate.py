"""A graph computed from its JSON alone, with NumPy: a second interpreter, for the tests."""

import numpy as np

from attention_docs.render.numbers import number


def numbers(value, dtype):
    """Read numbers as a graph has them."""
    return np.asarray(value, dtype=float).astype(dtype)


def entry(value):
    """Read one entry of an index."""
    if isinstance(value, dict):
        return slice(*value["slice"])
    return ... if value == "..." else value


def compute(operation, inputs, attributes):
    tuples = {k: tuple(v) if isinstance(v, list) else v for k, v in attributes.items()}
    match operation:
        case "asarray":
            return numbers(attributes["value"], attributes["dtype"])
        case "full":
            return np.full(tuples["shape"], float(attributes["fill_value"])).astype(tuples["dtype"])
        case "arange":
            return np.arange(*(attributes[name] for name in ("start", "stop", "step", "dtype")))
        case "eye":
            rows, columns = attributes["n_rows"], attributes["n_cols"]
            return np.eye(rows, columns, attributes["k"], attributes["dtype"])
        case "getitem":
            return inputs[0][tuple(map(entry, attributes["index"]))]
        case "concat" | "stack":
            return getattr(np, operation)(inputs, **tuples)
        case "pow":  # the operator squares by a product, the function by a power
            return inputs[0] ** (inputs[1].item() if inputs[1].ndim == 0 else inputs[1])
        case "astype":
            return np.astype(*inputs, attributes["dtype"])
        case "repeat":
            return np.repeat(*inputs, tuples.pop("repeats"), **tuples)
        case _:
            return getattr(np, operation)(*inputs, **tuples)


def evaluate(graph, edits):
    """Return the value of each node, with other numbers for some of the literals."""
    places = {**graph["shared"], **graph["steps"]}
    edited = {places[name]: array for name, array in edits.items()}
    values = []
    with np.errstate(all="ignore"):
        for node, (operation, inputs, *attributes) in enumerate(graph["nodes"]):
            computed = compute(
                operation, [values[node - back] for back in inputs], *attributes or [{}]
            )
            values.append(edited.get(node, computed))
    return values


def refusal(graph, values):
    """Return class and message of the error that Python raises on the way to these values."""
    for guard in graph["guards"]:
        if values[guard["node"]].item() != guard["holds"]:
            error, message = guard["refusal"]
            return [error, "".join(piece(each, values) for each in message)]
    return None


def piece(value, values):
    if isinstance(value, str):
        return value
    wrong, array = values[value["first"]], values[value["of"]]
    index = np.unravel_index(np.argmax(wrong), wrong.shape)
    return f"{array[index]} at {[int(i) for i in index]}"


def shown(value):
    """Show each number of nested lists."""
    return [shown(each) for each in value] if isinstance(value, list) else number(value)
