"""The API pages document every public name, with complete docstrings."""

import re

import griffe
import pytest

import attention_docs
from tests.conftest import ROOT

API_PAGES = ROOT / "docs" / "reference"
# A shape such as (..., n, d_k) or (n,).
SHAPE = re.compile(r"\((?:\.\.\.|\w[\w ]*),")
ARRAY_ANNOTATION = re.compile(r"Array(?: \| None)?")
NAMES = attention_docs.__all__


@pytest.fixture(scope="module")
def definitions_by_name():
    """The definition of each public name."""
    package = griffe.load(
        "attention_docs",
        search_paths=[ROOT],
        docstring_parser="google",
        docstring_options={"returns_multiple_items": False, "returns_named_value": False},
    )
    return {name: definition_of(package[name], name) for name in NAMES}


def definition_of(member, name):
    if member.is_module:  # such as attention_docs.softmax, which defines the function softmax
        return member[name]
    return member.final_target if member.is_alias else member


@pytest.fixture(scope="module")
def definitions(definitions_by_name):
    """Public definitions and the public methods of MultiHeadAttention."""
    methods = definitions_by_name["MultiHeadAttention"].functions
    public_methods = [
        method for name, method in methods.items() if name == "__call__" or not name.startswith("_")
    ]
    return [*definitions_by_name.values(), *public_methods]


def docstring_entries(definition, kind):
    """Return the entries of a docstring's sections of a kind, such as `parameters`."""
    return [
        entry
        for section in definition.docstring.parsed
        if section.kind.value == kind
        for entry in section.value
    ]


def refers_elsewhere(definition):
    return "Arguments and errors are those of [`" in definition.docstring.value


def test_api_pages_document_each_public_name_exactly_once():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in API_PAGES.glob("*.md"))
    documented = re.findall(r"^::: (\S+)$", pages, re.M)
    assert sorted(path.rpartition(".")[2] for path in documented) == NAMES  # which are sorted, too


def test_array_descriptions_start_with_a_shape(definitions):
    for definition in definitions:
        entries = docstring_entries(definition, "parameters")
        entries += docstring_entries(definition, "attributes")
        arrays = [entry for entry in entries if ARRAY_ANNOTATION.fullmatch(str(entry.annotation))]
        if definition.is_function and ARRAY_ANNOTATION.fullmatch(str(definition.returns)):
            (returned,) = docstring_entries(definition, "returns")
            arrays.append(returned)
        for entry in arrays:
            assert SHAPE.search(entry.description), (definition.path, entry.name, entry.description)


def test_parameters_are_documented_in_order(definitions):
    for function in definitions:
        if function.is_function and not refers_elsewhere(function):
            names = [parameter.name for parameter in function.parameters]
            expected = [name for name in names if name not in ("self", "cls")]
            documented = [entry.name for entry in docstring_entries(function, "parameters")]
            assert documented == expected, function.path


def test_functions_document_their_exceptions(definitions):
    for definition in definitions:
        is_named_tuple = definition.name.endswith(("Steps", "Gradients", "State"))
        checks_no_arguments = is_named_tuple or definition.name == "show"
        if not checks_no_arguments and not refers_elsewhere(definition):
            assert docstring_entries(definition, "raises"), definition.path


def test_every_public_name_has_a_doctest(definitions_by_name):
    for name, definition in definitions_by_name.items():
        entries = docstring_entries(definition, "examples")  # examples and texts between them
        examples = [text for kind, text in entries if kind == "examples"]
        assert examples, name
        assert all(example.startswith(">>> ") for example in examples), name
