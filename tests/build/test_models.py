"""The links of the calculator on the cache page, beside the table of models."""

import re

from attention_docs.examples.models_by_name import DATA
from tests.conftest import ROOT

LINK = re.compile(r'<a href="#try=model_memory&amp;([^"]*)">([^<]*)</a>')
COLUMNS = {
    "layers": "layers",
    "heads": "query heads",
    "key_heads": "key heads",
    "features": "head size",
}


def test_links_take_the_sizes_of_the_table():
    links = LINK.findall((ROOT / "docs/mechanisms/kv_cache.md").read_text(encoding="utf-8"))
    assert len(links) > 5
    for edits, model in links:
        sizes = {name: int(size) for name, size in re.findall(r"(\w+)\[0\]=(\d+)", edits)}
        row = DATA["heads"][model]
        assert sizes == {name: row[column] for name, column in COLUMNS.items()}, model
