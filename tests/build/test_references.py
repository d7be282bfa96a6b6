"""References of numbers in all pages resolve in the graphs of their examples."""

import html
import re

from attention_docs.publish.computed import ComputedExamples
from tests.conftest import ROOT
from tests.live.page_modules.nodejs import in_node

REFERENCE_ATTRIBUTE = re.compile(r' data-val="([^"]+)"')
# For each example, how many numbers each of its references resolves to.
COUNT_NUMBERS = """
    Object.entries(data).map(([name, {json, references}]) => {
        const parsed = graph.parse(JSON.parse(json));
        const values = parsed.values;
        return references.map((text) => {
            const {step, cells, sizes} = reference.resolve(text, parsed);
            if (sizes) return sizes.length;
            const numbers = cells.map((index) => explain.explain(parsed, values, step, index).value);
            return numbers.filter(Boolean).length;
        });
    })
"""


def test_every_reference_in_a_page_resolves_to_a_number(site):
    references = {}
    for page in site.rglob("*.html"):
        for value in REFERENCE_ATTRIBUTE.findall(page.read_text(encoding="utf-8")):
            reference = html.unescape(value)
            references.setdefault(reference.partition(".")[0], set()).add(reference)
    graph = ComputedExamples(ROOT).graph
    data = {
        name: {"json": graph(name), "references": sorted(found)}
        for name, found in references.items()
    }
    counts = [count for example in in_node(COUNT_NUMBERS, data) for count in example]
    assert all(counts)
    assert sum(counts) > 3000
