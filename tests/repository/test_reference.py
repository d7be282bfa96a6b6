"""The reference: every public name on one page, and docstrings that say what a reader needs."""

import re

import griffe
import pytest

import attention_docs
from tests.conftest import ROOT

REFERENCE = ROOT / "docs" / "reference"
PACKAGE = griffe.load(
    "attention_docs",
    search_paths=[ROOT],
    docstring_parser="google",
    docstring_options={"returns_multiple_items": False, "returns_named_value": False},
)
SHAPE = re.compile(r"\((?:\.\.\.|\w[\w ]*),")
ARRAY = re.compile(r"Array(?: \| None)?")


def documented(name):
    """The definition of a public name; a module can have the name of its function."""
    found = PACKAGE[name]
    return found[name] if found.is_module else found.final_target if found.is_alias else found


def methods():
    layer = documented("MultiHeadAttention")
    return [m for n, m in layer.functions.items() if not n.startswith("_") or n == "__call__"]


NAMES = attention_docs.__all__
DEFINITIONS = [documented(name) for name in NAMES] + methods()
FUNCTIONS = [definition for definition in DEFINITIONS if definition.is_function]


def sections(definition, kind):
    """The entries of one kind of section in a docstring."""
    parsed = definition.docstring.parsed
    return [entry for section in parsed if section.kind.value == kind for entry in section.value]


def refers_elsewhere(definition):
    return "Arguments and errors are those of [`" in definition.docstring.value


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_stands_on_exactly_one_page(name):
    directive = re.compile(rf"^::: attention_docs\.(?:{name}\.)?{name}$", re.M)
    pages = [p.read_text(encoding="utf-8") for p in REFERENCE.glob("*.md")]
    assert sum(len(directive.findall(page)) for page in pages) == 1


def test_nothing_else_stands_there():
    pages = "\n".join(p.read_text(encoding="utf-8") for p in REFERENCE.glob("*.md"))
    assert {path.rpartition(".")[2] for path in re.findall(r"^::: (\S+)$", pages, re.M)} == set(
        NAMES
    )


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.path)
def test_every_array_has_its_shape(definition):
    entries = sections(definition, "parameters") + sections(definition, "attributes")
    arrays = [entry for entry in entries if ARRAY.fullmatch(str(entry.annotation))]
    for entry in arrays:
        assert SHAPE.search(entry.description), f"{entry.name}: {entry.description}"
    if definition.is_function and ARRAY.fullmatch(str(definition.returns)):
        (returned,) = sections(definition, "returns")
        assert SHAPE.search(returned.description)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.path)
def test_every_argument_is_explained_in_order(function):
    expected = [p.name for p in function.parameters if p.name not in ("self", "cls")]
    if not refers_elsewhere(function):
        assert [entry.name for entry in sections(function, "parameters")] == expected


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.path)
def test_what_checks_its_arguments_says_what_it_raises(definition):
    # A named tuple checks nothing, and `show` prints whatever it is given.
    is_tuple = definition.name.endswith(("Steps", "Gradients", "State"))
    silent = is_tuple or definition.name == "show"
    assert silent or refers_elsewhere(definition) or sections(definition, "raises")


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name):
    examples = [text for kind, text in sections(documented(name), "examples") if kind == "examples"]
    assert examples
    assert all(text.startswith(">>> ") for text in examples)
