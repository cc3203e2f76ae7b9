"""Games without an end: how many the limit of decisions cuts off, and in what kind of position.

``python -m idiot_agents.stalls AGENT [OTHERS]`` prints both: AGENT in every seat among copies of OTHERS, or of itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from idiot_agents.arena import MAX_DECISIONS, check_agents, match_games, play_out
from idiot_agents.arguments import add_rules_arguments, exit_code, positive_int, rules_from, seed_number
from idiot_agents.protocol import Agent
from idiot_agents.registry import make_agent
from idiot_env import Rules
from idiot_env.batched import Batch
from idiot_env.cards import size_of
from idiot_env.engine import NO_CARD, OVER

ZONES = ("hand", "face-up cards", "face-down cards")


@dataclass(frozen=True)
class Stall:
    """The position in which a game was cut off.

    Attributes:
        still_in: players with cards.
        zone: of ``ZONES``, where whoever has the fewest cards plays from.
        fewest: so many cards that player has in all.
        others: the cards of the others still in, in all.
        stock, pile: their cards.
    """

    still_in: int
    zone: str
    fewest: int
    others: int
    stock: int
    pile: int

    @classmethod
    def of(cls, state: np.void) -> Stall:
        """What a state of ``engine.STATE`` comes to."""
        seats = [seat for seat in range(int(state["players"])) if state["place"][seat] == 0]
        zones = {
            seat: (
                int(size_of(state["hand"][seat])),
                int(size_of(state["up"][seat])),
                int((state["down"][seat] != NO_CARD).sum()),
            )
            for seat in seats
        }
        first = min(seats, key=lambda seat: sum(zones[seat]))
        return cls(
            still_in=len(seats),
            zone=next(name for name, cards in zip(ZONES, zones[first], strict=True) if cards),
            fewest=sum(zones[first]),
            others=sum(sum(cards) for seat, cards in zones.items() if seat != first),
            stock=int(state["stock_size"]),
            pile=int(state["pile_size"]),
        )

    @property
    def kind(self) -> tuple[int, bool, str]:
        """What positions of one kind share: players still in, whether there is a stock, the zone."""
        return self.still_in, self.stock > 0, self.zone


def find_stalls(
    focal: Agent,
    others: Agent,
    rules: Rules,
    players: int,
    deals: int,
    *,
    seed: int = 0,
    max_decisions: int = MAX_DECISIONS,
) -> list[Stall]:
    """The games cut off when ``focal`` meets copies of ``others``, on the deals and with the results of ``play_match``.

    Raises:
        ValueError: for an impossible table, or an agent that cannot play at it.
    """
    check_agents([focal, others], rules, players)
    found = []
    for seeds, lineups in match_games(rules, players, deals, seed):
        batch = Batch(len(seeds), rules, players, max_decisions=max_decisions, autoreset="disabled")
        play_out(batch, [focal, others], lineups, seeds)
        cut: npt.NDArray[np.void] = batch.states[batch.states["phase"] != OVER]
        found += [Stall.of(state) for state in cut]
    return found


def by_kind(stalls: Sequence[Stall]) -> list[list[Stall]]:
    """The stalls of each kind, the commonest kind first."""
    ordered = sorted(stalls, key=lambda stall: stall.kind)
    return sorted((list(group) for _, group in groupby(ordered, lambda stall: stall.kind)), key=len, reverse=True)


def mean_cards(stalls: Sequence[Stall]) -> list[float]:
    """The mean of ``fewest``, ``others``, ``stock`` and ``pile``."""
    names = ("fewest", "others", "stock", "pile")
    return [float(np.mean([getattr(stall, name) for stall in stalls])) for name in names]


def in_words(stalls: Sequence[Stall]) -> str:
    """The commonest kind of position, as part of a sentence."""
    commonest = by_kind(stalls)[0]
    fewest, others, stock, _ = mean_cards(commonest)
    return (
        f"{len(commonest)} times {commonest[0].still_in} still in, who has the fewest cards plays from "
        f"{commonest[0].zone} and has {fewest:.0f}, the others {others:.0f}, the stock {stock:.0f}"
    )


def kinds_table(stalls: Sequence[Stall]) -> list[str]:
    """Lines of markdown: each kind of position, the commonest first, with the mean number of cards everywhere."""
    lines = [
        "| games | still in | who has the fewest cards plays from | has | the others have | stock | pile |",
        "|---|---|---|---|---|---|---|",
    ]
    for group in by_kind(stalls):
        cells = [str(len(group)), str(group[0].still_in), group[0].zone, *(f"{mean:.1f}" for mean in mean_cards(group))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m idiot_agents.stalls", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("agent", metavar="AGENT")
    parser.add_argument("others", metavar="OTHERS", nargs="?", help="default: AGENT")
    add_rules_arguments(parser, players=2)
    parser.add_argument("--deals", type=positive_int, default=1000, help="default: %(default)s")
    parser.add_argument("--seed", type=seed_number, default=1)
    return parser


def run(args: argparse.Namespace) -> None:
    rules, players = rules_from(args)
    agents = [make_agent(spec, args.seed) for spec in (args.agent, args.others or args.agent)]
    stalls = find_stalls(agents[0], agents[1], rules, players, args.deals, seed=args.seed)
    names = " among ".join(agent.name for agent in agents)
    print(
        f"{names} at {rules}, {players} players: {len(stalls)} of {args.deals * players:,} games cut off after "
        f"{MAX_DECISIONS:,} decisions (seed {args.seed})"
    )
    if stalls:
        print("\n".join(kinds_table(stalls)))


def main() -> int:
    args = make_parser().parse_args()
    return exit_code(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
