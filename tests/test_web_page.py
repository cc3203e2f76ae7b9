"""The page in Chromium: whole games by keyboard and by touch, every house rule, two people, reloads, accessibility.

Needs Debian's Chromium; ``.ci/run`` installs it where it is missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idiot_agents.web import app as web_app
from idiot_agents.web.choices import legal_choices
from idiot_agents.web.serve import warm_up
from idiot_agents.web.table import Seat, Table, mixed
from idiot_env import Game, Rules
from idiot_env.cards import RANKS, cards_in
from idiot_env.rules import OPTIONS, PRESETS
from tests.decks import LATE_ACTIONS, QUIET, deck_of, late_deck
from tests.moments import draw, random_table
from tests.web_server import make_server, served, untrained_model

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    reason = "the page is not tested: there is no Chromium here (Debian: apt-get install chromium)"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="the page is not tested: pip install playwright")
Page, expect = sync_api.Page, sync_api.expect
WAIT = 20_000
"""Milliseconds to wait for what should come at once: machines that test are busy ones."""
expect.set_options(timeout=WAIT)

pytestmark = pytest.mark.browser
DESKTOP: dict[str, Any] = {"viewport": {"width": 1366, "height": 820}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    warm_up("en")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


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


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"ppo:{untrained_model(tmp_path_factory.mktemp('runs') / 'tiny' / 'model')}"


@pytest.fixture
def site(chromium: Any, tmp_path: Path, model: str) -> Iterator[Site]:
    server = make_server(tmp_path / "tables", specs=(model,), absence=1.0)
    with served(server) as address:
        site = Site(server, address, chromium)
        yield site
        for context in site.contexts:
            context.close()
    assert not site.faults, site.faults


def no_overflow(page: Page) -> None:
    """Nothing sticks out to the right."""
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page is wider than the screen"


def wait_turn(page: Page) -> bool:
    """Wait until it is one's turn; false when the game is over."""
    page.wait_for_selector(".my-turn, .end:not([hidden])")
    return page.query_selector(".end:not([hidden])") is None


def moved_on(page: Page, table: Table, version: list[int]) -> None:
    deadline = time.monotonic() + 10
    while table.version == version:
        assert time.monotonic() < deadline, "nothing happens"
        page.wait_for_timeout(5)
    page.wait_for_function("() => !document.querySelector('.doing')?.matches('.sent')")


# --- whole games -----------------------------------------------------------------------------------------------------


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


# --- every house rule ------------------------------------------------------------------------------------------------


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


def last_line(page: Page) -> Any:
    return page.locator(".banner")


def refused(page: Page, says: str) -> None:
    expect(page.locator(".toast").last).to_have_text(re.compile(says))
    expect(page.locator(".actions .primary")).to_have_count(0)


def swap_before(site: Site, page: Page) -> None:
    table = quiet_table(site, dict(hand=["47K"], up=["59A"]), swap="before")
    site.sit(page, table)
    hand(page, "4").click()
    up(page, "A").click()
    do(page, "swap 4 A")
    expect(hand(page, "A")).to_be_visible()
    expect(up(page, "4")).to_be_visible()
    do(page, "done")
    expect(page.locator(".log")).to_contain_text("You are done exchanging")


def swap_never(site: Site, page: Page) -> None:
    site.sit(page, quiet_table(site, dict(hand=["47K"], up=["59A"]), swap="never"))
    expect(page.locator('[data-action="done"]')).to_have_count(0)
    up(page, "A").click()
    refused(page, "Face-up cards are played when the hand is empty")


def swap_anytime(site: Site, page: Page) -> None:
    table = quiet_table(site, dict(hand=["47K", "555"], up=["59A"]), swap="anytime", actions=["done", "done"])
    site.sit(page, table)
    hand(page, "K").click()
    up(page, "5").click()
    do(page, "swap K 5")
    expect(hand(page, "5")).to_be_visible()
    assert table.game.turn == 0


