"""Load a reader's function and translate a case's arguments to its library, layout and names."""

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis.recipe import Call, LayerCall

LAYOUTS = ("bhnd", "bnhd", "bnd", "nd")
LAYER_LAYOUTS = ("bnd", "nbd")
LIBRARIES = ("torch", "jax", "cupy", "array_api_strict", "numpy")
MASKS = ("keep", "hide", "additive")
LONGEST_MESSAGE = 120

# Common names of each argument in other packages, in lower case.
ARGUMENT_NAMES = {
    "query": ("query", "queries", "q", "xq", "query_states"),
    "key": ("key", "keys", "k", "xk", "key_states"),
    "value": ("value", "values", "v", "xv", "value_states"),
    "mask": ("attn_mask", "mask", "attention_mask"),
    "bias": ("bias", "attn_bias", "attention_bias"),
    "is_causal": ("is_causal", "causal"),
    "scale": ("scale", "scaling", "softmax_scale", "sm_scale"),
    "window": ("window", "window_size", "local_window_size"),
    "softcap": ("softcap", "soft_cap", "logits_soft_cap", "attn_logits_soft_cap", "logit_cap"),
    "grouped": ("enable_gqa",),
    "x": ("x", "inputs", "hidden_states", "tokens"),
    "heads": ("num_heads", "n_heads", "heads", "n_head", "h"),
    **{f"W_{letter}": (f"w_{letter}".lower(), f"w{letter}".lower()) for letter in "QKVO"},
    **{f"b_{letter}": (f"b_{letter}".lower(), f"b{letter}".lower()) for letter in "QKVO"},
    "W_packed": ("w_qkv", "wqkv", "w_packed", "in_proj_weight"),
}
ABBREVIATIONS = {"q": "query", "k": "key", "v": "value"}
EMPTY = inspect.Parameter.empty
# For functions without an inspectable signature: written in C, or taking *args.
DEFAULT_PARAMETERS = {
    name: inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    for name in ("query", "key", "value", "attn_mask", "is_causal", "scale", "enable_gqa")
}


class LoadError(Exception):
    """The function cannot be loaded or called; the message says in one line what to do."""


class UnsupportedError(Exception):
    """The function does not support a case; the message says why."""


@dataclass(frozen=True)
class Settings:
    """How to call the function; None means that it is detected.

    Attributes:
        library: the array library of its arguments.
        layout: the order of the axes: b (batch), h (heads), n (positions) and d (features).
        mask: one of `MASKS`: True keeps a key, True hides it, or the mask is added to the scores.
        names: the function's argument names, keyed by ours; q, k and v abbreviate query, key and
            value.
        dtype: the dtype of the arrays, where a case does not specify one.
        precision: the dtype it computes in, if coarser than that of its arguments.
    """

    library: str | None = None
    layout: str | None = None
    mask: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    dtype: str = "float64"
    precision: str | None = None


@dataclass(frozen=True)
class Description:
    """Properties of the function, determined by inspection.

    Attributes:
        library: the array library of its arguments.
        names: the function's argument names, keyed by ours.
        by_position: its names of query, key and value in its order, if they are its first three
            arguments; otherwise empty.
        required: its arguments without a default.
    """

    library: str
    names: Mapping[str, str]
    by_position: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()

    @property
    def is_layer(self) -> bool:
        """Whether it projects its inputs into heads."""
        return "weights" in self.names or bool({"W_Q", "W_packed"} & self.names.keys())


def load(target: str) -> Callable[..., Any]:
    """Return the function that `module:function` or `path/to/file.py:function` names.

    Raises:
        LoadError: if there is no such function; the message says in one line what to do.
    """
    module_name, _, name = target.rpartition(":")
    if not module_name or not name:
        raise LoadError(f"{target!r} names no function; write module:function or file.py:function")
    module = import_module_or_file(module_name, name)
    function: Any = module
    for attribute in name.split("."):
        if not hasattr(function, attribute):
            names = ", ".join(suggested_names(module, attribute)) or "nothing"
            raise LoadError(f"{module_name} has no {name!r}; what can be called there: {names}")
        function = getattr(function, attribute)
    if isinstance(function, type):
        raise LoadError(
            f"{name} is a class; create an instance with 6 features and 3 heads, such as "
            f"`layer = {name}(6, 3)`, and check {module_name}:layer"
        )
    if not callable(function):
        raise LoadError(f"{name} is of type {type(function).__name__}; expected a function")
    return cast(Callable[..., Any], function)


