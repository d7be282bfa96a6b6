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
TRANSFORMERS = "transformers.models.{0}.modeling_{0}:eager_attention_forward"
# For each library: the title of a function, its package, and how the check finds it.
FUNCTIONS = {
    "torch": [
        (
            "PyTorch, `scaled_dot_product_attention`",
            "torch",
            "torch.nn.functional:scaled_dot_product_attention",
        ),
        ("PyTorch, `MultiheadAttention`", "torch", "torch_functions.py:multihead"),
        ("x-transformers, `Attend`", "x-transformers", "torch_functions.py:x_transformers"),
        (
            "x-transformers, `Attend(flash=True)`",
            "x-transformers",
            "torch_functions.py:x_transformers_flash",
        ),
        ("transformers, BERT", "transformers", TRANSFORMERS.format("bert")),
        ("transformers, GPT-2", "transformers", TRANSFORMERS.format("gpt2")),
        ("transformers, Llama", "transformers", TRANSFORMERS.format("llama")),
        ("timm, `Attention`", "timm", "torch_functions.py:timm_layer"),
    ],
    "jax": [
        ("JAX, `dot_product_attention`", "jax", "jax.nn:dot_product_attention"),
        ("Flax, `dot_product_attention`", "flax", "flax.linen:dot_product_attention"),
        ("Keras, `dot_product_attention`", "keras", "keras.ops:dot_product_attention"),
        ("Equinox, `MultiheadAttention`", "equinox", "jax_functions.py:equinox_layer"),
    ],
    "onnx": [("ONNX, reference of `Attention`", "onnx", "onnx_functions.py:attention")],
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
        for title, package, target in functions:
            print(title)
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
