"""A real browser on a real service. One browser serves all tests of this folder: it starts in a second or two.

It is closed with the folder, because playwright keeps an event loop running in the thread that uses it.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.interfaces.http.live import Live, live

Shoot = Callable[[Page, str], None]
PATIENCE = 15_000
"""Milliseconds for something to appear on a busy machine."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("needs chromium (make servers)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A service that nobody needs a key for."""
    with live(tmp_path_factory.mktemp("web") / "home") as running:
        yield running


@pytest.fixture(scope="package")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A service that nobody enters without a key."""
    with live(tmp_path_factory.mktemp("web") / "guarded", key_needed=True) as running:
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of its own: no cookies. Whatever a page complains of fails the test."""
    context = browser.new_context(viewport={"width": 1100, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on("console", lambda said: complaints.append(said.text) if _complains(said.type, said.text) else None)
    yield context
    context.close()
    assert complaints == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="session")
def shoot(request: pytest.FixtureRequest) -> Shoot:
    """Take a screenshot into the folder that `--screenshots` names; without it, none."""
    named = request.config.getoption("--screenshots")

    def shoot(page: Page, name: str) -> None:
        if named:
            Path(named).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=Path(named) / f"{name}.png", full_page=True)

    return shoot


def _complains(kind: str, text: str) -> bool:
    # A refused request is told on the console too, and tests do ask for what is refused.
    return kind in ("error", "warning") and not re.match(r"Failed to load resource.* (401|403|404|409|422)", text)


def check_accessible(page: Page) -> None:
    """Fail on whatever axe finds serious."""
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found if _serious(one)] == []


def _serious(violation: dict[str, object]) -> bool:
    return violation["impact"] in ("serious", "critical")


def check_fits(page: Page) -> None:
    """Fail if a page has to be pushed sideways."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
