"""References of numbers in all pages resolve in the graphs of their examples."""

import html
import re

from attention_docs.publish.computed import recorded_graph
from tests.live.page_modules.nodejs import in_node

MARK = re.compile(r' data-val="([^"]+)"')
COUNT_NUMBERS = """
    Object.entries(data).map(([name, {json, references}]) => {
        const parsed = graph.parse(JSON.parse(json));
        const values = parsed.values;
        return references.map((text) => {
            const {step, cells, sizes} = reference.resolve(text, parsed);
            const shown = cells.map((index) => explain.explain(parsed, values, step, index).value);
            return sizes ? sizes.length : shown.filter(Boolean).length;
        });
    })
"""


def references_in(site):
    """Return the references of all pages, by example."""
    by_example = {}
    for page in sorted(site.rglob("*.html")):
        for mark in MARK.findall(page.read_text(encoding="utf-8")):
            reference = html.unescape(mark)
            by_example.setdefault(reference.partition(".")[0], set()).add(reference)
    return by_example


def test_every_reference_in_a_page_resolves_to_a_number(site):
    data = {
        name: {"json": recorded_graph(name), "references": sorted(references)}
        for name, references in references_in(site).items()
    }
    counts = in_node(COUNT_NUMBERS, data)
    assert all(count > 0 for example in counts for count in example)
    numbers = sum(map(sum, counts))
    print(f"{numbers} numbers of {len(data)} examples resolved")
    assert numbers > 3000
