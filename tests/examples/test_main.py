"""The command line: output, exit status and error messages."""

import importlib
import inspect
import json
import os
import subprocess
import sys
from unittest.mock import Mock

import array_api_strict
import numpy
import pytest

from attention_docs import __main__, examples
from attention_docs.__main__ import main
from attention_docs.render.text import as_text


def test_list_prints_names_and_titles_in_columns(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    width = max(map(len, examples.names()))
    for line, name in zip(lines, examples.names(), strict=True):
        assert line == f"{name:<{width}}  {examples.load(name).TITLE}"


def test_show_prints_every_step(capsys):
    assert main(["show", "self_attention"]) == 0
    inputs, _, computed = capsys.readouterr().out.partition("\nQ ")
    assert [line.split()[0] for line in inputs.splitlines()] == ["X", "W_Q", "W_K", "W_V"]
    assert f"Q {computed}" == examples.expected("self_attention") + "\n"


CODE = inspect.getsource(examples.load("self_attention"))
CODE_WITH_OLD_DIGITS = CODE.replace("X = [[1, 0,", "X = [[5, 0,")
CODE_WITHOUT_DIGITS = CODE.replace(examples.expected("self_attention") + "\n", "")


@pytest.fixture
def write_example(tmp_path, monkeypatch):
    """A function that writes the code of an example where the command line will find it."""

    def write(name, code):
        file = tmp_path / f"{name}.py"
        file.write_text(code, "utf-8")
        monkeypatch.setattr(examples, "__path__", [str(tmp_path)])
        return file

    return write


@pytest.mark.parametrize(
    ("name", "code"),
    [("with_old_digits", CODE_WITH_OLD_DIGITS), ("without_digits", CODE_WITHOUT_DIGITS)],
    ids=["old digits", "no digits"],
)
def test_show_writes_digits_to_the_docstring_alone(name, code, write_example):
    file = write_example(name, code)
    assert main(["show", name, "--write"]) == 0
    example = importlib.reload(examples.load(name))
    digits = as_text(examples.computed(example.steps))
    assert example.__doc__.endswith(f"\n>>> show(computed(steps))\n{digits}\n")
    assert file.read_text("utf-8").partition('"""\n')[2] == code.partition('"""\n')[2]


@pytest.mark.parametrize(
    ("name", "doctest", "found"),
    [
        ("no_doctest", "", "[]"),
        ("other_doctest", ">>> show(Q)", "['show(Q)']"),
        ("two_doctests", ">>> Q\n>>> show(computed(steps))", "['Q', 'show(computed(steps))']"),
    ],
)
def test_show_refuses_to_write_to_other_doctests(name, doctest, found, write_example, capsys):
    write_example(name, CODE.replace(">>> show(computed(steps))", doctest))
    assert main(["show", name, "--write"]) == 2
    assert capsys.readouterr().err == (
        f"attention_docs: doctests of {name} are {found}; expected ['show(computed(steps))']\n"
    )


def test_show_as_json(capsys):
    main(["show", "self_attention", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["scores"] == [[0, 4, 4], [4, 0, 4], [4, 4, 8]]


def test_show_as_latex(capsys):
    main(["show", "self_attention", "--format", "latex"])
    assert r"K = \begin{bmatrix} 0 & 2 \\ 2 & 0 \\ 2 & 2 \end{bmatrix}" in capsys.readouterr().out


@pytest.fixture
def three_examples(monkeypatch):
    """Limit the examples to three: the tests of a page run `verify` on all of them."""
    names = ["distinct_sizes", "multi_head", "self_attention"]
    monkeypatch.setattr(examples, "names", lambda: names)


def test_verify_agrees(three_examples, capsys):
    assert main(["verify"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "distinct_sizes: ok",
        "multi_head: ok",
        "self_attention: ok",
        "3 of 3 examples agree",
    ]


def test_verify_fails_if_a_digit_differs(three_examples, capsys, monkeypatch):
    example = examples.load("self_attention")
    monkeypatch.setattr(example, "X", [*example.X[:-1], [1, 1, 1, 2]])
    assert main(["verify"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "self_attention: DIFFERS from its committed digits" in lines
    assert lines[-1] == "2 of 3 examples agree"


def test_selected_backend_computes(three_examples, monkeypatch):
    for name in ("steps", "computed"):
        monkeypatch.setattr(examples, name, Mock(wraps=getattr(examples, name)))
    # Another library stands in for CuPy, which needs a GPU.
    monkeypatch.setattr(__main__, "backend", {"numpy": numpy, "cupy": array_api_strict}.get)
    main(["show", "self_attention", "--backend", "cupy"])
    main(["verify", "--backend", "cupy"])
    calls = examples.steps.call_args_list + examples.computed.call_args_list
    assert {call.args[1] for call in calls} == {array_api_strict}
    main(["show", "self_attention", "--backend", "numpy"])
    assert examples.steps.call_args.args[1] is numpy


def test_unknown_example_error_lists_all_names(capsys):
    assert main(["show", "nope"]) == 2
    assert ", ".join(examples.names()) in capsys.readouterr().err


def test_closed_pipe_prints_no_traceback():
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "attention_docs", "show", "self_attention"]
    process = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    assert process.stderr == b""


def test_help_names_the_commands(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # a width at which no line wraps
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "usage: python -m attention_docs [-h] list | show | verify ..."
    assert __main__.__doc__ in lines
    assert "list list the worked examples" in lines
    assert "show print every step of one example" in lines
    assert "verify compare every example with its committed digits" in lines
