import numpy as np

from attention_docs.figures.course_sentence import ENDING_COLUMNS, ENDINGS
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import step_panel
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, beside, heatmap
from attention_docs.render.numbers import exact_number


@site_figure
def course_temperatures(steps_of: StepsOf) -> Html:
    r"""Three of the probabilities after *they*, at three temperatures. The higher the temperature,
    the less *fly* has, and the more *sail* and the full stop."""
    steps = steps_of("course_next_token")
    probabilities = steps["tempered"][:, ENDING_COLUMNS]
    claim(probabilities.shape == (3, 3), "Three of the probabilities after *they*, at three")
    fly, sail, full_stop = np.diff(probabilities.T)  # from one temperature to the next
    claim(np.all(fly < 0), "the less *fly* has")
    claim(np.all(sail > 0) and np.all(full_stop > 0), "the more *sail* and the full stop")
    return heatmap(
        probabilities,
        "Probabilities",
        rows="temperature",
        columns="next word",
        row_labels=[exact_number(temperature) for temperature in steps["temperatures"]],
        column_labels=ENDINGS,
        role="output",
        scale="sequential",
    )


@site_figure
def course_writing(steps_of: StepsOf) -> Html:
    r"""The two drawn words, the probabilities, and where each word ends when these are laid side by
    side. The second word is drawn given six words, of which the last is the first drawn one."""
    steps = steps_of("course_writing")
    # What is written comes first, because phones show one panel beside the sliders.
    names = {"written": "Written", "probabilities": "Probabilities", "cumulative": "Reaches to"}
    panels = [
        step_panel(steps[step], name, rows="", columns="", role="output", scale="sequential")
        for step, name in names.items()
    ]
    return beside(panels, "Two words, drawn")
