"""Load a reader's function by its name, and describe its interface."""

import difflib
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from attention_check import cases, positions, stated
from attention_check.calling import LIBRARIES, MASKS, NO_DEFAULT, Interface, Settings
from attention_check.layers import is_layer, read_layer
from attention_check.libraries import LoadError
from attention_check.tables import names_of

LONGEST_MESSAGE = 120  # characters of another error's message
MOST_SUGGESTIONS = 8
# Common names of each argument in other packages, in lower case.
ARGUMENT_NAMES = names_of("argument")
INPUTS = ("query", "key", "value")
ABBREVIATIONS = {"q": "query", "k": "key", "v": "value"}
# For functions that are written in C without a signature, or take only *args or **kwargs.
DEFAULT_PARAMETERS = {
    name: inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    for name in ("query", "key", "value", "attn_mask", "is_causal", "scale", "enable_gqa")
}


def load(target: str) -> Callable[..., Any]:
    module_name, _, function_name = target.rpartition(":")
    if not module_name or not function_name:
        raise LoadError(f"{target!r} names no function; write module:function or file.py:function")
    module = import_module_or_file(module_name, function_name)
    member: Any = module
    for attribute in function_name.split("."):  # such as layer.attention.forward
        if not hasattr(member, attribute):
            callables = [
                name
                for name, value in vars(module).items()
                if callable(value) and not name.startswith("_")
            ]
            similar_names = difflib.get_close_matches(attribute, callables, cutoff=0.7)
            names = ", ".join(similar_names or callables[:MOST_SUGGESTIONS]) or "nothing"
            raise LoadError(
                f"{module_name} has no {function_name!r}; what can be called there: {names}"
            )
        member = getattr(member, attribute)
    return cast(Callable[..., Any], member)


def import_module_or_file(module_name: str, function_name: str) -> ModuleType:
    """Import the module or file of a function, or say in one line why not and what to do."""
    try:
        if not module_name.endswith(".py"):
            return importlib.import_module(module_name)
        path = Path(module_name)
        if not path.is_file():
            raise LoadError(f"there is no file {path}; write its path relative to this folder")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec  # because the name ends in .py
        assert spec.loader
        sys.path.insert(0, str(path.parent.resolve()))  # so that it can import its neighbours
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # dataclasses look up their module there
        spec.loader.exec_module(module)
        return module
    except LoadError:
        raise
    except (Exception, SystemExit) as error:
        # The module itself is missing or a package that contains it, not one that it imports.
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{module_name}.".startswith(f"{missing}."):
            raise LoadError(
                f"there is no module {missing!r}; run the check in the folder where "
                f"`import {module_name}` works, or write path/to/file.py:{function_name}"
            ) from error
        if not module_name.endswith(".py"):
            hint = f'`python -c "import {module_name}"` shows where'
        elif "relative import" in str(error):
            hint = f"for a file of a package, write package.module:{function_name}"
        else:
            hint = f"`python {module_name}` shows where"
        cause = f"{type(error).__name__}: {first_line(error)}"
        raise LoadError(f"{module_name} cannot be imported: {cause}; {hint}") from error


def first_line(error: object) -> str:
    """Return the first line of a message, truncated to `LONGEST_MESSAGE` characters."""
    lines = str(error).strip().splitlines() or ["no message"]
    if len(lines[0]) <= LONGEST_MESSAGE:
        return lines[0]
    return lines[0][: LONGEST_MESSAGE - 3] + "..."


