"""Edits round-trip through the fragment of an address, and malformed fragments are harmless."""

import random
from urllib.parse import quote

import numpy as np
import pytest

from tests.live.edits import inputs, random_edit
from tests.live.graphs import page_graph
from tests.live.page_modules.nodejs import digits, in_node

EXAMPLES = ("self_attention", "course_formula", "causal_padding", "cache_sizes")
# The examples of a page, as in docs/assets/live/page/examples.js, and a function that parses a fragment.
PAGE = """
    const examples = data.graphs.map((text) => {
        const parsed = graph.parse(text);
        return { name: parsed.example, graph: parsed, edits: new Map(), values: parsed.values };
    });
    const parseFragment = (fragment) => {
        const { name, edits, heading } = address.parse(fragment);
        return { name, heading, ...address.editsOf(edits, examples) };
    };
"""
# Write a fragment for each edit, and parse it again.
ROUND_TRIP = f"""
    (() => {{
        {PAGE}
        const [example] = examples;
        const editsFrom = (edit) => new Map(Object.entries(edit).map(([step, numbers]) => {{
            const input = inputs.inputAt(example, step) ?? step;
            const original = inputs.originalInput(example, input);
            return [input, {{ ...original, data: Float64Array.from(numbers, Number) }}];
        }}));
        return data.edits.map(editsFrom).map((edits) => {{
            const fragment = address.fragmentOf({{ example, examples, edits, heading: data.heading }});
            const parsed = parseFragment(fragment);
            const areSame = [...edits].every(([input, {{ data }}]) => {{
                const array = parsed.edits.get(input) ?? inputs.originalInput(example, input);
                return data.every((number, i) => Object.is(number, array.data[i]));
            }});
            // A fragment without changes names no example.
            const name = parsed.name ?? example.name;
            return {{ areSame, isComplete: parsed.isComplete, heading: parsed.heading, name }};
        }});
    }})()
"""
# Parse each fragment. It is consistent if it edits inputs only, and the same ones when written and parsed again.
PARSE_FRAGMENTS = f"""
    (() => {{
        {PAGE}
        const inputNames = new Set(examples.flatMap(inputs.inputsOf));
        return data.fragments.map((fragment) => {{
            const {{ edits, isComplete }} = parseFragment(fragment);
            const written = address.fragmentOf({{ example: null, examples, edits, heading: "" }});
            const {{ edits: parsedAgain }} = parseFragment(written);
            const writtenAgain = address.fragmentOf({{ example: null, examples, edits: parsedAgain, heading: "" }});
            const isConsistent = [...edits.keys()].every((input) => inputNames.has(input)) && written === writtenAgain;
            return {{ isConsistent, isComplete, editCount: edits.size }};
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
    for result in in_node(ROUND_TRIP, data):
        assert result == {"areSame": True, "isComplete": True, "heading": "a-heading", "name": name}


def test_random_fragments_give_edits_of_inputs_only():
    draw = random.Random(33)
    fragments = [random_fragment(draw) for _ in range(3000)]
    # The longest address that Chromium takes is two million characters.
    fragments.append("#try=self_attention" + "&self_attention.X[0,0]=3" * 80_000)
    results = parse_fragments(fragments)
    assert all(result["isConsistent"] for result in results)
    # The sample has both valid and invalid edits.
    assert {result["editCount"] for result in results} >= {0, 1, 2}
    assert {result["isComplete"] for result in results} == {True, False}


def parse_fragments(fragments):
    data = {"graphs": [page_graph("self_attention")], "fragments": fragments}
    return in_node(PARSE_FRAGMENTS, data)


def random_fragment(draw):
    """Return a fragment that may be truncated, encoded twice or malicious."""
    edits = (
        draw.choice(INPUTS) + draw.choice(INDICES) + draw.choice("==:") + draw.choice(NUMBERS)
        for _ in range(draw.randrange(6))
    )
    extra_fields = draw.choices(["at=weights", "at=", "%", "a=b"], k=draw.randrange(2))
    fragment = "#try=" + "&".join([draw.choice(NAMES), *edits, *extra_fields])
    encode = draw.choice([str, quote, lambda text: quote(text, safe="#=&")])
    encoded = encode(fragment)
    is_truncated = draw.random() < 0.2
    return encoded[: draw.randrange(len(encoded))] if is_truncated else encoded


INVALID_EDITS = [
    *("X[0]=3", "X[0,]=3", "X[3,0]=3", "Q[0,0]=3", "X[0,0]=1e400", "__proto__[0,0]=3"),
    *("%", "%E0%A4%A"),
]


def test_invalid_edit_in_fragment_is_dropped_and_reported():
    invalid = [f"#try=self_attention&self_attention.{edit}" for edit in INVALID_EDITS]
    with_valid = [f"{fragment}&self_attention.X[0,1]=3" for fragment in invalid]
    reported = {"isConsistent": True, "isComplete": False}
    assert parse_fragments(invalid) == [{**reported, "editCount": 0}] * len(invalid)
    assert parse_fragments(with_valid) == [{**reported, "editCount": 1}] * len(invalid)
