r"""Controls, which edit a literal of an example: `\control{example.input[0] | name | numbers}`.

A number gets a slider. A row of two numbers gets two sliders, and its arrow in the figure of the
same box can be dragged. A square mask gets cells to click and named masks to choose from,
`\control{example.mask | name | causal, window}`. A row of booleans, of which one is True, gets a
button for each, with the names of `LABELS`: `\control{example.choice | name | one}`.

A control does the same as typing into the field of the literal, so undo, links and computed numbers
work as after typing. It stands on a line of its own, also inside other blocks. Without scripts it
shows the name and the number. A control can stand in a box with the figure that it moves and with
sentences that hold for all numbers, so that an edit does not dim them:

    <div class="try" markdown="block">
    ...
    </div>

An example with a function `iteration` can be repeated: `\control{example.input[0] | name | 200
steps}` is a button that does so and a slider through the iterations, which start over if the input
is edited.

To scripts, a control is an element with `data-control` and with the reference in `data-input`. It
calls `attentionDocs.editInput(element, reference, numbers)` once `attentionDocs.loadLive()` is
there, and gets an event "numbers" with the current numbers after each edit, wherever that was made.
"""

import re
from decimal import Decimal
from html import escape

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.lookup import StepsOf, look_up_array, look_up_labels
from attention_docs.masks import causal_mask, window_mask
from attention_docs.publish.before.claims import check_names
from attention_docs.publish.before.values import format_inline, split_fields
from attention_docs.render.references import element_reference

SLIDER = """\
<div class="control slider" data-search-exclude>
<label><span>{name}</span>
<input type="range" data-control="slider" data-input="{reference}" data-stops="{stops}" \
min="0" max="{last}" value="{position}" aria-valuetext="{text}"></label>
{number}
<small data-computed style="--own:{own:.3g}" aria-hidden="true">{ends}</small>
</div>"""
CELLS = """\
<div class="control cells hands-on" role="group" aria-label="{name}" data-control="cells" \
data-input="{reference}" data-search-exclude>
<p>{choices}</p>
<table class="cells-table"><thead><tr><td></td>{headings}</tr></thead><tbody>{rows}</tbody></table>
<p role="status"></p>
</div>"""
CHOICES = """\
<div class="control cells hands-on" role="group" aria-label="{name}" data-control="cells" \
data-input="{reference}" data-search-exclude>
<p>{name}: {choices}</p>
</div>"""
ARROW = """\
<div class="control-pair" role="group" aria-label="{name}" data-control="arrow" \
data-input="{reference}" data-arrow="{arrow}" data-stops="{stops}" data-search-exclude>
{sliders}
</div>"""
TRAINING = """\
<div class="control training hands-on" role="group" aria-label="{name}" data-control="training" \
data-input="{reference}" data-number="{number:g}" data-example="{example}" data-search-exclude>
<button type="button">Train</button>
<label><span>step</span>
<input type="range" min="0" max="{count}" value="0" aria-valuetext="step 0"></label><span>0</span>
<small aria-hidden="true">The loss of each step is drawn here.</small>
<svg viewBox="0 0 {count} 100" preserveAspectRatio="none" aria-hidden="true"><path/></svg>
<p role="status"></p>
</div>"""
SWITCH = """\
<label class="control check" data-search-exclude><input type="checkbox" data-control="slider" \
data-input="{reference}" data-stops="0 1"{checked}> {name}</label>"""
CHOICE = (
    '<button type="button" data-cells="{cells}" data-computed aria-pressed="{pressed}">'
    "{name}</button>"
)
CELL = (
    '<td><button type="button" aria-pressed="{pressed}" aria-label="{query} sees {key}"{later}'
    ' tabindex="{tabindex}"></button></td>'
)
ITERATIONS = re.compile(r"(\d+) steps")
NUMBER_RANGE = re.compile(r"(?P<first>.+) to (?P<last>.+) by (?P<step>.+)")
EXPECTED_NUMBERS = "1, 2, 4 or 0.5 to 4 by 0.25"


