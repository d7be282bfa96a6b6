r"""What the words of a page say about its numbers: claims, typed numbers and names of numbers.

A claim, `\claim{condition | words}`, stands beside its sentence and is not shown. The words are
quoted from its paragraph, and an ellipsis stands for anything within a sentence. The condition is
Python, in which the name of an example leads to its steps and constants:

    So *they* gives *boats* most of its weight. \claim{course_mask.weights[4,2] > 0.5 | most of}

The build stops if a condition is false or the words are not there, and if a paragraph about an
example compares, counts or types a number in words that no claim quotes. What is true in general
has the condition `True`.
"""

import ast
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from attention_docs import examples
from attention_docs.lookup import RESULTS, StepsOf, look_up_labels, words_of
from attention_docs.publish.before.results import look_up_result
from attention_docs.publish.before.values import CODE_OR_MATH, MACRO, split_fields
from attention_docs.publish.page_files import CLAIM
from attention_docs.render.references import StepArray, index_in_step, step_name
from attention_docs.render.text import as_text

# A paragraph, an item of a list or a row of a table.
BLOCK = re.compile(r"\S.*?(?=\n\s*\n|\n\s*(?:[-*|]|\d+\.)\s|\Z)", re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.:?!])\s+")
# An ellipsis in a quote: anything up to the end of the sentence but typed numbers.
ELLIPSIS = r"(?:(?![.?!]\s|\\number).)*?"
USED_EXAMPLE = re.compile(r"\\(?:val|example|claim)\{(\w+)")
EMPHASIS = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
NUMBER = re.compile(r"\\(?:val|number)\{[^{}]*\}")
ARITHMETIC = re.compile(r"\d(?:(?:[\d./]|\\[.*+ -])*\d)?")  # as `re.escape` returns it
TYPED_NUMBER = re.compile(r"\\number\{([^{}]*)\}")
# Dares, questions and sliders have names of their own, which `check_names` reads.
CONTROL = re.compile(r"\\(?:ask|control|dare)\{[^{}]*\}")
LINK_TARGET = re.compile(r"\]\([^)]*\)")
COUNT = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
ORDINAL = "first|second|third|fourth|fifth|sixth|last"
# Beginnings of words, such as "queries".
PART = "column|feature|head|key|output|position|quer|row|score|token|value|weight|word"
COMPARING = re.compile(
    r"\b(?:almost|close|double|exceed|fall|fast|fewer|further|grow|half|high|hundredth|larg|less\b"
    r"|low|main|more|most|near|quarter|rise|small|slow|steep|than\b|times (?:as|th[ao])|triple"
    rf"|twice|(?:all|both|each|none|only|{COUNT}) of (?:the|them|these)\b|no (?:other|two)\b"
    rf"|all (?:{COUNT})\b|(?:{ORDINAL}) (?:{PART})|comes? (?:{ORDINAL}))\w*",
    re.IGNORECASE,
)
COUNTING = re.compile(
    r"\b(?:all|alone|always|both|each|equal\w*|every|exactly|negative|neither|never|none|nothing"
    rf"|only|opposite|positive|same|{COUNT}|{ORDINAL})\b",
    re.IGNORECASE,
)


def find_problems(markdown: str, steps_of: StepsOf) -> Iterator[tuple[int, str]]:
    r"""Yield the 0-based line and the message of each problem with the claims of a page.

    >>> list(find_problems(r"It is large. \\claim{1 > 2 | large}", examples.steps))
    [(0, '1 > 2 is false, with 1 and 2: “It is large.”')]
    """
    used = set(USED_EXAMPLE.findall(markdown)) & set(examples.names())
    words = {word.lower() for name in used for word in words_of_example(name)}
    inputs = {number for name in used for number in numbers_of_example(name, steps_of)}
    prose = CODE_OR_MATH.sub(placeholder, markdown)
    prose = CONTROL.sub(lambda control: "\n" * control[0].count("\n"), prose)
    for block in BLOCK.finditer(prose):
        line = prose.count("\n", 0, block.start())
        for problem in problems_of_block(block[0], words, inputs, steps_of):
            yield line, problem


def words_of_example(name: str) -> Iterator[str]:
    """Yield the words at rows and columns of an example."""
    for axes in getattr(examples.load(name), "LABELS", {}).values():
        for words in axes:
            yield from words


def numbers_of_example(name: str, steps_of: StepsOf) -> Iterator[float]:
    """Yield the numbers above twelve of an example's constants and short steps."""
    constants = vars(examples.load(name)).values()
    short = [array for array in steps_of(name).values() if array.ndim < 2 and array.size <= 12]
    for value in (*constants, *(number for array in short for number in np.ravel(array))):
        if isinstance(value, int | float | np.number) and value > 12:
            yield float(value)


def placeholder(code_or_math: re.Match[str]) -> str:
    """Return what stands for code or a formula: the numbers of a formula, and the line breaks."""
    numbers = NUMBER.findall(code_or_math[0]) if code_or_math["math"] else []
    return " ".join(numbers) + "\n" * code_or_math[0].count("\n")


