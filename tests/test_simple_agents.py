"""The compiled agents: legal at every table, honest, repeatable, each true to its description; weights from a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from idiot_agents.compiled import NAMES, CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.linear import FEATURES, WEIGHTS, WEIGHTS_FILE, LinearAgent, read_weights, weights_json
from idiot_agents.odd import ENOUGH
from idiot_agents.registry import make_agent
from idiot_env import Game, Rules, View, engine
from idiot_env import actions as A
from idiot_env.actions import N_ACTIONS, parse_action
from idiot_env.observation import determinize, observe
from tests.decks import QUIET, deck_of
from tests.moments import games, moments

ODD = ("hoarder", "gambler", "taker")
STREAM = 77


def chosen(name: str, view: View, stream: int = STREAM) -> int:
    return int(
        CompiledAgent(name).act_batch(view.observation[None], view.action_mask[None], np.array([stream], np.int64))[0]
    )


@pytest.mark.parametrize("name", NAMES)
def test_legal_at_every_table(name: str) -> None:
    """One agent among random ones, so that it comes into every corner of the game."""
    rng = np.random.default_rng(NAMES.index(name))
    zones = set()
    for number, game in enumerate(games(rng, 60)):
        mine = number % game.players
        while game.turn is not None and len(game.actions) < 400:
            view = game.view(game.turn)
            who = name if game.turn == mine else "random"
            action = chosen(who, view, int(rng.integers(2**62)))
            zones.add(view.phase)
            game.apply(action)  # refuses what is not legal
    assert zones == {"swap", "hand", "up", "down"}


@pytest.mark.parametrize("name", NAMES)
def test_no_choice_depends_on_what_a_seat_cannot_know(name: str) -> None:
    rng = np.random.default_rng(100 + NAMES.index(name))
    mask = np.zeros(N_ACTIONS, np.int8)
    seen = 0
    for game in moments(rng, 50, 0.1):
        if game.turn is None:
            continue
        real = chosen(name, game.view(game.turn))
        world = determinize(game.states, game.turn, rng)
        engine.legal_mask_at(world, 0, mask)
        assert chosen(name, View(observe(world, game.turn), mask, game.turn)) == real
        seen += 1
    assert seen > 100


@pytest.mark.parametrize("name", NAMES)
def test_the_same_view_and_stream_give_the_same_action_in_any_batch(name: str) -> None:
    rng = np.random.default_rng(3)
    views = [game.view(game.turn) for game in moments(rng, 10, 0.1) if game.turn is not None]
    streams = rng.integers(0, 2**62, len(views))
    agent = CompiledAgent(name)
    together = agent.act_batch(
        np.array([v.observation for v in views]), np.array([v.action_mask for v in views]), streams.copy()
    )
    assert together.tolist() == [chosen(name, view, int(s)) for view, s in zip(views, streams, strict=True)]


# --- the odd ones ----------------------------------------------------------------------------------------------------


def turn_of(hand: str, stock: str = "", played: tuple[str, ...] = (), **rules: object) -> Game:
    """Seat 0 to act with ``hand`` after seat 1 has done what is ``played``; two players, nothing exchanged."""
    deck = deck_of(2, hand=[hand, "9KA"], stock=stock, dealer=0)
    game = Game(Rules(**{**QUIET, **rules}), 2, deck=deck, dealer=0)  # type: ignore[arg-type]
    for text in played:
        game.apply(text)
    assert game.turn == 0
    return game


def says(name: str, game: Game, stream: int = STREAM) -> str:
    assert game.turn is not None
    return A.TEXTS[chosen(name, game.view(game.turn), stream)]


def test_the_hoarder_takes_rather_than_gives_up_a_special_or_a_pair() -> None:
    assert says("hoarder", turn_of("2TT", played=("play 9",))) == "take"
    assert says("hoarder", turn_of("JJ2", played=("play 9",))) == "take"
    assert says("hoarder", turn_of("JQQ", played=("play 9",))) == "play J"
    assert says("greedy", turn_of("JJ2", played=("play 9",))) == "play Jx2"


def test_the_hoarder_has_enough_in_the_end() -> None:
    game = turn_of("JJ2", stock="44556677", played=("play 9",))
    held = game.view(0).observation.copy()
    held[:14] = 0
    held[[8, 12]] = ENOUGH - 4, 4
    mask = game.view(0).action_mask
    assert A.TEXTS[chosen("hoarder", View(held, mask, 0))] == "take"
    held[8] += 1
    assert A.TEXTS[chosen("hoarder", View(held, mask, 0))] == "play Jx2"


def test_the_hoarder_brings_specials_home_before_the_start() -> None:
    game = Game(Rules(), 2, deck=deck_of(2, hand=["456", "9KA"], up=["2TK", "JJQ"], dealer=1), dealer=1)
    said = []
    while game.turn == 0 and game.phase == "swap":
        said.append(says("hoarder", game))
        game.apply(said[-1])
    assert said == ["swap 4 T", "swap 5 2", "done"]


def test_the_gambler_burns_and_draws_by_chance() -> None:
    assert says("gambler", turn_of("4TA", played=("play 9",), chance=True)) == "play T"
    assert says("gambler", turn_of("4JA", played=("play 9",), chance=True)) == "chance"
    drawn = {says("gambler", turn_of("4JA", played=("play 9",)), stream) for stream in range(60)}
    assert drawn == {"play J", "play A"}
    assert says("gambler", turn_of("JQK", played=("play 9",), runs=True)) == "run J-K"


def test_the_taker_takes_whenever_it_may() -> None:
    assert says("taker", turn_of("JQ2", played=("play 9",))) == "take"
    game = turn_of("JQ2", played=("play 9",))
    game.apply("take")
    game.apply("play K")
    assert says("taker", game) == "take"


# --- linear ----------------------------------------------------------------------------------------------------------


def test_the_linear_agent_has_one_weight_for_each_feature() -> None:
    assert WEIGHTS.shape == (len(FEATURES),)
    assert np.isfinite(WEIGHTS).all()


def test_weights_of_ones_own_play_the_same_as_the_shipped_ones(tmp_path: Path) -> None:
    own = make_agent(f"linear:{WEIGHTS_FILE}")
    assert isinstance(own, LinearAgent)
    other = tmp_path / "other.json"
    other.write_text(weights_json(-WEIGHTS, command="python -c …"))
    assert read_weights(other) == pytest.approx(-WEIGHTS, abs=1e-4)
    opposite = LinearAgent("opposite", other)
    rng = np.random.default_rng(5)
    differs = 0
    for game in moments(rng, 20, 0.1):
        if game.turn is not None:
            view = game.view(game.turn)
            one_view = view.observation[None], view.action_mask[None]
            assert own.act_batch(*one_view, np.array([STREAM]))[0] == chosen("linear", view)
            differs += opposite.act(view) != chosen("linear", view)
    assert differs > 20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        ("{", "it is no JSON"),
        ("[]", "no weights of the linear agent"),
        ('{"format": "idiot-linear/1", "weights": {"height": 1}}', "no weights of the linear agent"),
        ("NaN", "height=nan in .* is no finite number"),
        ('"much"', "height='much' in .* is no finite number"),
    ],
)
def test_bad_weights_are_refused_in_a_sentence(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "weights.json"
    if content in ("NaN", '"much"'):
        good = json.loads(WEIGHTS_FILE.read_text())
        good["weights"]["height"] = json.loads(content)
        content = json.dumps(good)
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        make_agent(f"linear:{path}")


def test_the_linear_agent_stops_the_next_player_when_it_can() -> None:
    """The probability that the next player cannot answer, against counting by hand."""
    from idiot_agents.linear import stop_probability

    game = turn_of("JQ2", played=("play 9",))
    game.apply("take")  # seat 0 holds a known 9
    view = game.view(1)
    assert stop_probability(view.observation, 0, parse_action("play 9") // 4) == 0
    unseen = view.unseen
    answering = unseen[8:13].sum() + unseen[7]
    expected = (1 - answering / unseen.sum()) ** 3
    assert stop_probability(view.observation, 0, 8) == pytest.approx(expected)
