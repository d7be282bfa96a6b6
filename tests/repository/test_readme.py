"""The README's picture, the only drawn file in the repository."""

from attention_docs.publish.readme_picture import PICTURE, readme_picture
from tests.conftest import ROOT


def test_picture_is_the_one_that_the_build_draws():
    # python -m attention_docs.publish.readme_picture draws it again.
    assert (ROOT / PICTURE).read_text(encoding="utf-8") == readme_picture(ROOT)
