from typing import Any

from attention_docs.examples.course_sentence import FEATURES, THEY, VALUE_FEATURES, WORDS
from attention_docs.figures.registry import site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, bars, beside, plane, product_figure


@site_figure
def turned_query(steps_of: StepsOf) -> Html:
    r"""A query among three keys, its output among their values, and the weights of the three. The
    axes of both planes go from $-3$ to $3$."""
    steps = steps_of("turned_query")
    names = ["a", "b", "c"]
    keys, values = [], []
    for name, key, value in zip(names, steps["K"], steps["V"], strict=True):
        keys.append(plane.Vector(name, key, "key"))
        values.append(plane.Vector(name, value, "value", is_arrow=False))
    query = plane.Vector("query", steps["Q"][0], "query", is_input=True)
    output = plane.Vector("output", steps["output"][0], "output", is_arrow=False, is_inside=True)
    options: dict[str, Any] = {"reach": 3, "pixels_per_unit": 26}
    panels = [
        plane.plane_panel("query and keys", [*keys, query], **options),
        plane.plane_panel("output and values", [*values, output], corners=steps["V"], **options),
        bars.bars_panel("weights", steps["weights"][0], names),
    ]
    return beside(panels, "A query, its weights and its output")


@site_figure
def course_one_number(steps_of: StepsOf) -> Html:
    r"""The weights of the word *they*, row 5 of $\weights{A}$, average the column *air* of
    $\value{V}$. The result stands where the two meet."""
    steps = steps_of("course_formula")
    return product_figure(
        steps["weights"][THEY:],
        steps["V"],
        row_labels=WORDS[THEY:],
        column_labels=VALUE_FEATURES,
        inner_labels=WORDS,
        column=FEATURES.index("air"),
        names=("A", "V", "O"),
        roles=("weights", "value", "output"),
        scales=("sequential", "diverging", "diverging"),
        product=steps["output"][THEY:],
    )
