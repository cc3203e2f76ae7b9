"""Control variates: unbiased whatever the network says, by simulation and on real games; shorter where it knows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from idiot_agents.arena import deal_seeds, focal_lineups, play_batched, play_games, scores
from idiot_agents.compiled import CompiledAgent
from idiot_agents.intervals import estimate
from idiot_agents.luck import FEWEST_DEALS, Luck, controlled, corrected, fitted, shuffle_unseen
from idiot_agents.network import Encoder, Network, expected_shapes, save_model
from idiot_agents.result_files import read_json
from idiot_env import Game, Rules
from idiot_env.engine import STATE
from idiot_env.observation import observe
from idiot_train.cli import main

HOUSE = "sjanse jokers=2 runs=yes stack=yes"


def some_network(players: int, seed: int = 0) -> Network:
    """Weights drawn at random: a network that knows nothing, and says it with conviction."""
    rng = np.random.default_rng(seed)
    shapes = expected_shapes(Encoder.make(players, True), [16])
    tensors = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    return Network(Encoder.make(players, True), tensors)


def card_counter(players: int) -> Network:
    """Values of one idea: twos, tens and aces in hand and face-up are good, every card is bad."""
    encoder = Encoder.make(players, True)
    tensors = {name: np.zeros(shape, np.float32) for name, shape in expected_shapes(encoder, [16]).items()}
    ranks = np.array([-1] * 7 + [2] + [-1, -1, -1, 1, 2, 2]) * 0.02  # 3 … 9, T, J, Q, K, A, 2, joker
    for column, (entry, threshold) in enumerate(zip(encoder.index, encoder.threshold, strict=True)):
        if entry < 28 and threshold > 0:  # hand and face-up, one input for each copy
            tensors["trunk.0.weight"][0, column] = ranks[entry % 14]
    tensors["trunk.0.bias"][0] = 1.0
    tensors["value.weight"][0, 0] = 1.0
    tensors["value.bias"][0] = -1.0
    return Network(encoder, tensors)


def test_games_are_the_same_with_luck_measured() -> None:
    table, seeds = Rules.parse(HOUSE), np.repeat(deal_seeds(Rules.parse(HOUSE), 3, 8, 1), 3)
    agents, seats = [CompiledAgent("random"), CompiledAgent("careful")], focal_lineups(0, 1, 3, 8)
    plain = play_games(agents, seats, seeds, table, 400)
    measured = play_games(agents, seats, seeds, table, 400, luck=Luck(some_network(3)))
    assert (plain.place == measured.place).all()
    assert (plain.decisions == measured.decisions).all()
    assert not plain.luck.any()
    assert (measured.luck != 0).mean() > 0.9
    alone = play_batched(agents, seats[:1], seeds[:1], table, 400, luck=Luck(some_network(3)))
    assert alone.luck[0] == pytest.approx(measured.luck[0], abs=1e-5)


def test_shuffling_moves_only_what_nobody_has_seen() -> None:
    rng = np.random.default_rng(4)
    game = Game("sjanse", 3, seed=5)
    for _ in range(60):
        game.apply(str(rng.choice(game.legal())))
    before = game.states
    after = before.copy()
    shuffle_unseen(after[0], np.int64(7))
    assert all((observe(before, seat) == observe(after, seat)).all() for seat in range(3))
    assert (before["hand"] == after["hand"]).all()
    assert (before["stock"] != after["stock"]).any()
    hidden = [np.sort(np.concatenate([s["stock"][0], s["down"][0].ravel()])) for s in (before, after)]
    assert (hidden[0] == hidden[1]).all()
    assert after.dtype == STATE


@pytest.mark.parametrize(("rules", "players"), [("standard", 2), (HOUSE, 3)])
@pytest.mark.parametrize("network", [some_network, card_counter])
def test_luck_is_nothing_on_average(rules: str, players: int, network: object) -> None:
    """On real games, for a network that knows nothing and for one that knows something."""
    table, deals = Rules.parse(rules), 250
    seeds = deal_seeds(table, players, deals, 9)
    luck = Luck(network(players))  # type: ignore[operator]
    agents, seats = [CompiledAgent("careful"), CompiledAgent("greedy")], focal_lineups(0, 1, players, deals)
    games = play_games(agents, seats, np.repeat(seeds, players), table, luck=luck)
    own = seats == 0
    columns = [(games.luck * there).reshape(deals, -1).sum(axis=1) for there in (own, ~own)]
    columns += list(luck.of_deals(seeds, table, players).T)
    for column in columns:
        assert column.std() > 0
        assert abs(column.mean()) < 3.5 * column.std() / np.sqrt(deals)


def test_the_lucky_one_wins_and_the_score_stays() -> None:
    """Careful against greedy: luck goes with the results of games, and taking it away moves the score by little."""
    deals, luck = 400, Luck(card_counter(2))
    seeds = deal_seeds(Rules(), 2, deals, 2)
    agents, seats = [CompiledAgent("careful"), CompiledAgent("greedy")], focal_lineups(0, 1, 2, deals)
    games = play_games(agents, seats, np.repeat(seeds, 2), Rules(), luck=luck)
    own = seats == 0
    per_deal = (scores(games) * own).reshape(deals, -1).sum(axis=1) / 2
    cards = np.column_stack([(games.luck * there).reshape(deals, -1).sum(axis=1) for there in (own, ~own)])
    plain, found = estimate(per_deal), controlled(per_deal, cards)
    by_game = [((games.luck * own) - (games.luck * ~own)).sum(axis=1), (scores(games) * own).sum(axis=1)]
    assert np.corrcoef(by_game)[0, 1] > 0.2
    assert (fitted(per_deal, cards) * [1, -1] > 0).all()
    assert abs(found.mean - plain.mean) < (plain.high - plain.low) / 4


def simulated(rng: np.random.Generator, deals: int, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores 0, ½, 1 with mean 0.6, and two lucks of mean 0 of which the first moves them."""
    luck = rng.normal(0, 1, (deals, 2))
    chance = 0.6 + strength * np.clip(luck[:, 0], -1, 1)
    return rng.binomial(2, chance) / 2, luck


