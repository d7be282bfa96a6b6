"""Chromium, the served site, and tabs that tests share, because opening one takes a second."""

import os

import pytest
from playwright.sync_api import sync_playwright

from tests.browser.live.editing import CHAPTER
from tests.browser.visit import PAGE_OF_EACH_KIND, Visit, first_installed, served, url_path

# The shell, which has no user interface, needs a third less computing time to load a page.
CHROMIUM = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
NO_BACKGROUND_REQUESTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Chromium's sandbox does not run as root; Windows has no geteuid.
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
SANDBOX = ["--no-sandbox"] if IS_ROOT else []


@pytest.hookimpl(tryfirst=True)  # before the hook that leaves weekly tests out
def pytest_collection_modifyitems(items):
    """Mark tests `of_each_kind` as weekly on pages that stand for no kind."""
    for item in items:
        is_of_each_kind = item.get_closest_marker("of_each_kind")
        if is_of_each_kind and item.callspec.params["page"] not in PAGE_OF_EACH_KIND:
            item.add_marker("weekly")


@pytest.fixture(scope="session")
def browser(request):
    """The installed Chromium, driven by Playwright."""
    executable = first_installed(*CHROMIUM)
    if executable is None:
        fail_or_skip = pytest.fail if request.config.getoption("browser") else pytest.skip
        fail_or_skip(f"no Chromium on this machine ({', '.join(CHROMIUM)})")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=executable, args=[*NO_BACKGROUND_REQUESTS, *SANDBOX]
        )


@pytest.fixture(scope="session")
def address(site):
    """The address where the whole site is served."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def axe(assets):
    """The code of axe, the accessibility checker, to run in a page."""
    return (assets / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


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


@pytest.fixture
def visit(open_page):
    """A page with every kind of content, as a first visit."""
    return open_page(CHAPTER)
