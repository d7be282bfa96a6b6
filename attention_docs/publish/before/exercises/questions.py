r"""Questions whose answers the page checks: `\ask{example.step[0,1] | name of the answer | hint}`.

If the reference is to a number, the reader types it into a field. If it is to a row of numbers with
words, the reader chooses a word, and the word of the largest number is right. The page's script
compares the answer with what the page computes. Without scripts the question has no field.

A fourth field can name wrong numbers, `example.step[1]: the weight without the root; …`.
"""

import re
from collections.abc import Sequence
from html import escape

from attention_docs.lookup import StepsOf, look_up_array, look_up_labels
from attention_docs.publish.before.claims import check_names
from attention_docs.publish.before.values import split_fields

BOX = """\
<div class="ask hands-on" data-ask="{reference}" data-hint="{hint}"{mistakes} data-search-exclude>
<label for="{id}">{label}</label>
{field}
<button type="button" aria-label="Check: {label}">Check</button>
<p role="status"></p>
</div>"""
FIELD = '<input id="{id}" inputmode="decimal" autocomplete="off" spellcheck="false">'
NOT_IN_ID = re.compile(r"[^\w]+")
# A screen reader is silent about a dot.
SPOKEN = {".": "full stop"}


def question(argument: str, steps_of: StepsOf) -> str:
    """Return the HTML of a question: a reference to the answer, its name, and a hint.

    >>> from attention_docs import examples
    >>> print(question("self_attention.Q[0,1] | entry of Q | Add up.", examples.steps))
    <div class="ask hands-on" data-ask="self_attention.Q[0,1]" data-hint="Add up." \
data-search-exclude>
    <label for="ask-self_attention-Q-0-1">entry of Q</label>
    <input id="ask-self_attention-Q-0-1" inputmode="decimal" autocomplete="off" spellcheck="false">
    <button type="button" aria-label="Check: entry of Q">Check</button>
    <p role="status"></p>
    </div>
    """
    names = ["example.step[index]", "name of the answer", "hint", "mistakes"]
    reference, label, hint, *mistakes = split_fields(argument, *names[: argument.count("|") + 1])
    answer = look_up_array(reference, steps_of)
    check_names(label, reference)
    words = look_up_labels(reference)  # for each axis of the answer, so none for a number
    if answer.ndim != len(words) or answer.ndim > 1:
        raise ValueError(
            f"{reference} has shape {answer.shape}; expected a number, or a row with LABELS"
        )
    for mistake in re.findall(r"(\S+): ", "".join(mistakes)):
        if look_up_array(mistake, steps_of) == answer:
            raise ValueError(f"{mistake} is no mistake, but the answer")
    html_id = "ask-" + NOT_IN_ID.sub("-", reference).strip("-")
    return BOX.format(
        reference=reference.replace(" ", ""),
        label=escape(label),
        hint=escape(hint),
        mistakes="".join(f' data-mistakes="{escape(text)}"' for text in mistakes),
        id=html_id,
        field=choice(words[0], html_id) if words else FIELD.format(id=html_id),
    )


def choice(words: Sequence[str], html_id: str) -> str:
    """Return a drop-down list of words, of which none is selected at first.

    >>> print(choice(["."], "next"))
    <select id="next"><option value="">choose</option><option>full stop</option></select>
    """
    options = "".join(f"<option>{escape(SPOKEN.get(word, word))}</option>" for word in words)
    return f'<select id="{html_id}"><option value="">choose</option>{options}</select>'
