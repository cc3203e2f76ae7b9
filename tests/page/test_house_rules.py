"""Every house rule by a move that only it allows or forbids; every action is within reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from idiot_agents.web.choices import legal_choices
from idiot_env import Game
from idiot_env.cards import RANKS, cards_in
from idiot_env.rules import OPTIONS
from tests.decks import LATE_ACTIONS, late_deck
from tests.moments import draw, random_table
from tests.page.browsing import (
    Page,
    Site,
    do,
    expect,
    hand,
    quiet_table,
    refused,
    up,
)

pytestmark = pytest.mark.browser


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