def control(argument: str, steps_of: StepsOf) -> str:
    """Return the HTML of a control.

    Args:
        argument: a reference, a name and a choice, separated by `|`. For a number of an input, or
            a row of two, the choice is what they can be: `1, 2, 4` or `0.5 to 4 by 0.25`. For a
            mask, it is the names of masks; for a number of a repeatable example, `200 steps`; for a
            number that is 0 or 1, `off, on`.

    >>> from attention_docs import examples
    >>> print(control("self_attention.X[0,1] | entry of X | -1 to 1 by 1", examples.steps))
    <div class="control slider" data-search-exclude>
    <label><span>entry of X</span>
    <input type="range" data-control="slider" data-input="self_attention.X[0,1]" \
data-stops="-1 0 1" min="0" max="2" value="1" aria-valuetext="0"></label>
    <span data-val="self_attention.X[0,1]">0</span>
    <small data-computed style="--own:0.5" aria-hidden="true"><span>−1</span><span>1</span></small>
    </div>
    """
    reference, name, choice = split_fields(
        argument, "example.input[index]", "name", f"numbers, such as {EXPECTED_NUMBERS}"
    )
    reference = reference.replace(" ", "")
    value = look_up_array(reference, steps_of)
    check_names(name, reference)
    if value.dtype == bool and value.ndim == 2:
        return mask_html(reference, name, value, choice)
    if value.dtype == bool and choice == "one":
        return choices_html(reference, name, value)
    if value.shape not in ((), (2,)):
        raise ValueError(
            f"{reference} has shape {value.shape}; expected one number, two, or a boolean matrix"
        )
    if iterations := ITERATIONS.fullmatch(choice):
        example = reference.partition(".")[0]
        if not hasattr(examples.load(example), "iteration"):
            raise ValueError(
                f"example {example} has no function `iteration`, so cannot be repeated"
            )
        return TRAINING.format(
            reference=reference,
            name=escape(name),
            number=float(value),
            example=example,
            count=iterations[1],
        )
    if choice == "off, on":
        checked = " checked" if value else ""
        return SWITCH.format(reference=reference, name=escape(name), checked=checked)
    if value.ndim:
        return arrow_html(reference, name, value, parse_stops(choice))
    return slider_html(reference, name, value, parse_stops(choice))


def slider_html(reference: str, name: str, value: Array, stops: list[Decimal]) -> str:
    floats = [float(stop) for stop in stops]
    if float(value) not in floats:
        raise ValueError(
            f"{reference} is {float(value):g}; expected one of the slider's numbers, "
            f"{', '.join(map(str, stops))}"
        )
    position = floats.index(float(value))
    first_and_last = (stops[0], stops[-1])
    return SLIDER.format(
        reference=reference,
        name=escape(name),
        stops=" ".join(map(str, stops)),
        last=len(stops) - 1,
        position=position,
        text=stops[position],
        number=format_inline(value, reference),
        own=position / (len(stops) - 1),  # where a mark shows the example's own number
        ends="".join(f"<span>{short_number(stop)}</span>" for stop in first_and_last),
    )


def short_number(number: Decimal) -> str:
    """Return a number without zeros after its last digit.

    >>> short_number(Decimal("-0.50")), short_number(Decimal(1024))
    ('−0.5', '1,024')
    """
    return f"{number.normalize():,f}".replace("-", "−")


def arrow_html(reference: str, name: str, row: Array, stops: list[Decimal]) -> str:
    labels = look_up_labels(reference)
    words = labels[0] if labels else ["right", "up"]
    sliders = (
        slider_html(element_reference(reference, (i,)), f"{name}: {word}", row[i], stops)
        for i, word in enumerate(words)
    )
    return ARROW.format(
        reference=reference,
        # Must match `row_reference`, by which figures name the vector that an arrow draws.
        arrow=f"{reference.removesuffix(']')},0:2]",
        name=escape(name),
        stops=" ".join(map(str, stops)),
        sliders="\n".join(sliders),
    )


