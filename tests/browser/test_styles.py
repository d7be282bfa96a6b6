"""The reduced style sheets lack no rule or variable that a page needs."""

import re
from pathlib import Path

import material
import pytest

THEME = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
# The number of removed selectors, and those that match an element, whatever its state.
REMOVED_SELECTORS = r"""([original, reduced]) => {
    const within = rule => rule.selectorText
        ? rule.selectorText.split(/,\s*(?![^(]*\))/)
        : [...rule.cssRules ?? []].flatMap(within);
    const selectors = text => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        return new Set([...sheet.cssRules].flatMap(within));
    };
    const kept = selectors(reduced);
    const removed = [...selectors(original)].filter(selector => !kept.has(selector));
    const state = /::[\w-]+|:(?:hover|active|checked|indeterminate|target|focus[\w-]*)\b/g;
    const anywhere = selector => selector.replace(state, "").replace(/^(?=\s*[>+~]|$)/, "*");
    const matching = removed.filter(selector => document.querySelector(anywhere(selector)));
    return [removed.length, matching];
}"""


def stylesheets(folder):
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.css")))


@pytest.mark.parametrize("page", ["", "mechanisms/masks", "reference/attention", "notation"])
def test_no_element_matches_a_removed_rule(open_page, site, page):
    visit = open_page(page)
    visit.page.get_by_placeholder("Search").press_sequentially("softmax")
    visit.page.locator(".md-search-result__item").first.wait_for()
    sheets = [stylesheets(THEME), stylesheets(site / "assets" / "stylesheets")]
    removed, matching = visit.page.evaluate(REMOVED_SELECTORS, sheets)
    assert matching == []
    assert removed > 500


def test_used_css_variables_keep_their_definitions(site):
    css = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    used = set(re.findall(r"var\((--[\w-]+)", css))
    for page in site.rglob("*.html"):
        used |= set(re.findall(r"var\((--[\w-]+)", page.read_text(encoding="utf-8")))
    definition = re.compile(r"(?<![\w(-])(--[\w-]+)\s*:")
    assert used & set(definition.findall(stylesheets(THEME))) <= set(definition.findall(css))


def test_stylesheet_urls_are_absolute(browser, address):
    page = browser.new_page()
    page.route("**/bundle.*.js", lambda route: route.abort())
    page.goto(address)
    sheets = page.locator("link[rel=stylesheet]").evaluate_all(
        "all => all.map(link => link.getAttribute('href'))"
    )
    assert len(sheets) > 2
    assert all(sheet.startswith(address) for sheet in sheets)
    page.close()
