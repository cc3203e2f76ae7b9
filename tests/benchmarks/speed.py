"""How fast the environment is here: ``make bench``.  Medians over five runs on one core; every kernel's work is checked
before it is timed, so that none can be fast by being wrong.

Random legal play, the full observation and mask written for every decision.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from agents.arena import play_match
from agents.compiled import CompiledAgent, random_action
from idiot_env import Game, Rules
from idiot_env._jit import jit
from idiot_env.aec import env as wrapped_env
from idiot_env.aec import raw_env
from idiot_env.batched import Batch, step_rows
from idiot_env.cards import advance, below
from idiot_env.engine import STATE
from idiot_env.rules import PRESETS

RUNS = 5


@jit
def choose_rows(mask, streams, actions):
    for i in range(actions.shape[0]):
        streams[i] = advance(streams[i])
        actions[i] = random_action(mask[i], streams[i])


@jit
def play_random(
    steps, rows, actions, streams, limit, states, tables, row_seeds, episodes, seeds,
    observation, mask, seat, reward, terminated, truncated,
):  # fmt: skip
    """``steps`` random decisions in every game, all inside compiled code; returns the games finished."""
    finished = 0
    for _ in range(steps):
        choose_rows(mask, streams, actions)
        step_rows(rows, actions, 0, limit, states, tables, row_seeds, episodes, seeds, observation, mask, seat, reward,
                  terminated, truncated)  # fmt: skip
        for i in range(rows.shape[0]):
            finished += terminated[i] or truncated[i]
    return finished


class RandomBatch:
    """A batch with what random play needs."""

    def __init__(self, n: int, rules: str = "standard", players: int = 4) -> None:
        self.batch = Batch(n, rules, players)
        self.batch.reset(1)
        self.rows = np.arange(n, dtype=np.int64)
        self.actions = np.zeros(n, np.int64)
        self.streams = np.random.default_rng(1).integers(0, 2**62, n)

    def play(self, steps: int) -> int:
        b = self.batch
        outputs = (b.observation, b.mask, b.seat, b.reward, b.terminated, b.truncated)
        dealing = (b.states, b.tables, b.row_seeds, b.episodes, b.seeds)
        return int(play_random(steps, self.rows, self.actions, self.streams, b.max_decisions, *dealing, *outputs))


def check_random_play() -> None:
    """The compiled loop must play, decision by decision, what single games play with the same streams."""
    runner = RandomBatch(3, "sjanse", 3)
    streams = runner.streams.copy()
    games = [Game("sjanse", 3, seed=int(seed)) for seed in runner.batch.seeds]
    for _ in range(200):
        for i, game in enumerate(games):
            streams[i] = int(advance(np.int64(streams[i])))
            legal = np.flatnonzero(game.mask)
            game.apply(int(legal[int(below(np.int64(streams[i]), len(legal)))]))
            assert not game.over, "pick another seed: the check follows first games only"
    runner.play(200)
    for i, game in enumerate(games):
        assert runner.batch.states[i].tobytes() == game.states[0].tobytes(), "the timed loop plays another game"


def median(measure: Callable[[], float]) -> float:
    """Median of five measurements after a warm-up."""
    measure()
    return statistics.median(measure() for _ in range(RUNS))


def engine_rate(n: int, rules: str = "standard", players: int = 4, decisions: int = 2_000_000) -> float:
    """Decisions a second of the compiled loop with observation and mask."""
    runner = RandomBatch(n, rules, players)
    steps = max(1, decisions // n)
    runner.play(max(1, steps // 20))

    def measure() -> float:
        start = time.perf_counter()
        runner.play(steps)
        return steps * n / (time.perf_counter() - start)

    return median(measure)


def stepped_rate(n: int = 1024, steps: int = 1000) -> float:
    """Decisions a second through ``Batch.step`` from Python; the choosing of actions is not counted."""
    runner = RandomBatch(n)

    def measure() -> float:
        spent = 0.0
        for _ in range(steps):
            choose_rows(runner.batch.mask, runner.streams, runner.actions)
            start = time.perf_counter()
            runner.batch.step(runner.actions)
            spent += time.perf_counter() - start
        return steps * n / spent

    return median(measure)


def greedy_rate(deals: int = 20_000) -> float:
    """Games a second, greedy against greedy, two players."""
    agent = CompiledAgent("greedy")

    def measure() -> float:
        start = time.perf_counter()
        match = play_match(agent, agent, Rules(), 2, deals)
        assert match.lost == 0.5
        return match.games / (time.perf_counter() - start)

    return median(measure)


def aec_rate(make: Callable[..., Any], decisions: int = 60_000) -> float:
    """``last()`` + ``step()`` a second through PettingZoo's interface; choosing the action is not counted."""
    rng = np.random.default_rng(1)
    environment = make()
    environment.reset(seed=1)
    draws = rng.random(decisions)

    def measure() -> float:
        spent = 0.0
        clock = time.perf_counter
        for draw in draws:
            start = clock()
            observation, _, termination, truncation, _ = environment.last()
            spent += clock() - start
            if termination or truncation:
                environment.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            action = int(legal[int(draw * len(legal))])
            start = clock()
            environment.step(action)
            spent += clock() - start
        return decisions / spent

    return median(measure)


