"""Every number that a page marks as computed can be found again, in every page of the site."""

import html
import re

from attention_docs.publish.computed import recorded_graph
from tests.live.page_modules.nodejs import in_node

MARK = re.compile(r' data-val="([^"]+)"')
RESOLVED = """
    Object.entries(data).map(([name, {json, references}]) => {
        const found = graph.parse(JSON.parse(json));
        const values = found.values;
        return references.map((text) => {
            const {step, cells, sizes} = reference.resolve(text, found);
            const said = cells.map((index) => explain.explain(found, values, step, index).value);
            return sizes ? sizes.length : said.filter(Boolean).length;
        });
    })
"""


def marks(site):
    """The references of all pages, by example."""
    found = {}
    for page in sorted(site.rglob("*.html")):
        for mark in MARK.findall(page.read_text(encoding="utf-8")):
            reference = html.unescape(mark)
            found.setdefault(reference.partition(".")[0], set()).add(reference)
    return found


def test_every_number_of_every_page_answers(site):
    found = marks(site)
    data = {
        name: {"json": recorded_graph(name), "references": sorted(references)}
        for name, references in found.items()
    }
    counts = in_node(RESOLVED, data)
    assert all(count > 0 for example in counts for count in example)
    numbers = sum(map(sum, counts))
    print(f"{numbers} numbers of {len(data)} examples answer")
    assert numbers > 3000
