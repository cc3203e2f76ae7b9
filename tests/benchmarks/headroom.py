"""What a search could add to a network at most: ``python -m tests.benchmarks.headroom [--model NAME] …``.

A search that looks one decision ahead replaces a choice by the one whose rollouts end best.  Here a model plays itself;
at some of one seat's decisions every candidate is played to the end in many worlds, by the model in all seats.  One
half of the worlds chooses, the other half says what the choice is worth, so that luck is not taken for insight; the two
change places, and the mean counts.  The gain is over what the policy does, in reward.  Times the decisions of a game it
is about what a search with half so many worlds and whole rollouts would win.

``--search 64`` also asks ``ppo+search`` with that budget what it would do at these decisions, and says what that is
worth in the same worlds, after minutes, where games take hours.  Settings of the search may follow, as in ``--search
64 '64;trust=0.015;depth=30'``; each is also held against the first one.  It finds what is worth a try, no more: what
decisions are worth one by one, in positions that the policy comes to, need not add up to games won.

The worlds are drawn by the model's belief, so a search is not blamed for errors of that belief, and one that trusts its
rollouts too much looks better than it is.  ``--true`` plays on from the cards as they lie, which only this judge sees:
less is known from one position, so it takes more of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from idiot_agents.arena import deal_seeds
from idiot_agents.arguments import add_rules_arguments, exit_code, positive_int, rules_from, training_seed
from idiot_agents.errors import InputError
from idiot_agents.guided import MOST, GuidedSearcher, evaluate, likeliest
from idiot_agents.network import masked_softmax
from idiot_agents.neural import SHARP, SLIP, NeuralAgent
from idiot_agents.pimc import apply_rows, spread
from idiot_agents.protocol import Agent
from idiot_agents.recall import Recall
from idiot_agents.rollouts import LIMIT, candidates
from idiot_agents.search import Budget
from idiot_agents.worlds import write_world_at
from idiot_env import Game, Rules, View
from idiot_env.actions import N_ACTIONS
from idiot_env.engine import STATE

Floats = npt.NDArray[np.float64]
FEW = 3
"""A narrow choice among the policy's likeliest candidates, for comparison."""
AT_ONCE = 25
"""Worlds played side by side: more no longer fit into the processor's caches."""
SETTINGS: dict[str, Callable[[str], Any]] = {"depth": int, "endgame_depth": int, "most": int, "trust": float}
"""Settings of ``ppo+search`` that can be tried."""
SHARE = 0.3
"""Of the decisions that offer a choice, so many are looked at."""


@dataclass(frozen=True)
class Position:
    """One decision.

    Attributes:
        view: what the seat saw.
        actions: its n candidates, int64 ``[n]``.
        prior: the policy's probability of each, ``[n]``.
        worth: the reward of each in each of W worlds, ``[W, n]``.
    """

    view: View
    actions: npt.NDArray[np.int64]
    prior: Floats
    worth: Floats

    @property
    def endgame(self) -> bool:
        return self.view.stock_size == 0

    def of_policy(self) -> float:
        """What the model's play is worth: sharpened, with a slip now and then, as ``ppo:`` plays."""
        logits = np.log(self.prior + 1e-30).astype(np.float32)[None]
        legal = np.ones((1, len(self.prior)), np.int8)
        return float(masked_softmax(logits, legal, SHARP, SLIP)[0] @ self.worth.mean(axis=0))

    def of_best(self, most: int) -> float:
        """What the choice of one half of the worlds is worth in the other, among the policy's likeliest candidates."""
        kept = likeliest(self.prior, most)
        half = len(self.worth) // 2
        first, second = self.worth[:half].mean(axis=0), self.worth[half:].mean(axis=0)
        return float(second[kept[first[kept].argmax()]] + first[kept[second[kept].argmax()]]) / 2

    def of_agent(self, agent: Agent) -> float:
        """What an agent's choice is worth."""
        return float(self.worth[:, self.actions == agent.act(self.view)].mean())


def look_at(
    model: NeuralAgent,
    recall: Recall,
    view: View,
    actions: npt.NDArray[np.int64],
    worlds: int,
    random_state: int,
    true_state: npt.NDArray[np.void] | None,
) -> Position:
    """A decision with each of its candidates, int64 ``[n]``, played to the end.

    In worlds of the model's belief, or, given a state ``[1]`` whose seat 0 is to act, from that one again and again.
    """
    n, root = len(actions), np.zeros(1, STATE)
    write_world_at(view.observation, root, 0)
    worth = np.zeros((worlds, n))
    odds = model.network.odds(model.network.hidden(view.observation[None]))[0]
    for first in range(0, worlds, AT_ONCE):
        some = worth[first : first + AT_ONCE]
        states, streams = np.zeros(some.size, STATE), np.zeros(some.size, np.int64)
        random_state = int(spread(root, odds, actions, n, np.int64(random_state), states, streams))
        if true_state is not None:
            states[:] = true_state
            apply_rows(states, np.arange(some.size), np.tile(actions, len(some)), np.zeros(some.size, np.bool_))
        some[:] = evaluate(states, streams, recall, LIMIT).reshape(some.shape)
    prior = model.probabilities(view)[actions].astype(np.float64)
    return Position(view, actions, prior / prior.sum(), worth)


