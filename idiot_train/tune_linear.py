"""Tunes the linear agent: ``python -m idiot_train.tune_linear --seed 1``.

CMA-ES (Hansen, "The CMA Evolution Strategy: A Tutorial", 2016; the library ``cma``) over the weights of
``idiot_agents.linear``.  What weights are worth is the mean reward of an agent with them among copies of greedy, of
careful and of a former self, at all four tables and some random ones, with 2 to 5 players; a game cut off by the limit
costs ``CUT_OFF`` besides, so that nobody learns to stall.  All candidates of a generation play the same deals, each
generation new ones.  The result is compared on deals that no generation has seen.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np
import numpy.typing as npt

from idiot_agents.arena import deal_seeds
from idiot_agents.arguments import exit_code, positive_int, seed_number
from idiot_agents.compiled import CAREFUL, GREEDY, NAMES
from idiot_agents.errors import InputError
from idiot_agents.linear import WEIGHTS_FILE, Weights, read_weights, weights_fingerprint, weights_json
from idiot_agents.network import write_file
from idiot_agents.result_files import check_place
from idiot_agents.trials import trial_rewards
from idiot_env import Rules
from idiot_env.rules import MAX_PLAYERS, MIN_PLAYERS, OPTIONS, PRESETS

LIMIT = 600
CUT_OFF = 0.5
"""What a game that the limit cut off costs, beside the reward it had by then."""
TWICE = 2
"""Players of the tables that count double."""
RANDOM_TABLES = 4
SELF, FORMER = -1, -2
OPPONENTS = (GREEDY, CAREFUL, FORMER)


@dataclass(frozen=True)
class Cell:
    """Games at one table among copies of one opponent."""

    rules: Rules
    players: int
    opponent: int
    """The number of a compiled agent, or ``FORMER``."""
    seeds: npt.NDArray[np.int64]
    lineups: npt.NDArray[np.int64]


def random_rules(rng: np.random.Generator, players: int) -> Rules:
    """Any possible combination of options for so many players."""
    while True:
        rules = Rules(**{name: values[int(rng.integers(len(values)))] for name, values in OPTIONS.items()})
        try:
            rules.check_players(players)
        except ValueError:
            continue
        return rules


def tables(rng: np.random.Generator) -> list[tuple[Rules, int]]:
    """The four tables with 2 to 5 players, those for two twice, and some random ones."""
    counts = [TWICE, *range(MIN_PLAYERS, MAX_PLAYERS + 1)]
    named = [(Rules.preset(name), players) for name in PRESETS for players in counts]
    drawn = [int(rng.integers(MIN_PLAYERS, MAX_PLAYERS + 1)) for _ in range(RANDOM_TABLES)]
    return named + [(random_rules(rng, players), players) for players in drawn]


def cells(games: int, seed: int, generation: int) -> Iterator[Cell]:
    """One generation's games, about ``games`` in all, an equal number in each cell."""
    rng = np.random.default_rng([seed % 2**63, generation])
    all_tables = tables(rng)
    n = max(1, games // (len(all_tables) * len(OPPONENTS)))
    for number, (rules, players) in enumerate(all_tables):
        for opponent in OPPONENTS:
            # The same deals for every opponent; the table's number keeps those of the tables for two apart.
            seeds = deal_seeds(rules, players, n, seed, first=(generation * len(all_tables) + number) * n)
            lineups = np.full((n, players), opponent, np.int64)
            lineups[np.arange(n), np.arange(n) % players] = SELF
            yield Cell(rules, players, opponent, seeds, lineups)


def play_cell(cell: Cell, weights: Weights, former: Weights) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The rewards of ``weights`` in a cell's games, float64 ``[G]``, and in which it was still in at the limit."""
    own = (cell.lineups == SELF).argmax(axis=1)
    rewards, truncated = trial_rewards([weights, former], cell.lineups, cell.seeds, cell.rules, LIMIT, own)
    return rewards[cell.lineups == SELF], truncated


def worth(weights: Weights, former: Weights, games: list[Cell]) -> float:
    """The mean over cells of the reward, less the cost of games cut off."""
    total = 0.0
    for cell in games:
        rewards, truncated = play_cell(cell, weights, former)
        total += float(rewards.mean()) - CUT_OFF * float(truncated.mean())
    return total / len(games)


def held_out(weights: Weights, former: Weights, games: int, seed: int) -> dict[str, dict[str, float]]:
    """Mean reward, standard error and share cut off by opponent, on the deals of another seed."""
    results: dict[str, list[tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]]] = {}
    for cell in cells(games, seed + 1, 0):
        name = "the start" if cell.opponent == FORMER else NAMES[cell.opponent]
        results.setdefault(name, []).append(play_cell(cell, weights, former))
    summary = {}
    for name, parts in results.items():
        rewards, truncated = (np.concatenate(column) for column in zip(*parts, strict=True))
        summary[name] = {
            "reward": round(float(rewards.mean()), 4),
            "standard_error": round(float(rewards.std() / np.sqrt(len(rewards))), 4),
            "cut_off": round(float(truncated.mean()), 5),
        }
    return summary


