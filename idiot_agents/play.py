"""``idiot play``: a person at the terminal against agents.

The person sees their own view and what everybody saw happen, nothing else: the state of the game stays with the game.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from idiot_agents.arguments import (
    add_language_argument,
    add_table_arguments,
    natural_int,
    players_number,
    seated,
    seed_number,
    table_from,
)
from idiot_agents.cheater import action_in
from idiot_agents.errors import InputError
from idiot_agents.network import write_file
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Agent, Model, is_cheater
from idiot_agents.registry import CHEATS, COMMON, make_agent
from idiot_agents.replay import result_lines
from idiot_agents.terminal import Terminal, clean
from idiot_agents.typed import NotAnAction, ordered_legal, read_action
from idiot_env import Game, View
from idiot_env.actions import TEXTS
from idiot_env.cards import RANKS, TEN, counts_text
from idiot_env.events import Event
from idiot_env.rule_card import rule_card
from idiot_env.table_text import draw_view, grouped
from idiot_env.words import action_sentence, event_sentence, spaced, word

DEFAULT_AGENT = "careful"
MAX_DECISIONS = 2000
"""A game that gets nowhere is cut off without a result."""

_TEXT = {
    "no": {
        "person": "menneske",
        "intro": "Idiot ved bordet «{rules}», {players} spillere. Bli kvitt alle kortene; sistemann er idioten.",
        "intro_help": "Skriv ? for å se hva du kan gjøre, «regler» for reglene, q for å slutte.",
        "seed": "(delingen er --seed {seed}{seat})",
        "begins": "{name} begynner.",
        "you_begin": "Du begynner.",
        "prompt_swap": "Bytt kort ({left} igjen), f.eks. «{example}», eller d når du er ferdig > ",
        "prompt_done": "Skriv d når du er ferdig med å bytte > ",
        "prompt_hand": "Din tur > ",
        "prompt_up": "Din tur, åpne kort > ",
        "prompt_down": "Din tur: snu {slots} > ",
        "or": " eller ",
        "legal": "Dette kan du gjøre (skriv det midterste, eller nummeret med # foran):",
        "short": "Kort og godt: 6 legger en sekser, 66 to, 10 en tier, t tar bunken.",
        "others": "Ellers: h råd · i hvilke kort som er sett · log hva som er skjedd · regler · q slutt",
        "drew": "Du trakk: {cards}",
        "empty": "Skriv hva du vil gjøre, eller ? for å se hva du kan.",
        "hint": "{agent} ville helst:",
        "hint_lost": "{agent} regner med {share} fare for at du blir idiot.",
        "hint_none": "Ingen modell er med; {agent} ville valgt:",
        "seen_pile": "i bunken",
        "seen_burned": "brent",
        "seen_unseen": "ikke sett av deg",
        "save": "Lagre partiet? Filnavn, j for «{name}», Enter for ikke å lagre > ",
        "save_quit": "Lagre partiet? Filnavn, j for «{name}», n for ikke å lagre, Enter for å spille videre > ",
        "overwrite": "{name} finnes fra før. Skrive over den? (j/n) > ",
        "saved": "Lagret i {name}. Se det igjen med: idiot replay {name}",
        "unsaved": "Partiet er ikke lagret.",
        "unwritable": "{name} kan ikke skrives ({reason}).",
        "result": "Spillet er slutt:",
        "you_lost": "Du er idioten!",
        "you_won": "Du er ikke idioten.",
        "left": "Spillet ble avbrutt.",
        "queen": "(En dame legges med «dame».)",
        "alone": "Du er ute; de andre spiller videre.",
        "cheats": "{agent} ser alle kortene, dine også.",
    },
    "en": {
        "person": "person",
        "intro": 'Idiot at the table "{rules}", {players} players. Be rid of all your cards; the last is the idiot.',
        "intro_help": 'Type ? to see what you can do, "rules" for the rules, q to stop.',
        "seed": "(this deal is --seed {seed}{seat})",
        "begins": "{name} begins.",
        "you_begin": "You begin.",
        "prompt_swap": 'Exchange cards ({left} left), such as "{example}", or d when you are done > ',
        "prompt_done": "Type d when you are done exchanging > ",
        "prompt_hand": "Your turn > ",
        "prompt_up": "Your turn, face-up cards > ",
        "prompt_down": "Your turn: turn {slots} > ",
        "or": " or ",
        "legal": "You can do this (type what stands in the middle, or the number with # before it):",
        "short": "In short: 6 lays a six, 66 two of them, 10 a ten, t takes the pile.",
        "others": "Also: h hint · i which cards were seen · log what has happened · rules · q stop",
        "drew": "You drew: {cards}",
        "empty": "Type what you want to do, or ? to see what you can.",
        "hint": "{agent} would like best:",
        "hint_lost": "{agent} sees a risk of {share} that you become the idiot.",
        "hint_none": "There is no model at the table; {agent} would choose:",
        "seen_pile": "in the pile",
        "seen_burned": "burned",
        "seen_unseen": "not seen by you",
        "save": 'Save the game? Name of a file, y for "{name}", Enter not to save > ',
        "save_quit": 'Save the game? Name of a file, y for "{name}", n not to save, Enter to go on playing > ',
        "overwrite": "{name} exists. Overwrite it? (y/n) > ",
        "saved": "Saved in {name}. See it again with: idiot replay {name}",
        "unsaved": "The game is not saved.",
        "unwritable": "{name} cannot be written ({reason}).",
        "result": "The game is over:",
        "you_lost": "You are the idiot!",
        "you_won": "You are not the idiot.",
        "left": "The game was broken off.",
        "queen": '(A queen is laid with "queen".)',
        "alone": "You are out; the others play on.",
        "cheats": "{agent} sees all cards, yours as well.",
    },
}
_YES = {"y", "yes", "j", "ja"}
_NO = {"n", "no", "nei"}


class Quit(Exception):
    """The person leaves the game."""


def seat_names(agents: Sequence[Agent | None], person: str) -> list[str]:
    """A name for each seat; agents of one kind are numbered, and a model's path stays private."""
    return numbered([person if agent is None else agent.name.partition(":")[0] for agent in agents])