_IMPORT = "import time; t = time.perf_counter(); import idiot_env; print(time.perf_counter() - t)"
_COMPILE = """
import time; t = time.perf_counter()
import numpy as np
from idiot_env import Game
from idiot_env.batched import Batch
g = Game(seed=1); g.view(g.turn); g.apply(g.legal()[0])
b = Batch(2); b.reset(1); b.step(b.mask.argmax(axis=1))
print(time.perf_counter() - t)
"""


def child_seconds(code: str, cache: str | None = None) -> tuple[float, str]:
    """Seconds that a fresh interpreter reports for ``code``, and what it said on stderr."""
    environment = dict(os.environ)
    if cache:
        environment["IDIOT_CACHE_DIR"] = cache
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout), done.stderr.strip()


def cold_compile() -> float:
    """Seconds of the first game and the first batch on a fresh machine."""
    with tempfile.TemporaryDirectory() as cache:
        seconds, said = child_seconds(_COMPILE, cache)
        assert said.count("compiling") == 1, f"announced otherwise than once: {said!r}"
        again, quiet = child_seconds(_COMPILE, cache)
        assert not quiet, f"the second process compiled again: {quiet!r}"
        assert again < seconds
        return seconds


def measure_all(full: bool) -> dict[str, float]:
    """Every row by name."""
    check_random_play()
    results = {
        "engine + mask + observation, standard, 4 players, batch 1024 (decisions/s)": engine_rate(1024),
        "stepped from Python, 1024 games a call (decisions/s)": stepped_rate(),
        "greedy against greedy, 2 players (games/s)": greedy_rate(),
        "AEC raw_env, last() + step() (1/s)": aec_rate(raw_env),
        "AEC env(), last() + step() (1/s)": aec_rate(wrapped_env),
        "state (bytes a game)": float(STATE.itemsize),
        "first compile, cold cache (s)": cold_compile(),
        "import idiot_env, warm cache (s)": median(lambda: child_seconds(_IMPORT)[0]),
    }
    if full:
        for rules in PRESETS:
            for players in (2, 3, 4, 5):
                results[f"engine, {rules}, {players} players, batch 1024 (decisions/s)"] = engine_rate(
                    1024, rules, players
                )
        for n in (1, 16, 256, 4096, 65_536):
            results[f"engine, standard, 4 players, batch {n} (decisions/s)"] = engine_rate(n)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="all tables, player counts and batch sizes")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    results = measure_all(arguments.full)
    width = max(map(len, results))
    for name, value in results.items():
        print(f"{name.ljust(width)}  {value:>14,.2f}")
    if arguments.json:
        facts = {"python": platform.python_version(), "numba": numba.__version__, "machine": platform.machine()}
        arguments.json.write_text(json.dumps({"facts": facts, "results": results}, indent=1))


if __name__ == "__main__":
    main()
