"""Search on demand: a page names a small worker, which fetches the theme's and the documents later.

The theme fetches its worker and the whole index with every first visit. So the index that it asks
for is left without documents, and `docs/assets/search.js` answers until a reader types.
"""

import json
import re
from pathlib import Path

WORKER = re.compile(r'"search": "(?P<root>[^"]*)assets/(?P<worker>javascripts/workers/[\w.]+\.js)"')


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
