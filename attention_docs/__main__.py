"""Command line: the worked examples, and a check of your own attention."""

import argparse
import math
import os
import sys
from importlib import metadata

from attention_docs import examples
from attention_docs.arrays import backend
from attention_docs.diagnosis import calling, checking, libraries, report
from attention_docs.diagnosis.cases import CASES
from attention_docs.render.code import json_steps
from attention_docs.render.latex import latex_steps
from attention_docs.render.text import as_text

LAYOUTS = (*calling.LAYOUTS, "nbd")
FORMATS = {"text": as_text, "latex": latex_steps, "json": json_steps}
CHECK_EPILOG = """\
layouts, from b sequences, h heads, n positions and d features:
  bhnd  queries of shape (2, 8, 128, 64), as in PyTorch's scaled_dot_product_attention
  bnhd  (2, 128, 8, 64), as in FlashAttention and JAX
  nhd   (128, 8, 64), without a batch
  bnd   (2, 128, 64), one head, or a layer that splits the heads itself
  nbd   (128, 2, 64), a layer with the length first
  nd    (128, 64), matrices

exit status:
  0  something was checked, all that was required was, and nothing is wrong
  1  something is wrong; the report begins with it, and with the line that fixes it
  2  the function cannot be called; one line says which option would help

examples:
  attention-check my_package.layers:attend
  attention-check model.py:attend --layout bnhd --require causal,gradients
  attention-check model.py:attend --names q=x_q k=x_k v=x_v mask=bias --expect torch
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command of `python -m attention_docs`, and return its exit status."""
    return run(build_parser().parse_args(arguments), "attention_docs")


def check_command(arguments: list[str] | None = None) -> int:
    """Run `attention-check`, the check as a command of its own, and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="attention-check",
        description="Call your attention function with many cases, and name its mistakes.",
        epilog=CHECK_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"%(prog)s {metadata.version('attention-docs')}"
    parser.add_argument("--version", action="version", version=version)
    add_check_options(parser)
    parser.set_defaults(run=check_function)
    return run(parser.parse_args(arguments), parser.prog)


def run(options: argparse.Namespace, prog: str) -> int:
    """Run the function of a command; report an expected error in one line, with exit status 2."""
    try:
        exit_status: int = options.run(options)
    except (LookupError, RuntimeError, libraries.LoadError) as error:
        print(f"{prog}: {error.args[0]}", file=sys.stderr)
        return 2
    return exit_status


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets `run`, the function that carries it out."""
    parser = argparse.ArgumentParser(prog="python -m attention_docs", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="list | show | verify | check")

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

    command = commands.add_parser(
        "check",
        help="check a function of yours and name its mistakes",
        epilog=CHECK_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_check_options(command)
    command.set_defaults(run=check_function)
    return parser


def add_check_options(command: argparse.ArgumentParser) -> None:
    """Add the arguments that `check` and `attention-check` have in common."""
    command.add_argument("target", help="module:function or path/to/file.py:function")
    command.add_argument(
        "--library", choices=calling.LIBRARIES, help="array library to call it with"
    )
    command.add_argument("--layout", choices=LAYOUTS, help="order of the axes, as below")
    command.add_argument("--mask", choices=calling.MASKS, help="meaning of its mask")
    command.add_argument(
        "--names",
        action="extend",
        nargs="+",
        default=[],
        type=parse_name_pair,
        metavar="q=queries",
        help="the names of its arguments, if they differ from ours",
    )
    command.add_argument(
        "--limit", type=parse_seconds, default=10.0, help="seconds per case, 10 by default"
    )
    command.add_argument(
        "--require",
        type=parse_features,
        default=(),
        metavar="causal,gradients",
        help="features that must be checked",
    )
    command.add_argument(
        "--skip", type=parse_features, default=(), metavar="float16", help="features not to check"
    )
    command.add_argument(
        "--expect",
        choices=checking.EXPECTED_CONVENTIONS,
        help="library whose conventions are right",
    )
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument("--verbose", action="store_true", help="print the reason for each verdict")


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


def parse_features(argument: str) -> tuple[str, ...]:
    """Parse the names of features, which are separated by commas."""
    known_features = list(dict.fromkeys(case.feature for case in CASES.values()))
    features = tuple(name.strip() for name in argument.split(","))
    for feature in features:
        if feature not in known_features:
            raise argparse.ArgumentTypeError(
                f"feature is {feature!r}; expected one of {', '.join(known_features)}"
            )
    return features


def parse_name_pair(argument: str) -> tuple[str, str]:
    """Parse a pair such as `q=queries`: our name of an argument, and the function's name of it."""
    ours, _, theirs = argument.partition("=")
    if not theirs:
        raise argparse.ArgumentTypeError(f"names are {argument!r}; expected ours=theirs")
    return ours, theirs


def parse_seconds(argument: str) -> float:
    try:
        seconds = float(argument)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(
            f"limit is {argument!r}; expected a positive number of seconds"
        )
    return seconds


def check_function(options: argparse.Namespace) -> int:
    """Print the report on a reader's function; in GitHub Actions, annotate its first problem."""
    settings = calling.Settings(
        library=options.library,
        layout=options.layout,
        mask=options.mask,
        names=dict(options.names),
    )
    check_report = checking.check(
        options.target,
        settings,
        time_limit_s=options.limit,
        require=options.require,
        skip=options.skip,
        expect=options.expect,
    )
    if options.json:
        print(report.as_json(check_report))
    else:
        print(report.format_report(check_report, options.verbose))
    if os.environ.get("GITHUB_ACTIONS") and not check_report.is_correct:
        print(report.as_github_annotation(check_report), file=sys.stderr)
    return 0 if check_report.is_correct else 1


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)