def describe(function: Callable[..., Any], settings: Settings) -> Interface:
    """Infer the function's argument names and libraries, and read the weights of a module."""
    if isinstance(function, type):
        name = function.__name__
        raise LoadError(
            f"{name} is a class; create an instance, such as `layer = {name}(...)`, and check that"
        )
    if not callable(function):
        raise LoadError(f"{function!r} is of type {type(function).__name__}; expected a function")
    if settings.mask not in (None, *MASKS):
        raise LoadError(f"mask {settings.mask!r}: expected one of {', '.join(MASKS)}")
    owner = getattr(function, "__self__", None)  # of a method, such as layer.forward
    layer = next((item for item in (function, owner) if item is not None and is_layer(item)), None)
    parameters, are_assumed = parameters_of(function)
    names = infer_names(parameters, settings)
    positional = [name for name, p in parameters.items() if p.kind != p.KEYWORD_ONLY]
    first_arguments = tuple(positional[: len(INPUTS)])
    are_inputs = set(first_arguments) == {names.get(name) for name in INPUTS}
    layers = read_layer(layer, settings.scale) if layer is not None else ()
    if not layers and "heads" in names and set(INPUTS) <= names.keys() and "W_O" not in names:
        layers = (cases.merged_call(),)
    if layers and not {"query", "x"} & names.keys() and positional:
        names["x"] = positional[0]
    text = stated.text_of(function)
    interface = Interface(
        names=names,
        by_position=first_arguments if are_inputs else (),
        defaults={name: p.default for name, p in parameters.items() if p.default is not NO_DEFAULT},
        parameters=tuple(parameters),
        are_assumed=are_assumed,
        stated_layout=stated.layout(text),
        stated_mask=stated.mask(text),
        variant=stated.variant(function),
        layers=layers,
        layer=layers[0] if layers else None,
        scale=settings.scale,
        libraries=(settings.library,) if settings.library else infer_libraries(function),
        mask=settings.mask,
    )
    # The argument `packed` includes all three inputs, and `packed_key` includes key and value.
    required = () if "packed" in names else ("query",) if "packed_key" in names else INPUTS
    missing = [name for name in required if name not in names]
    kind = positions.kind_of(interface.parameters, interface.defaults, hasattr(function, "buffers"))
    words = f"{getattr(function, '__name__', '')} {type(function).__name__} {interface.parameters}"
    is_said = re.search(r"rot|rope|pos|sin|pe\b|freq|embed", words.lower())
    if not interface.is_layer and (kind == "table" or (kind and missing and is_said)):
        buffers = [tuple(buffer.shape) for buffer in getattr(function, "buffers", lambda: ())()]
        width = next((shape[-1] for shape in buffers if len(shape) > 1), positions.WIDTH)
        interface = replace(interface, positions=kind, position_width=width)
    if missing and not interface.is_layer and not interface.positions:
        raise LoadError(
            f"it takes ({', '.join(parameters)}), and attention takes query, key and value; "
            f"say which is which with --names {' '.join(f'{name}=...' for name in missing)}"
        )
    library = interface.libraries[0]
    if importlib.util.find_spec(library) is None:
        raise LoadError(
            f"{library} is not installed for {sys.executable}; run the check with the Python that "
            "has it, or say with --library whose arrays the function takes"
        )
    try:
        importlib.import_module(library)  # so that it does not count as time of the first call
    except Exception as error:
        cause = f"{type(error).__name__}: {first_line(error)}"
        raise LoadError(f"{library} cannot be imported: {cause}") from error
    return interface


def infer_names(parameters: Mapping[str, inspect.Parameter], settings: Settings) -> dict[str, str]:
    """Return the function's argument names, keyed by the names in `ARGUMENT_NAMES`.

    If no name of an input is recognised, the arguments are taken to be in the usual order. An
    argument for a mask is taken to accept a bias as well, unless the settings say that its values
    keep or hide a key.
    """
    names: dict[str, str] = {}
    for ours, candidates in ARGUMENT_NAMES.items():
        matches = [
            name for candidate in candidates for name in parameters if name.lower() == candidate
        ]
        if matches:
            names[ours] = matches[0]
    for abbreviation, theirs in settings.names.items():
        ours = ABBREVIATIONS.get(abbreviation, abbreviation)
        if ours not in ARGUMENT_NAMES:
            raise LoadError(f"--names {ours}={theirs}: expected one of {', '.join(ARGUMENT_NAMES)}")
        if theirs not in parameters:
            raise LoadError(f"--names {ours}={theirs}: the arguments are {', '.join(parameters)}")
        names[ours] = theirs
    if "mask" in names and settings.mask not in ("keep", "hide", "ones"):
        names.setdefault("bias", names["mask"])
    if not {*INPUTS, "x", "packed", "packed_key"} & names.keys():
        arrays = (  # an argument with a number as its default holds none
            name
            for name, parameter in parameters.items()
            if name not in names.values() and not isinstance(parameter.default, int | float)
        )
        names |= dict(zip(INPUTS, arrays, strict=False))
    return names


