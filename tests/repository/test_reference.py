"""The reference: every public name on one page, and docstrings that say what a reader needs."""

import re

import griffe
import pytest

import attention_docs
from tests.conftest import ROOT

REFERENCE = ROOT / "docs" / "reference"
SHAPE = re.compile(r"\((?:\.\.\.|\w[\w ]*),")
ARRAY = re.compile(r"Array(?: \| None)?")


NAMES = attention_docs.__all__


@pytest.fixture(scope="module")
def public():
    """The definition of each public name; a module can have the name of its function."""
    package = griffe.load(
        "attention_docs",
        search_paths=[ROOT],
        docstring_parser="google",
        docstring_options={"returns_multiple_items": False, "returns_named_value": False},
    )
    found = {name: package[name] for name in NAMES}
    return {
        name: each[name] if each.is_module else each.final_target if each.is_alias else each
        for name, each in found.items()
    }


@pytest.fixture(scope="module")
def definitions(public):
    """What is public, with the methods of the layer."""
    methods = public["MultiHeadAttention"].functions.items()
    return [*public.values(), *(m for n, m in methods if not n.startswith("_") or n == "__call__")]


def sections(definition, kind):
    """The entries of one kind of section in a docstring."""
    parsed = definition.docstring.parsed
    return [entry for section in parsed if section.kind.value == kind for entry in section.value]


def refers_elsewhere(definition):
    return "Arguments and errors are those of [`" in definition.docstring.value


def test_each_public_name_stands_on_exactly_one_page_and_nothing_else_does():
    pages = "\n".join(p.read_text(encoding="utf-8") for p in REFERENCE.glob("*.md"))
    described = re.findall(r"^::: (\S+)$", pages, re.M)
    assert sorted(path.rpartition(".")[2] for path in described) == NAMES


def test_every_array_has_its_shape(definitions):
    for definition in definitions:
        entries = sections(definition, "parameters") + sections(definition, "attributes")
        arrays = [entry for entry in entries if ARRAY.fullmatch(str(entry.annotation))]
        if definition.is_function and ARRAY.fullmatch(str(definition.returns)):
            (returned,) = sections(definition, "returns")
            arrays.append(returned)
        for entry in arrays:
            assert SHAPE.search(entry.description), (definition.path, entry.name, entry.description)


def test_every_argument_is_explained_in_order(definitions):
    for function in definitions:
        if function.is_function and not refers_elsewhere(function):
            expected = [p.name for p in function.parameters if p.name not in ("self", "cls")]
            explained = [entry.name for entry in sections(function, "parameters")]
            assert explained == expected, function.path


def test_what_checks_its_arguments_says_what_it_raises(definitions):
    for definition in definitions:
        # A named tuple checks nothing, and `show` prints whatever it is given.
        is_tuple = definition.name.endswith(("Steps", "Gradients", "State"))
        silent = is_tuple or definition.name == "show" or refers_elsewhere(definition)
        assert silent or sections(definition, "raises"), definition.path


def test_every_public_name_has_an_example_that_runs(public):
    for name, definition in public.items():
        examples = [text for kind, text in sections(definition, "examples") if kind == "examples"]
        assert examples, name
        assert all(text.startswith(">>> ") for text in examples), name