def after_two(site: Site, page: Page) -> None:
    for value, turn in (("again", 0), ("pass", 1)):
        table = quiet_table(site, dict(hand=["247", "KKA"], stock="5"), after_two=value)
        site.sit(page, table)
        hand(page, "2").click()
        do(page, "play 2")
        expect(page.locator(".log")).to_contain_text("You lay a two")
        assert table.played[0].event.turn == turn


def ten_on(site: Site, page: Page) -> None:
    deck = dict(hand=["4TA", "KKK"])
    site.sit(page, quiet_table(site, deck, dealer=0, actions=["play K"], ten_on="below_ten"))
    hand(page, "T").click()
    refused(page, "10 fits only an empty pile, a two or a card below ten; on top lies K")
    site.sit(page, quiet_table(site, deck, dealer=0, actions=["play K"]))
    hand(page, "T").click()
    do(page, "play T")
    expect(page.locator(".log")).to_contain_text("The pile burns (2 cards)")


def chance(site: Site, page: Page) -> None:
    table = quiet_table(site, dict(hand=["445", "KKK"], stock="A"), dealer=0, actions=["play K"], chance=True)
    # Seat 1 has drawn the ace; what comes next is known from the deck.
    following = table.game.snapshot()["stock"][0]
    site.sit(page, table)
    page.click(".stock")
    expect(page.locator(".log")).to_contain_text("You take a chance on the stock")
    assert table.played[1].event.shown == following
    site.sit(page, quiet_table(site, dict(hand=["445", "KKK"])))
    page.click(".stock")
    refused(page, "No chances are taken at this table")


def face_up_take(site: Site, page: Page) -> None:
    for value in ("with_card", "alone"):
        table = quiet_table(
            site, late_deck(up=["", "9JQ"]), 5, actions=LATE_ACTIONS, seat=1, face_up_take=value
        )  # seat 1 plays from the face-up cards
        site.sit(page, table, 1)
        if value == "alone":
            page.click(".pile")
            expect(page.locator(".log")).to_contain_text("You take the pile")
            assert table.played[-1].event.action == "take" or table.played[len(LATE_ACTIONS)].event.action == "take"
        else:
            page.click(".pile")
            refused(page, "Choose the face-up card that goes along")
            up(page, "9").click()
            do(page, "take 9")
            expect(page.locator(".log")).to_contain_text("put a nine from your face-up cards on the pile")


