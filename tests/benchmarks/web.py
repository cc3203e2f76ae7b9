"""Twenty tables with searching agents beside one person: how long a person's own move takes to the new view.

``python -m tests.benchmarks.web [--tables 20] [--seconds 30] [--agent pimc:128] [--json FILE]``

One server as ``idiot play --web`` starts it, on a port of this machine, in a process of its own.  ``tables`` watchers
ask for the next action of an all-agents table as soon as the last one is there, so that the workers are never idle.
Beside them one person plays against ``greedy`` and measures from sending a move to receiving the view after it.  The
target is a 95th percentile below 150 ms.  Prints the load of the machine, which decides much of the figure.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

TARGET_MS = 150.0
THINKING_S = 0.25
"""A person's pause between two moves."""


def run_server(folder: str, agent: str, port: Any) -> None:
    """Serve until the parent process ends this one."""
    import uvicorn

    from idiot_agents.web.app import Server, make_app
    from idiot_agents.web.catalog import Catalog
    from idiot_agents.web.guard import LARGEST_MESSAGE
    from idiot_agents.web.serve import listen, warm_up
    from idiot_agents.web.store import Store
    from idiot_agents.web.thinking import Thinker

    sock = listen("127.0.0.1", 0)
    server = Server(Catalog([agent]), Store(Path(folder)), Thinker())
    warm_up("en")
    port.put((sock.getsockname()[1], server.catalog.first))
    config = uvicorn.Config(make_app(server), ws="websockets-sansio", ws_max_size=LARGEST_MESSAGE, log_level="warning")
    uvicorn.Server(config).run(sockets=[sock])


class Table:
    """A table of the server and a socket to it."""

    def __init__(self, address: str, seats: list[dict[str, str]], rules: str, seed: int) -> None:
        body = json.dumps({"rules": {"preset": rules}, "seats": seats, "seed": seed}).encode()
        headers = {"origin": address, "content-type": "application/json"}
        request = urllib.request.Request(f"{address}/api/tables", body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.seat = json.load(answer)
        self.address = address

    async def open(self) -> ClientConnection:
        socket = await connect(self.address.replace("http", "ws") + "/ws", origin=self.address)  # type: ignore[arg-type]
        await socket.send(json.dumps({"type": "hello", "table": self.seat["table"], "token": self.seat["token"]}))
        return socket


async def until(socket: ClientConnection, *kinds: str) -> dict[str, Any]:
    while True:
        message: dict[str, Any] = json.loads(await socket.recv())
        if message["type"] in kinds:
            return message


async def watch(table: Table, counts: list[int]) -> None:
    """Ask for action after action, game after game."""
    async with await table.open() as socket:
        while True:
            message = await until(socket, "table", "step")
            counts.append(1)
            kind = "rematch" if message["view"]["result"] else "shown"
            await socket.send(json.dumps({"type": kind, "version": message["version"]}))


async def play(table: Table, seconds: float) -> list[float]:
    """Milliseconds from each own move to its view."""
    took: list[float] = []
    end = time.monotonic() + seconds
    async with await table.open() as socket:
        message = await until(socket, "table")
        while time.monotonic() < end:
            if message["view"]["result"]:
                await socket.send(json.dumps({"type": "rematch"}))
                message = await until(socket, "table")
            elif message["choices"]:
                await asyncio.sleep(THINKING_S)
                action = message["choices"][0]["action"]
                began = time.perf_counter()
                await socket.send(json.dumps({"type": "act", "action": action, "version": message["version"]}))
                message = await until(socket, "step", "refused")
                took.append(1000 * (time.perf_counter() - began))
                assert message["type"] == "step", message
            else:
                await socket.send(json.dumps({"type": "shown", "version": message["version"]}))
                message = await until(socket, "step")
    return took


async def measure(address: str, agent: str, tables: int, seconds: float) -> dict[str, Any]:
    """One person's moves, alone and beside ``tables`` tables."""
    person = [{"person": "Kari"}, {"agent": "greedy"}]
    alone = await play(Table(address, person, "norsk", 1), seconds / 3)
    counts: list[int] = []
    watched = [Table(address, [{"agent": agent}] * 2, "norsk", seed) for seed in range(tables)]
    watchers = [asyncio.create_task(watch(table, counts)) for table in watched]
    await asyncio.sleep(3)  # the workers start
    counts.clear()
    began = time.monotonic()
    beside = await play(Table(address, person, "norsk", 2), seconds)
    rate = len(counts) / (time.monotonic() - began)
    for task in watchers:
        task.cancel()
    await asyncio.gather(*watchers, return_exceptions=True)

    def figures(took: list[float]) -> dict[str, float]:
        cuts = statistics.quantiles(took, n=20)
        return {"moves": len(took), "median_ms": round(statistics.median(took), 1), "p95_ms": round(cuts[18], 1)}

    return {
        "agent": agent,
        "tables": tables,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "alone": figures(alone),
        "beside": figures(beside),
        "agents_actions_per_s": round(rate, 1),
        "target_ms": TARGET_MS,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--agent", default="pimc:128")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    port = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        # Not a daemon: the server starts workers of its own.
        process = context.Process(target=run_server, args=(folder, args.agent, port))
        process.start()
        try:
            number, agent = port.get(timeout=300)
            found = asyncio.run(measure(f"http://127.0.0.1:{number}", agent, args.tables, args.seconds))
        finally:
            process.terminate()
            process.join(20)
    for where in ("alone", "beside"):
        row = found[where]
        print(f"{where:>7}: {row['moves']} moves, median {row['median_ms']} ms, p95 {row['p95_ms']} ms")
    print(
        f"beside {found['tables']} tables of {found['agent']}: "
        f"{found['agents_actions_per_s']} actions a second by agents"
    )
    print(f"load {found['load']} on {found['cores']} cores; target: p95 below {found['target_ms']} ms")
    if args.json:
        args.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
