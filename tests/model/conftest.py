"""The tiny model, written once as a GGUF file."""

import pytest

from attention_docs.model.gguf_file import read_gguf
from tests.model import tiny


@pytest.fixture(scope="session")
def gguf(tmp_path_factory):
    """The path of the file."""
    return tiny.write_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf", tiny.WEIGHTS)


@pytest.fixture(scope="session")
def model_and_tokenizer(gguf):
    return read_gguf(gguf)
