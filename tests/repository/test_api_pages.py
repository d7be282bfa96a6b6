"""The API pages document every public name, with complete docstrings."""

import inspect
import re

import pytest

import attention_docs
from attention_docs import MultiHeadAttention
from attention_docs.arrays import Array
from tests.conftest import ROOT

NAMES = attention_docs.__all__
DEFINITIONS = [getattr(attention_docs, name) for name in NAMES]
# A shape such as (..., n, d_k) or (n,).
SHAPE = re.compile(r"\((?:\.\.\.|\w[\w ]*),")


def test_api_pages_document_each_public_name_exactly_once():
    pages = (ROOT / "docs" / "reference").glob("*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    documented = re.findall(r"^::: (\S+)$", text, re.M)
    assert sorted(path.rpartition(".")[2] for path in documented) == NAMES  # which are sorted, too


def sections(definition):
    """Return the texts of a docstring's sections by their titles."""
    parts = re.split(r"^(\w+):\n", inspect.getdoc(definition), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("definition", DEFINITIONS, ids=NAMES)
def test_public_name_has_a_doctest(definition):
    assert "    >>> " in sections(definition)["Examples"]


@pytest.mark.parametrize(
    "definition",
    [*DEFINITIONS, MultiHeadAttention.__call__, MultiHeadAttention.steps],
    ids=lambda definition: definition.__qualname__,
)
def test_docstring_has_all_parameters_in_order_and_shapes_of_arrays(definition):
    text = sections(definition)
    annotations = inspect.get_annotations(definition)
    described = text.get("Args") or text.get("Attributes", "")
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {5}.*)*)", described, re.M)
    if inspect.isfunction(definition):
        assert annotations.pop("return") is not Array or SHAPE.search(text["Returns"])
        if "Arguments and errors are those of [`" not in definition.__doc__:
            assert [name for name, _ in entries] == list(annotations)
    for name, description in entries:
        if name != "device" and annotations.get(name) in (Array, Array | None):
            assert SHAPE.search(description), name
