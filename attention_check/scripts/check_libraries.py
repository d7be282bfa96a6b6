"""Check the attention of other packages that are installed, and record it in results/foreign.json.

In an environment with attention-check and some of torch, transformers, timm, x-transformers, jax,
flax, equinox, keras and onnx: python scripts/check_libraries.py
"""

import datetime
import importlib.util
import json
import os
from importlib import metadata
from pathlib import Path

from attention_check import checking
from attention_check.calling import Settings
from attention_check.report import counts

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent / "results" / "foreign.json"
# For each file of adapters: the title of a function, its package, and its name in the file.
FUNCTIONS = {
    "torch": [
        ("PyTorch, `scaled_dot_product_attention`", "torch", "scaled_dot_product_attention"),
        ("PyTorch, `MultiheadAttention`", "torch", "multihead"),
        ("x-transformers, `Attend`", "x-transformers", "x_transformers"),
        ("x-transformers, `Attend(flash=True)`", "x-transformers", "x_transformers_flash"),
        ("transformers, BERT", "transformers", "bert"),
        ("transformers, GPT-2", "transformers", "gpt2"),
        ("transformers, Llama", "transformers", "llama"),
        ("timm, `Attention`", "timm", "timm_layer"),
    ],
    "jax": [
        ("JAX, `dot_product_attention`", "jax", "dot_product_attention"),
        ("Flax, `dot_product_attention`", "flax", "flax"),
        ("Keras, `dot_product_attention`", "keras", "keras"),
        ("Equinox, `MultiheadAttention`", "equinox", "equinox_layer"),
    ],
    "onnx": [("ONNX, reference of `Attention`", "onnx", "attention")],
}
TIME_LIMIT_SECONDS = 120  # for each case


def main() -> None:
    os.chdir(FOLDER)
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    for library, functions in FUNCTIONS.items():
        if importlib.util.find_spec(library) is None:
            print(f"{library} is missing, so its functions are left out")
            continue
        settings = Settings(library="numpy" if library == "onnx" else library)
        for title, package, name in functions:
            print(title)
            target = f"{library}_functions.py:{name}"
            report = checking.check(target, settings, TIME_LIMIT_SECONDS)
            results["summary"][title] = {"version": metadata.version(package), **counts(report)}
            results["cases"][title] = {
                verdict.case.name: {"status": verdict.status, "reason": verdict.reason}
                for verdict in report.verdicts
                if verdict.status != "ok"
            }
    results["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