def collect(
    model: NeuralAgent, rules: Rules, players: int, games: int, worlds: int, seed: int, true: bool
) -> tuple[list[Position], float]:
    """Positions from ``games`` games of the model with itself, and the decisions with a choice of a seat in a game.

    With ``true`` they are those of seat 0, and the candidates are played on from the cards as they lie.
    """
    rng, recall = np.random.default_rng(seed), Recall(model.network, SHARP)
    found, offered, actions = [], 0, np.zeros(N_ACTIONS, np.int64)
    for k, deal in enumerate(deal_seeds(rules, players, games, seed)):
        game = Game(rules, players, seed=int(deal), max_decisions=400)
        while game.turn is not None:
            view = game.view(game.turn)
            n = int(candidates(view.action_mask, actions))
            if game.turn == (0 if true else k % players) and n > 1:
                offered += 1
                if rng.random() < SHARE:
                    state, chosen = game.states.copy() if true else None, actions[:n].copy()
                    found.append(look_at(model, recall, view, chosen, worlds, int(rng.integers(2**62)), state))
            game.apply(model.act(view))
    return found, offered / games


def make_variant(text: str, model: NeuralAgent, seed: int) -> GuidedSearcher:
    """``ppo+search`` of a budget with other settings, such as ``64;trust=0.03;depth=12``.

    Raises:
        InputError: for a setting that is none.
    """
    budget, *changes = text.split(";")
    settings: dict[str, Any] = {}
    for change in changes:
        key, _, value = change.partition("=")
        try:
            settings[key] = SETTINGS[key](value)
        except (KeyError, ValueError):
            raise InputError(
                f"--search {text!r} is not possible because of {change!r}: write {' or '.join(SETTINGS)}=NUMBER."
            ) from None
    return GuidedSearcher(text, Budget.parse(budget), model, seed, **settings)


def gains_line(name: str, gains: Floats, decisions: float) -> str:
    """The mean gain of one way to choose, with its 95 % interval, at each decision and over a game's."""
    if len(gains) < 2:
        return f"  {name + ':':56} too few positions"
    mean, margin = gains.mean(), 1.96 * gains.std(ddof=1) / np.sqrt(len(gains))
    return (
        f"  {name + ':':56} {mean:+.4f} ± {margin:.4f} reward a decision, "
        f"{mean * decisions:+.2f} ± {margin * decisions:.2f} a game"
    )


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.headroom", description=__doc__.split("\n")[0])
    add_rules_arguments(parser, players=2)
    parser.add_argument("--model", default="generalist", help="a shipped model or a folder (default: %(default)s)")
    parser.add_argument("--games", type=positive_int, default=80, help="default: %(default)s")
    parser.add_argument("--worlds", type=positive_int, default=200, help="for every candidate (default: %(default)s)")
    parser.add_argument("--search", nargs="*", default=[], metavar="BUDGET", help="of ppo+search, such as 64 or 50ms")
    parser.add_argument("--true", action="store_true", help="judge by the cards as they lie, not by the model's belief")
    parser.add_argument("--seed", type=training_seed, default=1)
    return parser


def run(args: argparse.Namespace) -> None:
    rules, players = rules_from(args)
    model = NeuralAgent.load(args.model, seed=args.seed)
    model.check_players(players)
    if args.worlds < 2:
        raise InputError(f"--worlds {args.worlds} is not possible: one half chooses and the other judges, so give 2.")
    searchers = [make_variant(text, model, args.seed) for text in args.search]
    positions, offered = collect(model, rules, players, args.games, args.worlds, args.seed, args.true)
    worlds = "rollouts of the true world" if args.true else "worlds"
    print(
        f"{args.model} at {rules}, {players} players: {offered:.1f} decisions with a choice for a seat and game; "
        f"{len(positions)} of them from {args.games} games looked at, {args.worlds} {worlds}, seed {args.seed}"
    )
    found = {
        "all candidates": [position.of_best(N_ACTIONS) for position in positions],
        f"the {MOST} likeliest": [position.of_best(MOST) for position in positions],
        f"the {FEW} likeliest": [position.of_best(FEW) for position in positions],
    }
    milliseconds = []
    for searcher in searchers:
        for position in positions[:1]:  # loads what is compiled
            position.of_agent(searcher)
        start = time.process_time()
        found[f"search, {searcher.name}"] = [position.of_agent(searcher) for position in positions]
        milliseconds.append(1000 * (time.process_time() - start) / max(1, len(positions)))
    policy = np.array([position.of_policy() for position in positions])
    endgame = np.array([position.endgame for position in positions], np.bool_)
    gains = {name: np.array(worth) - policy for name, worth in found.items()}
    for searcher in searchers[1:]:
        better = np.subtract(found[f"search, {searcher.name}"], found[f"search, {searchers[0].name}"])
        gains[f"{searcher.name} over {searchers[0].name}"] = better
    for name, gain in gains.items():
        for when, group in (("", endgame | True), (", stock empty", endgame), (", before that", ~endgame)):
            print(gains_line(name + when, gain[group], offered * group.sum() / max(1, len(positions))))
    for searcher, spent in zip(searchers, milliseconds, strict=True):
        print(f"  search, {searcher.name}: {spent:.1f} ms of CPU time a decision")


def main() -> int:
    args = make_parser().parse_args()
    return exit_code(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
