"""Search on demand: a small worker fetches the theme's worker and the documents when needed.

The theme fetches its worker and the whole index with every first visit. So its index is left
without documents, and `docs/assets/search.js` stands in until a reader types. Sections that are not
worth searching are left out of the documents.
"""

import json
import re
from pathlib import Path
from typing import Any

# Exercises repeat the sections before them, and papers have a page of their own.
EXCLUDED_SECTIONS = ("#exercises", "#where-this-comes-from")
WORKER = re.compile(r'"search": "(?P<root>[^"]*)assets/(?P<worker>javascripts/workers/[\w.]+\.js)"')


def with_worker(page: str, *, offline: bool = False) -> str:
    """Replace the search worker in a page's settings by ours, with the theme's as its query.

    The offline site keeps the theme's worker. The search dialog gets the accessible name that it
    lacks.

    >>> with_worker('{"search": "../assets/javascripts/workers/search.a7.min.js"}')
    '{"search": "../assets/search.js?javascripts/workers/search.a7.min.js"}'
    """
    page = page.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    return page if offline else WORKER.sub(r'"search": "\g<root>assets/search.js?\g<worker>"', page)


def cut_index(site: Path, *, offline: bool = False) -> None:
    """Remove excluded sections from a site's search index, and move its documents to another file.

    The offline site keeps them in the index, for the theme's worker. Zensical's index, which has
    another name, is left alone.
    """
    index = site / "search" / "search_index.json"
    if not index.is_file():
        return
    data = json.loads(index.read_text(encoding="utf-8"))
    documents = [doc for doc in data["docs"] if not doc["location"].endswith(EXCLUDED_SECTIONS)]
    if not offline:
        write_json(index.with_name("documents.json"), {"docs": documents})
    write_json(index, {**data, "docs": documents if offline else []})


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True), encoding="utf-8")
