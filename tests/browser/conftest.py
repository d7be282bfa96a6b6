"""Readers who go from page to page: each of them has one tab, as long as the tests run."""

import pytest

from tests.browser.visit import Visit, path


@pytest.fixture(scope="session")
def phone(browser):
    """A phone that runs no script."""
    with Visit(browser, "about:blank", width=320, java_script_enabled=False) as visit:
        yield visit


@pytest.fixture(scope="session")
def desktop(browser):
    """The screen of a reader who wants no motion."""
    with Visit(browser, "about:blank", reduced_motion="reduce") as visit:
        yield visit


@pytest.fixture(scope="session")
def tab(browser):
    """The tab of a reader who tries everything."""
    with Visit(browser, "about:blank") as visit:
        yield visit


@pytest.fixture
def come_to(tab, address):
    """Loads a page as the first one of a new reader; a process of its own would take a second more."""

    def load(page="", **window):
        tab.load_afresh(address + path(page), **window)
        return tab

    return load
