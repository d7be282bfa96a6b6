"""The reference documents every public name, with complete docstrings."""

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
    """The definition of each public name, even if a module has the same name."""
    package = griffe.load(
        "attention_docs",
        search_paths=[ROOT],
        docstring_parser="google",
        docstring_options={"returns_multiple_items": False, "returns_named_value": False},
    )
    members = {name: package[name] for name in NAMES}
    return {
        name: m[name] if m.is_module else m.final_target if m.is_alias else m
        for name, m in members.items()
    }


@pytest.fixture(scope="module")
def definitions(public):
    """Public definitions and the methods of MultiHeadAttention."""
    methods = public["MultiHeadAttention"].functions.items()
    return [*public.values(), *(m for n, m in methods if not n.startswith("_") or n == "__call__")]


def sections(definition, kind):
    """Return the entries of a docstring's sections of a kind."""
    parsed = definition.docstring.parsed
    return [entry for section in parsed if section.kind.value == kind for entry in section.value]


def refers_elsewhere(definition):
    return "Arguments and errors are those of [`" in definition.docstring.value


def test_reference_documents_each_public_name_exactly_once():
    pages = "\n".join(p.read_text(encoding="utf-8") for p in REFERENCE.glob("*.md"))
    documented = re.findall(r"^::: (\S+)$", pages, re.M)
    assert sorted(path.rpartition(".")[2] for path in documented) == NAMES


def test_array_descriptions_start_with_a_shape(definitions):
    for definition in definitions:
        entries = sections(definition, "parameters") + sections(definition, "attributes")
        arrays = [entry for entry in entries if ARRAY.fullmatch(str(entry.annotation))]
        if definition.is_function and ARRAY.fullmatch(str(definition.returns)):
            (returned,) = sections(definition, "returns")
            arrays.append(returned)
        for entry in arrays:
            assert SHAPE.search(entry.description), (definition.path, entry.name, entry.description)


def test_parameters_are_documented_in_order(definitions):
    for function in definitions:
        if function.is_function and not refers_elsewhere(function):
            expected = [p.name for p in function.parameters if p.name not in ("self", "cls")]
            documented = [entry.name for entry in sections(function, "parameters")]
            assert documented == expected, function.path


def test_functions_document_their_exceptions(definitions):
    for definition in definitions:
        # Named tuples and `show` do not check their arguments.
        is_tuple = definition.name.endswith(("Steps", "Gradients", "State"))
        is_unchecked = is_tuple or definition.name == "show" or refers_elsewhere(definition)
        assert is_unchecked or sections(definition, "raises"), definition.path


def test_every_public_name_has_a_doctest(public):
    for name, definition in public.items():
        examples = [text for kind, text in sections(definition, "examples") if kind == "examples"]
        assert examples, name
        assert all(text.startswith(">>> ") for text in examples), name
