"""The README's pictures of the page: ``python -m tests.web_pictures``.

Everything follows from seeds, so the same sources draw the same pictures.  Needs Chromium and a model to ask.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from idiot_agents.web.app import Server
from idiot_agents.web.serve import warm_up
from idiot_agents.web.table import Seat, Table
from idiot_agents.web.thinking import decide
from idiot_env import Rules
from tests.web_server import make_server, served

FOLDER = Path(__file__).parent / "pictures"
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 1.5, "is_mobile": True}
MODEL = "ppo:generalist"
LARGEST = 200_000
FREEZE = """place => new MutationObserver((_, watch) => {
  if (!document.querySelector(place)) return;
  watch.disconnect();
  setTimeout(() => {
    for (let timer = 0; timer < 100_000; timer++) clearTimeout(timer);
    for (const motion of document.getAnimations()) { motion.pause(); motion.currentTime = 450; }
  });
}).observe(document.body, { subtree: true, childList: true })"""
"""Stops everything that moves half a second after a place has appeared, however slow the machine is."""


def keep(page: Page, name: str, **options: Any) -> None:
    """Save what is shown, in few colours."""
    shot = Image.open(io.BytesIO(page.screenshot(**options))).convert("RGB")
    path = FOLDER / f"web-{name}.png"
    for colours in (256, 128, 64):
        shot.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size < LARGEST:
            break
    print(f"{path.name}: {path.stat().st_size // 1000} kB")


def played(names: list[str | None], rules: str, seed: int, steps: int) -> Table:
    """A table after so many actions; careful acts for the person."""
    seats = [Seat(token="t0", name="Kari") if name is None else Seat(agent=name) for name in names]
    table = Table(Rules.parse(rules), seats, seed)
    while len(table.played) < steps and not table.game.over:
        turn = table.game.turn
        assert turn is not None
        table.apply(decide("careful", table.game.view(turn), table.decision_seed()))
    return table


def sit(page: Page, server: Server, address: str, table: Table) -> None:
    """Open a table as its person."""
    server.make_room(table)
    page.goto(address)
    page.evaluate(f"localStorage.setItem('idiot.seats', JSON.stringify({{'{table.id}': {{token: 't0'}}}}))")
    page.goto("about:blank")
    page.goto(f"{address}/#table/{table.id}")
    page.wait_for_selector(".board .plate")


def until_own_turn(names: list[str | None], rules: str, seed: int, steps: int, rank: str = "") -> Table:
    """The first table from ``seed`` and ``steps`` on at which the person is to act and may lay ``rank`` on a pile."""
    while True:
        for count in range(steps, steps + 40):
            table = played(names, rules, seed, count)
            game = table.game
            if game.turn == 0 and (not rank or (f"play {rank}" in game.legal() and len(game.snapshot()["pile"]) > 3)):
                return table
        seed += 1


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    warm_up("en")
    chromium = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = make_server(Path(folder), specs=(MODEL,))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(server) as address:

            def page_of(device: dict[str, Any], lang: str, speed: str = "off", scheme: str = "light") -> Page:
                context = browser.new_context(**device, color_scheme=scheme)  # type: ignore[arg-type]
                context.set_default_timeout(60_000)
                for key, value in (("speed", speed), ("lang", lang)):
                    keep_value = f"localStorage.setItem('idiot.{key}', '\"{value}\"')"
                    context.add_init_script(f"if (location.protocol === 'http:') {keep_value}")
                return context.new_page()

            page = page_of(PHONE, "no", scheme="dark")
            page.goto(address)
            page.wait_for_selector("#begin")
            keep(page, "start-phone")

            page = page_of(DESKTOP, "en")
            sit(page, server, address, until_own_turn([None, "careful", "generalist", "greedy"], "standard", 5, 24))
            page.locator(".hand .group.can").first.click()
            page.click('[data-key="hint"]')
            page.wait_for_selector(".bars li")
            keep(page, "game")

            page = page_of(PHONE, "no", scheme="dark")
            sit(page, server, address, until_own_turn([None, "careful", "greedy"], "norsk", 8, 30))
            page.wait_for_timeout(300)
            keep(page, "game-phone")

            page = page_of(DESKTOP, "en", "slow")
            sit(page, server, address, until_own_turn([None, "generalist"], "standard", 3, 10, "T"))
            page.evaluate(FREEZE, ".bubble.hot")
            page.click('.hand .group[data-rank="T"]')
            page.click(".actions .primary")
            page.wait_for_selector(".bubble.hot")
            keep(page, "burn")

            page = page_of(DESKTOP, "en")
            sit(page, server, address, played([None, "generalist"], "standard", 6, 3000))
            page.wait_for_selector(".graph")
            page.wait_for_timeout(300)
            keep(page, "story", clip=page.locator(".end").bounding_box(), full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
