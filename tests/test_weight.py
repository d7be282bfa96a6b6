"""What a page weighs on the network, and that it keeps still on a slow one."""

import gzip
import re
import shutil

import pytest

from tests.conftest import copy_project, mkdocs
from tests.visit import PREFIX, Visit, served


def test_a_page_of_thirty_formulas_is_light(browser, tmp_path, assets):
    project = copy_project(tmp_path)
    formula = "The output:\n\n$$\n\\output{{O}}_{{{}}} = \\weights{{A}}\\,\\value{{V}} = \\val{{self_attention.output}}\n$$\n"
    page = "# Thirty formulas\n\n" + "\n".join(formula.format(i) for i in range(30))
    shutil.rmtree(project / "docs" / "notebooks")
    settings = (project / "mkdocs.yml").read_text(encoding="utf-8")
    settings = re.sub(r"^nav:\n(?:  .*\n)+", "", settings, flags=re.M)
    (project / "mkdocs.yml").write_text(settings, encoding="utf-8")
    for written in (project / "docs").rglob("*.md"):
        written.write_text(page, encoding="utf-8")
    built = mkdocs(project, "build", "--strict", SITE_URL="http://127.0.0.1" + PREFIX)
    assert built.returncode == 0, built.stderr
    with (
        served(project / "site") as home,
        Visit(browser, f"{home}notation/") as visit,
    ):
        assert visit.page.locator(".katex-display").count() == 30
        weights = visit.weights()
        total = sum(weights.values())
        scripts = sum(size for url, size in weights.items() if url.endswith(".js"))
        print(f"transfer {total / 1000:.0f} KB, of it JavaScript {scripts / 1000:.0f} KB")
        assert total <= 220_000
        assert scripts <= 60_000
        assert not [url for url in weights if "katex" in url and url.endswith(".js")]
        assert visit.page.evaluate("window.shift") <= 0.01


def test_a_notebook_is_at_most_150_kb_heavier_than_a_page(browser, address):
    def weight(page):
        with Visit(browser, f"{address}{page}/") as visit:
            figures = visit.page.evaluate(
                "[...document.querySelectorAll('.drawing')].map(f => f.outerHTML).join('')"
            )
            drawn = len(gzip.compress(figures.encode(), 6))
            return sum(visit.weights().values()) - drawn

    page, notebook = weight("notation"), weight("notebooks/self_and_cross_attention")
    print(f"transfer without figures: page {page / 1000:.0f} KB, notebook {notebook / 1000:.0f} KB")
    assert notebook - page <= 150_000


@pytest.mark.parametrize("width", [412, 1280])
def test_the_heaviest_page_keeps_still_where_all_is_slow(browser, site, address, width):
    heaviest = max(site.rglob("index.html"), key=lambda file: file.stat().st_size).parent
    url = f"{address}{heaviest.relative_to(site).as_posix()}/"
    with Visit(browser, url, width=width, is_slow=True) as visit:
        assert visit.page.evaluate("window.shift") <= 0.01
