"""Browser tabs that tests share, because opening one takes a second."""

import pytest

from tests.browser.visit import Visit, url_path


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