def mask_html(reference: str, name: str, mask: Array, choices: str) -> str:
    """Return the HTML of a square mask whose cells are buttons, with buttons for whole masks.

    Args:
        mask: the mask of the example, in which True means that the query sees the key.
        choices: the names of the whole masks, separated by commas.
    """
    labels = look_up_labels(reference)
    if not labels or mask.shape[0] != mask.shape[1]:
        raise ValueError(f"{reference} has shape {mask.shape}; expected a square mask with LABELS")
    queries, keys = labels
    masks = named_masks(len(mask))
    mask_buttons = []
    for choice in map(str.strip, choices.split(",")):
        if choice not in masks:
            raise LookupError(f"mask {choice!r} is unknown; expected one of {', '.join(masks)}")
        mask_buttons.append(choice_button(choice, masks[choice], mask))
    return CELLS.format(
        reference=reference,
        name=escape(name),
        choices=" ".join(mask_buttons),
        headings="".join(f'<th scope="col">{escape(key)}</th>' for key in keys),
        rows="".join(mask_row_html(i, query, keys, mask) for i, query in enumerate(queries)),
    )


def choices_html(reference: str, name: str, row: Array) -> str:
    """Return buttons that choose which number of a row of booleans is the only True."""
    (labels,) = look_up_labels(reference)
    choices = zip(labels, np.eye(len(row), dtype=bool), strict=True)
    buttons = " ".join(choice_button(label, one, row) for label, one in choices)
    return CHOICES.format(reference=reference, name=escape(name), choices=buttons)


def choice_button(name: str, choice: Array, value: Array) -> str:
    """Return a button that sets booleans to a choice, and is pressed if they have this value."""
    return CHOICE.format(
        cells="".join(map(str, choice.astype(int).flat)),
        pressed=str(bool(np.array_equal(choice, value))).lower(),
        name=escape(name),
    )


def mask_row_html(i: int, query: str, keys: list[str], mask: Array) -> str:
    """Return the table row of the query at position `i`, with a button for each key."""
    buttons = (
        CELL.format(
            pressed=str(bool(mask[i, j])).lower(),
            query=escape(query),
            key=escape(key),
            # Keys after the query, which the page reports as leaks of the future while pressed.
            later=" data-later" if j > i else "",
            # Tab reaches the first cell only; the arrow keys lead from there to the others.
            tabindex=0 if i == j == 0 else -1,
        )
        for j, key in enumerate(keys)
    )
    return f'<tr><th scope="row">{escape(query)}</th>{"".join(buttons)}</tr>'


def named_masks(n: int) -> dict[str, np.ndarray]:
    """Return the (n, n) masks that the buttons choose, by name.

    In `padding`, the last word is padding. In `prefix`, all words see the first two. In `two
    documents`, the second document begins after the middle word.

    >>> named_masks(3)["two documents"].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    causal: np.ndarray = causal_mask(n)
    position = np.arange(n)
    document = position > n // 2
    return {
        "none": np.ones((n, n), dtype=bool),
        "causal": causal,
        "window": causal & np.asarray(window_mask(n, left=1, right=0)),
        "padding": np.broadcast_to(position < n - 1, (n, n)),
        "two documents": causal & (document[:, None] == document),
        "prefix": causal | (position < 2),
    }


def parse_stops(text: str) -> list[Decimal]:
    """Return the numbers at which a slider can stop, which the text lists or gives as a range.

    Decimals keep the digits of the text, and do not add up rounding errors.

    >>> [*map(str, parse_stops("1, 10, 100"))], [*map(str, parse_stops("0 to 0.3 by 0.1"))]
    (['1', '10', '100'], ['0.0', '0.1', '0.2', '0.3'])
    >>> parse_stops("many")
    Traceback (most recent call last):
    ValueError: numbers are 'many'; expected 1, 2, 4 or 0.5 to 4 by 0.25
    """
    number_range = NUMBER_RANGE.fullmatch(text)
    try:
        if number_range:
            first = Decimal(number_range["first"])
            last = Decimal(number_range["last"])
            step = Decimal(number_range["step"])
            count = int((last - first) / step) + 1
            stops = [first + step * i for i in range(count)]
        else:
            stops = [Decimal(number.strip()) for number in text.split(",")]
    except ArithmeticError:  # not a number, or steps of zero
        stops = []
    if len(stops) < 2:
        raise ValueError(f"numbers are {text!r}; expected {EXPECTED_NUMBERS}")
    return stops
