"""``idiot play --web``: starts the server, says where the page is, and opens it where there is a screen."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import socket
import sys
import webbrowser
from pathlib import Path

import uvicorn

from idiot_agents.arguments import seated, table_from
from idiot_agents.errors import InputError
from idiot_agents.web.app import LOCAL, Limits, Server, make_app
from idiot_agents.web.catalog import Catalog, find_models
from idiot_agents.web.guard import LARGEST_MESSAGE, is_loopback
from idiot_agents.web.store import Store, default_folder
from idiot_agents.web.thinking import Thinker, decide
from idiot_env import Game

_TEXT = {
    "no": {
        "at": "Bordet er klart: {url}",
        "others": "Andre på samme nett: {url} (uten kryptering: bare for nett du stoler på)",
        "stop": "Ctrl-C stopper serveren; påbegynte partier blir tatt vare på i {folder}",
    },
    "en": {
        "at": "The table is ready: {url}",
        "others": "Others on the same network: {url} (not encrypted: only for networks that you trust)",
        "stop": "Ctrl-C stops the server; games under way are kept in {folder}",
    },
}


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        InputError: for an address that is not this machine's, or a port that is taken.
    """
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port} is not possible: give a number from 0 to 65535.")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        server = socket.socket(family, socket.SOCK_STREAM)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(address)
        server.listen(128)
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise InputError(f"--port {port} is taken: name another one, or 0 for any that is free.") from None
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"--host {host} --port {port} is not possible: {reason}.") from None
    return server


def own_address() -> str:
    """The address under which others on the network probably reach this machine; nothing is sent to find it."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address reserved for documentation
        return str(probe.getsockname()[0])
    return socket.gethostname()


def url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def has_screen() -> bool:
    """Whether a browser can open here as a window: on a console it would take over the terminal."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True


def warm_up(lang: str) -> None:
    """Compile (with the usual note) or load what the first request would wait for."""
    from idiot_agents.web.table import Seat, Table

    table = Table(Game("standard", 2, seed=0).rules, [Seat(token="x"), Seat(agent="careful")], 0)
    for _ in range(8):
        turn = table.game.turn
        assert turn is not None
        table.apply(decide("careful", table.game.view(turn), 0))
    table.shown(0, lang)


def serve(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns the exit code."""
    rules = table_from(args)
    players = seated(rules, args.players or max(len(args.agents) + 1, rules.losers + 1, 2))
    catalog = Catalog(args.agents, find_models(Path("runs")), shipped=True)
    folder = args.games or default_folder()
    store = Store(folder)
    local = is_loopback(args.host)
    sock = listen(args.host, args.port)
    port = sock.getsockname()[1]
    anywhere = args.host in ("0.0.0.0", "::")
    here, others = url("localhost" if anywhere else args.host, port), None
    if not local:
        others = url(own_address() if anywhere else args.host, port)
    server = Server(
        catalog,
        store,
        Thinker(),
        host=args.host,
        limits=LOCAL if local else Limits(),
        defaults={
            "rules": rules.as_dict(),
            "players": players,
            "agents": [offer.id for spec in args.agents for offer in catalog.offers.values() if offer.spec == spec],
            "seed": args.seed,
            "lang": args.lang,
        },
        share=others,
    )
    warm_up(args.lang)
    text = _TEXT[args.lang]
    print(text["at"].format(url=here), flush=True)
    if others:
        print(text["others"].format(url=others), flush=True)
    print(text["stop"].format(folder=folder), flush=True)
    if args.open and has_screen():
        webbrowser.open(here)
    config = uvicorn.Config(
        make_app(server),
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[sock])
    return 0
