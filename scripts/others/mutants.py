"""Mutate attention functions of a package and print the check's verdict on each mutant.

python mutants.py onnx|keras|timm, in an environment with the package, prints a line of JSON for
each mutant. Only lines that the cases execute are mutated. A mutant that the check does not detect
is also called with random arguments.
"""

import ast
import contextlib
import copy
import importlib
import importlib.metadata
import inspect
import json
import operator
import os
import sys
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from random_calls import TIMM_FEATURES, TIMM_HEADS, is_equal, output_or_error, random_calls

os.environ.update(KERAS_BACKEND="numpy", TIMM_FUSED_ATTN="0")

from attention_docs.diagnosis import checking
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.libraries import LoadError

# What each operator is replaced by.
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NOT_MUTATED = (ast.Raise, ast.Assert)
MUTANT_FILE = "mutant"  # the file name in the code objects of mutants
# By package: the module, and its functions to mutate.
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
    """Print the check's result for each mutant of a package, as a line of JSON."""
    module_name, function_names = FUNCTIONS[package]
    importlib.import_module(package)  # first, because its modules have circular imports
    module = importlib.import_module(module_name)
    code = "\n".join(code_of(module, name) for name in function_names)
    attention = ADAPTERS[package](module)
    tested_lines = executed_lines(module, code, attention)
    original_report = check(attention)
    calls = random_calls(package)
    original_outputs = outputs_of_calls(package, module, calls)
    tree = ast.parse(code)
    for mutation in list(mutations(tree)):  # a list, because the loop changes the tree
        if mutation.statement.lineno not in tested_lines:
            continue
        with applied(mutation) as change:
            define(module, ast.unparse(tree))
            mutant = {
                "package": package,
                "version": importlib.metadata.version(package),
                "change": change,
                **compare_reports(original_report, check(attention)),
            }
            if not mutant["is_detected"]:
                outputs = outputs_of_calls(package, module, calls)
                pairs = zip(original_outputs, outputs, strict=True)
                mutant["differing_calls"] = sum(not is_equal(*pair) for pair in pairs)
            print(json.dumps(mutant), flush=True)


def outputs_of_calls(package, module, calls):
    """Return what a package's attention returns or raises for each call."""
    # The adapter is called again, because the check has changed the weights of a layer.
    attention = ADAPTERS[package](module)
    return [output_or_error(attention, call) for call in calls]


def code_of(module, name):
    """Return the code of a function, or `Attention.forward`, without comments and annotations."""
    function = operator.attrgetter(name)(module)
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    node.returns = None
    for argument in (*node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    return ast.unparse(node)


def define(module, code):
    """Replace functions of a module by those of the code; `forward` is a method of `Attention`."""
    exec(compile(code, MUTANT_FILE, "exec"), vars(module))
    if "forward" in vars(module):
        module.Attention.forward = module.forward


def executed_lines(module, code, attention):
    """Define functions by code, and return the numbers of its lines that the check executes."""
    define(module, code)
    line_numbers = set()

    def trace(frame, event, argument):
        """Record the current line of the code; return None to skip the lines of another frame."""
        if frame.f_code.co_filename == MUTANT_FILE:
            line_numbers.add(frame.f_lineno)
            return trace
        return None

    sys.settrace(trace)
    check(attention)
    sys.settrace(None)
    return line_numbers


def check(attention):
    """Return the report of the check on a function, or None if it cannot be called at all."""
    # Of the packages, only timm takes PyTorch's arrays.
    library = "torch" if "timm" in sys.modules else "numpy"
    try:
        return checking.check(attention, Settings(library=library))
    except LoadError:
        return None


def compare_reports(original, mutant):
    """Compare the report on a mutant with the report on the original function."""
    if not mutant:
        return {"is_detected": True, "raises": True, "names": [], "reason": "it cannot be called"}
    changed_verdicts = [
        verdict
        for original_verdict, verdict in zip(original.verdicts, mutant.verdicts, strict=True)
        if verdict.status != original_verdict.status
    ]
    wrong_verdicts = [verdict for verdict in changed_verdicts if verdict.status == "wrong"]
    mistakes = {mistake.name for verdict in wrong_verdicts for mistake in verdict.mistakes}
    reasons = [verdict.reason for verdict in wrong_verdicts + changed_verdicts]
    return {
        "is_detected": bool(changed_verdicts),
        "raises": all(verdict.status == "not supported" for verdict in changed_verdicts),
        "names": sorted(mistakes),
        "reason": reasons[0] if reasons else "",
    }


class Mutation(NamedTuple):
    """A change of a node of a syntax tree, within the innermost statement that contains it."""

    function: ast.FunctionDef
    statement: ast.stmt
    node: ast.AST
    mutate: Callable[[ast.AST], None]


@contextlib.contextmanager
def applied(mutation):
    """Mutate the syntax tree until the end of the block, and yield a description of the change."""
    function, statement, node, mutate = mutation
    line = statement.lineno - function.lineno
    original_code = first_line(statement)
    original_attributes = copy.copy(vars(node))
    mutate(node)
    yield f"{function.name}, line {line}: {original_code} -> {first_line(statement)}"
    vars(node).update(original_attributes)


def mutations(tree):
    """Yield all mutations of the functions of a syntax tree."""
    for function in tree.body:
        statements = (node for node in ast.walk(function) if isinstance(node, ast.stmt))
        for statement in statements:
            if not isinstance(statement, NOT_MUTATED):
                for node in own_nodes(statement):
                    mutate = mutation_of(node)
                    if mutate:
                        yield Mutation(function, statement, node, mutate)


def own_nodes(statement):
    """Yield a statement and the nodes of its expressions, but no nodes of nested statements."""
    if isinstance(statement, ast.FunctionDef):
        return
    yield statement
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt):
            yield from ast.walk(child)


def mutation_of(node):
    """Return a function that mutates a node, or None if nodes of this kind are not mutated."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        new_operator = SWAPS[type(node.ops[0])]()
        return lambda node: setattr(node, "ops", [new_operator, *node.ops[1:]])
    if type(getattr(node, "op", None)) in SWAPS:
        new_operator = SWAPS[type(node.op)]()
        return lambda node: setattr(node, "op", new_operator)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return lambda node: setattr(node, "op", ast.UAdd())
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return lambda node: setattr(node, "value", not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return lambda node: setattr(node, "value", node.value + 1)
    if isinstance(node, (ast.If, ast.IfExp)):
        return lambda node: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
    return None


def first_line(statement):
    return ast.unparse(statement).splitlines()[0]


def onnx_attention(module):
    """Return ONNX's reference implementation with the argument names of `attention`."""

    def attention(
        query, key, value, attn_mask=None, is_causal=False, scale=None, window=None, softcap=None
    ):
        left, right = window or (None, None)
        output, *_ = module._compute_attention(
            query,
            key,
            value,
            attn_mask,
            is_causal=is_causal,
            scale=scale,
            softcap=softcap,
            left_window_size=left,
            right_window_size=right,
        )
        return output

    return attention


def keras_attention(module):
    def attention(query, key, value, bias=None, mask=None, scale=None, is_causal=False):
        return module.dot_product_attention(query, key, value, bias, mask, scale, is_causal)

    return attention


def timm_attention(module):
    """Return a new layer of timm in float64, which has the same weights each time."""
    module.torch.manual_seed(0)
    return module.Attention(TIMM_FEATURES, TIMM_HEADS, qkv_bias=True).double()


ADAPTERS = {"onnx": onnx_attention, "keras": keras_attention, "timm": timm_attention}

if __name__ == "__main__":
    main(sys.argv[1])
