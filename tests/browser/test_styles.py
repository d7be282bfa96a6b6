"""The reduced style sheets keep every rule and variable that a page needs."""

import re
from pathlib import Path

import material
import pytest

THEME = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
# The number of removed selectors, and those that match an element, whatever its state.
REMOVED_SELECTORS = r"""([original, reduced]) => {
    const COMMA_OUTSIDE_PARENTHESES = /,\s*(?![^(]*\))/;
    const STATE = /::[\w-]+|:(?:hover|active|checked|indeterminate|target|focus[\w-]*)\b/g;
    const selectorsOfRule = rule => rule.selectorText
        ? rule.selectorText.split(COMMA_OUTSIDE_PARENTHESES)
        : [...rule.cssRules ?? []].flatMap(selectorsOfRule);
    const selectorsOfSheet = text => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(text);
        return new Set([...sheet.cssRules].flatMap(selectorsOfRule));
    };
    const kept = selectorsOfSheet(reduced);
    const removed = [...selectorsOfSheet(original)].filter(selector => !kept.has(selector));
    // A selector of a state alone, or one that starts with a combinator, matches after any element.
    const withoutState = selector => selector.replace(STATE, "").replace(/^(?=\s*[>+~]|$)/, "*");
    const matching = removed.filter(selector => document.querySelector(withoutState(selector)));
    return [removed.length, matching];
}"""


def read_stylesheets(folder):
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.css")))


@pytest.mark.parametrize("page", ["", "mechanisms/masks", "reference/attention", "notation"])
def test_no_element_matches_a_removed_rule(open_page, site, page):
    visit = open_page(page)
    visit.page.get_by_placeholder("Search").press_sequentially("softmax")
    visit.page.locator(".md-search-result__item").first.wait_for()
    sheets = [read_stylesheets(THEME), read_stylesheets(site / "assets" / "stylesheets")]
    removed_count, matching = visit.page.evaluate(REMOVED_SELECTORS, sheets)
    assert matching == []
    assert removed_count > 500


def test_used_css_variables_keep_their_definitions(site):
    css = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    html = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.html"))
    used = set(re.findall(r"var\((--[\w-]+)", css + html))
    definition = re.compile(r"(?<![\w(-])(--[\w-]+)\s*:")
    defined_by_theme = set(definition.findall(read_stylesheets(THEME)))
    assert used & defined_by_theme <= set(definition.findall(css))