def suggested_names(module: ModuleType, misspelt: str) -> list[str]:
    """Return the callables of a module with similar names, or the first few if there are none."""
    callables = [
        name for name, value in vars(module).items() if callable(value) and not name.startswith("_")
    ]
    return difflib.get_close_matches(misspelt, callables, cutoff=0.7) or callables[:8]


def import_module_or_file(module_name: str, name: str) -> ModuleType:
    """Import a module, or a file if the name ends in .py.

    Raises:
        LoadError: if the import fails; the message says in one line what to do.
    """
    try:
        if module_name.endswith(".py"):
            return import_file(Path(module_name))
        return importlib.import_module(module_name)
    except LoadError:
        raise
    except (Exception, SystemExit) as error:
        raise LoadError(explain_import_error(error, module_name, name)) from error


def explain_import_error(error: BaseException, module_name: str, name: str) -> str:
    """Say in one line why a module or file cannot be imported, and what to do."""
    # Not if the module exists and imports another one that is missing.
    if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}."):
        return (
            f"there is no module {error.name!r}; run the check in the folder where "
            f"`import {module_name}` works, or write path/to/file.py:{name}"
        )
    if not module_name.endswith(".py"):
        hint = f'`python -c "import {module_name}"` shows where'
    elif "relative import" in str(error):
        hint = f"for a file of a package, write package.module:{name}"
    else:
        hint = f"`python {module_name}` shows where"
    cause = f"{type(error).__name__}: {first_line(error)}"
    return f"{module_name} cannot be imported: {cause}; {hint}"


def import_file(path: Path) -> ModuleType:
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


def first_line(error: object) -> str:
    """Return the first line of a message, truncated to `LONGEST_MESSAGE` characters."""
    lines = str(error).strip().splitlines() or ["no message"]
    if len(lines[0]) <= LONGEST_MESSAGE:
        return lines[0]
    return lines[0][: LONGEST_MESSAGE - 3] + "..."


def describe(function: Callable[..., Any], settings: Settings) -> Description:
    """Infer the function's library and argument names.

    Raises:
        LoadError: if a setting is invalid, the library is ambiguous or not installed, or no
            arguments are recognised as query, key and value.
    """
    parameters = parameters_of(function)
    names = match_names(parameters, settings)
    if hasattr(function, "named_parameters") and any(function.named_parameters()):
        names["weights"] = "parameters"  # a PyTorch module; `libraries.set_weights` sets them
    if "mask" in names and settings.mask not in ("keep", "hide"):
        names.setdefault("bias", names["mask"])  # one argument may take both kinds of mask
    if not {"query", "key", "value", "x"} & names.keys():  # assume the usual order
        names |= dict(zip(("query", "key", "value"), parameters, strict=False))
    required = {name for name, parameter in parameters.items() if parameter.default is EMPTY}
    description = Description(
        library=settings.library or infer_library(function),
        names=names,
        by_position=positional_inputs(parameters, names),
        required=frozenset(required),
    )
    missing = [name for name in ("query", "key", "value") if name not in names]
    if missing and not description.is_layer:
        raise LoadError(
            f"it takes ({', '.join(parameters)}), and attention takes query, key and value; "
            f"say which is which with --names {' '.join(f'{name}=...' for name in missing)}"
        )
    check_library(description.library)
    return description


