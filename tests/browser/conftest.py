"""Browser tabs that tests share, because opening one takes a second."""

import pytest

from tests.browser.visit import PAGE_OF_EACH_KIND, Visit, url_path


def pytest_collection_modifyitems(config, items):
    """Deselect tests marked `of_each_kind` on other pages, unless all are asked for."""
    if config.getoption("all_pages"):
        return
    others = [
        item
        for item in items
        if item.get_closest_marker("of_each_kind")
        and item.callspec.params["page"] not in PAGE_OF_EACH_KIND
    ]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in set(others)]


@pytest.fixture(scope="session")
def phone(browser):
    """A phone's tab, without JavaScript."""
    with Visit(browser, "about:blank", width=320, java_script_enabled=False) as visit:
        yield visit


@pytest.fixture(scope="session")
def desktop(browser):
    """A desktop's tab, with reduced motion."""
    with Visit(browser, "about:blank", reduced_motion="reduce") as visit:
        yield visit


@pytest.fixture(scope="session")
def tab(browser):
    """The tab for interactive tests."""
    with Visit(browser, "about:blank") as visit:
        yield visit


@pytest.fixture
def open_page(tab, address):
    """Return a function that loads a page of the site, by default the home page, uncached."""

    def load(page="", **window):
        tab.load_uncached(address + url_path(page), **window)
        return tab

    yield load
    tab.assert_no_errors()