def parameters_of(function: Callable[..., Any]) -> tuple[dict[str, inspect.Parameter], bool]:
    """Return the function's parameters by name, in order, and whether they are assumed.

    If the function takes only *args or **kwargs, or has no signature, `DEFAULT_PARAMETERS` are
    assumed. The arguments that a partial sets are optional.
    """
    # The method of a module of PyTorch or of Keras.
    owner = getattr(function, "forward", getattr(function, "call", function))
    schema = getattr(owner, "schema", None)  # of a function that PyTorch has compiled
    if schema is not None:
        return {
            argument.name: inspect.Parameter(
                argument.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=argument.default_value if argument.has_default_value() else NO_DEFAULT,
            )
            for argument in schema.arguments
            if argument.name != "self"
        }, False
    try:
        parameters = inspect.signature(owner).parameters.values()
    except (TypeError, ValueError):  # a function that is written in C
        keywords = getattr(function, "keywords", {})  # the arguments that a partial sets
        return DEFAULT_PARAMETERS | {
            name: inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
            for name, value in keywords.items()
        }, True
    by_name = {p.name: p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    takes_only_var_arguments = bool(parameters) and not by_name
    return (dict(DEFAULT_PARAMETERS), True) if takes_only_var_arguments else (by_name, False)


def infer_libraries(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the installed libraries whose arrays a function may take, the likeliest first.

    A function of a library takes its arrays. Another one may take arrays of the libraries that its
    code uses, then of the other libraries that its module imports, and last of NumPy.
    """
    while hasattr(function, "func"):  # a partial
        function = function.func
    function = inspect.unwrap(function)
    if hasattr(function, "named_parameters"):  # a PyTorch module
        return ("torch",)
    module_name = getattr(function, "__module__", None) or type(function).__module__
    package = module_name.partition(".")[0].replace("jaxlib", "jax")
    if package in LIBRARIES:
        return (package,)
    # The module of PyTorch's built-in functions is not known, but their repr names torch.
    if not hasattr(function, "__code__") and "torch" in repr(function):
        return ("torch",)
    # A callable object has no globals; those of the module of its class are used.
    module_globals = getattr(function, "__globals__", None)
    namespace = module_globals or vars(sys.modules[type(function).__module__])
    used_values = [namespace.get(name) for name in names_in_code(function, namespace)]
    used_values += [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    modules = (
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        for value in (*used_values, *namespace.values())
    )
    packages = [name.partition(".")[0] for name in modules if isinstance(name, str)]
    candidates = dict.fromkeys(name for name in (*packages, "numpy") if name in LIBRARIES)
    return tuple(name for name in candidates if importlib.util.find_spec(name))


def names_in_code(function: Any, namespace: Mapping[str, Any], depth: int = 2) -> list[str]:
    """Return the global names that a function uses, and those that its callees use."""
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    code_of_nested_functions = [item for item in code.co_consts if hasattr(item, "co_names")]
    names = [
        name
        for part in (code, *code_of_nested_functions)
        for name in part.co_names
        if name in namespace
    ]
    if depth:
        for name in list(names):
            names += names_in_code(namespace[name], namespace, depth - 1)
    return list(dict.fromkeys(names))
