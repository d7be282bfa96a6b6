"""The course: its sizes, and the words at its matrices."""

import pytest

from attention_docs import examples
from attention_docs.publish.computed import ComputedExamples
from tests.conftest import ROOT

STEPS = ComputedExamples(ROOT).steps  # cached, because one of them trains
EXAMPLES_OF_COURSE = [name for name in examples.names() if name.startswith("course_")]


def test_nine_sizes_are_one_to_nine():
    sizes = STEPS("course_sentence")["sizes"].tolist()
    assert sorted(sizes) == list(range(1, 10))


@pytest.mark.parametrize("name", EXAMPLES_OF_COURSE)
def test_every_matrix_of_the_course_has_words_at_rows_and_columns(name):
    for step, array in STEPS(name).items():
        labels = examples.labels(name, step)
        if array.ndim == 2 or labels:
            assert tuple(map(len, labels)) == array.shape, f"{name}.{step}"


@pytest.mark.parametrize("name", EXAMPLES_OF_COURSE)
def test_matrices_of_course_fit_on_its_pages(name):
    shown_in_halves_or_as_figures = ("W_O", "W_vocabulary", "gradient", "probabilities")
    for step, array in STEPS(name).items():
        assert array.size <= 45 or step in shown_in_halves_or_as_figures, step
