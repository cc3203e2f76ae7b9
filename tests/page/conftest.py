"""One Chromium for all tests of the page, and a fresh server for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.conftest import model as model

if TYPE_CHECKING:
    from tests.page.browsing import Site


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser that does not answer gets one more chance, shown as a rerun; a false page fails at once.

    Chromium's renderer hangs once in some thousand tests, also on an idle machine: one click, in a run of all tests,
    was not answered for a minute, and the same test then passed sixty times.  Only Playwright's own timeout outside
    ``expect`` counts, so whatever the page shows wrongly is never tried again.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=["TimeoutError"]))


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    from idiot_agents.web.serve import warm_up
    from tests.page.browsing import CHROMIUM, sync_api

    warm_up("en")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def site(chromium: Any, tmp_path: Path, model: str) -> Iterator[Site]:
    from tests.page.browsing import Site
    from tests.web_server import make_server, served

    server = make_server(tmp_path / "tables", specs=(model,), absence=1.0)
    with served(server) as address:
        site = Site(server, address, chromium)
        yield site
        for context in site.contexts:
            context.close()
    assert not site.faults, site.faults
