"""A trained network plays the same without torch, and a broken model folder is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from idiot_agents.errors import InputError
from idiot_agents.network import Encoder, Network, expected_shapes, load_model, masked_softmax, save_model
from idiot_agents.neural import NeuralAgent
from idiot_agents.registry import make_agent
from idiot_env import Game, Rules, View
from idiot_env.actions import N_ACTIONS
from idiot_env.observation import LAYOUT, OBSERVATION_SIZE, upper_bounds


def random_network(players: int = 2, rules: bool = False, widths: tuple[int, ...] = (16, 8), seed: int = 1) -> Network:
    encoder = Encoder.make(players, rules)
    rng = np.random.default_rng(seed)
    shapes = expected_shapes(encoder, list(widths))
    return Network(encoder, {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()})


def views(players: int, n: int, seed: int = 3, rules: str = "sjanse") -> list[View]:
    """Views of seats to act, from random play."""
    rng = np.random.default_rng(seed)
    found: list[View] = []
    while len(found) < n:
        game = Game(rules, players, seed=int(rng.integers(1 << 40)), max_decisions=150)
        while game.turn is not None and len(found) < n:
            if rng.random() < 0.3:
                found.append(game.view(game.turn))
            game.apply(int(rng.choice(np.flatnonzero(game.mask))))
    return found


@pytest.mark.parametrize(("players", "rules"), [(2, False), (3, True), (5, True)])
def test_numpy_equals_torch(players: int, rules: bool) -> None:
    torch = pytest.importorskip("torch")
    gymnasium = pytest.importorskip("gymnasium")
    from idiot_train.policy import IdiotPolicy

    torch.manual_seed(players)
    policy = IdiotPolicy(
        gymnasium.spaces.Box(0, upper_bounds(), (OBSERVATION_SIZE,), np.int8),
        gymnasium.spaces.Discrete(N_ACTIONS),
        lambda _: 1e-3,
        widths=[32, 24],
        encoder=Encoder.make(players, rules),
    )
    with torch.no_grad():  # the default start leaves the heads nearly zero: any forward pass would agree
        for parameter in policy.parameters():
            parameter.normal_(0, 0.4)
    network = policy.to_network()
    seen = views(players, 64)
    observation = np.stack([view.observation for view in seen])
    mask = np.stack([view.action_mask for view in seen])
    logits, values = network(observation)
    with torch.no_grad():
        tensor = torch.from_numpy(observation)
        distribution = policy.get_distribution(tensor, action_masks=mask)
        torch_values = policy.predict_values(tensor)[:, 0].numpy()
    assert np.abs(values - torch_values).max() < 1e-5 * max(1.0, np.abs(values).max())
    probabilities = distribution.distribution.probs.numpy()
    assert np.abs(masked_softmax(logits, mask) - probabilities).max() < 1e-5
    assert np.abs(values).max() > 0.5


@pytest.mark.parametrize("widths", [(16, 8), (13,), (32, 20, 24)])
def test_a_row_gives_the_same_bits_in_any_batch(widths: tuple[int, ...]) -> None:
    """What the encoder and dense products give, to rounding; and exactly the same alone and in company."""
    network = random_network(4, True, widths)
    seen = views(4, 40)
    observation, mask = np.stack([v.observation for v in seen]), np.stack([v.action_mask for v in seen])
    dense = network.encoder(observation)
    for i in range(len(widths)):
        dense = np.maximum(dense @ network.tensors[f"trunk.{i}.weight"].T + network.tensors[f"trunk.{i}.bias"], 0)
    hidden = network.hidden(observation)
    assert np.abs(hidden - dense).max() < 1e-5 * np.abs(dense).max()
    logits, values = network(observation)
    expected = dense @ network.tensors["policy.weight"].T + network.tensors["policy.bias"]
    assert np.abs(logits - expected).max() < 1e-5 * np.abs(expected).max()
    legal = network.logits(hidden, mask)
    assert (legal[mask == 1] == logits[mask == 1]).all()
    assert np.isneginf(legal[mask == 0]).all()
    for k in range(len(seen)):
        alone = network(observation[k : k + 1])
        assert (alone[0] == logits[k]).all()
        assert alone[1] == values[k]


def test_temperature_and_slip() -> None:
    logits, mask = np.array([[0.0, 1.0, 9.0, 2.0]], np.float32), np.array([[1, 1, 0, 1]], np.int8)
    weights = np.exp(np.array([0.0, 1.0, 2.0]))
    plain, sharp = weights / weights.sum(), weights**4 / (weights**4).sum()
    assert masked_softmax(logits, mask)[0, [0, 1, 3]] == pytest.approx(plain, abs=1e-6)
    mixed = masked_softmax(logits, mask, 0.25, 0.1)[0]
    assert mixed[[0, 1, 3]] == pytest.approx(0.9 * sharp + 0.1 * plain, abs=1e-6)
    assert mixed[2] == 0


def test_encoder_against_the_layout() -> None:
    view = views(3, 1)[0]
    encoder = Encoder.make(3, True)
    inputs = encoder(view.observation[None])[0]
    hand = LAYOUT["hand"]
    expected = [float(count >= level) for count in view.hand for level in range(1, 5)]
    assert inputs[: 4 * hand.size].tolist() == expected
    assert set(encoder.index) >= set(range(LAYOUT["rules"].start, LAYOUT["rules"].stop))
    assert not set(Encoder.make(3, False).index) & set(range(LAYOUT["rules"].start, LAYOUT["rules"].stop))
    for name in ("opp_up", "opp_known"):
        read = {int(i) for i in encoder.index if LAYOUT[name].start <= i < LAYOUT[name].stop}
        assert len(read) == 2 * 14
    assert np.isfinite(inputs).all()
    assert inputs.min() >= 0


def test_save_load_same_choice(tmp_path: Path) -> None:
    network = random_network(4, True)
    save_model(tmp_path / "m", network, {"rules": "standard", "seed": 7})
    again, card = load_model(tmp_path / "m")
    assert card["seed"] == 7
    agent, loaded = NeuralAgent(network, "a", temperature=0), make_agent(f"ppo!:{tmp_path / 'm'}")
    for view in views(4, 30):
        assert (again(view.observation[None])[0] == network(view.observation[None])[0]).all()
        action = agent.act(view)
        assert view.action_mask[action] == 1
        assert loaded.act(view) == action
        probabilities = agent.probabilities(view)
        assert probabilities.sum() == pytest.approx(1, abs=1e-5)
        assert not probabilities[view.action_mask == 0].any()


def test_sampling_follows_the_policy() -> None:
    agent = NeuralAgent(random_network(), "a", temperature=1)
    view = max(views(2, 40), key=lambda v: len(v.legal))
    n = 20_000
    observation, mask = np.repeat(view.observation[None], n, 0), np.repeat(view.action_mask[None], n, 0)
    chosen = agent.act_batch(observation, mask, np.arange(n, dtype=np.int64))
    assert np.bincount(chosen, minlength=N_ACTIONS) / n == pytest.approx(agent.probabilities(view), abs=0.015)


def test_sharpening_keeps_the_order() -> None:
    network = random_network()
    view = max(views(2, 40), key=lambda v: len(v.legal))
    observation, mask = np.repeat(view.observation[None], 4000, 0), np.repeat(view.action_mask[None], 4000, 0)
    best = int(NeuralAgent(network, "a", temperature=0).act(view))
    shares = [
        (NeuralAgent(network, "a", temperature=t).act_batch(observation, mask, np.arange(4000)) == best).mean()
        for t in (4.0, 1.0, 0.25)
    ]
    assert shares[0] < shares[1] < shares[2]


def test_a_model_refuses_a_larger_table() -> None:
    agent = NeuralAgent(random_network(2), "small")
    with pytest.raises(InputError, match="at most 2 players"):
        agent.act(views(3, 1)[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other/9"}, "not of the format"),
        ({"layout": "0123"}, "trained on observation layout 0123"),
        ({"architecture": {"players": 2, "rules_block": False, "widths": [16, 9]}}, "has shape"),
        ({"architecture": {"players": 2}}, "is broken"),
        ({"architecture": {"players": 2, "rules_block": False, "widths": "wide"}}, "is broken"),
    ],
)
def test_broken_cards_are_refused(tmp_path: Path, change: dict, message: str) -> None:
    save_model(tmp_path, random_network(), {})
    card = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(card | change))
    with pytest.raises(InputError, match=message):
        load_model(tmp_path)


def test_broken_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a model folder"):
        load_model(tmp_path / "nowhere")
    save_model(tmp_path, random_network(), {})
    weights = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights[:100])
    with pytest.raises(InputError, match="is broken"):
        load_model(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        load_model(tmp_path)
    (tmp_path / "model.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        load_model(tmp_path)
    with pytest.raises(InputError, match="unknown agent 'ppo'"):
        make_agent("ppo")


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    network = random_network()
    network.tensors["policy.bias"][3] = np.nan
    save_model(tmp_path, network, {})
    with pytest.raises(InputError, match=r"is broken \(tensor policy\.bias holds NaN or infinity\)"):
        load_model(tmp_path)


def test_a_foreign_table_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    agent = NeuralAgent(random_network(), "m", card={"rules": "standard"})
    agent.warn_of_foreign_table(Rules())
    assert capsys.readouterr().err == ""
    agent.warn_of_foreign_table(Rules.parse("norsk jokers=2"))
    assert "m was trained on 'standard'; it plays norsk jokers=2" in capsys.readouterr().err
