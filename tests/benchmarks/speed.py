"""How fast the environment is here: ``make bench``; with the peers beside it: ``make bench-peers``.

Random legal play, the full observation and mask written for every decision; medians over five runs on one core.
Compiled loops are timed in CPU seconds, so that other work on the machine counts less, short calls and threads by the
clock.  What every kernel plays is compared with single games before it is timed, so that none can be fast by being
wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from idiot_agents.arena import deal_seeds, play_batched, play_games, play_match
from idiot_agents.compiled import CompiledAgent, random_action
from idiot_agents.network import Encoder, Network, expected_shapes
from idiot_agents.neural import NeuralAgent
from idiot_env import Game, Rules
from idiot_env._jit import jit, jit_inline
from idiot_env.aec import env as wrapped_env
from idiot_env.aec import raw_env
from idiot_env.batched import Batch, game_seed, step_rows
from idiot_env.cards import advance, below
from idiot_env.engine import STATE
from idiot_env.rules import PRESETS
from tests.benchmarks.report import Point, Row, machine_facts, markdown, write

RUNS = 5
BATCHES = (1, 1024, 65_536)
PLOTTED = tuple(4**k for k in range(10))
MEBI = 1 << 20
ROOT = Path(__file__).resolve().parents[2]


@jit_inline
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

    def __init__(self, n: int, rules: str = "standard", players: int = 4, threads: int = 1) -> None:
        self.batch = Batch(n, rules, players, threads=threads)
        self.batch.reset(1)
        self.rows = np.arange(n, dtype=np.int64)
        self.actions = np.zeros(n, np.int64)
        self.streams = np.random.default_rng(1).integers(0, 2**62, n)

    def play(self, steps: int) -> int:
        b = self.batch
        outputs = (b.observation, b.mask, b.seat, b.reward, b.terminated, b.truncated)
        dealing = (b.states, b.tables, b.row_seeds, b.episodes, b.seeds)
        return int(play_random(steps, self.rows, self.actions, self.streams, b.max_decisions, *dealing, *outputs))

    def step(self) -> float:
        """One step from Python; returns the seconds it took without the choice of actions."""
        choose_rows(self.batch.mask, self.streams, self.actions)
        start = time.perf_counter()
        self.batch.step(self.actions)
        return time.perf_counter() - start


# --- the timed loops play what they should ----------------------------------------------------------------------------


def check_random_play(rules: str, players: int, decisions: int = 300) -> None:
    """The compiled loop, and stepping from Python with one or two threads, play move by move what single games play."""
    runners = [
        RandomBatch(3, rules, players),
        RandomBatch(3, rules, players),
        RandomBatch(3, rules, players, threads=2),
    ]
    streams = runners[0].streams.copy()
    finished = 0
    seeds = runners[0].batch.row_seeds
    games = [Game(rules, players, seed=int(game_seed(seed, np.int64(0)))) for seed in seeds]
    episodes = [1, 1, 1]
    for _ in range(decisions):
        for i, game in enumerate(games):
            streams[i] = int(advance(np.int64(streams[i])))
            legal = np.flatnonzero(game.mask)
            game.apply(int(legal[int(below(np.int64(streams[i]), len(legal)))]))
            if game.over:
                finished += 1
                games[i] = Game(rules, players, seed=int(game_seed(seeds[i], np.int64(episodes[i]))))
                episodes[i] += 1
    assert runners[0].play(decisions) == finished, "the timed loop finishes another number of games"
    for _ in range(decisions):
        runners[1].step()
        runners[2].step()
    for runner in runners:
        for i, game in enumerate(games):
            assert runner.batch.states[i].tobytes() == game.states[0].tobytes(), "a timed loop plays another game"


def check_greedy() -> None:
    """The compiled loop of the arena plays what agents asked through the batch play."""
    agent, rules = CompiledAgent("greedy"), Rules()
    seeds = deal_seeds(rules, 2, 50, 0)
    lineups = np.zeros((50, 2), np.int64)
    compiled, batched = (play([agent], lineups, seeds, rules) for play in (play_games, play_batched))
    assert (compiled.place == batched.place).all()
    assert (compiled.decisions == batched.decisions).all()


def check_aec(make: Callable[..., Any], decisions: int = 50) -> None:
    """The PettingZoo environment shows what a single game of the same seed shows."""
    environment = make()
    environment.reset(seed=1)
    game = Game(players=4, seed=environment.unwrapped.deal_seed)
    for _ in range(decisions):
        observation = environment.last()[0]
        assert (observation["action_mask"] == game.mask).all()
        assert (observation["observation"] == game.view(game.turn).observation).all()
        action = int(np.flatnonzero(game.mask)[-1])
        environment.step(action)
        game.apply(action)


# --- measurements -----------------------------------------------------------------------------------------------------


def median(measure: Callable[[], float]) -> float:
    """Median of five measurements after a warm-up."""
    measure()
    return statistics.median(measure() for _ in range(RUNS))


def engine_rate(n: int, rules: str = "standard", players: int = 4, decisions: int = 300_000) -> float:
    """Decisions per CPU second of the compiled loop with observation and mask."""
    runner = RandomBatch(n, rules, players)
    steps = max(1, decisions // n)

    def measure() -> float:
        start = time.process_time()
        runner.play(steps)
        return steps * n / (time.process_time() - start)

    return median(measure)


def stepped_rate(n: int = 1024, players: int = 4, threads: int = 1, decisions: int = 300_000) -> float:
    """Decisions a second through ``Batch.step`` from Python; the choosing of actions is not counted."""
    runner = RandomBatch(n, players=players, threads=threads)
    steps = max(1, decisions // n)
    return median(lambda: steps * n / sum(runner.step() for _ in range(steps)))


def thread_ratio(n: int = 65_536, pairs: int = 120) -> float:
    """How much faster two threads step than one, by the clock: the median over pairs of single steps, one after the
    other, so that other work on the machine spoils some pairs and not the figure."""
    one, two = RandomBatch(n), RandomBatch(n, threads=2)
    return statistics.median(one.step() / two.step() for _ in range(pairs))


def greedy_rate(deals: int = 4_000) -> float:
    """Games per CPU second, greedy against greedy, two players, statistics included."""
    agent = CompiledAgent("greedy")

    def measure() -> float:
        start = time.process_time()
        match = play_match(agent, agent, Rules(), 2, deals)
        assert match.lost == 0.5
        return match.games / (time.process_time() - start)

    return median(measure)


def aec_rate(make: Callable[..., Any], decisions: int = 30_000) -> float:
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


_IMPORT = "import time; t = time.process_time(); import idiot_env; print(time.process_time() - t)"
_COMPILE = """
import time; t = time.process_time()
import numpy as np
from idiot_env import Game
from idiot_env.batched import Batch
g = Game(seed=1); g.view(g.turn); g.apply(g.legal()[0])
b = Batch(2); b.reset(1); b.step(b.mask.argmax(axis=1))
print(time.process_time() - t)
"""


def child_seconds(code: str, cache: str | None = None) -> tuple[float, str]:
    """CPU seconds that a fresh interpreter reports for ``code``, and what it said on stderr."""
    environment = dict(os.environ)
    if cache:
        environment["IDIOT_CACHE_DIR"] = cache
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout), done.stderr.strip()


def cold_compile() -> float:
    """CPU seconds of the first game and the first batch on a fresh machine."""
    with tempfile.TemporaryDirectory() as cache:
        seconds, said = child_seconds(_COMPILE, cache)
        assert said.count("compiling") == 1, f"announced otherwise than once: {said!r}"
        again, quiet = child_seconds(_COMPILE, cache)
        assert not quiet, f"the second process compiled again: {quiet!r}"
        assert again < seconds
        return seconds


def move_microseconds(moves: int = 2000) -> float:
    """Median of one ``act`` of a network with the sizes of ``configs/quick.yaml`` (weights drawn: time is the same)."""
    rng = np.random.default_rng(1)
    encoder = Encoder.make(2, False)
    shapes = expected_shapes(encoder, [256, 256])
    agent = NeuralAgent(
        Network(encoder, {name: rng.normal(0, 0.05, shape).astype(np.float32) for name, shape in shapes.items()}),
        "drawn",
    )
    game = Game(players=2, seed=1)
    spent = []
    for _ in range(moves):
        view = game.view(game.turn)
        start = time.perf_counter()
        action = agent.act(view)
        spent.append(time.perf_counter() - start)
        game.apply(action)
        if game.over:
            game = Game(players=2, seed=len(spent))
    return statistics.median(spent) * 1e6


def batch_bytes(n: int) -> int:
    """Bytes of all arrays of a batch, outputs included."""
    return sum(array.nbytes for array in vars(Batch(n)).values() if isinstance(array, np.ndarray))


def training() -> tuple[float, float]:
    """Learned decisions per CPU second with ``configs/quick.yaml``, and the share of time outside the optimiser."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.benchmarks.training"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    rate, share = (line.split()[-1] for line in done.stdout.splitlines()[-2:])
    return float(rate.replace(",", "")), float(share.rstrip("%"))


