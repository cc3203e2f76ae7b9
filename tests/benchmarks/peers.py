"""How fast other environments are on this machine: ``make bench-peers``.

Random legal play, decisions per CPU second on one core, medians over five runs, as in ``tests.benchmarks.speed``.  A
script for a virtual environment of its own, which needs nothing of this project: every peer is imported where it is
measured, and one that is missing or fails gives a row with the reason instead of a figure.  Prints JSON: rows.

The game differs from peer to peer, so compare orders of magnitude, not digits.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

RUNS = 5
SECONDS = 0.4
Row = dict[str, Any]


def rate(play: Callable[[], int]) -> float:
    """Decisions per CPU second; ``play`` does some and returns how many.  Median of ``RUNS`` runs after a warm-up."""
    play()
    rates = []
    for _ in range(RUNS):
        start, decisions = time.process_time(), 0
        while time.process_time() - start < SECONDS:
            decisions += play()
        rates.append(decisions / (time.process_time() - start))
    return statistics.median(rates)


# --- OpenSpiel -------------------------------------------------------------------------------------------------------


def open_spiel() -> Iterator[Row]:
    import pyspiel

    game = pyspiel.load_game("crazy_eights(players=4)")
    rng = random.Random(1)

    def play(outputs: bool) -> int:
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, weights)[0])
                continue
            if outputs:
                state.observation_tensor(state.current_player())
                state.legal_actions_mask()
            state.apply_action(rng.choice(state.legal_actions()))
            decisions += 1
        return decisions

    name = "crazy_eights, 4 players, from Python"
    yield {"game": name, "what": "engine only", "rate": rate(lambda: play(False))}
    yield {"game": name, "what": "with observation and mask", "rate": rate(lambda: play(True))}


# --- pgx -------------------------------------------------------------------------------------------------------------


def pgx() -> Iterator[Row]:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    batch, steps = 1024, 32
    for name in ("leduc_holdem", "connect_four"):
        env = pgx.make(name)
        step = jax.vmap(auto_reset(env.step, env.init))

        def one(state: Any, key: Any, step: Any = step) -> tuple[Any, Any]:
            choose, go = jax.random.split(key)
            logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
            action = jax.random.categorical(choose, logits, axis=1)
            state = step(state, action, jax.random.split(go, batch))
            return state, (state.observation.sum(), state.legal_action_mask.sum())

        run = jax.jit(lambda state, key, one=one: jax.lax.scan(one, state, jax.random.split(key, steps)))
        box = [jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), batch)), jax.random.PRNGKey(1)]

        def play(run: Any = run, box: list[Any] = box) -> int:
            box[1], key = jax.random.split(box[1])
            box[0], sums = run(box[0], key)
            jax.block_until_ready(sums)
            return batch * steps

        yield {"game": f"{name}, batch {batch}, compiled loop", "what": "with observation and mask", "rate": rate(play)}


# --- RLCard ----------------------------------------------------------------------------------------------------------


def rlcard() -> Iterator[Row]:
    import rlcard

    rng = random.Random(1)
    for name in ("leduc-holdem", "uno", "doudizhu"):
        env = rlcard.make(name, config={"seed": 1})

        def bare(env: Any = env) -> int:
            state, _ = env.game.init_game()
            decisions = 0
            while not env.game.is_over():
                state, _ = env.game.step(rng.choice(state.get("legal_actions") or state["actions"]))
                decisions += 1
            return decisions

        def whole(env: Any = env) -> int:
            state, _ = env.reset()
            decisions = 0
            while not env.is_over():
                state, _ = env.step(rng.choice(list(state["legal_actions"])))
                decisions += 1
            return decisions

        yield {"game": name, "what": "engine only", "rate": rate(bare)}
        yield {"game": name, "what": "with observation and mask", "rate": rate(whole)}


# --- PettingZoo ------------------------------------------------------------------------------------------------------


def play_aec(env: Any, rng: random.Random) -> Callable[[], int]:
    def play() -> int:
        env.reset()
        decisions = 0
        while env.agents:
            observation, _, termination, truncation, info = env.last()
            if termination or truncation:
                env.step(None)
                continue
            mask = observation["action_mask"] if "action_mask" in observation else info["action_mask"]
            env.step(int(rng.choice(mask.nonzero()[0])))
            decisions += 1
        return decisions

    return play


def pettingzoo_classic() -> Iterator[Row]:
    import importlib

    for name in ("tictactoe_v3", "leduc_holdem_v4", "connect_four_v3"):
        module = importlib.import_module(f"pettingzoo.classic.{name}")
        for what, make in (("raw", module.raw_env), ("with its wrappers", module.env)):
            yield {"game": name, "what": f"AEC {what}", "rate": rate(play_aec(make(), random.Random(1)))}


def empty_aec() -> Iterator[Row]:
    """What the interface itself costs: a game without rules, 100 decisions long."""
    import numpy as np
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers

    class Empty(AECEnv):  # type: ignore[misc]
        metadata = {"name": "empty", "render_modes": []}  # noqa: RUF012 - PettingZoo declares it so
        possible_agents = ["a", "b"]  # noqa: RUF012
        render_mode = None

        def observation_space(self, agent: str) -> Any:
            return _SEEN

        def action_space(self, agent: str) -> Any:
            return _SPACE

        def observe(self, agent: str) -> Any:
            return {"observation": _OBSERVATION.copy(), "action_mask": _MASK.copy()}

        def reset(self, seed: int | None = None, options: Any = None) -> None:
            self.agents = self.possible_agents[:]
            self.rewards = self._cumulative_rewards = dict.fromkeys(self.agents, 0)
            self.terminations = self.truncations = dict.fromkeys(self.agents, False)
            self.infos = {agent: {} for agent in self.agents}
            self.agent_selection = self.agents[0]

        def step(self, action: Any) -> None:
            self.agent_selection = "b" if self.agent_selection == "a" else "a"

    _SPACE = spaces.Discrete(4)
    _SEEN = spaces.Dict(observation=spaces.Box(0, 1, (262,), np.int8), action_mask=spaces.Box(0, 1, (4,), np.int8))
    _OBSERVATION, _MASK = np.zeros(262, np.int8), np.ones(4, np.int8)

    def play(env: Any) -> int:
        env.reset()
        for _ in range(500):
            env.last()
            env.step(1)
        return 500

    raw = Empty()
    wrapped: Any = wrappers.TerminateIllegalWrapper(Empty(), illegal_reward=-1)
    wrapped = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))
    yield {"game": "an empty game", "what": "AEC raw", "rate": rate(lambda: play(raw))}
    yield {"game": "an empty game", "what": "AEC with the three wrappers", "rate": rate(lambda: play(wrapped))}


# --- MaskablePPO -----------------------------------------------------------------------------------------------------


def maskable_ppo() -> Iterator[Row]:
    """sb3-contrib's MaskablePPO on connect_four, wrapped as PettingZoo's tutorial does; sizes of configs/quick.yaml."""
    import gymnasium
    import torch
    from pettingzoo.classic import connect_four_v3
    from pettingzoo.utils import BaseWrapper
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from sb3_contrib.common.wrappers import ActionMasker

    torch.set_num_threads(1)

    class OneAgent(BaseWrapper, gymnasium.Env):  # type: ignore[misc]
        def reset(self, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed, options)
            self.observation_space = super().observation_space(self.possible_agents[0])["observation"]
            self.action_space = super().action_space(self.possible_agents[0])
            return self.observe(self.agent_selection), {}

        def step(self, action: Any) -> Any:
            super().step(action)
            return super().last()

        def observe(self, agent: str) -> Any:
            return super().observe(agent)["observation"]

        def action_mask(self) -> Any:
            return super().observe(self.agent_selection)["action_mask"]

    env = OneAgent(connect_four_v3.env())
    env.reset(seed=1)
    rollout = 4096
    learner = MaskablePPO(
        MaskableActorCriticPolicy, ActionMasker(env, lambda e: e.action_mask()), n_steps=rollout, batch_size=2048,
        n_epochs=3, seed=1, device="cpu", policy_kwargs=dict(net_arch=[256, 256]),
    )  # fmt: skip

    def play() -> int:
        learner.learn(rollout, reset_num_timesteps=True)
        return rollout

    yield {"game": "connect_four_v3, one environment", "what": "learned decisions", "rate": rate(play)}


PEERS: dict[str, tuple[str | None, Callable[[], Iterator[Row]]]] = {
    "OpenSpiel": ("open_spiel", open_spiel),
    "pgx": ("pgx", pgx),
    "RLCard": ("rlcard", rlcard),
    "PettingZoo classic": ("pettingzoo", pettingzoo_classic),
    "PettingZoo": ("pettingzoo", empty_aec),
    "MaskablePPO, sb3-contrib": ("sb3_contrib", maskable_ppo),
}
"""System → the distribution that it comes from, and its measurements."""


def measure(name: str) -> list[Row]:
    """All rows of one system; what fails says why in ``missing``."""
    from importlib.metadata import PackageNotFoundError, version

    distribution, measurements = PEERS[name]
    rows: list[Row] = []
    try:
        label = f"{name} {version(distribution)}"
        for row in measurements():
            rows.append({"system": label, **row})
    except PackageNotFoundError:
        rows.append({"system": name, "game": "", "what": "", "missing": "not installed"})
    except Exception as error:  # whatever a peer does, the others are still measured
        rows.append({"system": name, "game": "", "what": "", "missing": f"{type(error).__name__}: {error}"[:200]})
    return rows


def main() -> None:
    json.dump([row for name in sys.argv[1:] or PEERS for row in measure(name)], sys.stdout, indent=1)


if __name__ == "__main__":
    main()
