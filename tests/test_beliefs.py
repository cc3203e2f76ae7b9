"""Worlds that are drawn by a belief: rightly distributed, public as before; and a belief that is rightly learned."""

from __future__ import annotations

import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from idiot_agents.beliefs import UNIFORM, choose_cards, draw_hidden_at
from idiot_agents.errors import InputError
from idiot_agents.network import Encoder, Network, expected_shapes, load_model, save_model
from idiot_agents.neural import NeuralAgent
from idiot_agents.registry import make_agent
from idiot_agents.tournament import describe_agent
from idiot_agents.worlds import write_world_at
from idiot_env import Game
from idiot_env import actions as A
from idiot_env.cards import ACE, N_RANKS, TEN, TWO
from idiot_env.engine import STATE, SWAPPING
from idiot_env.observation import LAYOUT, OPPONENTS, gather_hidden, observe
from tests.moments import moments


def network(players: int = 5, seed: int = 0, belief: bool = True) -> Network:
    encoder, rng = Encoder.make(players, True), np.random.default_rng(seed)
    shapes = expected_shapes(encoder, [16], belief)
    return Network(encoder, {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()})


def world_of(game: Game, seat: int) -> np.ndarray:
    world = np.zeros(1, STATE)
    write_world_at(game.view(seat).observation, world, 0)
    return world


# --- worlds ----------------------------------------------------------------------------------------------------------


def test_sets_of_cards_are_drawn_in_proportion_to_their_odds() -> None:
    odds = np.ones(N_RANKS)
    odds[0], odds[1], odds[2] = 0.5, 3.0, 1.25
    cards = np.array([0, 1, 4, 8, 9, 5], np.int8)
    sets = list(itertools.combinations(sorted(cards.tolist()), 2))
    weights = np.array([math.prod(odds[card >> 2] for card in chosen) for chosen in sets])
    draws, counted = 40_000, dict.fromkeys(sets, 0)
    for state in range(draws):
        pool = cards.copy()
        choose_cards(pool, 0, 6, 2, odds, np.int64(state * 7919))
        assert sorted(pool) == sorted(cards)
        counted[tuple(sorted(pool[:2].tolist()))] += 1
    wanted = weights / weights.sum()
    assert np.array(list(counted.values())) / draws == pytest.approx(wanted, abs=5 * np.sqrt(0.25 / draws))


def test_a_believed_world_keeps_all_that_is_public() -> None:
    rng = np.random.default_rng(3)
    changed = 0
    for game in moments(rng, 30, 0.05):
        if game.over:
            continue
        for seat in range(game.players):
            root = world_of(game, seat)
            world, odds = root.copy(), np.exp(rng.normal(0, 2, (OPPONENTS, N_RANKS)))
            draw_hidden_at(world, 0, odds, np.int64(rng.integers(2**62)))
            assert (observe(world, 0) == observe(root, 0)).all()
            pools = np.zeros((2, 54), np.int8)
            counts = [gather_hidden(state[0], 0, pool) for state, pool in zip((root, world), pools, strict=True)]
            assert counts[0] == counts[1]
            assert sorted(pools[0]) == sorted(pools[1])
            changed += int((world != root).any())
    assert changed > 300


def shares_in_hands(root: np.ndarray, odds: np.ndarray, draws: int = 20_000) -> np.ndarray:
    """How often each rank is among the hidden cards of each opponent's hand, cards ``[opponents, N_RANKS]``."""
    found, worlds = np.zeros((OPPONENTS, N_RANKS)), np.repeat(root, draws)
    for i in range(draws):
        draw_hidden_at(worlds, i, odds, np.int64(i * 104729))
    hidden = worlds["hand"] & ~worlds["known"]
    for rank in range(N_RANKS):
        for suit in range(4):
            found[:, rank] += ((hidden[:, 1:] >> (4 * rank + suit)) & 1).sum(axis=0)
    return found / draws


def test_even_odds_are_no_belief() -> None:
    root = world_of(Game("standard", 4, seed=5), 2)
    even, none = shares_in_hands(root, np.ones((OPPONENTS, N_RANKS))), shares_in_hands(root, UNIFORM)
    assert none.sum() == pytest.approx(9)
    assert even == pytest.approx(none, abs=0.02)


def test_a_belief_puts_cards_where_it_believes_them() -> None:
    root = world_of(Game("standard", 3, seed=8), 0)
    unseen = observe(root, 0)[LAYOUT["unseen"].slice]
    odds = np.ones((OPPONENTS, N_RANKS))
    odds[0, TEN], odds[1, ACE], odds[:, TWO] = 3000, 3000, 1 / 3000
    found = shares_in_hands(root, odds, 2000)
    assert min(unseen[TEN], unseen[ACE], unseen[TWO]) > 0
    assert found[0, TEN] == pytest.approx(min(3, unseen[TEN]), abs=0.1)
    assert found[1, ACE] == pytest.approx(min(3, unseen[ACE]), abs=0.1)
    assert found[:, TWO].max() < 0.05
    assert found.sum(axis=1)[:2] == pytest.approx(3)


