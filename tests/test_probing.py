"""Looking inside a model: the positions are the arena's, and what is asked about them holds in the game itself."""

from __future__ import annotations

import numpy as np
import pytest

from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.network import Encoder, Network, expected_shapes
from idiot_agents.probing import exchanged, may_take, positions_of, take_probability, worth_of_ranks
from idiot_env import Rules
from idiot_env import actions as A
from idiot_env.cards import RANKS
from idiot_env.observation import LAYOUT, observe
from tests.moments import moments


def network(seed: int = 0, players: int = 5, scale: float = 0.3) -> Network:
    """An untrained network of one small layer."""
    encoder = Encoder.make(players, True)
    rng = np.random.default_rng(seed)
    shapes = expected_shapes(encoder, [16])
    return Network(encoder, {name: rng.normal(0, scale, shape).astype(np.float32) for name, shape in shapes.items()})


def fond_of_tens() -> Network:
    """A network that counts one tenth of a reward for each ten in its hand."""
    encoder = Encoder.make(2, False)
    tensors = {name: np.zeros(shape, np.float32) for name, shape in expected_shapes(encoder, [1]).items()}
    tens = (encoder.index == LAYOUT["hand"].start + RANKS.index("T")) & (encoder.threshold > 0)
    tensors["trunk.0.weight"][0, tens] = 1.0
    tensors["value.weight"][:] = 0.1
    return Network(encoder, tensors)


@pytest.mark.parametrize(("table", "players"), [("standard", 2), ("norsk", 3)])
def test_positions_hold_every_decision_of_their_games(table: str, players: int) -> None:
    rules = Rules.preset(table)
    found = positions_of(CompiledAgent("greedy"), rules, players, 6, seed=3)
    assert set(found.game) == set(range(6))
    assert found.mask[np.arange(len(found)), found.action].all()
    assert (found.block("turn")[:, 0] == 1).all()
    assert set(np.unique(found.reward)) == {np.float32(-1.0), np.float32(1 / (players - 1))}
    again = positions_of(CompiledAgent("greedy"), rules, players, 6, seed=3)
    assert np.array_equal(found.observation, again.observation)
    assert np.array_equal(found.action, again.action)
    part = found[found.game == 2]
    assert 0 < len(part) < len(found)
    assert (part.game == 2).all()


def test_no_games_are_refused() -> None:
    with pytest.raises(InputError, match="games=0 is not possible"):
        positions_of(CompiledAgent("greedy"), Rules(), 2, 0)


def test_an_exchanged_card_is_what_the_seat_would_have_seen() -> None:
    """Where a card of the hand and an unseen one trade places in the state, the view is the one worked out."""
    rng = np.random.default_rng(5)
    compared = 0
    for game in moments(rng, 40, 0.1):
        states, seat = game.states, int(rng.integers(game.players))
        state, down = states[0], np.argwhere(states[0]["down"] >= 0)
        own = [card for card in range(54) if int(state["hand"][seat]) >> card & 1]
        if not own or not len(down):
            continue
        before = observe(states, seat)
        old = int(rng.choice(own))
        where = tuple(down[int(rng.integers(len(down)))])
        new = int(state["down"][where])
        state["down"][where] = old
        state["hand"][seat] = int(state["hand"][seat]) & ~(1 << old) | 1 << new
        ranks = np.array([old // 4]), np.array([new // 4])
        assert np.array_equal(exchanged(before[None], *ranks)[0], observe(states, seat))
        compared += 1
    assert compared > 20


def test_taking_is_asked_where_there_is_a_choice() -> None:
    found = positions_of(CompiledAgent("taker"), Rules(), 2, 10)
    asked = found[may_take(found)]
    assert len(asked)
    assert ((asked.action >= A.TAKE) & (asked.action < A.FLIP)).all()  # a taker takes whenever it may
    chances = take_probability(network(), asked)
    assert ((chances > 0) & (chances < 1)).all()
    forced = found[~found.mask[:, : A.TAKE].any(axis=1) & found.mask[:, A.TAKE].astype(bool)]
    assert len(forced)
    assert take_probability(network(), forced) == pytest.approx(1.0)


def test_the_worth_of_a_rank_is_what_the_value_gains() -> None:
    found = positions_of(CompiledAgent("random"), Rules(), 2, 30)
    worth = worth_of_ranks(fond_of_tens(), found)
    assert set(worth) == set(RANKS) - {"*"}
    for rank, quantity in worth.items():
        assert quantity.low <= quantity.value <= quantity.high
        # A tenth, less the chance that a card drawn blind had been a ten; the others lose that chance.
        assert quantity.value == pytest.approx(0.09, abs=0.03) if rank == "T" else -0.04 < quantity.value < 0
    assert worth_of_ranks(fond_of_tens(), found[np.zeros(len(found), bool)]) == {}