@pytest.mark.parametrize("strength", [0.0, 0.35])
def test_unbiased_and_covering_by_simulation(strength: float) -> None:
    rng = np.random.default_rng(int(100 * strength))
    trials, deals, means, hits, lengths = 600, 60, [], 0, []
    for trial in range(trials):
        per_deal, luck = simulated(rng, deals, strength)
        found, plain = controlled(per_deal, luck, seed=trial), estimate(per_deal, seed=trial, draws=500)
        means.append(found.mean)
        hits += found.low <= 0.6 <= found.high
        lengths.append((found.high - found.low) / (plain.high - plain.low))
    assert abs(np.mean(means) - 0.6) < 3.5 * np.std(means) / np.sqrt(trials)
    assert 0.92 <= hits / trials <= 0.98
    assert np.mean(lengths) < 0.85 if strength else np.mean(lengths) < 1.08


def test_a_fit_on_the_same_deals_would_be_too_sure() -> None:
    """What the two halves are for: with many useless columns, one's own fit explains chance away."""
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(50):
        per_deal, luck = rng.normal(0.5, 0.1, 60), rng.normal(0, 1, (60, 20))
        own = per_deal - luck @ fitted(per_deal, luck)
        ratios.append((own.std() / 0.1, corrected(per_deal, luck).std() / 0.1))
    selfish, honest = np.mean(ratios, axis=0)
    assert selfish < 0.9
    assert honest > 1.0


def test_rare_events_keep_the_exact_interval() -> None:
    per_deal = np.zeros(100)
    per_deal[:3] = 0.5
    assert controlled(per_deal, np.random.default_rng(1).normal(0, 1, (100, 2))) == estimate(per_deal)
    with pytest.raises(ValueError, match="too few"):
        controlled(per_deal[: FEWEST_DEALS - 1], np.zeros((FEWEST_DEALS - 1, 2)))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, path = tmp_path / "model", tmp_path / "r.json"
    save_model(model, some_network(2), {"rules": "standard"})
    command = ["bench", "greedy", "careful", "random", "--deals", "50", "--control-variate", f"ppo:{model}", "--quiet"]
    assert main([*command, "--json", str(path), "--html", str(tmp_path / "r.html")]) == 0
    assert "score without the luck" in capsys.readouterr().out
    assert "Without the luck" in (tmp_path / "r.html").read_text()
    result = read_json(path)
    assert (
        result["control_variate"]["weights_sha256"] == json.loads((model / "model.json").read_text())["weights_sha256"]
    )
    first, second = result["matches"][0], result["matches"][1]
    assert first["controlled"]["low"] < first["score"]["mean"] < first["controlled"]["high"]
    assert second["controlled"]["length"] == 1  # greedy against random: events are rare
    assert main(["bench", "--reproduce", str(path), "--quiet", "--jobs", "2"]) == 0
    save_model(model, some_network(2, seed=1), {"rules": "standard"})
    assert main(["bench", "--reproduce", str(path), "--quiet"]) == 2
    assert "weights_sha256 was" in capsys.readouterr().err


def test_bad_control_variates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model"
    save_model(model, some_network(2), {})
    spec = f"ppo:{model}"
    for words, says in (
        (["greedy", "careful", "--control-variate", "greedy"], "'greedy' has no value network"),
        (["greedy", "cheater", "--control-variate", spec], "honest agents only"),
        (["greedy", "careful", "--control-variate", spec, "--deals", "39"], "39 deals"),
        (["greedy", "careful", "--control-variate", spec, "--players", "3"], "at most 2 players"),
    ):
        assert main(["bench", *words]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert says in error
