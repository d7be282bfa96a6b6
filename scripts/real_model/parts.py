"""Split the weights of the real model into parts that browsers fetch and keep one by one."""

import hashlib
import json
import sys
from pathlib import Path

from attention_docs.model.record import weights_file

PART = 4_000_000  # bytes, so that little is lost if a fetch is interrupted


def main():
    """Write the parts into a folder; the arguments are the folder, and optionally the model."""
    folder, *model_paths = map(Path, sys.argv[1:])
    try:
        content = (model_paths[0] if model_paths else weights_file()).read_bytes()
        write_parts(content, folder)
    except OSError as error:
        sys.exit(f"model: {error}")


def write_parts(content, folder, size=PART):
    folder.mkdir(parents=True, exist_ok=True)
    # Browsers keep a part by its name, so another model needs other names.
    digest = hashlib.sha256(content).hexdigest()[:8]
    parts = []
    for start in range(0, len(content), size):
        part = content[start : start + size]
        name = f"{digest}-{len(parts)}.bin"
        (folder / name).write_bytes(part)
        parts.append({"name": name, "bytes": len(part)})
    # The list comes last, so a site that has it has all parts.
    (folder / "parts.json").write_text(json.dumps({"bytes": len(content), "parts": parts}), "utf-8")


if __name__ == "__main__":
    main()
