"""What may be chosen before a game: tables, house rules, agents.

A browser names an agent by an id from here and never by a path: nobody at a distance makes the server read files.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idiot_agents.errors import InputError
from idiot_agents.network import read_card
from idiot_agents.play import DEFAULT_AGENT
from idiot_agents.protocol import Model
from idiot_agents.registry import SPECS, make_agent
from idiot_agents.shipped import model_folder, shipped_models
from idiot_agents.web.texts import say
from idiot_env.cards import RANKS
from idiot_env.rule_card import max_players, min_players
from idiot_env.rules import MAX_PLAYERS, MIN_PLAYERS, OPTIONS, PRESETS, Rules
from idiot_env.words import LANGUAGES, option_line, rank_word

SEARCHERS = ("pimc:128", "ismcts:2000")
"""Agents that think ahead: of the many budgets, one each that answers within a moment."""


@dataclass(frozen=True)
class Offer:
    """An agent that may sit at a table.

    Attributes:
        id: what browsers call it.
        spec: what the registry calls it; stays on the server.
        kind: ``model``, ``search`` or ``rule`` of thumb: how the page groups them.
        trained: the table a model was trained on; empty for agents that are no model.
        players: the most players it can play with.
    """

    id: str
    spec: str
    kind: str = "rule"
    trained: str = ""
    players: int = MAX_PLAYERS

    @property
    def is_model(self) -> bool:
        return self.kind == "model"


def find_models(folder: Path) -> list[str]:
    """Specs of the models of training runs below ``folder``, the newest first."""
    found = [path.parent for path in folder.glob("*/model/model.json")]
    newest_first = sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
    return [f"ppo:{model}" for model in newest_first]


def make_offer(spec: str, taken: Sequence[str] = ()) -> Offer:
    """The offer of one spec, under a short name that is not yet taken.

    Raises:
        InputError: if the registry knows no such agent.
    """
    agent = make_agent(spec)
    kind, colon, path = spec.partition(":")
    sort, trained, players = "search" if colon else "rule", "", MAX_PLAYERS
    name = spec
    if isinstance(agent, Model):
        folder = Path(path) if path else None
        sort = "model"
        rules = getattr(agent, "card", {}).get("rules") or "?"
        trained = ", ".join(map(str, rules)) if isinstance(rules, list) else str(rules)
        players = int(getattr(getattr(getattr(agent, "network", None), "encoder", None), "players", MAX_PLAYERS))
        # A model lies in runs/NAME/model: its run is what people call it by.
        if folder is not None:
            named = folder.resolve()
            name = (named.parent.name if named.name == "model" else named.name) + kind.removeprefix("ppo")
    short, count = name[:24], 2
    while short in taken:
        short, count = f"{name[:20]} {count}", count + 1
    return Offer(short, spec, sort, trained, players)


class Catalog:
    """The offers of one server: the agents named when it was started, the shipped models, search, models that lie
    around, rules of thumb.

    Args:
        specs: agents that were named; whatever is wrong with one is raised.
        models: specs of models that lie around; one that cannot be used is left out with a note.
        shipped: whether the models that come with Idiot are offered.

    Attributes:
        first: the id of the opponent that the page proposes.
    """

    def __init__(self, specs: Sequence[str] = (), models: Sequence[str] = (), *, shipped: bool = False) -> None:
        self.offers: dict[str, Offer] = {}
        for spec in dict.fromkeys(specs):
            self._add(spec)
        own = [f"ppo:{name}" for name in shipped_models()] if shipped else []
        self._add_found([spec for spec in own if spec not in specs])
        for spec in SEARCHERS:
            if spec not in specs:
                self._add(spec)
        self._add_found([spec for spec in dict.fromkeys(models) if spec not in (*specs, *own)])
        for spec in SPECS:
            # A spec with a capital in it, such as ppo:PATH, is a pattern.
            if spec == spec.lower() and spec not in specs:
                self._add(spec)
        proposed = [offer.id for offer in self.offers.values() if offer.is_model and offer.players == MAX_PLAYERS]
        self.first = next(iter(self.offers)) if specs else next(iter(proposed), DEFAULT_AGENT)

    def _add_found(self, models: Sequence[str]) -> None:
        """Offer models that nobody asked for by name; nobody shall miss the page because one of them is broken."""
        for spec in models:
            try:
                read_card(model_folder(spec.partition(":")[2]))
                self._add(spec)
            except InputError as error:
                print(f"note: {spec} is not offered: {error}", file=sys.stderr)

    def _add(self, spec: str) -> None:
        offer = make_offer(spec, [*self.offers, *(() if spec in SPECS else SPECS)])
        self.offers[offer.id] = offer

    def adviser(self, players: int, seated: Sequence[str] = ()) -> Offer | None:
        """The model that gives hints: one at the table if there is one, else the first that is offered."""
        known = [self.offers[name] for name in seated if name in self.offers]
        fitting = (offer for offer in [*known, *self.offers.values()] if offer.is_model and offer.players >= players)
        return next(fitting, None)

    def as_json(self) -> dict[str, Any]:
        """All of it for the start page, in every language."""
        return {
            "presets": {name: Rules.preset(name).as_dict() for name in PRESETS},
            "options": {
                option: [
                    {"value": value, **{lang: option_line(option, value, lang) for lang in LANGUAGES}}
                    for value in values
                ]
                for option, values in OPTIONS.items()
            },
            "players": [MIN_PLAYERS, MAX_PLAYERS],
            "ranks": {
                lang: {sign: [rank_word(sign, lang), rank_word(sign, lang, 2)] for sign in RANKS} for lang in LANGUAGES
            },
            "agents": [
                {"id": offer.id, "kind": offer.kind, "trained": offer.trained, "players": offer.players}
                for offer in self.offers.values()
            ],
            "first": self.first,
        }


def obstacle(rules: Rules, players: int, lang: str) -> str | None:
    """Why the table does not seat so many players, or ``None``."""
    try:
        rules.check_players(players)
    except ValueError:
        if players < min_players(rules):
            return say("two_losers", lang)
        return say("six_hand", lang, most=max_players(rules), deck=52 + rules.jokers)
    return None


def rules_from_json(value: Any) -> Rules:
    """Rules from what a browser sends: every option by name, or a preset and changes.

    Raises:
        ValueError: for anything else, naming what would be right.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"rules={value!r} is not possible: give a mapping of options.")
    return Rules.make(value)
