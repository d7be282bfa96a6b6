"""Command line: the worked examples."""

import argparse
import os
import sys

from attention_docs import examples
from attention_docs.arrays import backend
from attention_docs.render.code import json_steps
from attention_docs.render.latex import latex_steps
from attention_docs.render.text import as_text

FORMATS = {"text": as_text, "latex": latex_steps, "json": json_steps}


def main(arguments: list[str] | None = None) -> int:
    """Run a command of `python -m attention_docs`, and return its exit status."""
    options = build_parser().parse_args(arguments)
    try:
        exit_status: int = options.run(options)
    except (LookupError, RuntimeError) as error:
        print(f"attention_docs: {error.args[0]}", file=sys.stderr)
        return 2
    return exit_status


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets `run`, the function that carries it out."""
    parser = argparse.ArgumentParser(prog="python -m attention_docs", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="list | show | verify")

    command = commands.add_parser("list", help="list the worked examples")
    command.set_defaults(run=list_examples)

    command = commands.add_parser("show", help="print every step of one example")
    command.add_argument("name", help="an example, as `list` prints it")
    command.add_argument("--format", choices=FORMATS, default="text")
    command.add_argument(
        "--write", action="store_true", help="write what is computed to the docstring, too"
    )
    command.add_argument("--backend", choices=("numpy", "cupy"), default="numpy")
    command.set_defaults(run=show_example)

    command = commands.add_parser("verify", help="compare every example with its committed digits")
    command.add_argument("--backend", choices=("numpy", "cupy"), default="numpy")
    command.set_defaults(run=verify_examples)
    return parser


def list_examples(options: argparse.Namespace) -> int:
    width = max(map(len, examples.names()))
    for name in examples.names():
        print(f"{name.ljust(width)}  {examples.load(name).TITLE}")
    return 0


def show_example(options: argparse.Namespace) -> int:
    """Print the steps of an example, and write the computed ones to its docstring if asked to."""
    xp = backend(options.backend)
    print(FORMATS[options.format](examples.steps(options.name, xp)))
    if options.write:
        computed = examples.computed(examples.load(options.name).steps, xp)
        examples.write_expected(options.name, as_text(computed))
    return 0


def verify_examples(options: argparse.Namespace) -> int:
    """Recompute every example, and list those whose digits differ from the docstring."""
    xp = backend(options.backend)
    names = examples.names()
    equal_count = 0
    for name in names:
        computed = examples.computed(examples.load(name).steps, xp)
        is_equal = as_text(computed) == examples.expected(name)
        print(f"{name}: {'ok' if is_equal else 'DIFFERS from its committed digits'}")
        equal_count += is_equal
    print(f"{equal_count} of {len(names)} examples agree")
    return 0 if equal_count == len(names) else 1


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)