def our_rows() -> list[Row]:
    """Every row of the table, the checks first."""
    for rules in PRESETS:
        for players in (2, 3, 4, 5):
            check_random_play(rules, players)
    check_greedy()
    check_aec(raw_env)
    check_aec(wrapped_env)
    cases = {
        f"{rules}, {players} players, batch {n:,}": engine_rate(n, rules, players)
        for rules in PRESETS
        for players in (2, 3, 4, 5)
        for n in BATCHES
    }
    best, worst = max(cases, key=lambda case: cases[case]), min(cases, key=lambda case: cases[case])
    decisions = "decisions/s"
    rate, share = training()
    rows = [
        Row("engine, observation and mask: standard, 4 players, batch 1,024", cases["standard, 4 players, batch 1,024"],
            decisions, 4e6),
        Row(f"the same, best of {len(cases)} cases ({best})", cases[best], decisions, 4e6),
        Row(f"the same, worst case ({worst})", cases[worst], decisions, 2.5e6),
        Row("stepped from Python, 1,024 games a call", stepped_rate(), decisions, 2.5e6),
        Row("greedy against greedy, 2 players", greedy_rate(), "games/s", 60_000),
        Row("AEC raw_env, last() + step()", aec_rate(raw_env), "1/s", 150_000),
        Row("AEC env(), last() + step()", aec_rate(wrapped_env), "1/s", 100_000),
        Row("state of a game", STATE.itemsize, "bytes", 320, True),
        Row("65,536 games with outputs", batch_bytes(65_536) / MEBI, "MiB", 64, True),
        Row("two threads against one, 65,536 games", thread_ratio(), "times", 1.8),
        Row("PPO, quick: time outside the optimiser", share, "%", 20, True),
        Row("PPO, quick: learned decisions", rate, "per CPU second", 15_000),
        Row("import idiot_env, warm cache", median(lambda: child_seconds(_IMPORT)[0]), "CPU s", 1.0, True),
        Row("first compile, cold cache", cold_compile(), "CPU s", 15, True),
        Row("one move by a network without torch", move_microseconds(), "µs", 100, True),
    ]  # fmt: skip
    return rows + [Row(case, value, decisions) for case, value in cases.items()]