def last_two(site: Site, page: Page) -> None:
    for value, possible in (("forbidden", False), ("allowed", True)):
        table = quiet_table(site, dict(hand=["2", "345"]), last_two=value)
        state = table.game._states[0]
        two = next(card for card in cards_in(int(state["hand"][0])) if RANKS[card // 4] == "2")
        state["hand"][0], state["up"][0], state["down"][0], state["stock_size"] = 1 << two, 0, -1, 0
        site.sit(page, table)
        hand(page, "2").click()
        if possible:
            do(page, "play 2")
            expect(page.locator(".end h2")).to_have_text("You got away: you are not the idiot.")
        else:
            refused(page, "the last card may not be a two")


def seven_low(site: Site, page: Page) -> None:
    deck = dict(hand=["478", "777"])
    site.sit(page, quiet_table(site, deck, dealer=0, actions=["play 7"], seven_low=True))
    hand(page, "8").click()
    refused(page, "On a seven the card must be lower than 7, and 8 is not")
    hand(page, "7").click()
    refused(page, "another seven does not fit")
    hand(page, "4").click()
    do(page, "play 4")
    site.sit(page, quiet_table(site, deck, dealer=0, actions=["play 7"]))
    hand(page, "4").click()
    refused(page, "4 is lower than the 7 on top")


def sneak_three(site: Site, page: Page) -> None:
    deck = dict(hand=["334", "KKK"])
    table = quiet_table(site, deck, dealer=0, actions=["play K"], sneak_three=True)
    site.sit(page, table)
    hand(page, "3").click()
    hand(page, "3").click()
    do(page, "sneak x2")
    expect(page.locator(".log")).to_contain_text("slip two threes under the pile")
    site.sit(page, quiet_table(site, deck, dealer=0, actions=["play K"]))
    hand(page, "3").click()
    refused(page, "3 is lower than the K on top")


def runs(site: Site, page: Page) -> None:
    table = quiet_table(site, dict(hand=["567", "444"]), runs=True)
    site.sit(page, table)
    for rank in "567":
        hand(page, rank).click()
    do(page, "run 5-7")
    expect(page.locator(".log")).to_contain_text("lay the run 5–7")
    site.sit(page, quiet_table(site, dict(hand=["567", "444"])))
    hand(page, "5").click()
    hand(page, "6").click()
    expect(page.locator(".hand .group.chosen")).to_have_count(1)


def skip_same(site: Site, page: Page) -> None:
    for value in (True, False):
        table = quiet_table(site, dict(hand=["599", "JJJ", "5KK"]), 3, dealer=1, actions=["play 5"], skip_same=value)
        site.sit(page, table)
        hand(page, "5").click()
        do(page, "play 5")
        expect(page.locator(".log")).to_contain_text("You lay a five")
        assert table.played[1].event.skipped == (1 if value else None)
        assert page.locator(".log").inner_text().count("is skipped") == value


def stack(site: Site, page: Page) -> None:
    table = quiet_table(site, dict(hand=["67K"], up=["69A"], stock="4"), stack=True)
    site.sit(page, table)
    hand(page, "6").click()
    do(page, "stack 6")
    expect(page.locator(".log")).to_contain_text("on a face-up card of your own")
    expect(page.locator('.me .slot .up[data-card="6"]')).to_have_count(2)
    site.sit(page, quiet_table(site, dict(hand=["67K"], up=["69A"])))
    hand(page, "6").click()
    expect(page.locator('[data-action="stack 6"]')).to_have_count(0)


def hand_size(site: Site, page: Page) -> None:
    site.sit(page, quiet_table(site, hand_size=6))
    expect(page.locator(".hand .card")).to_have_count(6)
    site.sit(page, quiet_table(site))
    expect(page.locator(".hand .card")).to_have_count(3)


def jokers(site: Site, page: Page) -> None:
    table = quiet_table(site, dict(hand=["*47", "KKK"], jokers=2), dealer=0, actions=["play K"], jokers=2)
    site.sit(page, table)
    hand(page, "*").click()
    do(page, "play *")
    expect(page.locator(".log")).to_contain_text("The pile burns (2 cards)")


def losers(site: Site, page: Page) -> None:
    for value in (2, 1):
        table = quiet_table(site, dict(hand=["4", "345", "678"]), 3, losers=value)
        state = table.game._states[0]
        card = cards_in(int(state["hand"][0]))[0]
        state["hand"][0], state["up"][0], state["down"][0], state["stock_size"] = 1 << card, 0, -1, 0
        site.sit(page, table)
        page.locator(".hand .group").click()
        page.click(".actions .primary")
        expect(page.locator(".me .plate .tag").first).to_contain_text("out in place 1")
        assert table.game.over == (value == 2)
        if value == 2:
            expect(page.locator(".places .lost")).to_have_count(2)
        page.goto("about:blank")


def starter(site: Site, page: Page) -> None:
    deck = dict(hand=["9JQ", "4JQ"], up=["3KK", "9KK"])
    begins = {"left_of_dealer": 1, "first_three": 0, "lowest_hand": 1}
    for value, seat in begins.items():
        site.sit(page, quiet_table(site, deck, dealer=0, starter=value))
        expect(page.locator(".log li").first).to_have_text("You begin." if seat == 0 else "greedy begins.")
    site.sit(page, quiet_table(site, deck, dealer=1, starter="left_of_dealer"))
    expect(page.locator(".log li").first).to_have_text("You begin.")


def starter_tie(site: Site, page: Page) -> None:
    deck = dict(hand=["48K", "99Q", "456"])
    begins = {"nearest_left": 2, "most_low": 2, "left_of_dealer": 1}
    for value, seat in begins.items():
        table = quiet_table(site, deck, 3, dealer=0, starter="lowest_hand", starter_tie=value)
        assert table.began_at == (0, seat)
        site.sit(page, table)
        expect(page.locator(".log li").first).to_have_text(f"greedy {seat} begins.")


def opening(site: Site, page: Page) -> None:
    table = quiet_table(site, dict(hand=["449"]), opening="lowest")
    site.sit(page, table)
    hand(page, "9").click()
    refused(page, "The first play is the lowest rank in your hand: 4")
    hand(page, "4").click()
    hand(page, "4").click()
    do(page, "play 4x2")
    site.sit(page, quiet_table(site, dict(hand=["449"])))
    hand(page, "9").click()
    do(page, "play 9")


RULES_SHOWN = [
    swap_before, swap_never, swap_anytime, after_two, ten_on, chance, face_up_take, last_two, seven_low, sneak_three,
    runs, skip_same, stack, hand_size, jokers, losers, starter, starter_tie, opening,
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES_SHOWN, ids=lambda rule: rule.__name__)
def test_a_house_rule(site: Site, rule: Callable[[Site, Page], None]) -> None:
    rule(site, site.browser())


def test_every_option_has_its_move() -> None:
    names = {rule.__name__ for rule in RULES_SHOWN}
    assert all(any(name.startswith(option) for name in names) for option in OPTIONS)


def test_every_action_can_be_reached_by_touching(site: Site) -> None:
    """The page's chooser finds each legal action of random moments from touches of the cards that it moves."""
    moments: list[list[dict[str, Any]]] = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        rules, players = random_table(rng)
        game = Game(rules, players, seed=seed)
        for _ in range(int(rng.integers(0, 100))):
            if not game.over:
                game.apply(draw(rng, game.mask))
        if game.turn is not None:
            moments.append(legal_choices(game.view(game.turn), "en"))
    page = site.open(site.browser())
    unreached = page.evaluate(
        """async (moments) => {
          const { Chooser } = await import("/static/chooser.js");
          const unreached = [];
          for (const actions of moments) for (const action of actions) {
            const chooser = new Chooser(actions);
            for (const zone of ["hand", "up"]) for (const [rank, n] of Object.entries(action[zone]))
              for (let k = 0; k < n; k++) chooser.touch(zone, rank);
            if (action.slot) chooser.touchSlot(action.slot);
            const found = [...chooser.matches, ...chooser.plain].map((one) => one.action);
            if (!found.includes(action.action)) unreached.push([action.action, actions.map((one) => one.action)]);
          }
          return unreached;
        }""",
        moments,
    )
    assert unreached == []
    assert sum(map(len, moments)) > 500


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_a_failed_blind_card_is_seen_by_all(site: Site) -> None:
    """The card lies on the pile, face up, before it goes to the hand."""
    table = quiet_table(site, dict(hand=["4", "KKK"], down=["4"]), chance=True, dealer=0, actions=["play K"])
    state = table.game._states[0]
    state["stock_size"] = int(state["stock_size"])
    while table.game.snapshot()["stock"][0] in "2TKA":
        state["stock_size"] -= 1
    low = table.game.snapshot()["stock"][0]
    page = site.sit(site.browser(speed="normal"), table)
    page.click(".stock")
    page.wait_for_selector(f'.pile.shake .card[data-card="{low}"]')
    expect(page.locator(".bubble.bad")).to_have_text("does not fit")
    expect(page.locator(".pile .size")).to_have_text("empty")
    expect(page.locator(".log")).to_contain_text("It does not fit, and you take it with the whole pile")


def test_a_burn_and_a_refill_are_seen(site: Site) -> None:
    table = quiet_table(site, dict(hand=["T45", "KKK"], stock="7"), dealer=0, actions=["play K"])
    page = site.sit(site.browser(speed="normal"), table)
    page.evaluate(
        """() => { window.seen = new Set(); new MutationObserver((changes) => {
          if (document.querySelector(".pile.burning")) seen.add("burning");
          if (document.querySelector("#stage .card.back")) seen.add("drawn");
          if (document.querySelector("#stage .card.face")) seen.add("flying");
          const size = document.querySelector(".pile .size").textContent; seen.add("pile " + size);
        }).observe(document.body, { subtree: true, childList: true, attributes: true }); }"""
    )
    hand(page, "T").click()
    page.click(".actions .primary")
    expect(page.locator(".burned .size")).to_have_text("2 cards")
    expect(page.locator(".hand .card")).to_have_count(3)
    seen = set(page.evaluate("[...seen]"))
    assert seen >= {"burning", "drawn", "flying", "pile 2 cards", "pile empty"}


def test_reduced_motion_moves_nothing(site: Site) -> None:
    page = site.browser(speed="normal", reduced_motion="reduce")
    table = quiet_table(site, dict(hand=["T45", "KKK"], stock="7"), dealer=0, actions=["play K"])
    site.sit(page, table)
    page.evaluate(
        """() => {
          window.flown = 0;
          const count = () => (flown += document.querySelectorAll("#stage *").length);
          new MutationObserver(count).observe(document.body, { subtree: true, childList: true });
        }"""
    )
    hand(page, "T").click()
    page.click(".actions .primary")
    expect(page.locator(".burned .size")).to_have_text("2 cards")
    assert page.evaluate("flown") == 0


def test_three_of_a_kind_are_marked(site: Site) -> None:
    table = quiet_table(site, dict(hand=["555", "689"]), players=2)
    page = site.sit(site.browser(), table)
    for _ in range(3):
        hand(page, "5").click()
    do(page, "play 5x3")
    seen = table.played[0].event
    assert seen.action == "play 5x3"
    page.evaluate("0")
    table_at = quiet_table(site, dict(hand=["47A", "555"]), dealer=0, actions=["play 5x3"])
    site.sit(page, table_at)
    expect(page.locator(".pile .run")).to_have_text("3 of a kind – one more burns the pile")


def test_hints_are_drawn(site: Site) -> None:
    page = site.browser()
    table = quiet_table(site, dict(hand=["449"]))
    site.sit(page, table)
    page.keyboard.press("h")
    expect(page.locator(".bars li").first).to_be_visible()
    shares = [int(text.split()[0]) for text in page.locator(".bars .p").all_inner_texts()]
    drawn = page.locator(".bars .fill").evaluate_all("fills => fills.map(fill => fill.style.width)")
    assert [round(float(width.removesuffix("%"))) for width in drawn] == pytest.approx(shares, abs=1)
    assert shares == sorted(shares, reverse=True)
    expect(page.locator(".insight .chance")).to_have_text(re.compile(r"Your chance not to become the idiot: \d+ %"))
    page.check(".insight input[type=checkbox]")
    hand(page, "9").click()
    do(page, "play 9")
    wait_turn(page)
    expect(page.locator(".bars li").first).to_be_visible()


# --- reloads, restarts, other people ---------------------------------------------------------------------------------


def test_a_reload_and_a_restart_in_mid_game(chromium: Any, tmp_path: Path) -> None:
    server = make_server(tmp_path)
    with served(server) as address:
        port = int(address.rpartition(":")[2])
        site = Site(server, address, chromium)
        page = site.open(site.browser())
        page.select_option("#seat-1", "greedy")
        page.click("#begin")
        page.wait_for_selector(".board .group")
        table = site.table(page)
        for _ in range(8):
            wait_turn(page)
            version = table.version
            by_mouse(page)
            moved_on(page, table, version)
        wait_turn(page)
        before = page.locator(".board").inner_text(), page.locator(".log").inner_text()
        page.reload()
        wait_turn(page)
        assert (page.locator(".board").inner_text(), page.locator(".log").inner_text()) == before
    expect(page.locator("body.offline")).to_be_attached()
    again = make_server(tmp_path)
    with served(again, port):
        expect(page.locator("body:not(.offline)")).to_be_attached()
        wait_turn(page)
        assert page.locator(".board").inner_text() == before[0]
        table = again.rooms[table.id].table
        version = table.version
        by_mouse(page)
        moved_on(page, table, version)
        site.contexts[0].close()
    assert [fault for fault in site.faults if "WebSocket" not in fault and "ERR_" not in fault] == []


def test_two_people_at_one_table(site: Site) -> None:
    kari = site.open(site.browser())
    kari.click(".more > summary")
    kari.fill("#name", "Kari")
    kari.check("#preset-norsk", force=True)
    kari.check("#players-3", force=True)
    kari.select_option("#seat-1", "guest")
    kari.select_option("#seat-2", "greedy")
    kari.click("#begin")
    link = kari.locator(".lobby input").input_value()
    assert link.startswith(site.address)
    ola = site.browser(PHONE)
    ola.goto(link)
    ola.fill("#name", "Ola <b>")
    ola.tap("#begin")
    ola.wait_for_selector(".board .plate")
    kari.wait_for_selector(".lobby[hidden]", state="attached")
    expect(kari.locator(".board")).to_contain_text("Ola <b>")
    table = site.table(kari)
    pages = {0: kari, 1: ola}
    for _ in range(12):
        kari.wait_for_function("() => true")
        deadline = time.monotonic() + 10
        while table.turn == 2:
            assert time.monotonic() < deadline
            kari.wait_for_timeout(10)
            ola.wait_for_timeout(10)
        turn = table.turn
        if turn is None:
            break
        other = pages[1 - turn]
        assert wait_turn(pages[turn])
        assert other.query_selector(".my-turn") is None
        version = table.version
        by_mouse(pages[turn])
        moved_on(pages[turn], table, version)
    view = table.game.view(0)
    assert ola.evaluate("document.body.innerHTML").count("data-rank") == len(set(table.shown(1, "en")["view"]["hand"]))
    assert view.seat == 0
    ola.close()  # an agent takes over after a second
    expect(kari.locator(".player[data-seat='1'] .tag")).to_have_text("away")
    deadline = time.monotonic() + 20
    actions = len(table.played)
    while not any(played.event.seat == 1 for played in table.played[actions:]):
        assert time.monotonic() < deadline, "nobody stands in"
        if table.game.over:
            break
        if table.turn == 0 and wait_turn(kari):
            version = table.version
            by_mouse(kari)
            moved_on(kari, table, version)
        kari.wait_for_timeout(50)


def send_and_drain(socket: Any, attack: str | bytes) -> None:
    """Send something and read until the server hangs up."""
    socket.send(attack)
    while True:
        socket.recv(timeout=10)


def test_a_hostile_client_on_the_wire(site: Site) -> None:
    """The real server in front: huge frames, other origins, other hosts; the game goes on beside it."""
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    page = site.browser()
    table = quiet_table(site, dict(hand=["449"]))
    site.sit(page, table)
    before = json.dumps(table.as_json())
    address = site.address.replace("http", "ws") + "/ws"
    hello = json.dumps({"type": "hello", "table": table.id, "token": "t0"})
    for origin in ("http://evil.example", None):
        with pytest.raises(WebSocketException):
            connect(address, origin=origin)  # type: ignore[arg-type]
    with pytest.raises(WebSocketException):
        connect(address, origin=site.address, additional_headers={"Host": "evil.example"})  # type: ignore[arg-type]
    for attack in ("x" * 1_000_000, b"\x00" * 1_000_000, "{" * 15_000, b"\xff"):
        with connect(address, origin=site.address) as socket:  # type: ignore[arg-type]
            socket.send(hello)
            with pytest.raises(WebSocketException):
                send_and_drain(socket, attack)
    with connect(address, origin=site.address) as socket:  # type: ignore[arg-type]
        socket.send(json.dumps({"type": "hello", "table": table.id, "token": "guess"}))
        assert json.loads(socket.recv(timeout=10))["type"] == "gone"
    assert json.dumps(table.as_json()) == before
    hand(page, "9").click()
    do(page, "play 9")
    moved_on(page, table, [0, 0])


def test_watching_agents(site: Site) -> None:
    page = site.open(site.browser())
    page.check("#mode-true", force=True)
    page.check("#players-4", force=True)
    page.click("#begin")
    page.wait_for_selector(".watch-bar:not([hidden])")
    page.click(".watch-bar button >> nth=0")
    expect(page.locator(".watch-bar button").first).to_have_text("Go on")
    table = site.table(page)
    page.wait_for_timeout(300)
    version = table.version
    page.wait_for_timeout(300)
    assert table.version == version, "a pause holds the agents"
    page.click("text=One step")
    moved_on(page, table, version)
    page.wait_for_timeout(200)
    assert table.version == [0, version[1] + 1]
    assert page.locator(".player .slot .card.under, .player .slot .card.back").count() > 0
    page.select_option(".watch-bar select", "2")
    page.wait_for_function("() => document.querySelectorAll('.slot .card.under').length === 0")
    page.click(".insight-panel summary")
    page.click("text=Go on")
    page.keyboard.press("Escape")
    page.wait_for_selector(".end:not([hidden])", timeout=60_000)
    assert table.game.over


def test_the_viewer(site: Site, tmp_path: Path) -> None:
    table = quiet_table(site, seat=0)
    seed = 0
    while not table.game.over:
        seed += 1
        table.apply(draw(np.random.default_rng(mixed(7, seed)), table.game.mask))
    page = site.sit(site.browser(), table)
    with page.expect_download() as download:
        page.click("text=Save the game")
    record = json.loads(Path(download.value.path()).read_text())
    assert Game.from_record(record).result == table.game.result
    page.click("text=See the game step by step")
    where = page.locator(".viewer-bar output")
    last = len(record["actions"])
    expect(where).to_have_text(f"Step 0 of {last}")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(20)
    expect(where).to_have_text(f"Step 3 of {last}")
    page.keyboard.press("ArrowLeft")
    expect(where).to_have_text(f"Step 2 of {last}")
    page.keyboard.press("End")
    expect(where).to_have_text(f"Step {last} of {last}")
    page.select_option(".viewer-bar select", "")
    expect(page.locator(".board")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator(".viewer-table .bars li").first).to_be_visible()
    expect(page.locator(".slot .card.under").first).to_be_visible()
    page.keyboard.press("End")
    files = {name: tmp_path / f"{name}.json" for name in ("game", "illegal", "other")}
    files["game"].write_text(json.dumps(record))
    files["illegal"].write_text(json.dumps(record | {"actions": ["play 9x4"]}))
    files["other"].write_text("no json")
    page.set_input_files("#file", str(files["game"]))
    expect(where).to_have_text(f"Step 0 of {last}")
    page.set_input_files("#file", str(files["illegal"]))
    expect(page.locator(".toast").last).to_contain_text("cannot be replayed: action 0")
    page.set_input_files("#file", str(files["other"]))
    expect(page.locator(".toast").last).to_contain_text("other.json is no game file")
    site.faults[:] = [fault for fault in site.faults if "422" not in fault]  # the browser notes the refused request


# --- accessibility ---------------------------------------------------------------------------------------------------


def violations(page: Page) -> list[str]:
    """What axe-core finds serious."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0].get('failureSummary', '')[:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("scheme", "lang", "device"), [("light", "en", DESKTOP), ("dark", "no", PHONE)])
def test_axe_finds_nothing_serious(site: Site, scheme: str, lang: str, device: dict[str, Any]) -> None:
    page = site.browser(device, lang=lang, color_scheme=scheme)
    site.open(page).wait_for_selector("#begin")
    page.click(".house > summary")
    page.click(".more > summary")
    assert violations(page) == []
    table = quiet_table(site, dict(hand=["4T2", "KKK"]), 5, dealer=0, actions=["play K"])
    site.sit(page, table)
    page.click(".insight-panel summary") if page.locator(".insight").is_hidden() else None
    page.keyboard.press("h")
    expect(page.locator(".bars li").first).to_be_visible()
    hand(page, "T").click()
    assert violations(page) == []
    while not table.game.over:
        table.apply(draw(np.random.default_rng(mixed(1, len(table.played))), table.game.mask))
    page.reload()
    page.wait_for_selector(".graph")
    assert violations(page) == []
    page.click(".end button >> nth=2")
    page.wait_for_selector(".viewer-bar")
    assert violations(page) == []


def test_the_keyboard_reaches_everything(site: Site) -> None:
    page = site.browser()
    table = quiet_table(site, dict(hand=["449", "KKK"], up=["6JJ"]))
    site.sit(page, table)
    reached: set[str] = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(str(page.evaluate("document.activeElement.dataset.key ?? document.activeElement.dataset.place")))
    assert reached >= {"hand4", "hand9", "slot0", "slot1", "slot2", "stock", "pile"}
    page.focus('[data-key="hand4"]')
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.dataset.key") == "hand4", "the focus stays where it was"
    assert "can be chosen" not in (page.get_attribute('[data-key="hand4"]', "aria-label") or "")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.locator("#live")).to_contain_text("You lay two fours")
    assert table.played[0].event.action == "play 4x2"


def test_screen_readers_hear_the_game(site: Site) -> None:
    page = site.browser(lang="no")
    table = quiet_table(site, dict(hand=["459", "KKK"]), dealer=0, actions=["play K"])
    site.sit(page, table)
    hand(page, "4").click()
    expect(page.locator("#live")).to_contain_text("4 er lavere enn K øverst.")
    label = page.get_attribute('[data-key="hand4"]', "aria-label") or ""
    assert label == "firer, kan ikke legges nå"
    assert page.get_attribute("html", "lang") == "nb"


def test_both_languages_have_the_same_words(site: Site) -> None:
    page = site.open(site.browser())
    keys = page.evaluate("import('/static/words.js').then((words) => words.KEYS)")
    assert sorted(keys["no"]) == sorted(keys["en"])
    options = page.evaluate("import('/static/words.js').then((words) => Object.keys(words.t('option')))")
    assert set(options) == set(OPTIONS)


def test_the_language_changes_in_mid_game(site: Site) -> None:
    page = site.browser()
    site.sit(page, quiet_table(site, dict(hand=["459", "KKK"]), dealer=0, actions=["play K"]))
    expect(page.locator(".log")).to_contain_text("lays a king")
    page.click("#language")
    expect(page.locator(".log")).to_contain_text("legger en konge")
    expect(page.locator(".prompt")).to_contain_text("Din tur")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_large_hands_fit_on_a_phone(site: Site, players: int) -> None:
    table = quiet_table(site, players=players)
    rng = np.random.default_rng(players)
    for _ in range(60):
        if not table.game.over:
            table.apply("take" if "take" in table.game.legal() else draw(rng, table.game.mask))
    for device in (PHONE, DESKTOP):
        page = site.sit(site.browser(device), table)
        no_overflow(page)
        size = page.evaluate(
            "Math.min(...[...document.querySelectorAll('.hand .group')].map((g) => g.getBoundingClientRect().width))"
        )
        assert size >= 40, "cards stay large enough to touch"