# --- models with a belief --------------------------------------------------------------------------------------------


def test_a_belief_is_saved_with_its_model(tmp_path: Path) -> None:
    with_one, without = network(3, 1), network(3, 1, belief=False)
    save_model(tmp_path / "with", with_one, {"rules": "standard"})
    save_model(tmp_path / "without", without, json.loads((tmp_path / "with/model.json").read_text()))
    for folder, own in (("with", with_one), ("without", without)):
        again, card = load_model(tmp_path / folder)
        assert card["architecture"]["belief"] == own.has_belief == again.has_belief
        assert ("belief_sha256" in card) == own.has_belief
        hidden = again.hidden(np.stack([Game("standard", 3, seed=seed).view(0).observation for seed in range(4)]))
        odds = again.odds(hidden)
        assert odds.shape == ((4, 2, N_RANKS) if own.has_belief else (4, 0, N_RANKS))
        assert (odds == own.odds(hidden)).all()
        assert (odds > 0).all()
    (tmp_path / "with/model.json").write_text((tmp_path / "without/model.json").read_text())
    with pytest.raises(InputError, match=r"tensor belief\.bias has shape \(28,\), expected None"):
        load_model(tmp_path / "with")


def test_who_searches_is_another_with_another_belief(tmp_path: Path) -> None:
    """And who does not is the same, so that results of it still hold."""
    first = network(3, 1)
    other = first.with_belief(first.tensors["belief.weight"] + 1, first.tensors["belief.bias"])
    described = []
    for number, one in enumerate((first, other)):
        save_model(tmp_path / str(number), one, {"rules": "standard"})
        described.append(
            [describe_agent(make_agent(f"{kind}:{tmp_path / str(number)}")) for kind in ("ppo", "ppo+search")]
        )
    hashes = [
        [{key: agent.get(key) for key in ("weights_sha256", "belief_sha256")} for agent in pair] for pair in described
    ]
    assert hashes[0][0] == hashes[1][0]
    assert hashes[0][0]["belief_sha256"] is None
    assert hashes[0][1]["weights_sha256"] == hashes[1][1]["weights_sha256"] == hashes[0][0]["weights_sha256"]
    assert hashes[0][1]["belief_sha256"] != hashes[1][1]["belief_sha256"]


