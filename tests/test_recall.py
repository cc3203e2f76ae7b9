"""A network that remembers its answers gives them bit for bit as if it had computed them anew."""

from __future__ import annotations

import numpy as np
import pytest

from idiot_agents import guided
from idiot_agents.guided import make_guided
from idiot_agents.network import Network, masked_softmax
from idiot_agents.neural import NeuralAgent
from idiot_agents.recall import Recall
from idiot_env import Game, Rules
from idiot_env.observation import OBSERVATION_SIZE
from tests.moments import draw, moments, random_rules

MODEL = NeuralAgent.load("generalist")


def positions(players: int, seed: int, limit: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of random games at drawn house rules, many of them twice."""
    rng = np.random.default_rng(seed)
    views = [game.view(game.turn) for game in moments(rng, players, 0.3, limit=limit) if game.turn is not None]
    rows = rng.integers(len(views), size=2 * len(views))
    return np.stack([views[k].observation for k in rows]), np.stack([views[k].action_mask for k in rows])


def plain(observation: np.ndarray, mask: np.ndarray, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    hidden = MODEL.network.hidden(observation)
    return masked_softmax(MODEL.network.logits(hidden, mask), mask, temperature), MODEL.network.values(hidden)


@pytest.mark.parametrize("room", [1, 7, 64, 1 << 15])
@pytest.mark.parametrize("players", [2, 5])
def test_answers_are_those_of_the_network_in_any_room(players: int, room: int) -> None:
    observation, mask = positions(players, room)
    recall = Recall(MODEL.network, 0.25, room)
    whole = plain(observation, mask, 0.25)
    for rows in (slice(0, 90), slice(40, 300), slice(0, 0), slice(0, None)):
        for answer, wanted in zip(recall(observation[rows], mask[rows]), whole, strict=True):
            assert answer.tobytes() == wanted[rows].tobytes()


def test_each_position_is_computed_once() -> None:
    observation, mask = positions(3, 5)
    distinct = len(np.unique(observation, axis=0))
    recall = Recall(MODEL.network, 1.0)
    for _ in range(2):
        recall(observation, mask)
        assert recall.asked == distinct < len(observation)
    assert recall.met == 2 * len(observation)


def test_observations_that_differ_in_one_entry_are_told_apart() -> None:
    game = Game("standard", 2, seed=3)
    view = game.view(game.turn)
    observation = np.repeat(view.observation[None], OBSERVATION_SIZE + 1, axis=0)
    observation[np.arange(OBSERVATION_SIZE), np.arange(OBSERVATION_SIZE)] ^= 1
    mask = np.repeat(view.action_mask[None], len(observation), axis=0)
    recall = Recall(MODEL.network, 1.0)
    answers, wanted = recall(observation, mask), plain(observation, mask, 1.0)
    assert recall.asked == len(observation)
    assert all(answer.tobytes() == want.tobytes() for answer, want in zip(answers, wanted, strict=True))


def test_observations_in_one_bucket_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from idiot_agents import recall as module

    observation, mask = positions(2, 8)
    monkeypatch.setattr(module, "_FACTORS", np.zeros(OBSERVATION_SIZE, np.int64))
    recall = Recall(MODEL.network, 0.5)
    for answer, wanted in zip(recall(observation, mask), plain(observation, mask, 0.5), strict=True):
        assert answer.tobytes() == wanted.tobytes()
    assert recall.asked == len(np.unique(observation, axis=0))


def test_an_interrupt_leaves_no_position_without_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    observation, mask = positions(2, 9)
    recall, wanted = Recall(MODEL.network, 0.25), plain(observation, mask, 0.25)
    recall(observation[:50], mask[:50])
    for interrupted in ("hidden", "logits", "values"):
        with monkeypatch.context() as patch:

            def interrupt(*_: object) -> None:
                raise KeyboardInterrupt

            patch.setattr(Network, interrupted, interrupt)
            with pytest.raises(KeyboardInterrupt):
                recall(observation, mask)
        for answer, want in zip(recall(observation[:99], mask[:99]), wanted, strict=True):
            assert answer.tobytes() == want[:99].tobytes()


@pytest.mark.parametrize("players", [2, 3, 5])
def test_the_mask_follows_from_the_observation(players: int) -> None:
    """Which is why an answer may be looked up by the observation alone."""
    rng = np.random.default_rng(players)
    tables = [Rules(), Rules.preset("familie"), *(random_rules(rng, players) for _ in range(20))]
    masks: dict[bytes, bytes] = {}
    again = 0
    for number in range(20 * len(tables)):
        game = Game(tables[number % len(tables)], players, seed=number % 2)
        while not game.over and len(game.actions) < 300:
            view = game.view(game.turn)
            key = view.observation.tobytes()
            again += key in masks
            assert masks.setdefault(key, view.action_mask.tobytes()) == view.action_mask.tobytes()
            game.apply(draw(rng, game.mask))
    assert again > 100


def test_a_search_chooses_the_same_whatever_it_remembers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that thought about other positions before, one that forgets at once, and a new one."""
    old = make_guided("ppo+search:generalist,4")
    monkeypatch.setattr(guided, "Recall", lambda network, temperature: Recall(network, temperature, room=4096))
    forgetful = make_guided("ppo+search:generalist,4")
    rows = np.arange(1, dtype=np.int64)
    for game in moments(np.random.default_rng(3), 2, 0.1, limit=60):
        if game.turn is not None:
            view = game.view(game.turn)
            chosen = {
                int(agent.act_batch(view.observation[None], view.action_mask[None], rows.copy())[0])
                for agent in (old, forgetful, make_guided("ppo+search:generalist,4"))
            }
            assert len(chosen) == 1
