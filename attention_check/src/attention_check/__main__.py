"""Command line: `attention-check module:function`."""

import argparse
import json
import math
import os
import sys
from importlib import metadata

from attention_check import calling, checking, libraries, report

LAYOUTS = (*calling.LAYOUTS, "nbd")
EPILOG = """\
layouts, from b sequences, h heads, n positions and d features:
  bhnd  queries of shape (2, 8, 128, 64), as in PyTorch's scaled_dot_product_attention
  bnhd  (2, 128, 8, 64), as in FlashAttention and JAX
  nbhd  (128, 2, 8, 64), as in Megatron
  nhd   (128, 8, 64), without a batch
  bnd   (2, 128, 64), one head, or a layer that splits the heads itself
  nbd   (128, 2, 64), a layer with the length first
  nd    (128, 64), matrices

names of arguments: q, k, v, x, mask, padding, bias, is_causal, scale, window, softcap, heads,
  W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O

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
    """Run `attention-check`, and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="attention-check",
        description="Call your attention function with many cases, and name its mistakes.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"%(prog)s {metadata.version('attention-check')}"
    parser.add_argument("--version", action="version", version=version)
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        return check_function(options)
    except libraries.LoadError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        if options.json:
            failed = {"target": options.target, "right": False, "status": 2, "error": str(error)}
            print(json.dumps({**failed, "counts": {}, "cases": []}, indent=1))
        return 2


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", help="module:function or path/to/file.py:function")
    parser.add_argument(
        "--library", choices=calling.LIBRARIES, help="array library to call it with"
    )
    parser.add_argument("--layout", choices=LAYOUTS, help="order of the axes, as below")
    parser.add_argument(
        "--scale", type=float, help="factor of the scores that its configuration sets, such as 1"
    )
    parser.add_argument("--mask", choices=calling.MASKS, help="meaning of its mask")
    parser.add_argument(
        "--names",
        action="extend",
        nargs="+",
        default=[],
        type=parse_name_pair,
        metavar="q=queries",
        help="the names of its arguments, if they differ from ours",
    )
    parser.add_argument(
        "--limit", type=parse_seconds, default=10.0, help="seconds per case, 10 by default"
    )
    parser.add_argument(
        "--require", default="", metavar="causal,gradients", help="features that must be checked"
    )
    parser.add_argument("--skip", default="", metavar="float16", help="features not to check")
    parser.add_argument(
        "--expect",
        choices=checking.EXPECTED_CONVENTIONS,
        help="library whose conventions are right",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--verbose", action="store_true", help="print the reason for each verdict")


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


def print_progress(done: int, total: int) -> None:
    """Overwrite a line of the terminal, because JAX compiles for seconds."""
    end = "\r" if done < total else "\r" + 30 * " " + "\r"
    print(f"{done} of {total} cases", end=end, file=sys.stderr, flush=True)


def check_function(options: argparse.Namespace) -> int:
    """Print the report on a reader's function; in GitHub Actions, annotate its first problem."""
    settings = calling.Settings(
        library=options.library,
        layout=options.layout,
        mask=options.mask,
        scale=options.scale,
        names=dict(options.names),
    )
    check_report = checking.check(
        options.target,
        settings,
        time_limit_s=options.limit,
        require=options.require,
        skip=options.skip,
        expect=options.expect,
        show_progress=print_progress if sys.stderr.isatty() else None,
    )
    if options.json:
        print(report.as_json(check_report))
    else:
        print(report.format_report(check_report, options.verbose))
    if os.environ.get("GITHUB_ACTIONS") and not check_report.is_correct:
        print(report.as_github_annotation(check_report), file=sys.stderr)
    return 0 if check_report.is_correct else 1


def run() -> None:
    """Run the command with the exit status as this process's."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)


if __name__ == "__main__":
    run()
