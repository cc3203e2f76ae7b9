"""Whole games on the page by keyboard and by touch, and the choices before them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from idiot_env import Game, Rules
from idiot_env.rules import OPTIONS, PRESETS
from tests.page.browsing import (
    DESKTOP,
    PHONE,
    Page,
    Site,
    by_keyboard,
    by_touch,
    expect,
    moved_on,
    no_overflow,
    wait_turn,
)

pytestmark = pytest.mark.browser


GAMES = [
    pytest.param(preset, device, hand, marks=() if sample else pytest.mark.slow, id=f"{preset}-{name}-{hand.__name__}")
    for preset in PRESETS
    for name, device in (("desktop", DESKTOP), ("phone", PHONE))
    for hand in (by_keyboard, by_touch)
    if name == "phone" or hand is by_keyboard
    for sample in [(preset, name, hand) in (("standard", "desktop", by_keyboard), ("sjanse", "phone", by_touch))]
]


@pytest.mark.parametrize(("preset", "device", "hand"), GAMES)
def test_a_whole_game(site: Site, preset: str, device: dict[str, Any], hand: Callable[[Page], None]) -> None:
    page = site.open(site.browser(device))
    if device is PHONE:
        page.tap(f"#preset-{preset}")
        page.tap("#players-3")
    else:
        page.check(f"#preset-{preset}", force=True)
        page.check("#players-3", force=True)
    page.select_option("#seat-1", "careful")
    page.select_option("#seat-2", "greedy")
    page.click(".more > summary")
    page.fill("#seed", "5")  # a chance game may be of any length
    no_overflow(page)
    page.focus("#begin")
    page.keyboard.press("Enter")
    page.wait_for_selector(".board .group")
    table = site.table(page)
    assert table.rules == Rules.preset(preset)
    assert [seat.agent for seat in table.seats] == [None, "careful", "greedy"]
    for _ in range(600):
        if not wait_turn(page):
            break
        version = table.version
        hand(page)
        moved_on(page, table, version)
    no_overflow(page)
    assert table.game.over
    result = table.game.result or {}
    expect(page.locator(".end h2")).to_have_text(
        "You are the idiot!" if 0 in result["idiots"] else "You got away: you are not the idiot."
    )
    expect(page.locator(".places li")).to_have_count(3)
    expect(page.locator(".graph")).to_be_visible()
    page.click(".end .primary")
    page.wait_for_selector(".end[hidden]", state="attached")
    assert table.round == 1
    assert table.game.dealer == result["idiots"][0]


def test_every_option_reaches_the_engine(site: Site) -> None:
    page = site.open(site.browser())
    page.check("#players-3", force=True)
    page.click(".house > summary")
    for option, values in OPTIONS.items():
        for value in values:
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            box = page.locator(f'[id="option-{option}-{shown}"]')
            box.check()
            expect(box).to_be_checked()
            assert box.locator("xpath=..").inner_text().strip(), "every value says what it means"
    wanted = {option: values[-1] for option, values in OPTIONS.items()}
    page.click("#begin")
    page.wait_for_selector(".board .plate")
    assert site.table(page).rules == Rules(**wanted)  # type: ignore[arg-type]


def test_impossible_tables_are_explained(site: Site) -> None:
    page = site.open(site.browser())
    page.click(".house > summary")
    page.check('[id="option-losers-2"]')
    expect(page.locator("#problem")).to_contain_text("Two idiots need at least three players.")
    page.click("#begin")
    assert "#table" not in page.url
    page.check("#players-5", force=True)
    expect(page.locator("#problem")).to_be_empty()
    page.check('[id="option-hand_size-6"]')
    expect(page.locator("#problem")).to_contain_text("Six cards in hand work for at most 4 players")
    page.click("#language")
    expect(page.locator("#problem")).to_contain_text("Seks kort på hånden går bare opp for høyst 4")
    page.check("#players-4", force=True)
    expect(page.locator("#problem")).to_be_empty()
    page.click(".more > summary")
    page.fill("#seed", "12x")
    expect(page.locator("#problem")).to_contain_text("helt tall")
    page.fill("#seed", "12")
    page.click("#begin")
    page.wait_for_selector(".board .plate")
    assert site.table(page).game.deck == Game(Rules(losers=2, hand_size=6), 4, seed=12).deck


def test_a_server_that_does_not_answer_is_said_in_a_sentence(site: Site) -> None:
    page = site.browser(lang="no")
    page.route("**/api/catalog", lambda route: route.fulfill(status=502, body="<h1>no</h1>"))
    site.open(page)
    expect(page.locator(".excuse")).to_contain_text("Serveren svarer ikke slik den skal.")
    page.unroute("**/api/catalog")
    page.click(".excuse button")
    expect(page.locator("#begin")).to_be_visible()
    page.route("**/api/tables", lambda route: route.abort())
    page.click("#begin")
    expect(page.locator(".toast").last).to_contain_text("Serveren svarer ikke slik den skal.")
    site.faults[:] = [fault for fault in site.faults if "502" not in fault and "ERR_FAILED" not in fault]
    assert len(site.faults) == 1, "the first page could not begin"
    site.faults.clear()


def test_an_agent_that_is_gone_is_not_proposed(site: Site) -> None:
    """A browser remembers who played last; the server may have been started without that model since."""
    page = site.open(site.browser())
    page.select_option("#seat-1", "greedy")
    page.check("#players-3", force=True)
    kept = json.loads(page.evaluate("localStorage.getItem('idiot.choice')"))
    for seats in (["nobody"] * 5, "nobody", None, [7]):
        page.evaluate("kept => localStorage.setItem('idiot.choice', kept)", json.dumps(kept | {"seats": seats}))
        page.reload()
        expect(page.locator("#seat-1")).to_have_value("tiny")
        expect(page.locator("#problem")).to_be_empty()
    page.click("#begin")
    page.wait_for_selector(".board .plate")
    table = site.table(page)
    table.seats[1].agent = "gone"  # as after a restart
    del site.server.rooms[table.id]
    assert site.server.make_room(table).table.seats[1].agent == "careful"
