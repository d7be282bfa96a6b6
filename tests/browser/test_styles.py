"""The cut style sheets: what was taken out of them is for nothing that a page has."""

import re
from pathlib import Path

import material
import pytest

THEME = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
# The selectors that only the whole style sheets have, with the elements that they would match, whatever
# state these are in.
MATCHED = r"""([whole, cut]) => {
    const within = rule => rule.selectorText
        ? rule.selectorText.split(/,\s*(?![^(]*\))/)
        : [...rule.cssRules ?? []].flatMap(within);
    const selectors = text => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        return new Set([...sheet.cssRules].flatMap(within));
    };
    const left = selectors(cut);
    const dropped = [...selectors(whole)].filter(selector => !left.has(selector));
    const state = /::[\w-]+|:(?:hover|active|checked|indeterminate|target|focus[\w-]*)\b/g;
    const anywhere = selector => selector.replace(state, "").replace(/^(?=\s*[>+~]|$)/, "*");
    const found = dropped.filter(one => document.querySelector(anywhere(one)));
    return [dropped.length, found];
}"""


def texts(folder):
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.css")))


@pytest.mark.parametrize("page", ["", "mechanisms/masks", "reference/attention", "notation"])
def test_no_element_matches_a_rule_that_was_taken_out(come_to, site, page):
    visit = come_to(page)
    visit.page.get_by_placeholder("Search").press_sequentially("softmax")
    visit.page.locator(".md-search-result__item").first.wait_for()
    sheets = [texts(THEME), texts(site / "assets" / "stylesheets")]
    dropped, found = visit.page.evaluate(MATCHED, sheets)
    assert found == []
    assert dropped > 500


def test_every_variable_that_is_read_is_set_if_the_theme_sets_it(site):
    cut = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    read = set(re.findall(r"var\((--[\w-]+)", cut))
    for page in site.rglob("*.html"):
        read |= set(re.findall(r"var\((--[\w-]+)", page.read_text(encoding="utf-8")))
    setting = re.compile(r"(?<![\w(-])(--[\w-]+)\s*:")
    assert read & set(setting.findall(texts(THEME))) <= set(setting.findall(cut))


def test_the_script_of_the_theme_finds_no_style_sheet_to_apply_again(browser, address):
    page = browser.new_page()
    page.route("**/bundle.*.js", lambda route: route.abort())
    page.goto(address)
    sheets = page.locator("link[rel=stylesheet]").evaluate_all(
        "all => all.map(link => link.getAttribute('href'))"
    )
    assert len(sheets) > 2
    assert all(sheet.startswith(address) for sheet in sheets)
    page.close()
