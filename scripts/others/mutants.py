"""Change right functions of a package in small ways, and print what the check says of each mutant.

python mutants.py onnx|keras|timm, in an environment with the package. Only lines that the cases
reach are changed. A mutant that the check does not find is also called at random.
"""

import ast
import copy
import importlib
import importlib.metadata
import inspect
import json
import os
import sys
import textwrap

from random_calls import answer, random_calls, same

os.environ.update(KERAS_BACKEND="numpy", TIMM_FUSED_ATTN="0")

from attention_docs.diagnosis.calling import LoadError, Settings
from attention_docs.diagnosis.checking import check_with
from attention_docs.diagnosis.worker import InProcessWorker

SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
UNCHANGED = (ast.Raise, ast.Assert)
# By the package: the module, and the functions in it that are changed.
FUNCTIONS = {
    "onnx": (
        "onnx.reference.ops.op_attention",
        ["_softmax", "_softcap", "_apply_causal", "_apply_sliding_window", "_compute_attention"],
    ),
    "keras": (
        "keras.src.backend.numpy.nn",
        ["_apply_masks", "_dot_product_attention_xla", "dot_product_attention"],
    ),
    "timm": ("timm.layers.attention", ["Attention.forward"]),
}


def main(package):
    name, functions = FUNCTIONS[package]
    importlib.import_module(package)  # its modules import one another
    home = importlib.import_module(name)
    attention = ADAPTERS[package](home)
    source = "\n".join(source_of(home, function) for function in functions)
    reached = lines_reached(home, source, attention)
    original, calls = report(attention), random_calls(package)
    answers = [answer(attention, call) for call in calls]
    tree = ast.parse(source)
    for function, statement, place, change in list(sites(tree)):
        if statement.lineno in reached:
            before, kept = first_line(statement), copy.copy(vars(place))
            change(place)
            define(home, ast.unparse(tree))
            line = statement.lineno - function.lineno
            mutant = {
                "package": package,
                "version": importlib.metadata.version(package),
                "change": f"{function.name}, line {line}: {before} -> {first_line(statement)}",
                **outcome(original, attention),
            }
            if not mutant["found"]:
                again = (answer(attention, call) for call in calls)
                differing = sum(not same(*two) for two in zip(answers, again, strict=True))
                mutant["random_calls_that_differ"] = differing
            print(json.dumps(mutant), flush=True)
            vars(place).update(kept)


def source_of(home, name):
    """Return the source of a function without comments and annotations."""
    function = home
    for part in name.split("."):
        function = getattr(function, part)
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    return ast.unparse(without_annotations(node))


def without_annotations(function):
    function.returns = None
    for argument in (*function.args.args, *function.args.kwonlyargs):
        argument.annotation = None
    return function


def define(home, source):
    """Put functions in the place of those of a module."""
    exec(compile(source, "mutant", "exec"), vars(home))
    if "forward" in vars(home):
        home.Attention.forward = home.forward


def lines_reached(home, source, attention):
    """Return the lines of the source that the cases run."""
    define(home, source)
    reached = set()

    def trace(frame, event, argument):
        if frame.f_code.co_filename == "mutant":
            reached.add(frame.f_lineno)
            return trace
        return None

    sys.settrace(trace)
    report(attention)
    sys.settrace(None)
    return reached


def report(attention):
    """Return the check's report; nothing if the function cannot be called."""
    library = "torch" if "timm" in sys.modules else "numpy"
    try:
        return check_with(InProcessWorker(attention), Settings(library=library))
    except LoadError:
        return None


def outcome(original, attention):
    """Say whether the check judges a mutant otherwise than the original, and what it says of it."""
    found = report(attention)
    if not found:
        return {"found": True, "raises": True, "names": [], "words": "it cannot be called"}
    pairs = zip(found.verdicts, original.verdicts, strict=True)
    changed = [finding for finding, before in pairs if finding.status != before.status]
    wrong = [finding for finding in changed if finding.status == "wrong"] or changed
    return {
        "found": bool(changed),
        "raises": all(finding.status == "not supported" for finding in changed),
        "names": sorted({mistake.name for finding in wrong for mistake in finding.mistakes}),
        "words": wrong[0].reason if wrong else "",
    }


def sites(tree):
    """Yield each place to change, with its function, its statement and what changes it."""
    for function in tree.body:
        for statement in ast.walk(function):
            if isinstance(statement, ast.stmt) and not isinstance(statement, UNCHANGED):
                for node in own_nodes(statement):
                    change = change_of(node)
                    if change:
                        yield function, statement, node, change


def own_nodes(statement):
    """Yield the expressions of a statement, without those of the statements inside it."""
    if isinstance(statement, ast.FunctionDef):
        return
    yield statement
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt):
            yield from ast.walk(child)


def change_of(node):
    operation = getattr(node, "op", None) or (getattr(node, "ops", None) or [None])[0]
    if type(operation) in SWAPS:
        new = SWAPS[type(operation)]()
        if isinstance(node, ast.Compare):
            return lambda place: setattr(place, "ops", [new, *place.ops[1:]])
        return lambda place: setattr(place, "op", new)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return lambda place: setattr(place, "op", ast.UAdd())
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return lambda place: setattr(place, "value", not place.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return lambda place: setattr(place, "value", place.value + 1)
    if isinstance(node, (ast.If, ast.IfExp)):
        return lambda place: setattr(place, "test", ast.UnaryOp(ast.Not(), place.test))
    return None


def first_line(statement):
    return ast.unparse(statement).splitlines()[0]


def of_onnx(home):
    def attention(
        query, key, value, attn_mask=None, is_causal=False, scale=None, window=None, softcap=None
    ):
        left, right = window or (None, None)
        windows = {"left_window_size": left, "right_window_size": right}
        options = {"is_causal": is_causal, "scale": scale, "softcap": softcap, **windows}
        return home._compute_attention(query, key, value, attn_mask, **options)[0]

    return attention


def of_keras(home):
    def attention(query, key, value, bias=None, mask=None, scale=None, is_causal=False):
        return home.dot_product_attention(query, key, value, bias, mask, scale, is_causal)

    return attention


def of_timm(home):
    return home.Attention(6, 3, qkv_bias=True)


ADAPTERS = {"onnx": of_onnx, "keras": of_keras, "timm": of_timm}

if __name__ == "__main__":
    main(sys.argv[1])
