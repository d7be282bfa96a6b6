"""Edits round-trip through the fragment of an address, and malformed fragments are harmless."""

import random
from urllib.parse import quote

import numpy as np
import pytest

from tests.live.edits import inputs, random_edit
from tests.live.graphs import page_graph
from tests.live.page_modules.nodejs import digits, in_node

EXAMPLES = ("self_attention", "course_formula", "causal_padding", "cache_sizes")
# The examples of a page, as in docs/assets/live/page/examples.js, and a function that reads an address.
PAGE = """
    const examples = data.graphs.map((text) => {
        const parsed = graph.parse(text);
        return { name: parsed.example, graph: parsed, edits: new Map(), values: parsed.values };
    });
    const state = (fragment) => {
        const { name, edits, heading } = address.parse(fragment);
        return { name, heading, ...address.editsOf(edits, examples) };
    };
"""
# Whether each edit survives a round trip through an address, and the heading and example that it gives.
ROUND_TRIP = f"""
    (() => {{
        {PAGE}
        const [{{ name }}] = examples;
        return data.edits.map((edit) => {{
            const edits = new Map(Object.entries(edit).map(([step, numbers]) => {{
                const input = inputs.inputAt(examples[0], step) ?? step;
                const array = address.copyOf(inputs.originalInput(examples[0], input));
                numbers.flat(Infinity).forEach((number, i) => (array.data[i] = Number(number)));
                return [input, array];
            }}));
            const fragment = address.fragmentOf({{ examples, edits, heading: data.heading }});
            const back = state(fragment);
            const same = [...edits].every(([input, {{ data }}]) => {{
                const array = back.edits.get(input) ?? inputs.originalInput(examples[0], input);
                return data.every((number, i) => Object.is(number, array.data[i]));
            }});
            return [same, back.isComplete, back.heading, back.name ?? name];
        }});
    }})()
"""
# Whether a fragment gives edits of inputs only and round-trips; whether it is valid; the number of edits.
READ = f"""
    (() => {{
        {PAGE}
        const owned = new Set(examples.flatMap(inputs.inputsOf));
        return data.fragments.map((fragment) => {{
            const {{ edits, heading, isComplete }} = state(fragment);
            const first = address.fragmentOf({{ examples, edits, heading: "" }});
            const again = address.fragmentOf({{ examples, edits: state(first).edits, heading: "" }});
            return [[...edits.keys()].every((input) => owned.has(input)) && first === again, isComplete, edits.size];
        }});
    }})()
"""
NAMES = ["", "self_attention", "../live", "//host/x", "__proto__", "constructor", "a%2Fb", "%"]
INPUTS = [f"self_attention.{step}" for step in ("X", "W_Q", "weights", "__proto__")]
INDICES = ["[0,0]", "[2,3]", "[3,0]", "[0]", "[0,0,0]", "[]", "[0,]", "[-1,0]", f"[{9**40},0]"]
NUMBERS = ["", "\0", "3", "-2.5e-3", "nan", "1e400", "0x10", "٣", "__proto__", "%25", "1&at=x"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_edits_and_heading_round_trip_through_address(name):
    draw = np.random.default_rng(17)
    literals = inputs(page_graph(name))
    edits = [
        {step: list(map(digits, array.flat)) for step, array in random_edit(draw, literals).items()}
        for _ in range(10)
    ]
    data = {"graphs": [page_graph(name)], "edits": edits, "heading": "a-heading"}
    assert in_node(ROUND_TRIP, data) == [[True, True, "a-heading", name]] * len(edits)


def test_random_fragments_give_edits_of_inputs_only():
    draw = random.Random(33)
    fragments = [random_fragment(draw) for _ in range(3000)]
    # The longest address that Chromium takes is two million characters.
    fragments.append("#try=self_attention" + "&self_attention.X[0,0]=3" * 80_000)
    data = {"graphs": [page_graph("self_attention")], "fragments": fragments}
    results = in_node(READ, data)
    assert all(is_consistent for is_consistent, _, _ in results)
    # The sample contains both valid and invalid edits.
    assert {edit_count for _, _, edit_count in results} >= {0, 1, 2}
    assert {is_whole for _, is_whole, _ in results} == {True, False}


def random_fragment(draw):
    """Return a fragment that may be truncated, encoded twice or malicious."""
    edits = (
        draw.choice(INPUTS) + draw.choice(INDICES) + draw.choice("==:") + draw.choice(NUMBERS)
        for _ in range(draw.randrange(6))
    )
    parts = [
        draw.choice(NAMES),
        *edits,
        *draw.choices(["at=weights", "at=", "%", "a=b"], k=draw.randrange(2)),
    ]
    text = "#try=" + "&".join(parts)
    text = draw.choice([str, quote, lambda text: quote(text, safe="#=&")])(text)
    return text[: draw.randrange(len(text))] if draw.random() < 0.2 else text


@pytest.mark.parametrize(
    "part",
    [
        "X[0]=3",
        "X[0,]=3",
        "X[3,0]=3",
        "Q[0,0]=3",
        "X[0,0]=1e400",
        "__proto__[0,0]=3",
        "%",
        "%E0%A4%A",
    ],
)
def test_invalid_edit_in_fragment_is_dropped_and_reported(part):
    fragments = [
        f"#try=self_attention&self_attention.{part}&self_attention.X[0,1]=3",
        f"#try=self_attention&self_attention.{part}",
    ]
    data = {"graphs": [page_graph("self_attention")], "fragments": fragments}
    assert in_node(READ, data) == [[True, False, 1], [True, False, 0]]
