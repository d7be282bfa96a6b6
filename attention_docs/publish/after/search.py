"""Search on demand: a page names a small worker, which fetches the theme's and the documents later.

The theme fetches its worker and the whole index with every first visit. So the index that it asks
for is left without documents, and `docs/assets/search.js` answers until a reader types. Sections in
which nobody looks for anything are left out of the documents.
"""

import json
import re
from pathlib import Path
from typing import Any

# What they are about is said in the sections before them, and papers have a page of their own.
UNSEARCHED = ("#exercises", "#where-this-comes-from")
WORKER = re.compile(r'"search": "(?P<root>[^"]*)assets/(?P<worker>javascripts/workers/[\w.]+\.js)"')


def with_worker(page: str, *, offline: bool = False) -> str:
    """Name our worker in the theme's settings of a page, and the theme's worker for it to find.

    Offline the theme has one of its own. The dialog gets a name for screen readers, which the
    theme does not give.

    >>> with_worker('{"search": "../assets/javascripts/workers/search.a7.min.js"}')
    '{"search": "../assets/search.js?javascripts/workers/search.a7.min.js"}'
    """
    named = page.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    return (
        named if offline else WORKER.sub(r'"search": "\g<root>assets/search.js?\g<worker>"', named)
    )


def cut_index(site: Path, *, offline: bool = False) -> None:
    """Leave sections out of a built site's index, and move its documents to a file of their own.

    Offline they stay, because there the theme's worker has to find them. A site of another
    generator has another index, which is left alone.
    """
    index = site / "search" / "search_index.json"
    if not index.is_file():
        return
    whole = json.loads(index.read_text(encoding="utf-8"))
    documents = [found for found in whole["docs"] if not found["location"].endswith(UNSEARCHED)]
    if not offline:
        write(index.with_name("documents.json"), {"docs": documents})
    write(index, {**whole, "docs": documents if offline else []})


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True), encoding="utf-8")
