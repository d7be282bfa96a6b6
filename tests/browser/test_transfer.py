"""What a visit transfers over the network, and that a page keeps still on a slow one."""

import gzip

import pytest

from tests.browser.visit import PREFIX, Visit, served
from tests.conftest import copy_project, cut_down, mkdocs


def test_a_page_of_thirty_formulas_is_light(tab, tmp_path, site):
    formula = "The output:\n\n$$\n\\output{{O}}_{{{}}} = \\weights{{A}}\\,\\value{{V}} = \\val{{self_attention.output}}\n$$\n"
    page = "# Thirty formulas\n\n" + "\n".join(formula.format(i) for i in range(30))
    project = cut_down(copy_project(tmp_path), page)
    built = mkdocs(project, "build", "--strict", SITE_URL="http://127.0.0.1" + PREFIX)
    assert built.returncode == 0, built.stderr
    with served(project / "site") as home:
        tab.load_afresh(home)
        assert tab.page.locator(".formula .matrix").count() == 30
        weights = tab.weights()
        total = sum(weights.values())
        scripts = sum(size for url, size in weights.items() if url.endswith(".js"))
        print(f"transfer {total / 1000:.0f} KB, of it JavaScript {scripts / 1000:.0f} KB")
        assert total <= 130_000
        assert scripts <= 60_000
        assert not [url for url in weights if "katex" in url and url.endswith(".js")]
        assert tab.page.evaluate("window.shift") <= 0.01


def test_a_notebook_is_at_most_150_kb_heavier_than_a_page(come_to):
    def weight(page):
        visit = come_to(page)
        figures = visit.page.evaluate(
            "[...document.querySelectorAll('.drawing')].map(f => f.outerHTML).join('')"
        )
        drawn = len(gzip.compress(figures.encode(), 6))
        return sum(visit.weights().values()) - drawn

    page, notebook = weight("notation"), weight("notebooks/self_and_cross_attention")
    print(f"transfer without figures: page {page / 1000:.0f} KB, notebook {notebook / 1000:.0f} KB")
    assert notebook - page <= 150_000


def test_the_fonts_of_formulas_come_with_the_style_sheet_and_are_read_at_once(browser, address):
    with Visit(browser, f"{address}notation/") as visit:
        drawn = visit.page.evaluate(
            "document.fonts.ready.then(() =>"
            " [...document.fonts].map(font => `${font.family} ${font.status}`))"
        )
        assert "KaTeX_Size4 loaded" in drawn, "although this page draws nothing with it"
        assert {font.partition(" ")[2] for font in drawn} == {"loaded"}
        assert not [url for url in visit.requests if "woff" in url.partition(",")[0]]


@pytest.mark.parametrize("width", [412, 1280])
def test_the_heaviest_page_keeps_still_where_all_is_slow(browser, site, address, width):
    heaviest = max(site.rglob("index.html"), key=lambda file: file.stat().st_size).parent
    url = f"{address}{heaviest.relative_to(site).as_posix()}/"
    with Visit(browser, url, width=width, is_slow=True) as visit:
        assert visit.page.evaluate("window.shift") <= 0.01
