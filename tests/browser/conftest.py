"""Browser tabs that tests share during a session."""

import pytest

from tests.browser.visit import Visit, url_path


@pytest.fixture(scope="session")
def phone(browser):
    """Tab of a phone without JavaScript."""
    with Visit(browser, "about:blank", width=320, java_script_enabled=False) as visit:
        yield visit


@pytest.fixture(scope="session")
def desktop(browser):
    """Tab of a desktop with reduced motion."""
    with Visit(browser, "about:blank", reduced_motion="reduce") as visit:
        yield visit


@pytest.fixture(scope="session")
def tab(browser):
    """Tab for interactive tests."""
    with Visit(browser, "about:blank") as visit:
        yield visit


@pytest.fixture
def open_page(tab, address):
    """Load a page as a first visit; a new browser context would take a second more."""

    def load(page="", **window):
        tab.load_uncached(address + url_path(page), **window)
        return tab

    return load
