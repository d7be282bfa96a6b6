r"""Controls, which edit a literal of an example: `\control{example.input[0] | name | numbers}`.

A control does what typing into the field of that literal does, so undo, links and everything that
is computed from it follow. It stands on a line of its own, also inside other blocks, and without
scripts it is the name and the number. A box around a control, the figure that it moves, and
sentences that hold for all numbers, which an edit then does not dim, is

    <div class="try" markdown="block">
    ...
    </div>

In a script, a control is an element with `data-control` and `data-input`, the reference. It calls
`attentionDocs.editInput(element, reference, numbers)` once `attentionDocs.loadLive()` is there, and
gets an event "numbers" with the current ones after each edit, be it its own, typed or undone.
"""

from collections.abc import Callable
from decimal import Decimal
from html import escape

from attention_docs.arrays import Array
from attention_docs.publish.before.values import Steps, format_inline, look_up

SLIDER = """\
<div class="control" data-search-exclude>
<label><span>{name}</span>
<input type="range" data-control="slider" data-input="{reference}" data-stops="{stops}" \
min="0" max="{last}" value="{position}" aria-valuetext="{text}"></label>
{number}
</div>"""
RANGE = "1, 2, 4, or 0.5 to 4 by 0.25"


def control(argument: str, steps: Callable[[str], Steps]) -> str:
    """Return the HTML of a control.

    Args:
        argument: the reference to a number of an input, its name, and the numbers that it can
            have, as in `1, 2, 4` or `0.5 to 4 by 0.25`.
        steps: returns the steps of an example by its name.

    Raises:
        LookupError: if the example, the step or the index is unknown.
        ValueError: if a part is missing or malformed, or the number of the example is not among
            those that the control can have.

    >>> from attention_docs import examples
    >>> print(control("self_attention.X[0,1] | entry of X | -1 to 1 by 1", examples.steps))
    <div class="control" data-search-exclude>
    <label><span>entry of X</span>
    <input type="range" data-control="slider" data-input="self_attention.X[0,1]" \
data-stops="-1 0 1" min="0" max="2" value="1" aria-valuetext="0"></label>
    <span data-val="self_attention.X[0,1]">0</span>
    </div>
    """
    parts = [part.strip() for part in argument.split("|")]
    if len(parts) != 3 or not all(parts):
        raise ValueError(f"expected example.input[index] | name | numbers, such as {RANGE}")
    reference, name, numbers = parts
    reference = reference.replace(" ", "")
    value = look_up(reference, steps)
    if isinstance(value, tuple) or value.ndim:
        raise ValueError(f"{reference} is not a single number")
    return slider(reference, name, value, stops(numbers))


def slider(reference: str, name: str, value: Array, numbers: list[Decimal]) -> str:
    """Return the HTML of a slider for one number."""
    floats = [float(number) for number in numbers]
    if float(value) not in floats:
        raise ValueError(f"{reference} is {float(value):g}, which is none of these numbers")
    position = floats.index(float(value))
    return SLIDER.format(
        reference=reference,
        name=escape(name),
        stops=" ".join(map(str, numbers)),
        last=len(numbers) - 1,
        position=position,
        text=numbers[position],
        number=format_inline(value, reference),
    )


def stops(text: str) -> list[Decimal]:
    """Return the numbers that a slider can have, in decimals as written.

    Raises:
        ValueError: if the text has another form, or fewer than two numbers.

    >>> [*map(str, stops("1, 10, 100"))], [*map(str, stops("0 to 0.3 by 0.1"))]
    (['1', '10', '100'], ['0.0', '0.1', '0.2', '0.3'])
    >>> stops("many")
    Traceback (most recent call last):
    ValueError: 'many' is no list of numbers; expected 1, 2, 4, or 0.5 to 4 by 0.25
    """
    first, is_range, rest = text.partition(" to ")
    try:
        if not is_range:
            numbers = [Decimal(number.strip()) for number in text.split(",")]
        else:
            last, _, step = rest.partition(" by ")
            start, end, increment = Decimal(first), Decimal(last), Decimal(step)
            count = int((end - start) / increment) + 1
            numbers = [start + increment * i for i in range(count)]
    except ArithmeticError:
        numbers = []
    if len(numbers) < 2:
        raise ValueError(f"{text!r} is no list of numbers; expected {RANGE}")
    return numbers
