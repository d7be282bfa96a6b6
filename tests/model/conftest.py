"""The tiny model, written once as a GGUF file."""

import pytest

from attention_docs.model.gguf_file import read_gguf
from tests.model import tiny


@pytest.fixture(scope="session")
def gguf(tmp_path_factory):
    """The path of a GGUF file of the tiny model."""
    return tiny.write_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf", tiny.WEIGHTS)


@pytest.fixture(scope="session")
def model_and_tokenizer(gguf):
    return read_gguf(gguf)


@pytest.fixture
def model(model_and_tokenizer):
    return model_and_tokenizer[0]


@pytest.fixture
def tokenizer(model_and_tokenizer):
    return model_and_tokenizer[1]