def problems_of_block(
    block: str, words: set[str], inputs: set[float], steps_of: StepsOf
) -> Iterator[str]:
    """Yield what is wrong with the claims of a paragraph, and what lacks a claim.

    Args:
        words: the words at rows and columns of the page's examples.
        inputs: the numbers that these examples hold.
    """
    text = " ".join(CLAIM.sub("", block).split())
    unclaimed = text
    claims = list(CLAIM.finditer(block))
    for claim in claims:
        try:
            condition, quote = split_fields(claim["argument"], "condition", "words")
        except ValueError as error:
            yield f"{claim[0].strip()}: {error}"
            continue
        pattern = quote_pattern(quote)
        for match in pattern.finditer(text):
            hidden = re.sub(r"\w", "·", match[0])
            unclaimed = unclaimed[: match.start()] + hidden + unclaimed[match.end() :]
        if not pattern.search(text):
            yield f"the words of a claim are not beside it: “{quote}”"
        elif problem := contradiction(condition, steps_of):
            sentence = next(filter(pattern.search, SENTENCE_END.split(text)), quote)
            yield f"{problem}: “{sentence}”"

    def has_data(text: str) -> bool:
        return r"\val{" in text or bool(words & set(EMPHASIS.findall(text.lower())))

    is_about_data = bool(claims) or has_data(text)
    sentences = zip(SENTENCE_END.split(text), SENTENCE_END.split(unclaimed), strict=True)
    for sentence, rest in sentences:
        left = MACRO.sub("", LINK_TARGET.sub("", rest))
        comparison = COMPARING.search(left) if is_about_data else None
        if found := comparison or (COUNTING.search(left) if has_data(sentence) else None):
            yield rf"“{found[0]}” compares or counts, so it needs a \claim: “{sentence}”"
        for typed in TYPED_NUMBER.finditer(rest):
            if is_about_data or (typed[1].isdecimal() and float(typed[1]) in inputs):
                yield rf"{typed[0]} needs a \claim, or is a \val: “{sentence}”"


def quote_pattern(quote: str) -> re.Pattern[str]:
    r"""Return a pattern for the text that a claim quotes, with its typed numbers in macros.

    >>> bool(quote_pattern("base 64 … fast").search(r"base \number{64} turns \val{a.b} as fast"))
    True
    """
    escaped = ELLIPSIS.join(re.escape(part.strip()) for part in quote.split("…"))
    return re.compile(ARITHMETIC.sub(r"(?:\\\\number\\{)?\g<0>\\}?", escaped), re.IGNORECASE)


def contradiction(condition: str, steps_of: StepsOf) -> str | None:
    """Return what is wrong with a condition, or None if it is true.

    >>> contradiction("self_attention.Q[0,1] > self_attention.Q.max()", examples.steps)
    'self_attention.Q[0,1] > self_attention.Q.max() is false, with 0.0 and 2.0'
    """
    names: dict[str, Any] = {
        "np": np,
        "largest": largest,
        "shown": as_text,
        "words_of": words_of,
        "result": partial(look_up_result, folder=RESULTS),
    }
    for name in filter(is_example, {*re.findall(r"[a-z]\w*", condition)}):
        # The steps and the constants of an example as attributes.
        names[name] = SimpleNamespace(**{**vars(examples.load(name)), **steps_of(name)})
    try:
        if eval(condition, names):
            return None
        tree = ast.parse(condition, mode="eval").body
        sides = [tree.left, *tree.comparators] if isinstance(tree, ast.Compare) else []
        values = " and ".join(str(eval(ast.unparse(side), names)) for side in sides)
    except Exception as error:  # whatever the condition of a page may raise
        return f"{condition} raises {type(error).__name__}: {error}"
    return f"{condition} is false" + (f", with {values}" if values else "")


def is_example(name: str) -> bool:
    # Listing the folder for each of 1,700 claims, as `names` does, would take a second.
    return Path(examples.__file__).with_name(f"{name}.py").is_file()


def largest(row: StepArray) -> str:
    """Return the word at the largest number of a row or column of a step.

    >>> from attention_docs.render.references import with_step
    >>> largest(with_step(examples.steps("course_formula")["weights"], "course_formula.weights")[1])
    'birds'
    """
    first, second, best = (index_in_step(row, (i,)).split(",") for i in (0, 1, int(row.argmax())))
    axis = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
    return look_up_labels(str(step_name(row)))[axis][int(best[axis])]


def check_names(text: str, reference: str) -> None:
    """Refuse a text about a number of an example that names other words than those at the number.

    >>> check_names("Weight on *boats*", "course_formula.weights[0,1]")
    Traceback (most recent call last):
    ValueError: 'Weight on *boats*' names boats; course_formula.weights[0,1] is of birds, pass
    """
    path, _, index = reference.replace(" ", "").rstrip("]").partition("[")
    axes = examples.labels(*path.split("."))
    # Not strict, because a step may have no words, and a reference to a row has one index.
    here = [words[int(i)] for words, i in zip(axes, index.split(","), strict=False) if i]
    named = {
        word
        for words in axes
        for word in words
        if re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
    }
    if len(here) == len(axes) and named - {*here}:
        others = ", ".join(sorted(named - {*here}))
        raise ValueError(f"{text!r} names {others}; {reference} is of {', '.join(here)}")
