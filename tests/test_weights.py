"""The table of page weights: every page, with all that a first visit fetches."""

import importlib
import zlib

import pytest

from tests.conftest import ROOT

STYLE = (
    "@font-face{font-display:block;font-family:KaTeX_Size1;font-style:normal;font-weight:400;"
    'src:url(fonts/small.woff2) format("woff2")}'
    "@font-face{font-display:block;font-family:KaTeX_Math;font-style:italic;font-weight:700;"
    'src:url(fonts/bold.woff2) format("woff2")}'
    ".katex .op-symbol.small-op,.katex .mult .delim-size1>span{font-family:KaTeX_Size1}"
    ".katex .boldsymbol{font-family:KaTeX_Math;font-style:italic;font-weight:700}"
)
SMALL, BOLD = "assets/katex/fonts/small.woff2", "assets/katex/fonts/bold.woff2"


@pytest.fixture
def weights(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module("weights")


def test_a_mark_in_the_page_tells_which_font_it_asks_for(weights):
    assert set(weights.fonts(STYLE)) == {
        *[(f"op-symbol small-op{end}", SMALL) for end in ' "'],
        *[(f"delim-size1{end}", SMALL) for end in ' "'],
        *[(f"boldsymbol{end}", BOLD) for end in ' "'],
    }


def test_a_first_visit_is_the_page_and_what_it_fetches(weights, tmp_path):
    def write(name, content):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return len(content if name.endswith("woff2") else zlib.compress(content, 6))

    style = write("assets/katex/katex.min.css", STYLE.encode())
    font = write(SMALL, b"font" * 100)
    write(BOLD, b"never asked for")
    script = write("assets/a.js", b"script " * 100)
    index = write("search/search_index.json", b"{}")
    linked = (
        '<link rel="stylesheet" href="../assets/katex/katex.min.css"><link rel="next" href="b/">'
    )
    symbol = '<script src="../assets/a.js"></script><span class="mop op-symbol small-op">'
    plain = write("index.html", b"<p>")
    page = write("a/index.html", f"{linked}{symbol}".encode())
    assert sorted(weights.weigh(tmp_path)) == [
        (plain + index, plain, "./"),
        (page + index + style + font + script, page, "a/"),
    ]


def test_every_page_is_in_the_table_the_heaviest_first(weights, site, capsys):
    weights.show(site)
    _, _, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list(site.rglob("index.html")))
    rows = [line.split() for line in lines]
    assert all(0 < int(html) < int(visit) for html, visit, _ in rows)
    assert [int(visit) for _, visit, _ in rows] == sorted(
        (int(v) for _, v, _ in rows), reverse=True
    )
