"""``idiot replay FILE``: step through the record of a game, or print its snapshots for tools."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idiot_agents.arguments import add_language_argument, natural_int
from idiot_agents.errors import InputError
from idiot_agents.terminal import Terminal, clean
from idiot_env import Game, RecordError
from idiot_env.events import Event
from idiot_env.table_text import draw_open, draw_view
from idiot_env.words import event_sentence, word

_TEXT = {
    "no": {
        "start": "Kortene er delt ut.",
        "prompt": "Enter: neste, b: tilbake, tall: gå til handling, q: slutt > ",
        "unknown": "{text} er ikke noe her: trykk Enter, b, q eller et tall fra 0 til {last}.",
        "end": "Dette var den siste handlingen.",
        "first": "Dette er begynnelsen.",
        "unfinished": "Partiet er ikke spilt ferdig.",
    },
    "en": {
        "start": "The cards are dealt.",
        "prompt": "Enter: next, b: back, number: go to action, q: quit > ",
        "unknown": "{text} means nothing here: press Enter, b, q or a number from 0 to {last}.",
        "end": "That was the last action.",
        "first": "This is the beginning.",
        "unfinished": "The game was not played to its end.",
    },
}


@dataclass(frozen=True)
class Replay:
    """A replayed record.

    Attributes:
        frames: the game before the first action and after each.
        events: what each action did; one fewer than frames.
    """

    frames: list[Game]
    events: list[Event]

    @property
    def names(self) -> list[str]:
        game = self.frames[0]
        names = game.names or [f"player_{seat}" for seat in range(game.players)]
        return [clean(name, 24) or f"player_{seat}" for seat, name in enumerate(names)]


def read_record(path: str) -> Any:
    """The JSON value in a file, or on standard input for ``-``.

    Raises:
        InputError: if there is no such file or it holds no JSON.
    """
    name = "standard input" if path == "-" else path
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
        return json.loads(text)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{name} cannot be read ({reason}): give the file of a game record.") from None
    except RecursionError:
        raise InputError(f"{name} is no game record: its JSON is nested too deeply.") from None
    except ValueError as error:  # bad JSON, text that is not UTF-8, a null byte in the file's name
        raise InputError(f"{clean(name, 200)} is no game record: {error}; a record is one JSON object.") from None


def replay_record(record: Any, name: str) -> Replay:
    """Replay a record from its first action to its last.

    Raises:
        InputError: for a record that cannot be replayed.
    """
    try:
        game = Game.start_of_record(record)
        frames, events = [game.copy()], []
        for index, action in enumerate(record["actions"]):
            events.append(game.apply_recorded(index, action))
            frames.append(game.copy())
        frames[-1] = game.check_result(record)
    except RecordError as error:
        raise InputError(f"{name} cannot be replayed: {error}") from None
    return Replay(frames, events)


def result_lines(game: Game, names: list[str], lang: str) -> list[str]:
    """The places and the idiots of a finished game."""
    result = game.result
    if result is None:
        return [_TEXT[lang]["unfinished"]]
    lines = [f"{place}. {names[seat]}" for place, seat in enumerate(result["out"], 1)]
    lines += [f"{word('idiot', lang)}: {names[seat]}" for seat in result["idiots"]]
    return lines + ([word("truncated", lang)] if result["truncated"] else [])


class Viewer:
    """Shows the frames of a replay.

    Args:
        seat: from whose view; ``None``: all cards open.
    """

    def __init__(self, replay: Replay, seat: int | None, lang: str, terminal: Terminal) -> None:
        self.replay, self.seat, self.lang, self.terminal = replay, seat, lang, terminal
        self.text = _TEXT[lang]
        self.last = len(replay.events)

    def show(self, index: int) -> None:
        """One frame and the action that led to it."""
        say, names = self.terminal.say, self.replay.names
        game = self.replay.frames[index]
        say()
        if index:
            event = self.replay.events[index - 1]
            sentence = f"{event.action}: {event_sentence(event, self.lang, names, self.seat)}"
        else:
            sentence = f"{game.rules} – {self.text['start']}"
        self.terminal.tell(f"[{index}/{self.last}] {sentence}")
        if self.seat is None:
            lines = draw_open(game.snapshot(), names, game.dealer, self.lang, self.terminal.style)
        else:
            lines = draw_view(game.view(self.seat), names, self.lang, self.terminal.style)
        for line in lines:
            say(line)
        if index == self.last:
            say()
            for line in result_lines(game, names, self.lang):
                say(f"  {line}")

    def print_all(self) -> None:
        for index in range(self.last + 1):
            self.show(index)

    def step(self) -> None:
        """Ask where to go until the reader has enough."""
        index = 0
        self.show(index)
        while True:
            answer = self.terminal.ask("\n" + self.text["prompt"])
            if answer is None or answer.lower() in ("q", "quit", "slutt", "avslutt"):
                return
            wanted = self.target(answer.lower(), index)
            if wanted is None:
                self.terminal.say(self.text["unknown"].format(text=repr(clean(answer)), last=self.last))
            elif wanted > self.last:
                self.terminal.say(self.text["end"])
            elif wanted < 0:
                self.terminal.say(self.text["first"])
            else:
                index = wanted
                self.show(index)

    def target(self, answer: str, index: int) -> int | None:
        """The frame that an answer asks for; ``None`` for an answer that means nothing."""
        if answer in ("", "n", "next", "neste"):
            return index + 1
        if answer in ("b", "back", "tilbake", "t"):
            return index - 1
        if answer.isascii() and answer.isdigit() and len(answer) < 9 and int(answer) <= self.last:
            return int(answer)
        return None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Step through the record of a game. Where standard input is no terminal, all of it is printed at once."
    )
    parser.epilog = """\
examples:
  idiot replay game.json                           step through it, all cards open
  idiot replay game.json --seat 0 --lang no        as seat 0 saw it, in Norwegian
  idiot replay game.json --snapshots > states.jsonl
"""
    parser.add_argument("file", metavar="FILE", help="a game record as play saves it; - reads standard input")
    parser.add_argument(
        "--seat",
        type=natural_int,
        metavar="K",
        help="what seat K saw (default: all cards open); seats count from 0",
    )
    parser.add_argument(
        "--snapshots",
        action="store_true",
        help="print the whole state as one line of JSON before the first action and after each",
    )
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.snapshots and args.seat is not None:
        raise InputError(f"--seat {args.seat} does not go with --snapshots: a snapshot shows every card.")
    replay = replay_record(read_record(args.file), "standard input" if args.file == "-" else args.file)
    if args.snapshots:
        for game in replay.frames:
            print(json.dumps(game.snapshot(), ensure_ascii=False))
        return 0
    players = replay.frames[0].players
    if args.seat is not None and args.seat >= players:
        raise InputError(f"--seat {args.seat} is not at the table: seats go from 0 to {players - 1}.")
    terminal = Terminal()
    viewer = Viewer(replay, args.seat, args.lang, terminal)
    if terminal.interactive and args.file != "-":
        viewer.step()
    else:
        viewer.print_all()
    return 0