def match_names(parameters: Mapping[str, inspect.Parameter], settings: Settings) -> dict[str, str]:
    """Return the function's argument names, keyed by ours; the settings override common names.

    Raises:
        LoadError: if the settings have an invalid mask or an unknown name.
    """
    if settings.mask not in (None, *MASKS):
        raise LoadError(f"mask {settings.mask!r}: expected one of {', '.join(MASKS)}")
    names: dict[str, str] = {}
    for ours, candidates in ARGUMENT_NAMES.items():
        theirs = first_match(candidates, parameters)
        if theirs:
            names[ours] = theirs
    for abbreviation, theirs in settings.names.items():
        ours = ABBREVIATIONS.get(abbreviation, abbreviation)
        if ours not in ARGUMENT_NAMES:
            raise LoadError(f"--names {ours}={theirs}: expected one of {', '.join(ARGUMENT_NAMES)}")
        if theirs not in parameters:
            raise LoadError(f"--names {ours}={theirs}: the arguments are {', '.join(parameters)}")
        names[ours] = theirs
    return names


def first_match(candidates: tuple[str, ...], parameters: Iterable[str]) -> str | None:
    """Return the parameter that matches the earliest candidate, ignoring case."""
    for candidate in candidates:
        for parameter in parameters:
            if parameter.lower() == candidate:
                return parameter
    return None


