"""The page in Chromium, for tests: browsers, tables set up for one move, and hands that play.

Needs Debian's Chromium; ``.ci/run`` installs it where it is missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from idiot_agents.web import app as web_app
from idiot_agents.web.table import Seat, Table
from idiot_env import Game, Rules
from tests.decks import QUIET, deck_of

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    reason = "the page is not tested: there is no Chromium here (Debian: apt-get install chromium)"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="the page is not tested: pip install playwright")
Page, expect = sync_api.Page, sync_api.expect
WAIT = 60_000
"""Milliseconds to wait for what should come at once: machines that test are busy ones."""
expect.set_options(timeout=WAIT)

DESKTOP: dict[str, Any] = {"viewport": {"width": 1366, "height": 820}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@dataclass
class Site:
    """A server and the browsers that look at it; whatever they complain of is collected."""

    server: web_app.Server
    address: str
    chromium: Any
    faults: list[str] = field(default_factory=list)
    contexts: list[Any] = field(default_factory=list)

    def browser(self, device: dict[str, Any] = DESKTOP, speed: str = "off", lang: str = "en", **options: Any) -> Page:
        """A fresh browser with an empty page."""
        context = self.chromium.new_context(**device, locale="en-GB", **options)
        context.set_default_timeout(WAIT)
        self.contexts.append(context)
        context.add_init_script(
            "if (location.protocol === 'http:' && !localStorage.getItem('idiot.lang')) {"
            f" localStorage.setItem('idiot.speed', '\"{speed}\"');"
            f" localStorage.setItem('idiot.lang', '\"{lang}\"'); }}"
        )
        page = context.new_page()
        page.on("console", lambda message: message.type in ("error", "warning") and self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.check_request(request.url))
        return page

    def check_request(self, url: str) -> None:
        if not url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.faults.append(f"a request to another host: {url}")

    def open(self, page: Page, path: str = "") -> Page:
        page.goto(f"{self.address}/{path}")
        return page

    def sit(self, page: Page, table: Table, seat: int = 0) -> Page:
        """Open a table that the test has set up."""
        if table.id not in self.server.rooms:
            self.server.make_room(table)
        self.open(page)
        token = table.watch_token if not table.persons else table.seats[seat].token
        seats = json.dumps(json.dumps({table.id: {"token": token}}))
        page.evaluate(f"localStorage.setItem('idiot.seats', {seats})")
        page.goto("about:blank")
        self.open(page, f"#table/{table.id}")
        page.wait_for_selector(".board .plate")
        return page

    def table(self, page: Page) -> Table:
        """The table that a page shows, on the server."""
        return self.server.rooms[page.url.rpartition("/")[2]].table


def no_overflow(page: Page) -> None:
    """Nothing sticks out to the right."""
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page is wider than the screen"


def wait_turn(page: Page) -> bool:
    """Wait until it is one's turn; false when the game is over."""
    page.wait_for_selector(".my-turn, .end:not([hidden])")
    return page.query_selector(".end:not([hidden])") is None


def moved_on(page: Page, table: Table, version: list[int]) -> None:
    deadline = time.monotonic() + WAIT / 1000
    while table.version == version:
        assert time.monotonic() < deadline, "nothing happens"
        page.wait_for_timeout(5)
    page.wait_for_function("() => !document.querySelector('.doing')?.matches('.sent')")


def by_keyboard(page: Page) -> None:
    """One decision with nothing but keys."""
    if page.query_selector('[data-action="done"]'):
        hand = page.get_attribute(".hand .group.can", "data-rank") if page.query_selector(".hand .group.can") else None
        if hand is not None and not page.evaluate("window.swapped"):
            page.evaluate("window.swapped = true")
            page.keyboard.press(key_of(hand))
            up = page.query_selector(".me .slot.can:not(.chosen) .up:last-of-type")
            assert up is not None
            page.keyboard.press(key_of(up.get_attribute("data-card") or ""))
            page.keyboard.press("Enter")
            return
        page.keyboard.press("f")
        return
    for place in page.eval_on_selector_all(".hand .group.can, .me .slot.can", KEYS_OF_CARDS):
        page.keyboard.press(key_of(place))
        if page.query_selector(".actions .primary") is not None:
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Escape")
    page.keyboard.press("t")


KEYS_OF_CARDS = """all => all.map((one) => one.dataset.rank
  ?? one.querySelector(".up:last-of-type")?.dataset.card ?? String(Number(one.dataset.place.at(-1)) + 1))"""


def key_of(rank: str) -> str:
    return {"T": "0", "*": "x"}.get(rank, rank.lower())


def by_touch(page: Page) -> None:
    """One decision with a finger."""
    decide(page, lambda element: element.tap())


def by_mouse(page: Page) -> None:
    """One decision with the mouse."""
    decide(page, lambda element: element.click())


def decide(page: Page, press: Callable[[Any], None]) -> None:
    """End the exchange, or lay the first card that can be laid, or take the pile."""
    done = page.query_selector('[data-action="done"]')
    if done is not None:
        press(done)
        return
    for key in page.eval_on_selector_all(".hand .group.can, .me .slot.can", "all => all.map((one) => one.dataset.key)"):
        press(page.query_selector(f'[data-key="{key}"]'))
        primary = page.query_selector(".actions .primary")
        if primary is not None:
            press(primary)
            return
        page.keyboard.press("Escape")  # it can only be exchanged
    press(page.query_selector('[data-action="take"]'))


def quiet_table(
    site: Site,
    cards: dict[str, Any] | list[str] | None = None,
    players: int = 2,
    dealer: int | None = None,
    actions: tuple[str, ...] | list[str] = (),
    seat: int = 0,
    **options: Any,
) -> Table:
    """A person's table after given actions; ``cards`` is a deck, or what ``deck_of`` takes for one."""
    rules = Rules(**{**QUIET, **options})
    seats = [Seat(token=f"t{n}", name="Kari") if n == seat else Seat(agent="greedy") for n in range(players)]
    table = Table(rules, seats, 1)
    dealer = players - 1 if dealer is None else dealer
    if cards is not None:
        deck = deck_of(players, dealer=dealer, **cards) if isinstance(cards, dict) else cards
        table.game = Game(rules, players, deck=deck, dealer=dealer)
        table.began_at = None
        table._note_beginning()
    for action in actions:
        table.apply(action)
    return table


def hand(page: Page, rank: str) -> Any:
    return page.locator(f'.hand .group[data-rank="{rank}"]')


def up(page: Page, rank: str) -> Any:
    return page.locator(f'.me .slot:has(.up[data-card="{rank}"])').first


def do(page: Page, action: str) -> None:
    page.click(f'.actions [data-action="{action}"]')


def refused(page: Page, says: str) -> None:
    expect(page.locator(".toast").last).to_have_text(re.compile(says))
    expect(page.locator(".actions .primary")).to_have_count(0)
