"""What several figures of the course have in common."""

from typing import Any

from attention_docs.examples.course_sentence import VOCABULARY, WORDS

# The features that have a meaning, and those of the position.
WORD_FEATURES, CLOCK_FEATURES = slice(0, 5), slice(5, 7)
AIR_AND_WATER = slice(0, 2)
# The options of `matrix_panel` for weights of words on words.
WEIGHTS_OF_WORDS: dict[str, Any] = {
    "rows": "the word that asks",
    "columns": "the word that is asked",
    "row_labels": WORDS,
    "column_labels": WORDS,
    "role": "weights",
    "scale": "sequential",
}
# The words whose columns are drawn where the whole vocabulary would be too wide.
ENDINGS = ["fly", "sail", "."]
ENDING_COLUMNS = [VOCABULARY.index(word) for word in ENDINGS]