def check_library(library: str) -> None:
    """Check that a library is installed.

    Raises:
        LoadError: if it is not.
    """
    if importlib.util.find_spec(library) is None:
        raise LoadError(
            f"{library} is not installed for {sys.executable}; run the check with the Python that "
            "has it, or say with --library whose arrays the function takes"
        )


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the function's parameters by name, in order; the usual ones if it names none."""
    signature_owner = getattr(function, "forward", function)  # a PyTorch module
    try:
        parameters = inspect.signature(signature_owner).parameters.values()
    except (TypeError, ValueError):
        return dict(DEFAULT_PARAMETERS)
    by_name = {p.name: p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    return dict(DEFAULT_PARAMETERS) if parameters and not by_name else by_name


def positional_inputs(
    parameters: Mapping[str, inspect.Parameter], names: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the first three arguments if they are query, key and value in any order, else ()."""
    positional = [name for name, p in parameters.items() if p.kind != p.KEYWORD_ONLY]
    inputs = {names.get(name) for name in ("query", "key", "value")}
    return tuple(positional[:3]) if set(positional[:3]) == inputs else ()


def infer_library(function: Callable[..., Any]) -> str:
    """Return the array library that a function's module belongs to or imports.

    Raises:
        LoadError: if its module imports more than one besides NumPy.
    """
    inner = inspect.unwrap(function)
    if hasattr(inner, "named_parameters"):
        return "torch"
    module_name = getattr(inner, "__module__", None) or type(inner).__module__
    package = module_name.partition(".")[0]
    if package == "jaxlib":
        package = "jax"
    if package in LIBRARIES:
        return package
    namespace = getattr(inner, "__globals__", None) or vars(sys.modules[type(inner).__module__])
    packages = {top_level_package(value) for value in list(namespace.values())}
    imported = [name for name in LIBRARIES if name in packages and name != "numpy"]
    if len(imported) > 1:
        raise LoadError(
            f"its module imports {' and '.join(imported)}; say whose arrays it takes with --library"
        )
    return imported[0] if imported else "numpy"


def top_level_package(value: Any) -> str:
    """Return the package that a value belongs to, such as `torch`; "" if it has none."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    return name.partition(".")[0] if isinstance(name, str) else ""


def to_layout(array: Array, layout: str) -> Array:
    """Convert a (b, h, n, d) array to a layout.

    Raises:
        UnsupportedError: if the layout lacks an axis that is longer than 1.
    """
    batch, heads = array.shape[:2]
    if "h" not in layout and heads > 1:
        raise UnsupportedError(f"layout {layout} has no axis of heads")
    if "b" not in layout and batch > 1:
        raise UnsupportedError(f"layout {layout} has no axis of the batch")
    if layout == "bnhd":
        return array.swapaxes(1, 2)
    return {"bhnd": array, "bnd": array[:, 0], "nd": array[0, 0]}[layout]


def from_layout(array: Array, layout: str) -> Array:
    """Convert a result back to (b, h, n, d); inverse of `to_layout`."""
    if array.ndim != len(layout):
        return array
    if layout == "bnhd":
        return array.swapaxes(1, 2)
    return {"bhnd": array, "bnd": array[:, None], "nd": array[None, None]}[layout]


def mask_to_layout(mask: Array, layout: str) -> Array:
    """Drop or add leading axes of a mask to match the scores of a layout."""
    if "h" in layout:
        return mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    if mask.ndim < 4:
        return mask
    if layout == "nd" and mask.shape[0] > 1:
        raise UnsupportedError("layout nd has no axis of the batch")
    return mask[:, 0] if layout == "bnd" else mask[0, 0]


def translate_arguments(
    call: Call | LayerCall, names: Mapping[str, str], settings: Settings
) -> dict[str, Any]:
    """Return the arguments of a call by the function's own names, in its layout.

    Raises:
        UnsupportedError: if the function lacks one of them.
    """
    if isinstance(call, LayerCall):
        values = layer_arguments(call, names, settings)
    else:
        values = attention_arguments(call, names, settings)
    for name in values:
        if name not in names:
            raise UnsupportedError(
                f"it has no argument recognised as {name}; if there is one, pass --names {name}=..."
            )
    return {names[name]: value for name, value in values.items()}


def attention_arguments(call: Call, names: Mapping[str, str], settings: Settings) -> dict[str, Any]:
    layout = settings.layout or "bhnd"
    values: dict[str, Any] = {
        name: to_layout(getattr(call, name), layout) for name in ("query", "key", "value")
    }
    if call.mask is not None:
        values["mask"] = mask_to_layout(convert_mask(call.mask, settings.mask), layout)
    if call.bias is not None:
        values["bias"] = mask_to_layout(call.bias, layout)
    if call.is_causal:
        values["is_causal"] = True
    if call.query.shape[1] != call.key.shape[1] and "grouped" in names:
        values["grouped"] = True
    for name in ("scale", "window", "softcap"):
        if getattr(call, name) is not None:
            values[name] = getattr(call, name)
    return values


def convert_mask(mask: Array, kind: str | None) -> Array:
    """Convert a mask in which True keeps a key to a kind in `MASKS`; None is `keep`."""
    if kind == "hide":
        return ~mask
    if kind == "additive":
        return np.where(mask, 0.0, -np.inf)
    return mask


def layer_arguments(
    call: LayerCall, names: Mapping[str, str], settings: Settings
) -> dict[str, Any]:
    layout = settings.layout or "bnd"
    query, key = (layer_to_layout(rows, layout) for rows in (call.query, call.key))
    values: dict[str, Any] = {"query": query, "key": key}
    if "value" in names:
        values["value"] = key
    if "query" not in names:
        if call.query is not call.key:
            raise UnsupportedError("it takes only one sequence, so no cross-attention")
        values = {"x": query}
    if call.is_causal:
        values["is_causal"] = True
    if "weights" in names:  # `libraries.set_weights` stores them in the module
        return values
    values |= {f"W_{letter}": matrix for letter, matrix in call.weights.items()}
    if "W_packed" in names:
        packed = [values.pop(f"W_{letter}") for letter in "QKV"]
        values["W_packed"] = np.concatenate(packed, axis=1)
    values |= {f"b_{letter}": bias for letter, bias in call.biases.items()}
    if "heads" in names:
        values["heads"] = call.heads
    return values


def layer_to_layout(rows: Array, layout: str) -> Array:
    """Convert (b, n, d) rows to a layout; its own inverse."""
    if layout == "nd":
        raise UnsupportedError("layout nd has no axis of the batch")
    return rows.swapaxes(0, 1) if layout == "nbd" else rows


def index_in_layout(index: tuple[int, ...], layout: str, call: Call | LayerCall) -> list[int]:
    """Convert an index of a (b, h, n, d) or (b, n, d) result to the reader's layout."""
    order = "bnd" if isinstance(call, LayerCall) else "bhnd"
    axes = dict(zip(order, index, strict=False))
    return [int(axes[axis]) for axis in layout if axis in axes]
