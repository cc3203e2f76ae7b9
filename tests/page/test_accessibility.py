"""By keyboard alone, for screen readers, in both languages, with nothing that axe-core finds serious."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from idiot_agents.web.table import mixed
from idiot_env.rules import OPTIONS
from tests.moments import draw
from tests.page.browsing import (
    DESKTOP,
    PHONE,
    Page,
    Site,
    expect,
    hand,
    quiet_table,
)

pytestmark = pytest.mark.browser


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