def tune(
    start: Weights, *, seed: int, generations: int, games: int, step: float, former_every: int, out: Path, command: str
) -> Weights:
    """Tune weights and write them to ``out`` every ``former_every`` generations and at the end."""
    import cma

    options = {"seed": seed % (2**31 - 2) + 1, "verbose": -9, "maxiter": generations, "tolfun": 0, "tolx": 0}
    search = cma.CMAEvolutionStrategy(start, step, options)
    former, begun = start, monotonic()
    origin = {"command": command, "start": weights_fingerprint(start)}

    def write(weights: Weights, **more: object) -> None:
        write_file(out, weights_json(weights, **origin, generations=search.countiter, **more).encode())

    for generation in range(1, generations + 1):
        drawn = list(cells(games, seed, generation))
        candidates = search.ask()
        values = [worth(candidate, former, drawn) for candidate in candidates]
        search.tell(candidates, [-value for value in values])
        if generation % former_every == 0:
            former = np.array(search.result.xfavorite)
            write(former)
        print(
            f"generation {generation}: {np.mean(values):+.3f} on average, {max(values):+.3f} at best, "
            f"step {search.sigma:.3f}, {monotonic() - begun:.0f} s",
            file=sys.stderr,
        )
    weights = np.array(search.result.xfavorite)
    write(weights, held_out=held_out(weights, start, 20 * games, seed))
    return weights


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m idiot_train.tune_linear", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=seed_number, default=1, help="of all deals and steps (default: %(default)s)")
    parser.add_argument("--generations", type=positive_int, default=200, help="(default: %(default)s)")
    parser.add_argument("--games", type=positive_int, default=4000, help="for each candidate (default: %(default)s)")
    parser.add_argument("--step", type=float, default=0.3, help="CMA's first step (default: %(default)s)")
    parser.add_argument("--former-every", type=positive_int, default=20, help="generations (default: %(default)s)")
    parser.add_argument("--start", type=Path, default=WEIGHTS_FILE, metavar="FILE", help="weights to start from")
    parser.add_argument("--out", type=Path, default=Path("linear.json"), metavar="FILE", help="(default: %(default)s)")
    return parser


def run(args: argparse.Namespace, argv: list[str]) -> None:
    """Tune as the command line says.

    Raises:
        InputError: before the first game.
    """
    if not (np.isfinite(args.step) and args.step > 0):
        raise InputError(f"--step {args.step} is not possible: give a number above 0.")
    check_place(args.out, "--out")
    command = shlex.join(["python", "-m", "idiot_train.tune_linear", *argv])
    tune(
        read_weights(args.start),
        seed=args.seed,
        generations=args.generations,
        games=args.games,
        step=args.step,
        former_every=args.former_every,
        out=args.out,
        command=command,
    )


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    return exit_code(lambda: run(args, argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
