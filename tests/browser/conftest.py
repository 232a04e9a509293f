"""The page of `latrunculi serve`, used in Chromium by Selenium: scripts/test-browser runs the tests. Pictures of the page are left in
the folder that it names."""

import pytest

from page import Page, Served


@pytest.fixture(scope="session")
def browser():
    with Page() as page:
        yield page


@pytest.fixture
def page(browser, tmp_path):
    """The page of a program that serves the folders `runs` and `studies` of `tmp_path`. It must complain of nothing."""
    served = Served(tmp_path)
    browser.url = served.url
    browser.resize()
    try:
        yield browser
        assert browser.complaints() == []
    finally:
        browser.switch_to.default_content()
        browser.get("about:blank")
        browser.complaints()
        served.end()
