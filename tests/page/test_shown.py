"""What happens is shown, not only its result; the table fits the screen."""

from __future__ import annotations

import numpy as np
import pytest

from tests.moments import draw
from tests.page.browsing import (
    DESKTOP,
    PHONE,
    Site,
    do,
    expect,
    hand,
    no_overflow,
    quiet_table,
)

pytestmark = pytest.mark.browser


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
    expect(page.locator(".log")).to_contain_text("You lay three fives")
    assert table.played[0].event.action == "play 5x3"
    table_at = quiet_table(site, dict(hand=["47A", "555"]), dealer=0, actions=["play 5x3"])
    site.sit(page, table_at)
    expect(page.locator(".pile .run")).to_have_text("3 of a kind – one more burns")


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


EDGES = """() => { const box = (place) => document.querySelector(place).getBoundingClientRect();
  return [box(".board").top, box(".doing").bottom, innerHeight, document.scrollingElement.scrollHeight]; }"""


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_whole_table_fits_a_laptop(site: Site, players: int) -> None:
    """Opponents, pile with a marked run, own cards and buttons, without scrolling."""
    hands = ["47A", *["678"] * (players - 2), "999"]
    laid = ["play 4", *["play 6"] * (players - 2), "play 9x3"]
    table = quiet_table(site, dict(hand=hands, up=["6JJ"]), players, actions=laid)
    assert table.game.turn == 0
    page = site.browser({"viewport": {"width": 1366, "height": 768}})
    site.sit(page, table)
    page.locator(".hand .group.can").first.click()
    expect(page.locator(".actions .primary")).to_be_visible()
    expect(page.locator(".pile .run.three")).to_be_visible()
    for width, height in ((1366, 768), (1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        top, bottom, inner, scroll = page.evaluate(EDGES)
        assert top >= 0
        assert bottom <= inner
        assert scroll <= inner, f"{players} players need {scroll} of {inner} pixels"
    site.sit(phone := site.browser(PHONE), table)
    top, bottom, inner, _ = phone.evaluate(EDGES)
    assert top >= 0
    assert bottom <= inner
