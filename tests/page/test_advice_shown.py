"""Hints, watching agents, and stepping through records."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from idiot_agents.web.table import mixed
from idiot_env import Game
from tests.moments import draw
from tests.page.browsing import (
    WAIT,
    Site,
    do,
    expect,
    hand,
    moved_on,
    quiet_table,
    wait_turn,
)

pytestmark = pytest.mark.browser


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
    page.wait_for_selector(".end:not([hidden])", timeout=4 * WAIT)
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