def numbered(names: Sequence[str]) -> list[str]:
    """The names, those that occur several times with a number: ``careful 1``, ``careful 2``."""
    with_numbers = [f"{name} {names[: seat + 1].count(name)}" for seat, name in enumerate(names)]
    return [name if names.count(name) == 1 else other for name, other in zip(names, with_numbers, strict=True)]


def as_typed(text: str) -> str:
    """An action's text with the ten as the table shows it."""
    return text.replace(RANKS[TEN], "10")


def risk(value: float, players: int, losers: int) -> float:
    """The probability of losing that an expected final reward stands for (section "result" of the rules, inverted)."""
    gain = losers / (players - losers)
    return min(1.0, max(0.0, (gain - value) / (1.0 + gain)))


def drawn_cards(before: View, after: View, event: Event) -> str:
    """The ranks that came to a hand from the stock by its own action: what it had not seen before and sees now.

    Args:
        before, after: the acting seat's views around the action.
    """
    new = before.unseen - after.unseen
    if event.shown:
        new[RANKS.index(event.shown)] -= 1
    return counts_text(new)


class Session:
    """One game of a person.

    Args:
        game: freshly dealt.
        agents: by seat, ``None`` for the person.
        lang: of everything that is said.
        save: where the record goes at the end; ``None``: ask.
        default_name: the file that is proposed.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent | None],
        lang: str,
        terminal: Terminal,
        save: Path | None = None,
        default_name: str = "idiot.json",
    ) -> None:
        self.game, self.agents, self.lang, self.terminal = game, list(agents), lang, terminal
        self.save_path, self.default_name = save, default_name
        self.text = _TEXT[lang]
        self.seat = self.agents.index(None)
        self.names = seat_names(agents, self.text["person"])
        # At the table the person is "you"; in the record, which others read, they have a name.
        self.shown_names = [word("you", lang) if agent is None else self.names[k] for k, agent in enumerate(agents)]
        game.names = self.names
        self.log: list[str] = []
        self.begun = False

    # --- the game ----------------------------------------------------------------------------------------------------

    def run(self) -> int:
        """Play to the end, or until the person leaves; returns the exit code."""
        try:
            self.play()
        except Quit:
            self.terminal.say(self.text["left"])
            return 0
        except KeyboardInterrupt:
            self.terminal.say()
            self.offer_to_save(leaving=False)
            return 130
        self.show_result()
        self.offer_to_save(leaving=False)
        return 0

    def play(self) -> None:
        while not self.game.over:
            self.tell_start()
            turn = self.game.turn
            assert turn is not None
            agent = self.agents[turn]
            if agent is None:
                self.act_in_person()
            else:
                self.tell(self.game.apply(action_in(agent, self.game)))

    def tell_start(self) -> None:
        """Say once who begins."""
        if self.begun or self.game.phase == "swap":
            return
        self.begun = True
        turn = self.game.turn
        assert turn is not None
        begins = self.text["you_begin"] if turn == self.seat else self.text["begins"].format(name=self.names[turn])
        self.remember(begins[:1].upper() + begins[1:])

    def tell(self, event: Event) -> None:
        self.remember(event_sentence(event, self.lang, self.names, self.seat))
        if event.seat == self.seat and event.place is not None and event.turn is not None:
            self.remember(self.text["alone"])

    def remember(self, sentence: str) -> None:
        self.log.append(sentence)
        self.terminal.tell(f"· {sentence}")

    def act_in_person(self) -> None:
        """Let the person choose, and carry it out."""
        view = self.game.view(self.seat)
        action = self.choose(view)
        event = self.game.apply(action)
        self.tell(event)
        if event.drew:
            self.say_drawn(view, event)

    def say_drawn(self, before: View, event: Event) -> None:
        """The cards that came from the stock: what one has not seen before and sees now."""
        drew = self.text["drew"].format(cards=spaced(drawn_cards(before, self.game.view(self.seat), event)))
        self.terminal.say("  " + self.terminal.style(drew, "green"))

    # --- the person's turn -------------------------------------------------------------------------------------------

    def choose(self, view: View) -> int:
        """Ask until the answer is a legal action; other commands are carried out meanwhile."""
        self.show_table(view)
        while True:
            typed = self.terminal.ask(self.prompt(view), "bold")
            if typed is None:
                self.leave(ask=False)
            elif not typed:
                self.terminal.say(self.text["empty"])
            elif not self.command(typed.lower(), view):
                try:
                    return read_action(typed, view, self.lang)
                except NotAnAction as error:
                    self.terminal.say(self.terminal.style(str(error), "yellow"))

    def prompt(self, view: View) -> str:
        swaps = [text.removeprefix("swap ") for text in view.legal_texts if text.startswith("swap")]
        if view.phase == "swap":
            if not swaps:
                return self.text["prompt_done"]
            return self.text["prompt_swap"].format(left=view.exchanges, example=as_typed(swaps[0]))
        slots = [text.removeprefix("flip ") for text in view.legal_texts if text.startswith("flip")]
        return self.text[f"prompt_{view.phase}"].format(slots=self.text["or"].join(slots))

    def command(self, typed: str, view: View) -> bool:
        """Carry out a command that is no action; false if it is none."""
        if typed in ("?", "help", "hjelp"):
            self.show_legal(view)
        elif typed in ("h", "hint", "råd", "tips"):
            self.show_hint(view)
        elif typed in ("i", "info"):
            self.show_seen(view)
        elif typed in ("rules", "regler"):
            self.terminal.say(rule_card(self.game.rules, self.lang))
        elif typed in ("log", "logg"):
            for sentence in self.log:
                self.terminal.tell(f"· {sentence}")
        elif typed in ("table", "bord"):
            self.show_table(view)
        elif typed in ("q", "quit", "exit", "slutt", "avslutt"):
            if any(text.startswith("play Q") for text in view.legal_texts):
                self.terminal.say(self.text["queen"])
            self.leave(ask=True)
        else:
            return False
        return True

    def show_table(self, view: View) -> None:
        self.terminal.say()
        for line in draw_view(view, self.shown_names, self.lang, self.terminal.style):
            self.terminal.say(line)

    def show_legal(self, view: View) -> None:
        self.terminal.say(self.text["legal"])
        for number, action in enumerate(ordered_legal(view), 1):
            self.terminal.say(f"  {f'#{number}':>4}  {self.choice(action)}")
        if view.phase in ("hand", "up"):
            self.terminal.say(self.text["short"])
        self.terminal.say(self.text["others"])

    def choice(self, action: int) -> str:
        """An action as one types it, and what it would do."""
        return f"{as_typed(TEXTS[action]):<10}  {action_sentence(TEXTS[action], self.lang)}"

    def show_hint(self, view: View) -> None:
        """What the model at the table would do in the person's place, from the person's own view."""
        models = [agent for agent in self.agents if isinstance(agent, Model)]
        if not models:
            action = make_agent(DEFAULT_AGENT).act(view)
            self.terminal.say(self.text["hint_none"].format(agent=DEFAULT_AGENT))
            self.terminal.say(f"  {self.choice(action)}")
            return
        model = models[0]
        name = self.names[self.agents.index(model)]
        probabilities = model.probabilities(view)
        self.terminal.say(self.text["hint"].format(agent=name))
        for action in np.argsort(-probabilities, kind="stable")[:3]:
            if probabilities[action] >= 0.005:
                self.terminal.say(f"  {probabilities[action]:>4.0%}  {self.choice(int(action))}")
        share = risk(model.value(view), view.players, view.rules.losers)
        self.terminal.say(self.text["hint_lost"].format(agent=name, share=f"{share:.0%}"))

    def show_seen(self, view: View) -> None:
        """What a person with a good memory knows."""
        parts = (("seen_pile", view.pile), ("seen_burned", view.burned), ("seen_unseen", view.unseen))
        for key, counts in parts:
            self.terminal.say(f"  {self.text[key]}: {grouped(counts_text(counts)) or '–'}")

    # --- the end -----------------------------------------------------------------------------------------------------

    def show_result(self) -> None:
        result = self.game.result
        assert result is not None
        self.terminal.say()
        self.terminal.say(self.terminal.style(self.text["result"], "bold"))
        for line in result_lines(self.game, self.shown_names, self.lang):
            self.terminal.say(f"  {line}")
        if not result["truncated"]:
            lost = self.seat in result["idiots"]
            self.terminal.say(
                self.terminal.style(self.text["you_lost" if lost else "you_won"], "bold", "red" if lost else "green")
            )

    def leave(self, ask: bool) -> None:
        """End the game before its end, unless the person changes their mind."""
        if not ask:
            # Nobody is there to answer, so only a file that was named beforehand can be written.
            if self.save_path is None or not self.try_to_save(self.save_path):
                self.terminal.say(self.text["unsaved"])
            raise Quit
        if self.offer_to_save(leaving=True):
            raise Quit

    def offer_to_save(self, leaving: bool) -> bool:
        """Ask where to save the record, and save it; false if the person wants to go on playing (``leaving`` only)."""
        if self.save_path is not None and not leaving and self.try_to_save(self.save_path):
            return True
        name = str(self.save_path or self.default_name)
        while True:
            answer = self.terminal.ask(self.text["save_quit" if leaving else "save"].format(name=name))
            if leaving and answer == "":
                return False
            if not answer or answer.lower() in _NO:
                self.terminal.say(self.text["unsaved"])
                return True
            if self.try_to_save(Path(name if answer.lower() in _YES else answer)):
                return True

    def try_to_save(self, path: Path) -> bool:
        """Write the record, whole or not at all, and never over another file without asking."""
        shown = clean(str(path), 200)
        record = json.dumps(self.game.record(), ensure_ascii=False) + "\n"
        try:
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if path.exists():
                answer = self.terminal.ask(self.text["overwrite"].format(name=shown))
                if answer is None or answer.lower() not in _YES:
                    return False
            write_file(path, record.encode())
        except (OSError, ValueError) as error:  # ValueError: a null byte or a lone surrogate in the name
            reason = getattr(error, "strerror", None) or str(error)
            self.terminal.say(self.text["unwritable"].format(name=shown, reason=reason))
            return False
        self.terminal.say(self.text["saved"].format(name=shown))
        return True


# --- the subcommand --------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Play a game against agents, at the terminal or in the browser."
    parser.epilog = """\
