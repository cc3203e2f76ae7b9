"""Every seat teaches: advantages follow a seat's own decisions, and only whole knowledge is taught."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")

from idiot_agents.compiled import CompiledAgent
from idiot_env import Game, Rules
from idiot_env.engine import SEATS
from idiot_train.all_seats import TeachingSeats, seat_advantages
from idiot_train.config import make_config
from idiot_train.opponents import Opponents
from idiot_train.ppo import make_learner
from idiot_train.vec_env import LearnerVecEnv

GAMMA, LAMBDA = 0.9, 0.8


def advantages_of_a_chain(values: list[float], rewards: list[float], after: float) -> list[float]:
    """Generalised advantage estimation of one trajectory, written as the double sum of its definition."""
    following = [*values[1:], after]
    deltas = [r + GAMMA * n - v for r, n, v in zip(rewards, following, values, strict=True)]
    return [sum((GAMMA * LAMBDA) ** (k - i) * deltas[k] for k in range(i, len(deltas))) for i in range(len(deltas))]


def run(acted: list[int], done: list[int], final: dict[int, list[float]], values: list[float], last_seat: int) -> tuple:
    steps = len(acted)
    finals = np.zeros((steps, 1, SEATS), np.float32)
    for t, rewards in final.items():
        finals[t, 0, : len(rewards)] = rewards
    advantages, taught = np.zeros((steps, 1), np.float32), np.zeros((steps, 1), np.bool_)
    seat_advantages(
        np.array(acted)[:, None],
        np.isin(np.arange(steps), done)[:, None],
        finals,
        np.array(values, np.float32)[:, None],
        np.array([last_seat]),
        np.array([0.7], np.float32),
        GAMMA,
        LAMBDA,
        advantages,
        taught,
    )
    return advantages[:, 0], taught[:, 0].tolist()


def test_a_burn_repeats_a_seat_and_a_player_drops_out() -> None:
    # Seat 0 burns and acts twice; seat 2 goes out at t=3 and is never seen again; seat 0 ends the game at t=6.
    acted, values = [0, 0, 1, 2, 0, 1, 0], [0.1, 0.2, -0.3, 0.5, 0.4, -0.6, 0.3]
    advantages, taught = run(acted, [6], {6: [0.5, -1.0, 0.5]}, values, last_seat=1)
    assert all(taught)
    for seat, reward in enumerate([0.5, -1.0, 0.5]):
        mine = [t for t, who in enumerate(acted) if who == seat]
        rewards = [0.0] * (len(mine) - 1) + [reward]
        expected = advantages_of_a_chain([values[t] for t in mine], rewards, after=0.0)
        assert advantages[mine] == pytest.approx(expected, abs=1e-6)


def test_a_rollouts_end_cuts_each_seat_at_its_own_last_decision() -> None:
    acted, values = [0, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5]
    advantages, taught = run(acted, [], {}, values, last_seat=1)
    # Seat 1 is to act next with value 0.7; seat 0's next value is unknown, so its last decision only bootstraps.
    assert taught == [True, True, True, True, False]
    assert advantages[[1, 3]] == pytest.approx(advantages_of_a_chain([0.2, 0.4], [0, 0], after=0.7), abs=1e-6)
    assert advantages[[0, 2]] == pytest.approx(advantages_of_a_chain([0.1, 0.3], [0, 0], after=0.5), abs=1e-6)


def test_two_games_in_one_rollout_do_not_touch() -> None:
    acted, values = [0, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5]
    advantages, taught = run(acted, [1], {1: [-1.0, 1.0]}, values, last_seat=0)
    assert taught == [True, True, True, False, True]
    assert advantages[0] == pytest.approx(-1.0 - 0.1, abs=1e-6)
    assert advantages[1] == pytest.approx(1.0 - 0.2, abs=1e-6)


def test_steps_are_the_decisions_of_single_games() -> None:
    """With greedy in seats that do not teach and in those that do, the table plays what single games play."""
    agent = CompiledAgent("greedy")
    for shares in ([1.0, 0.0], [0.4, 0.6]):
        seats = TeachingSeats(6, [agent, agent], shares=shares, rules="familie", players=3)
        seats.reset(3)
        deals = [[int(seed)] for seed in seats.batch.seeds]
        rewards: list[list[np.ndarray]] = [[] for _ in range(6)]
        asked = np.zeros(6, np.int64)
        for _ in range(150):
            waiting = seats.batch.seat.astype(np.int64)
            rows = np.arange(6)
            assert ((seats.opponent[rows, waiting] == 0) | (seats.learner == waiting)).all()
            seats.step(agent.act_batch(seats.observation, seats.mask, np.zeros(6, np.int64)))
            assert (seats.acted == waiting).all()
            asked += 1
            for row in np.flatnonzero(seats.done):
                rewards[row].append(seats.final[row, :3].copy())
                deals[row].append(int(seats.batch.seeds[row]))
        for row in range(6):
            assert len(rewards[row]) >= 1
            for seed, reward in zip(deals[row], rewards[row], strict=False):
                game = Game("familie", 3, seed=seed)
                while game.turn is not None:
                    game.apply(agent.act(game.view(game.turn)))
                assert reward == pytest.approx(game.rewards())


@pytest.mark.parametrize(("rules", "players"), [("standard losers=2", 5), ("standard", 3), ("standard", 2)])
def test_places_are_mixed_into_the_rewards_of_games_that_are_over(rules: str, players: int) -> None:
    """Against places counted from single games on the same deals; a game that was cut off gives what it is told."""
    agent = CompiledAgent("greedy")
    seats = TeachingSeats(
        8, [agent], rules=Rules.parse(rules), players=players, max_decisions=90, place_reward=0.25, cut_off_reward=-0.5
    )
    seats.reset(5)
    dealt = [int(seed) for seed in seats.batch.seeds]
    over = cut = 0
    for _ in range(400):
        seats.step(agent.act_batch(seats.observation, seats.mask, np.zeros(8, np.int64)))
        for row in np.flatnonzero(seats.done):
            game = Game(Rules.parse(rules), players, seed=dealt[row])
            while game.turn is not None and len(game.actions) < 90:
                game.apply(agent.act(game.view(game.turn)))
            expected = np.full(players, -0.5)
            expected[game.out] = 0
            if game.over:
                mean = np.full(players, players - (game.rules.losers - 1) / 2)
                mean[game.out] = np.arange(1, len(game.out) + 1)
                expected = 0.75 * np.array(game.rewards()) + 0.25 * (1 - 2 * (mean - 1) / (players - 1))
                assert expected.sum() == pytest.approx(0, abs=1e-6)
            assert seats.final[row, :players] == pytest.approx(expected, abs=1e-6)
            over += game.over
            cut += not game.over
            dealt[row] = int(seats.batch.seeds[row])
    assert over > 5
    assert cut > 0


def test_the_buffer_yields_taught_decisions_once() -> None:
    config = make_config(
        {
            "name": "t",
            "decisions": 512,
            "games": 16,
            "horizon": 32,
            "minibatch": 100,
            "widths": [8],
            "opponents": {"self": 0.5, "greedy": 0.5},
            "teach": "all_seats",
            "players": 3,
        }
    )
    learner = make_learner(config, Opponents(config))
    env = learner.get_env()
    assert isinstance(env, LearnerVecEnv)
    assert isinstance(env.seats, TeachingSeats)
    _, callback = learner._setup_learn(512)
    learner.collect_rollouts(env, callback, learner.rollout_buffer, 32)
    taught = int(learner.rollout_buffer.taught.sum())
    sizes = [len(batch.advantages) for batch in learner.rollout_buffer.get(100)]
    assert 512 * 0.8 < taught < 512
    assert sizes == [100] * (taught // 100) + ([taught % 100] if taught % 100 >= 50 else [])
