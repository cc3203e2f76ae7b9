"""Each seat's own decisions, cut out of many games: nothing lost, nothing mixed, advantages as SeatBuffer has them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")

from idiot_agents.compiled import CompiledAgent
from idiot_env.engine import SEATS
from idiot_env.seats import UniformPlay
from idiot_train.all_seats import TeachingSeats, seat_advantages
from idiot_train.trajectories import Trajectories, Trajectory

GAMES, STEPS = 12, 200


class Played:
    """Games of several rollouts among greedy agents, some of them cut off, kept as they were."""

    def __init__(self, rollouts: int, players: int = 4) -> None:
        seats = TeachingSeats(GAMES, [UniformPlay()], players=players, max_decisions=120)
        seats.reset(3)
        streams = np.arange(GAMES, dtype=np.int64)
        collected, greedy = Trajectories(GAMES), CompiledAgent("greedy")
        self.cuts: list[list[Trajectory]] = []
        self.acted, self.done, self.final, self.actions = [], [], [], []
        for _ in range(rollouts):
            for _ in range(STEPS):
                actions = greedy.act_batch(seats.observation, seats.mask, streams)
                number = np.full((GAMES, 1), len(self.actions), np.int64)  # an observation that says when it was made
                seats.step(actions)
                log_probability = np.full(GAMES, -len(self.actions), np.float32)
                collected.add(seats.acted, number, actions, log_probability, seats.done, seats.final)
                self.acted.append(seats.acted.copy())
                self.done.append(seats.done.copy())
                self.final.append(seats.final.copy())
                self.actions.append(actions)
            self.cuts.append(collected.cut())
        self.next_seat = seats.batch.seat.astype(np.int64)


def discounted(values: np.ndarray, found: Trajectory, gamma: float, gae_lambda: float) -> np.ndarray:
    """Advantages ``[T]`` of a trajectory by the textbook."""
    rewards = found.reward.astype(np.float64)
    after = np.append(values[1:-1], 0.0 if found.ended else values[-1])
    deltas = rewards + gamma * after - values[:-1]
    out, running = np.zeros(len(deltas)), 0.0
    for t in range(len(deltas) - 1, -1, -1):
        running = deltas[t] + gamma * gae_lambda * running
        out[t] = running
    return out


def test_every_decision_is_in_one_trajectory_but_the_last_of_each_seat_in_play() -> None:
    played = Played(rollouts=1)
    (found,) = played.cuts
    total = sum(len(trajectory.action) for trajectory in found)
    game = np.arange(GAMES)
    open_seats = set()
    for t in range(STEPS):
        open_seats |= set(zip(game.tolist(), played.acted[t].tolist()))
        for row in np.flatnonzero(played.done[t]):
            open_seats -= {(int(game[row]), seat) for seat in range(SEATS)}
            game[row] += GAMES  # any number that was not there yet
    assert total == GAMES * STEPS - len(open_seats)
    assert sum(t.ended for t in found) > 20
    assert all(len(t.observation) == len(t.action) + 1 == len(t.log_probability) + 1 for t in found)


def test_rewards_are_the_games() -> None:
    found = Played(rollouts=3).cuts
    final: dict[int, list[float]] = {}
    for trajectory in (one for cut in found for one in cut):
        assert not trajectory.reward[:-1].any()
        if trajectory.ended:
            final.setdefault(trajectory.game, []).append(float(trajectory.reward[-1]))
        else:
            assert trajectory.reward[-1] == 0
    finished = [rewards for rewards in final.values() if len(rewards) == 4]
    assert len(finished) > 5
    assert all(abs(sum(rewards)) < 1e-6 for rewards in finished)
    assert any(min(rewards) == -1 for rewards in finished)
    assert any(not any(rewards) for rewards in finished)  # cut off by the limit


def test_a_seat_goes_on_where_it_was_cut() -> None:
    """A seat's decisions come once each and in order, and what ends a trajectory in play begins the next one."""
    seen: dict[tuple[int, int], list[int]] = {}
    for cut in Played(rollouts=3).cuts:
        for trajectory in cut:
            times = (-trajectory.log_probability).astype(int).tolist()
            before = seen.setdefault((trajectory.game, trajectory.seat), [])
            assert trajectory.observation[:-1, 0].tolist() == times
            if before:
                assert before[-1] == times[0]
                before.pop()
            before += times
            if not trajectory.ended:
                before.append(int(trajectory.observation[-1, 0]))
    assert all(times == sorted(set(times)) for times in seen.values())


def test_advantages_are_those_of_the_seat_buffer() -> None:
    played = Played(rollouts=1)
    values = np.random.default_rng(5).normal(size=(STEPS, GAMES)).astype(np.float32)
    advantages, taught = np.zeros_like(values), np.zeros(values.shape, np.bool_)
    gamma, gae_lambda = 0.99, 0.9
    # The buffer also knows the value of the decision that is to come next; here no trajectory does.
    nobody = np.full(GAMES, SEATS - 1, np.int64)
    assert not any((acted == SEATS - 1).any() for acted in played.acted)
    seat_advantages(
        np.array(played.acted), np.array(played.done), np.array(played.final), values, nobody,
        np.zeros(GAMES, np.float32), gamma, gae_lambda, advantages, taught,
    )  # fmt: skip
    game = np.tile(np.arange(GAMES), (STEPS, 1))
    begun = GAMES
    for t in range(STEPS):
        for row in np.flatnonzero(played.done[t]):
            game[t + 1 :, row] = begun
            begun += 1
    rows = {int(game[t, row]): row for t in range(STEPS) for row in range(GAMES)}
    compared = 0
    for found in played.cuts[0]:
        row = rows[found.game]
        times = (-found.log_probability).astype(int)
        following = int(found.observation[-1, 0])
        mine = discounted(values[np.append(times, following), row].astype(np.float64), found, gamma, gae_lambda)
        assert taught[times, row].all()
        np.testing.assert_allclose(advantages[times, row], mine, atol=1e-4)
        compared += len(times)
    assert compared == taught.sum() > 500