examples:
  idiot play                                one careful opponent, the table standard
  idiot play greedy careful --rules norsk   two opponents, the table norsk
  idiot play ppo:generalist                 against the shipped model; h asks it for a hint
  idiot play ppo:runs/quick/model           against one of your own
  idiot play --players 5 --set chance=yes jokers=2 --lang no --save game.json
  idiot play --web                          on a page in the browser
"""
    parser.add_argument(
        "agents",
        nargs="*",
        metavar="AGENT",
        help=f"opponents clockwise from your left: {COMMON}; fewer than the table needs are repeated "
        f"(default: {DEFAULT_AGENT})",
    )
    add_table_arguments(parser)
    parser.add_argument(
        "--players",
        type=players_number,
        metavar="N",
        help="players at the table, you included (default: one more than the agents, else 2)",
    )
    parser.add_argument(
        "--seat", type=natural_int, default=0, metavar="K", help="your seat, from 0 on (default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed_number, metavar="S", help="which deal (default: a new one)")
    parser.add_argument(
        "--allow-cheats",
        action="store_true",
        help=f"at the terminal: also play against an agent that sees all cards, {' or '.join(CHEATS)}",
    )
    add_language_argument(parser)
    parser.add_argument("--save", type=Path, metavar="FILE", help="save the record in FILE at the end without asking")
    web = parser.add_argument_group("in the browser (needs the extra: pip install 'idiot-env[web]')")
    web.add_argument("--web", action="store_true", help="play on a page instead; agents and rules are then proposals")
    web.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: %(default)s, this machine only); 0.0.0.0 lets others on the network join",
    )
    web.add_argument("--port", type=natural_int, default=8000, help="0: any that is free (default: %(default)s)")
    web.add_argument("--games", type=Path, metavar="DIR", help="folder that keeps games under way")
    web.add_argument("--no-open", dest="open", action="store_false", help="do not open the page, only say where it is")


def opponents(specs: Sequence[str], players: int, seat: int, seed: int, cheats: bool = False) -> list[Agent | None]:
    """Agents by seat, clockwise from the person's left; ``None`` at the person's seat; ``cheats``: any agents."""
    agents: list[Agent | None] = [None] * players
    for k in range(players - 1):
        agent = make_agent(specs[k % len(specs)], seed + 1 + k, cheats=cheats)
        if isinstance(agent, NeuralAgent):
            agent.check_players(players)
        agents[(seat + 1 + k) % players] = agent
    return agents


def check_save(path: Path) -> None:
    """Refuse a place for the record before the game instead of after it."""
    try:
        if path.is_dir() or not path.name:
            raise InputError(f"--save {path} is a folder: name a file.")
        if not path.parent.is_dir():
            raise InputError(f"--save {path} is not possible: there is no folder {path.parent}.")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"--save {clean(str(path))} is not possible: {getattr(error, 'strerror', error)}.") from None


def run_on_page(args: argparse.Namespace) -> int:
    """``--web``.

    Raises:
        InputError: if what it needs is not installed.
    """
    try:
        from idiot_agents.web.serve import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("starlette", "uvicorn", "websockets"):
            raise
        raise InputError(f"--web needs {error.name}, which is not installed: pip install 'idiot-env[web]'.") from None
    return serve(args)


def run(args: argparse.Namespace) -> int:
    if args.web:
        return run_on_page(args)
    rules = table_from(args)
    specs = args.agents or [DEFAULT_AGENT]
    players = seated(rules, args.players or max(len(specs) + 1, rules.losers + 1))
    if len(specs) >= players:
        raise InputError(
            f"{len(specs)} agents and you do not fit at a table for {players}: "
            f"name at most {players - 1}, or give --players {len(specs) + 1}."
        )
    if args.seat >= players:
        raise InputError(f"--seat {args.seat} is not at the table: seats go from 0 to {players - 1}.")
    if args.save is not None:
        check_save(args.save)
    seed = secrets.randbelow(10**6) if args.seed is None else args.seed
    agents = opponents(specs, players, args.seat, seed, args.allow_cheats)
    for agent in {agent.name: agent for agent in agents if isinstance(agent, NeuralAgent)}.values():
        agent.warn_of_foreign_table(rules)
    game = Game(rules, players, seed=seed, max_decisions=MAX_DECISIONS)

    terminal, text = Terminal(), _TEXT[args.lang]
    terminal.say(terminal.style(text["intro"].format(rules=rules, players=players), "bold"))
    terminal.say(text["intro_help"])
    for name in dict.fromkeys(agent.name for agent in agents if agent is not None and is_cheater(agent)):
        terminal.say(terminal.style(text["cheats"].format(agent=name), "bold"))
    seat = f" --seat {args.seat}" if args.seat else ""
    terminal.say(terminal.style(text["seed"].format(seed=seed, seat=seat), "dim"))
    return Session(game, agents, args.lang, terminal, args.save, f"idiot-{seed}.json").run()
