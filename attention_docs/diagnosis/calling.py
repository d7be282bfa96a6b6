"""How a stranger's function is called: its library, its layout, its names of the arguments."""

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.diagnosis.recipe import Call, LayerCall

LAYOUTS = ("bhnd", "bnhd", "bnd", "nd")
LAYER_LAYOUTS = ("bnd", "nbd")
LIBRARIES = ("torch", "jax", "cupy", "array_api_strict", "numpy")
MASKS = ("keep", "hide", "additive")

# What others call the arguments, in lower case.
NAMES = {
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
SHORT = {"q": "query", "k": "key", "v": "value"}
EMPTY = inspect.Parameter.empty
# Where a function shows no names: one that is written in C, or takes *args.
ASSUMED = {
    name: inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    for name in ("query", "key", "value", "attn_mask", "is_causal", "scale", "enable_gqa")
}


class LoadError(Exception):
    """There is no such function; the message says in one line what to do."""


class UnsupportedError(Exception):
    """A case that the function cannot be asked; the message says why."""


@dataclass(frozen=True)
class Settings:
    """What is known of the function; the rest is found out.

    Attributes:
        library: whose arrays it takes.
        layout: the order of the axes of batch, heads, positions (n) and features (d).
        mask: whether True keeps a key or hides it, or a mask is numbers to add.
        names: its own names of the arguments, by ours; q, k and v stand for query, key and value.
        dtype: of the arrays, where a case does not say it.
        precision: the dtype that its errors show; float32 if it computes so with float64 arrays.
    """

    library: str | None = None
    layout: str | None = None
    mask: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    dtype: str = "float64"
    precision: str | None = None


@dataclass(frozen=True)
class Description:
    """What the function says of itself.

    Attributes:
        library: whose arrays it takes.
        names: its names of the arguments, by ours.
        by_position: its names of query, key and value, in its own order, if it takes them first
            and by position.
        required: its arguments that have no default.
    """

    library: str
    names: Mapping[str, str]
    by_position: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()

    @property
    def is_layer(self) -> bool:
        """Whether it projects into heads by itself."""
        return "weights" in self.names or bool({"W_Q", "W_packed"} & self.names.keys())


def load(target: str) -> Callable[..., Any]:
    """Return the function that `module:function` or `path/to/file.py:function` names.

    Raises:
        LoadError: if there is none; the message says in one line what to do.
    """
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise LoadError(f"{target!r} names no function; write module:function or file.py:function")
    found: Any = imported(place, name)
    names = [n for n, value in vars(found).items() if callable(value) and n[0] != "_"]
    for part in name.split("."):
        if not hasattr(found, part):
            known = difflib.get_close_matches(part, names, cutoff=0.7) or names[:8] or ["nothing"]
            raise LoadError(
                f"{place} has no {name!r}; what can be called there: {', '.join(known)}"
            )
        found = getattr(found, part)
    if isinstance(found, type):
        raise LoadError(
            f"{name} is a class; make an instance of it with 6 features and 3 heads, "
            f"`layer = {name}(6, 3)` or its like, and check {place}:layer"
        )
    if not callable(found):
        raise LoadError(f"{name} is of type {type(found).__name__}; name a function")
    function: Callable[..., Any] = found
    return function


def imported(place: str, name: str) -> ModuleType:
    """Import a module, or a file whose name ends in .py.

    Raises:
        LoadError: if that fails; the message says in one line what to do.
    """
    is_file = place.endswith(".py")
    try:
        return from_file(Path(place)) if is_file else importlib.import_module(place)
    except LoadError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{place}.".startswith(f"{error.name}."):
            raise LoadError(
                f"there is no module {error.name!r}; run the check in the folder where "
                f"`import {place}` works, or write path/to/file.py:{name}"
            ) from error
        hint = f"`python {place}`" if is_file else f'`python -c "import {place}"`'
        hint += " shows where"
        if is_file and "relative import" in str(error):
            hint = f"for a file of a package, write package.module:{name}"
        raise LoadError(
            f"{place} cannot be imported: {type(error).__name__}: {first_line(error)}; {hint}"
        ) from error


def from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise LoadError(f"there is no file {path}; write its path as seen from here")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec  # it ends in .py
    assert spec.loader
    sys.path.insert(0, str(path.parent.resolve()))  # for what stands beside it
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # a dataclass in the file looks itself up there
    spec.loader.exec_module(module)
    return module


def first_line(error: object) -> str:
    """Return the first line of a message, cut to a length that fits a terminal."""
    lines = str(error).strip().splitlines() or ["no message"]
    return lines[0] if len(lines[0]) <= 120 else lines[0][:117] + "..."


def describe(function: Callable[..., Any], settings: Settings) -> Description:
    """Find out the library and the names of the arguments.

    Raises:
        LoadError: if a name that was told is no argument, or the library is not clear.
    """
    told = {SHORT.get(ours, ours): theirs for ours, theirs in settings.names.items()}
    parameters = parameters_of(function)
    if settings.mask not in (None, *MASKS):
        raise LoadError(f"mask {settings.mask!r}: expected one of {', '.join(MASKS)}")
    for name, theirs in told.items():
        if name not in NAMES:
            raise LoadError(f"--names {name}={theirs}: expected one of {', '.join(NAMES)}")
        if theirs not in parameters:
            raise LoadError(f"--names {name}={theirs}: the arguments are {', '.join(parameters)}")
    names = {ours: told.get(ours) or match(NAMES[ours], parameters) for ours in NAMES}
    found = {ours: theirs for ours, theirs in names.items() if theirs}
    if hasattr(function, "named_parameters") and any(function.named_parameters()):
        found["weights"] = "parameters"
    if "mask" in found and settings.mask not in ("keep", "hide"):
        found.setdefault("bias", found["mask"])
    if not {"query", "key", "value", "x"} & found.keys():
        found |= dict(zip(("query", "key", "value"), parameters, strict=False))
    description = Description(
        settings.library or library_of(function),
        found,
        first_three(parameters, found),
        frozenset(name for name, parameter in parameters.items() if parameter.default is EMPTY),
    )
    missing = [name for name in ("query", "key", "value") if name not in found]
    if missing and not description.is_layer:
        raise LoadError(
            f"it takes ({', '.join(parameters)}), and attention takes query, key and value; "
            f"say which is which with --names {' '.join(f'{name}=...' for name in missing)}"
        )
    check_library(description.library)
    return description


def check_library(library: str) -> None:
    """Refuse a library that is not there.

    Raises:
        LoadError: if it is not.
    """
    if importlib.util.find_spec(library) is None:
        raise LoadError(
            f"{library} is not installed for {sys.executable}; run the check with the Python that "
            "has it, or say with --library whose arrays the function takes"
        )


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the arguments by name, in their order."""
    called = getattr(function, "forward", function)  # a module of PyTorch
    try:
        given = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        return dict(ASSUMED)
    named = {p.name: p for p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    return dict(ASSUMED) if given and not named else named


def first_three(
    parameters: Mapping[str, inspect.Parameter], names: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the first three arguments if they are query, key and value, in whatever order."""
    first = [p for p in parameters.values() if p.kind != p.KEYWORD_ONLY][:3]
    ours = {names.get(name) for name in ("query", "key", "value")}
    return tuple(p.name for p in first) if {p.name for p in first} == ours else ()


def match(names: tuple[str, ...], parameters: Iterable[str]) -> str | None:
    lower = {parameter.lower(): parameter for parameter in reversed(list(parameters))}
    return next((lower[name] for name in names if name in lower), None)


def library_of(function: Callable[..., Any]) -> str:
    """Return the library whose arrays a function takes: the one that its module is of or imports.

    Raises:
        LoadError: if its module imports more than one besides NumPy.
    """
    inner = inspect.unwrap(function)
    if hasattr(inner, "named_parameters"):
        return "torch"
    own = (getattr(inner, "__module__", None) or type(inner).__module__).partition(".")[0]
    own = {"jaxlib": "jax"}.get(own, own)
    if own in LIBRARIES:
        return own
    names = getattr(inner, "__globals__", None) or vars(sys.modules[type(inner).__module__])
    modules = {root_of(value) for value in list(names.values())}
    others = [name for name in LIBRARIES if name in modules and name != "numpy"]
    if len(others) > 1:
        raise LoadError(
            f"its module imports {' and '.join(others)}; say whose arrays it takes with --library"
        )
    return others[0] if others else "numpy"


def root_of(value: Any) -> str:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    return name.partition(".")[0] if isinstance(name, str) else ""


def arranged(array: Array, layout: str) -> Array:
    """Put the axes of a (b, h, n, d) array in the order of a layout.

    Raises:
        UnsupportedError: if the layout has no axis for what there is more than one of.
    """
    batch, heads = array.shape[:2]
    if "h" not in layout and heads > 1:
        raise UnsupportedError(f"layout {layout} has no axis of heads")
    if "b" not in layout and batch > 1:
        raise UnsupportedError(f"layout {layout} has no axis of the batch")
    if layout == "bnhd":
        return array.swapaxes(1, 2)
    return {"bhnd": array, "bnd": array[:, 0], "nd": array[0, 0]}[layout]


def restored(array: Array, layout: str) -> Array:
    """Put the axes of a result in the order (b, h, n, d) again; undoes `arranged`."""
    if array.ndim != len(layout):
        return array
    if layout == "bnhd":
        return array.swapaxes(1, 2)
    return {"bhnd": array, "bnd": array[:, None], "nd": array[None, None]}[layout]


def arranged_pairs(pairs: Array, layout: str) -> Array:
    """Cut or fill the leading axes of a mask as the layout's scores have them."""
    if "h" in layout:
        return pairs.reshape((1,) * (4 - pairs.ndim) + pairs.shape)
    if pairs.ndim < 4:
        return pairs
    if layout == "nd" and pairs.shape[0] > 1:
        raise UnsupportedError("layout nd has no axis of the batch")
    return pairs[:, 0] if layout == "bnd" else pairs[0, 0]


def arguments(
    call: Call | LayerCall, names: Mapping[str, str], settings: Settings
) -> dict[str, Any]:
    """Return the arguments of a call by the names that the function has for them.

    Raises:
        UnsupportedError: if it has no argument for one of them.
    """
    if isinstance(call, LayerCall):
        ours = layer_arguments(call, names, settings)
    else:
        ours = plain_arguments(call, names, settings)
    for name in ours:
        if name not in names:
            raise UnsupportedError(
                f"no argument seems to be for {name}; if one is, say --names {name}=..."
            )
    return {names[name]: value for name, value in ours.items()}


def plain_arguments(call: Call, names: Mapping[str, str], settings: Settings) -> dict[str, Any]:
    layout = settings.layout or "bhnd"
    found: dict[str, Any] = {
        name: arranged(getattr(call, name), layout) for name in ("query", "key", "value")
    }
    if call.mask is not None:
        found["mask"] = arranged_pairs(masked(call.mask, settings.mask), layout)
    if call.bias is not None:
        found["bias"] = arranged_pairs(call.bias, layout)
    if call.is_causal:
        found["is_causal"] = True
    if call.query.shape[1] != call.key.shape[1] and "grouped" in names:
        found["grouped"] = True
    for name in ("scale", "window", "softcap"):
        if getattr(call, name) is not None:
            found[name] = getattr(call, name)
    return found


def masked(mask: Array, kind: str | None) -> Array:
    """Write a mask as the function takes it."""
    return {"hide": ~mask, "additive": np.where(mask, 0.0, -np.inf)}.get(kind or "keep", mask)


def layer_arguments(
    call: LayerCall, names: Mapping[str, str], settings: Settings
) -> dict[str, Any]:
    query, key = (rows_arranged(rows, settings.layout or "bnd") for rows in (call.query, call.key))
    rows = {"query": query, "key": key, "value": key}
    found: dict[str, Any] = {n: array for n, array in rows.items() if n in names or n != "value"}
    if "query" not in names:
        if call.query is not call.key:
            raise UnsupportedError("it takes one sequence")
        found = {"x": query}
    if call.is_causal:
        found["is_causal"] = True
    if "weights" in names:  # they are set in the module itself
        return found
    found |= {f"W_{letter}": matrix for letter, matrix in call.weights.items()}
    if "W_packed" in names:
        packed = [found.pop(f"W_{letter}") for letter in "QKV"]
        found["W_packed"] = np.concatenate(packed, axis=1)
    found |= {f"b_{letter}": bias for letter, bias in call.biases.items()}
    if "heads" in names:
        found["heads"] = call.heads
    return found


def rows_arranged(rows: Array, layout: str) -> Array:
    """Put the axes of (b, n, d) rows in the order of a layout, or of a result back again."""
    if layout == "nd":
        raise UnsupportedError("layout nd has no axis of the batch")
    return rows.swapaxes(0, 1) if layout == "nbd" else rows


def index_in(index: tuple[int, ...], layout: str, call: Call | LayerCall) -> list[int]:
    """Write an index of a (b, h, n, d) or (b, n, d) result as the reader's layout has it."""
    order = "bnd" if isinstance(call, LayerCall) else "bhnd"
    axes = dict(zip(order, index, strict=False))
    return [int(axes[axis]) for axis in layout if axis in axes]
