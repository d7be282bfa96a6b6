"""References of numbers in all pages resolve in the graphs of their examples."""

import html
import re

from attention_docs.publish.computed import record_graph
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


def references_in(site):
    references = {}
    for page in sorted(site.rglob("*.html")):
        for value in REFERENCE_ATTRIBUTE.findall(page.read_text(encoding="utf-8")):
            reference = html.unescape(value)
            example = reference.partition(".")[0]
            references.setdefault(example, set()).add(reference)
    return references


def test_every_reference_in_a_page_resolves_to_a_number(site):
    data = {
        name: {"json": record_graph(name), "references": sorted(references)}
        for name, references in references_in(site).items()
    }
    counts = [count for example in in_node(COUNT_NUMBERS, data) for count in example]
    assert all(counts)
    assert sum(counts) > 3000
