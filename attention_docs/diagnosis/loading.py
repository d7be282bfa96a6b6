"""Load a reader's function by its name."""

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

LONGEST_MESSAGE = 120


class LoadError(Exception):
    """The function cannot be loaded or called; the message says in one line what to do."""


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
            f"{name} is a class; create an instance, such as `layer = {name}(...)`, and check "
            f"{module_name}:layer"
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
