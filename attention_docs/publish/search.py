"""Search on demand: a page names a small worker, which fetches the theme's and the documents later.

The theme fetches its worker and the whole index with every first visit. So the index that it asks
for is left without documents, and `docs/assets/search.js` answers until a reader types. Sections in
which nobody looks for anything are left out of the documents.
"""

import json
import re
from pathlib import Path

# What they are about is said in the sections before them, and papers have a page of their own.
UNSEARCHED = re.compile(r'<h2 (?=id="(?:exercises|where-this-comes-from)")')
WORKER = re.compile(r'"search": "(?P<root>[^"]*)assets/(?P<worker>javascripts/workers/[\w.]+\.js)"')


def leave_out_sections(page: str) -> str:
    """Mark the exercises and the sources of a page for the theme's search to skip.

    >>> leave_out_sections('<h2 id="scores">Scores</h2><h2 id="exercises">Exercises</h2>')
    '<h2 id="scores">Scores</h2><h2 data-search-exclude id="exercises">Exercises</h2>'
    """
    return UNSEARCHED.sub("<h2 data-search-exclude ", page)


def name_worker(page: str) -> str:
    """Name our worker in the theme's settings of a page, and the theme's worker for it to find.

    >>> name_worker('{"search": "../assets/javascripts/workers/search.a7.min.js"}')
    '{"search": "../assets/search.js?javascripts/workers/search.a7.min.js"}'
    """
    return WORKER.sub(r'"search": "\g<root>assets/search.js?\g<worker>"', page)


def put_documents_apart(site: Path) -> None:
    """Move the documents of a built site's index to a file of their own."""
    index = site / "search" / "search_index.json"
    whole = json.loads(index.read_text(encoding="utf-8"))
    documents = {"docs": whole["docs"]}
    for path, content in (
        (index.with_name("documents.json"), documents),
        (index, {**whole, "docs": []}),
    ):
        path.write_text(
            json.dumps(content, separators=(",", ":"), sort_keys=True), encoding="utf-8"
        )
