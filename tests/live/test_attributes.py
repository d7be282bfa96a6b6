"""The attributes by which pages and scripts understand each other are those of one list."""

import json
import re

from tests.conftest import ROOT

PACKAGE, ASSETS = ROOT / "attention_docs", ROOT / "docs" / "assets"
SHARED = set(json.loads((PACKAGE / "live" / "attributes.json").read_text(encoding="utf-8")))
# Attributes of the theme, notebooks and pages, and those that only tests or scripts need.
WRITTEN_ALONE = {"clipboard-text", "computed", "mime-type", "search-exclude"}
READ_ALONE = {"influence", "matrices", "names", "reading", "ready"}


def attributes_in(folder, suffixes):
    """Return the names after `data-`, as written in HTML, or as Python or JavaScript name them."""
    sources = [path.read_text("utf-8") for path in folder.rglob("*") if path.suffix in suffixes]
    text = "\n".join(sources)
    names = re.findall(r"\bdata-([a-z]+(?:-[a-z]+)*)|\bdata_(\w+)(?=\"|=)|\bdataset\.(\w+)", text)
    # Two names are taken out of `dataset` at once.
    names += [
        (name,)
        for found in re.findall(r"\{ (.+) \} = \w+\.dataset", text)
        for name in re.findall(r"\w+", found)
    ]
    return {
        "".join(name).replace("_", "-") for name in names if not "".join(name).startswith("md-")
    }


def test_written_attributes_are_listed():
    assert attributes_in(PACKAGE, {".py", ".mjs"}) == SHARED | WRITTEN_ALONE


def test_read_attributes_are_listed():
    assert attributes_in(ASSETS, {".js", ".css"}) == SHARED | READ_ALONE