def test_search_thinks_in_worlds_of_its_belief(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from idiot_agents import guided

    net = network(2, 4)
    bias = np.full(N_RANKS, -8, np.float32)
    bias[[TEN, ACE]] = 8
    sure = net.with_belief(np.zeros_like(net.tensors["belief.weight"]), bias)
    save_model(tmp_path / "m", sure, {"rules": "standard"})
    seen: list[np.ndarray] = []

    def recorded(states: np.ndarray, *_: object) -> np.ndarray:
        seen.append(states.copy())
        return np.zeros(len(states))

    monkeypatch.setattr(guided, "evaluate", recorded)
    agent = make_agent(f"ppo+search:{tmp_path / 'm'},4")
    game = Game("standard", 2, seed=1)
    while game.states[0]["phase"] == SWAPPING:
        game.apply(A.DONE)
    agent.act(game.view(game.turn))
    worlds = np.concatenate(seen)
    hands = worlds["hand"][:, 1] & ~worlds["known"][:, 1]
    strong = np.int64((15 << 4 * TEN) | (15 << 4 * ACE))
    assert len(hands) >= 8
    unseen = game.view(game.turn).observation[LAYOUT["unseen"].slice]
    assert unseen[TEN] + unseen[ACE] >= 3
    assert (hands & ~strong == 0).mean() > 0.9, "but for a card that it may have drawn"


# --- learning --------------------------------------------------------------------------------------------------------


torch = pytest.importorskip("torch")

from idiot_train import beliefs as module  # noqa: E402
from idiot_train.beliefs import by_sizes, main, report, surprise, teach_belief, watch  # noqa: E402
from idiot_train.config import make_config  # noqa: E402
from idiot_train.curve import model_facts  # noqa: E402

TABLES = dict(name="b", rules=["standard", "norsk"], players=[2, 3], decisions=1, widths=[16], max_decisions=300)


def test_surprise_is_that_of_each_card(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 1, (3, 2, N_RANKS)).astype(np.float32)
    held = rng.integers(0, 2, (3, 2, N_RANKS)).astype(np.float32)
    held[1, 0] = 0  # the first opponent's hand holds no hidden card
    unseen = held.sum(axis=1) + rng.integers(0, 2, (3, N_RANKS))
    expected = np.zeros(3)
    for k in range(3):
        possible = [o for o in range(2) if held[k, o].sum() > 0]
        for rank in range(N_RANKS):
            odds = {o: math.exp(logits[k, o, rank]) for o in possible}
            total = 1 + sum(odds.values())
            nowhere = unseen[k, rank] - held[k, :, rank].sum()
            expected[k] -= nowhere * math.log(1 / total)
            expected[k] -= sum(held[k, o, rank] * math.log(odds[o] / total) for o in possible)
    found = surprise(*(torch.from_numpy(x.astype(np.float32)) for x in (logits, unseen, held)))
    assert found.numpy() == pytest.approx(expected, rel=1e-4)


def test_what_was_watched_is_what_lies_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GAMES", 16)
    hands = watch(network(), make_config(TABLES), 600, seed=2)
    assert len(hands.features) == len(hands.unseen) == len(hands.held) >= 600
    assert (hands.held >= 0).all()
    assert (hands.held.sum(axis=1) <= hands.unseen).all()
    assert not hands.held[:, 2:].any(), "at most three players"
    assert hands.held[:, 1].any()


def kept_tens() -> Network:
    """A two-player network that would rather play anything than a ten, and ends soon enough."""
    net = network(3, 3, belief=False)
    net.tensors["policy.weight"][A.PLAY + 4 * TEN : A.PLAY + 4 * TEN + 4] = 0
    net.tensors["policy.bias"][A.PLAY + 4 * TEN : A.PLAY + 4 * TEN + 4] = -8
    return net


def test_a_belief_learns_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in dict(GAMES=128, MINIBATCH=256, LEARNING_RATE=0.02).items():
        monkeypatch.setattr(module, name, value)
    config = make_config(TABLES | dict(rules="standard", players=2))
    untaught = kept_tens()
    taught = [teach_belief(untaught, config, 8000, seed=4) for _ in range(2)]
    for name, tensor in untaught.tensors.items():
        assert (taught[0].tensors[name] == tensor).all(), "the rest stays as it was"
    assert all((taught[0].tensors[name] == taught[1].tensors[name]).all() for name in taught[0].tensors)
    hands = watch(taught[0], config, 4000, seed=5)
    unseen, held = torch.from_numpy(hands.unseen), torch.from_numpy(hands.held)
    plain = by_sizes(unseen, held)
    own = plain + torch.from_numpy(taught[0].odds(hands.features).astype(np.float32)).log()
    known, sizes = surprise(own, unseen, held).mean(), surprise(plain.expand_as(own), unseen, held).mean()
    assert known < sizes - 0.1
    odds = taught[0].odds(hands.features)[:, 0].mean(axis=0)
    assert odds[TEN] > 2 * np.delete(odds[: TWO + 1], TEN).mean()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(module, "GAMES", 16)
    config = make_config(TABLES)
    save_model(tmp_path / "m", network(3, belief=False), model_facts(config, 1))
    save_model(tmp_path / "bare", network(3, belief=False), {})

    def run(*args: object) -> int:
        monkeypatch.setattr(sys, "argv", ["beliefs", *map(str, args)])
        return main()

    assert run(tmp_path / "m") == 2
    assert "has no belief: --out FOLDER gives it one" in capsys.readouterr().err
    assert run(tmp_path / "m", "--out", tmp_path / "new", "--decisions", 300) == 0
    told = capsys.readouterr().out
    assert "nats of surprise a decision" in told
    again, card = load_model(tmp_path / "new")
    assert again.has_belief
    assert card["config"] == config.model_dump()
    assert run(tmp_path / "new", "--decisions", 300) == 0
    assert capsys.readouterr().out == told
    assert report(again, config, 300, seed=2) == told.splitlines()
    for args, message in (
        ((tmp_path / "new", "--out", tmp_path / "new"), "is not empty: name another folder"),
        ((tmp_path / "nowhere",), "is not a model folder"),
        ((tmp_path / "bare", "--out", tmp_path / "x"), "does not say what it was trained on"),
    ):
        assert run(*args) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_training_ends_with_a_belief_and_starts_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from idiot_train.ppo import train

    monkeypatch.setattr(module, "GAMES", 16)
    small = dict(decisions=256, games=8, horizon=16, minibatch=64, evaluations=0, widths=[16], bench=[])
    first, _ = train(make_config(dict(name="one", **small)), tmp_path / "one", quiet=True)
    assert first.network.has_belief
    start = dict(name="two", start=str(tmp_path / "one/model"), **small)
    second, _ = train(make_config(start), tmp_path / "two", quiet=True)
    assert second.network.has_belief
    assert isinstance(second, NeuralAgent)