def plot_points() -> list[Point]:
    """Batch sizes, players and threads for the plot, stepped from Python and by the clock."""
    lines = [(2, 1), (4, 1), (5, 1), (4, 2)]
    return [
        Point(n, players, threads, stepped_rate(n, players, threads, max(n, 20_000 if n < 64 else 100_000)))
        for players, threads in lines
        for n in PLOTTED
        if n >= threads
    ]


def peer_rows(python: Path) -> list[dict[str, Any]]:
    """The peers' rows, from the Python of their own environment."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    script = Path(__file__).with_name("peers.py")
    done = subprocess.run([python, script], env=environment, capture_output=True, text=True, check=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index("[\n") :])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="the Python in which the peers are installed: measure them, too")
    parser.add_argument("--no-plot", action="store_true", help="leave out the measurements for the plot")
    parser.add_argument("--out", type=Path, default=ROOT / "bench-results", help="folder for speed.json, .md and .png")
    arguments = parser.parse_args()
    facts = machine_facts()
    rows = our_rows()
    peers = peer_rows(arguments.peers) if arguments.peers else []
    points = [] if arguments.no_plot else plot_points()
    write(arguments.out, rows, peers, points, facts)
    print(markdown(rows, peers, facts))


if __name__ == "__main__":
    main()
