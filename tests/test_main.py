"""The command line: what it prints, and how it refuses."""

import importlib.util
import json

import pytest

from attention_docs import examples
from attention_docs.__main__ import main


def test_list_names_every_example(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == examples.names()


def test_show_prints_the_committed_digits(capsys):
    assert main(["show", "self_attention"]) == 0
    assert capsys.readouterr().out == examples.expected("self_attention") + "\n"


def test_show_as_json_and_latex(capsys):
    main(["show", "self_attention", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["scores"] == [[0, 4, 4], [4, 0, 4], [4, 4, 8]]
    main(["show", "self_attention", "--format", "latex"])
    assert r"K = \begin{bmatrix} 0 & 2 \\ 2 & 0 \\ 2 & 2 \end{bmatrix}" in capsys.readouterr().out


def test_verify_agrees(capsys):
    assert main(["verify"]) == 0
    assert f"{len(examples.names())} of {len(examples.names())} examples agree" in (
        capsys.readouterr().out
    )


def test_verify_fails_when_a_digit_differs(capsys, monkeypatch):
    example = examples.load("self_attention")
    monkeypatch.setattr(example, "X", [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 2]])
    assert main(["verify"]) == 1
    assert "self_attention: DIFFERS from its committed digits" in capsys.readouterr().out


def test_an_unknown_example_lists_the_known_ones(capsys):
    assert main(["show", "nope"]) == 2
    assert f"known are {', '.join(examples.names())}" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_cupy_without_cupy_says_how_to_install_it(capsys):
    assert main(["verify", "--backend", "cupy"]) == 2
    error = capsys.readouterr().err
    assert "pip install 'attention-docs[cuda12]'" in error
    assert len(error.splitlines()) == 1
