"""Command line: list the worked examples, show one, or verify them all."""

import argparse
import sys

from attention_docs import examples
from attention_docs.arrays import backend
from attention_docs.render.code import json_steps
from attention_docs.render.latex import latex_steps
from attention_docs.render.text import text

FORMATS = {"text": text, "latex": latex_steps, "json": json_steps}


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        return status
    except (LookupError, RuntimeError) as error:
        print(f"attention_docs: {error.args[0]}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m attention_docs", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="list | show | verify")

    command = commands.add_parser("list", help="list the worked examples")
    command.set_defaults(run=list_examples)

    command = commands.add_parser("show", help="print every step of one example")
    command.add_argument("name", help="an example, as `list` prints it")
    command.add_argument("--format", choices=FORMATS, default="text")
    add_backend(command)
    command.set_defaults(run=show_example)

    command = commands.add_parser("verify", help="compare every example with its committed digits")
    add_backend(command)
    command.set_defaults(run=verify_examples)
    return top


def add_backend(command: argparse.ArgumentParser) -> None:
    command.add_argument("--backend", choices=("numpy", "cupy"), default="numpy")


def list_examples(options: argparse.Namespace) -> int:
    width = max(map(len, examples.names()))
    for name in examples.names():
        print(f"{name.ljust(width)}  {examples.load(name).TITLE}")
    return 0


def show_example(options: argparse.Namespace) -> int:
    steps = examples.steps(options.name, backend(options.backend))
    print(FORMATS[options.format](steps))
    return 0


def verify_examples(options: argparse.Namespace) -> int:
    xp = backend(options.backend)
    wrong = 0
    for name in examples.names():
        agrees = text(examples.steps(name, xp)) == examples.expected(name)
        print(f"{name}: {'ok' if agrees else 'DIFFERS from its committed digits'}")
        wrong += not agrees
    print(f"{len(examples.names()) - wrong} of {len(examples.names())} examples agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
