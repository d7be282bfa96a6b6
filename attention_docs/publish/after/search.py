"""Search that loads its index only when a reader types.

The theme would fetch its search worker and the whole index on each first visit. So the documents
are moved from the index to a file of their own, and pages start a small worker,
`docs/assets/search.js`, which fetches the theme's worker and the documents when they are needed.
Sections that are not worth searching are left out.
"""

import json
import re
from pathlib import Path
from typing import Any

# Exercises repeat the sections before them, and papers have a page of their own.
EXCLUDED_SECTIONS = ("#exercises", "#where-this-comes-from")
THEME_WORKER = re.compile(
    r'"search": "(?P<root>[^"]*)assets/(?P<worker>javascripts/workers/[\w.]+\.js)"'
)
OUR_WORKER = r'"search": "\g<root>assets/search.js?\g<worker>"'


def with_worker(page: str, *, offline: bool = False) -> str:
    """Make a page start our search worker, which takes the address of the theme's as its query.

    The offline site keeps the theme's worker. The search dialog also gets an accessible name, which
    the theme omits.

    >>> with_worker('{"search": "../assets/javascripts/workers/search.a7.min.js"}')
    '{"search": "../assets/search.js?javascripts/workers/search.a7.min.js"}'
    """
    page = page.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    return page if offline else THEME_WORKER.sub(OUR_WORKER, page)


def shrink_index(site: Path, *, offline: bool = False) -> None:
    """Remove excluded sections from a site's search index, and move the others to documents.json.

    The offline site keeps them in the index, for the theme's worker. Zensical's index, which has
    another name, stays as it is.
    """
    index_file = site / "search" / "search_index.json"
    if not index_file.is_file():
        return
    index = json.loads(index_file.read_text(encoding="utf-8"))
    sections = [
        section for section in index["docs"] if not section["location"].endswith(EXCLUDED_SECTIONS)
    ]
    if offline:
        write_json(index_file, {**index, "docs": sections})
    else:
        write_json(index_file, {**index, "docs": []})
        write_json(index_file.with_name("documents.json"), {"docs": sections})


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True), encoding="utf-8")
