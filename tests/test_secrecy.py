"""What a seat receives must not depend on anything it cannot know.

The method: deal afresh everything that a seat cannot know (``determinize``), and compare all that it could receive,
byte for byte.  A test that could not fail proves nothing, so observations that leak on purpose must be caught, too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from idiot_env import Game, Rules, View, aec, engine, render
from idiot_env import actions as A
from idiot_env.cards import card_set, cards_in
from idiot_env.engine import NO_CARD, STATE
from idiot_env.events import Event, describe
from idiot_env.observation import LAYOUT, determinize, observe
from tests.moments import draw, moments, random_table

States = npt.NDArray[np.void]
Received = dict[str, Any]
ACCESSORS = [name for name, entry in vars(View).items() if isinstance(entry, property) or hasattr(entry, "attrname")]
OF_A_SEAT = ["up", "down", "hand_size", "place"]


def view_of(states: States, seat: int) -> View:
    mask = np.zeros(A.N_ACTIONS, np.int8)
    if states[0]["turn"] == seat:
        engine.legal_mask_at(states, 0, mask)
    return View(observe(states, seat), mask, seat)


def plain(value: Any) -> Any:
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)


def seat_receives(states: States, seat: int, event: Event | None = None) -> Received:
    """Everything but the picture and the environment: observation, mask, texts, JSON, every accessor of the view."""
    view = view_of(states, seat)
    received = {
        "observation": view.observation.tobytes(),
        "mask": view.action_mask.tobytes(),
        "no": render.ansi(view, event, lang="no"),
        "en": render.ansi(view, event, lang="en"),
        "json": json.dumps(render.as_json(view)),
    }
    received |= {name: plain(getattr(view, name)) for name in ACCESSORS}
    received |= {name: [plain(getattr(view, name)(one)) for one in range(view.players)] for name in OF_A_SEAT}
    received |= {"known": [plain(view.known(one)) for one in view.opponents]}
    received |= {"blocks": [plain(view.block(name)) for name in LAYOUT]}
    return received


def environment_gives(states: States, seat: int, event: Event | None = None) -> Received:
    """What the PettingZoo environment hands to one agent while the game stands there."""
    game_rules = Rules.from_numbers(states[0]["rules"])
    env = aec.raw_env(game_rules, int(states[0]["players"]), render_mode="ansi")
    env.reset(seed=0)
    env._states[:] = states
    agent = env.possible_agents[seat]
    turn = aec.show(env._states, env._observation, env._mask)
    env._turn = env.agent_selection = env.possible_agents[turn] if turn >= 0 else env.possible_agents[0]
    if turn < 0:
        env._end(True)
    received: Received = {name: plain(entry) for name, entry in env.observe(agent).items()}
    received |= {"infos": env.infos, "agents": env.agents, "selection": env.agent_selection, "rewards": env.rewards}
    if agent == env.agent_selection:
        observation, *rest = env.last()
        received |= {"last": [plain(observation["observation"]), plain(observation["action_mask"]), rest]}
        received |= {"render": env.render()}
    return received


def seat_sees_picture(states: States, seat: int, event: Event | None = None) -> Received:
    return {"picture": render.picture(view_of(states, seat), event).tobytes()}


def assert_secret(
    receives: Callable[[States, int, Event | None], Received],
    game: Game,
    rng: np.random.Generator,
    worlds: int = 1,
) -> None:
    """No seat receives anything else in a world that differs only in what it cannot know."""
    states, event = game.states, game.last_event
    for seat in range(game.players):
        real = receives(states, seat, event)
        for _ in range(worlds):
            other = receives(determinize(states, seat, rng), seat, event)
            assert real.keys() == other.keys()
            for name in real:
                assert real[name] == other[name], f"{name} tells seat {seat} what it cannot know"


# --- nothing changes -------------------------------------------------------------------------------------------------


def check_everything_received(seed: int, n_games: int, share: float) -> Counter[str]:
    rng = np.random.default_rng(seed)
    phases: Counter[str] = Counter()
    for game in moments(rng, n_games, share):
        phases[game.phase] += 1
        assert_secret(seat_receives, game, rng)
    return phases


def test_what_a_seat_receives_stays_byte_for_byte() -> None:
    phases = check_everything_received(41, 100, 0.03)
    assert min(phases[name] for name in ("swap", "hand", "up", "down", "over")) > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_what_a_seat_receives_stays_byte_for_byte_everywhere(seed: int) -> None:
    check_everything_received(1000 + seed, 200, 0.1)


def test_what_the_environment_gives_stays_byte_for_byte() -> None:
    rng = np.random.default_rng(42)
    for game in moments(rng, 60, 0.02):
        assert_secret(environment_gives, game, rng)


def check_pictures(seed: int, n_games: int) -> None:
    rng = np.random.default_rng(seed)
    for game in moments(rng, n_games, 0.006):
        assert_secret(seat_sees_picture, game, rng)


def test_pictures_stay_byte_for_byte() -> None:
    check_pictures(43, 3)


@pytest.mark.slow
def test_pictures_stay_byte_for_byte_everywhere() -> None:
    check_pictures(143, 30)


def test_infos_stay_empty() -> None:
    rng = np.random.default_rng(44)
    for _ in range(10):
        env = aec.raw_env(*random_table(rng))
        env.reset(seed=1)
        for _ in range(200):
            assert env.infos == {agent: {} for agent in env.agents}
            observation, _, terminated, _, info = env.last()
            assert info == {}
            assert set(observation) == {"observation", "action_mask"}
            if terminated:
                break
            env.step(draw(rng, observation["action_mask"]))


# --- leaks are found -------------------------------------------------------------------------------------------------


def leaks_next_card(states: States, seat: int, event: Event | None) -> Received:
    size = int(states[0]["stock_size"])
    return {"leak": int(states[0]["stock"][size - 1]) // 4 if size else None}


def leaks_own_face_down(states: States, seat: int, event: Event | None) -> Received:
    return {"leak": [int(card) // 4 for card in states[0]["down"][seat]]}


def leaks_hand_of_next(states: States, seat: int, event: Event | None) -> Received:
    hand = int(states[0]["hand"][(seat + 1) % int(states[0]["players"])])
    return {"leak": max(cards_in(hand), default=-1) // 4}


def leaks_one_bit(states: States, seat: int, event: Event | None) -> Received:
    """An observation that is right but for one entry: whether the next player holds a two."""
    observation = observe(states, seat)
    hand = int(states[0]["hand"][(seat + 1) % int(states[0]["players"])])
    observation[LAYOUT["opening"].start] = any(card // 4 == 12 for card in cards_in(hand))
    return {"observation": observation.tobytes()}


def leaks_mask_of_other(states: States, seat: int, event: Event | None) -> Received:
    """A mask that is given to everybody and not only to the seat on turn."""
    mask = np.zeros(A.N_ACTIONS, np.int8)
    engine.legal_mask_at(states, 0, mask)
    return {"mask": mask.tobytes()}


@pytest.mark.parametrize(
    "leaky", [leaks_next_card, leaks_own_face_down, leaks_hand_of_next, leaks_one_bit, leaks_mask_of_other]
)
def test_a_leak_is_found(leaky: Callable[[States, int, Event | None], Received]) -> None:
    def look() -> None:
        rng = np.random.default_rng(45)
        for game in moments(rng, 5, 0.1):
            assert_secret(leaky, game, rng)

    with pytest.raises(AssertionError, match="what it cannot know"):
        look()


# --- re-dealing itself -----------------------------------------------------------------------------------------------

PUBLIC = [name for name in STATE.names or () if name not in ("hand", "down", "stock")]


def whole_deck(state: np.void) -> list[int]:
    cards = cards_in(state["pile_set"]) + cards_in(state["burned"])
    for seat in range(int(state["players"])):
        cards += cards_in(state["hand"][seat]) + cards_in(state["up"][seat])
    cards += [int(card) for card in state["down"].reshape(-1) if card != NO_CARD]
    cards += [int(card) for card in state["stock"] if card != NO_CARD]
    return sorted(cards)


def test_a_redealt_world_keeps_all_cards_and_all_that_is_public() -> None:
    rng = np.random.default_rng(46)
    changed = 0
    for game in moments(rng, 50, 0.05):
        states = game.states
        before = states.copy()
        for seat in range(game.players):
            world = determinize(states, seat, rng)
            assert (states == before).all(), "the real game is left alone"
            real, other = states[0], world[0]
            assert whole_deck(other) == whole_deck(real) == list(range(52 + game.rules.jokers))
            for name in PUBLIC:
                assert np.array_equal(real[name], other[name]), name
            assert other["hand"][seat] == real["hand"][seat]
            for one in range(game.players):
                assert len(cards_in(other["hand"][one])) == len(cards_in(real["hand"][one]))
                assert int(other["hand"][one]) & int(other["known"][one]) == int(other["known"][one])
            assert ((other["down"] == NO_CARD) == (real["down"] == NO_CARD)).all()
            assert ((other["stock"] == NO_CARD) == (real["stock"] == NO_CARD)).all()
            changed += int((world != states).any())
    assert changed > 500


def test_a_redealt_world_can_be_played_to_its_end() -> None:
    rng = np.random.default_rng(47)
    mask = np.zeros(A.N_ACTIONS, np.int8)
    for game in moments(rng, 12, 0.02):
        world = determinize(game.states, int(rng.integers(game.players)), rng)
        for _ in range(3000):
            if world[0]["phase"] == engine.OVER:
                break
            engine.legal_mask_at(world, 0, mask)
            assert mask.any()
            engine.apply_at(world, 0, draw(rng, mask))
            assert whole_deck(world[0]) == list(range(52 + game.rules.jokers))


def small_world() -> States:
    """Two players near the end, four cards that seat 0 cannot know: one in a hand, two face-down, one in the stock."""
    states = np.zeros(1, STATE)
    engine.deal_at(states, 0, np.arange(54, dtype=np.int8), Rules(swap="never").numbers(), 2, 0)
    state = states[0]
    state["up"][:] = 0
    state["down"][:] = NO_CARD
    state["stock"][:] = NO_CARD
    state["hand"][0], state["known"][0] = card_set([4]), 0
    state["hand"][1], state["known"][1] = card_set([8, 12]), card_set([8])
    state["down"][0, 1], state["down"][1, 2] = 16, 20
    state["stock"][0], state["stock_size"] = 24, 1
    state["burned"] = card_set(set(range(52)) - {4, 8, 12, 16, 20, 24})
    return states


def test_hidden_cards_are_dealt_uniformly() -> None:
    """Chi-square over the 24 ways in which four hidden cards can lie: 23 degrees of freedom, 0.1 % are above 49.7."""
    rng = np.random.default_rng(48)
    states, draws = small_world(), 24_000
    assert whole_deck(states[0]) == list(range(52))
    ways: Counter[tuple[int, ...]] = Counter()
    for _ in range(draws):
        world = determinize(states, 0, rng)[0]
        assert int(world["hand"][1]) & card_set([8])
        hidden = int(world["hand"][1]) & ~card_set([8])
        ways[cards_in(hidden)[0], int(world["down"][0, 1]), int(world["down"][1, 2]), int(world["stock"][0])] += 1
    assert len(ways) == 24
    expected = draws / 24
    assert sum((count - expected) ** 2 / expected for count in ways.values()) < 49.7


def test_every_hidden_card_may_lie_anywhere() -> None:
    """On a fresh table: each hidden card is in the stock, an own slot, another hand as often as there is room."""
    rng = np.random.default_rng(49)
    game = Game("norsk", 3, seed=1)
    states, draws = game.states, 4000
    own = int(states[0]["hand"][0]) | card_set(cards_in(int(np.bitwise_or.reduce(states[0]["up"]))))
    hidden = [card for card in range(52) if not own >> card & 1]
    in_hand, in_slots = np.zeros(52), np.zeros(52)
    for _ in range(draws):
        world = determinize(states, 0, rng)[0]
        in_hand[cards_in(int(world["hand"][1]))] += 1
        in_slots[world["down"][0]] += 1
    share = 3 / len(hidden)
    spread = 5 * np.sqrt(share * (1 - share) / draws)
    for counted in (in_hand, in_slots):
        assert np.abs(counted[hidden] / draws - share).max() < spread
        assert counted.sum() == counted[hidden].sum()


# --- events are public -----------------------------------------------------------------------------------------------


Tell = Callable[[np.void, int, np.void], Any]


def shared_public_actions(
    states: States, seat: int, rng: np.random.Generator, tell: Tell
) -> Iterator[tuple[str, list[Any], list[States] | None]]:
    """Play the same actions in two worlds that ``seat`` cannot tell apart, until something hidden decides or shows.

    Yields the action, what ``tell`` makes of it in each world, and the worlds while ``seat`` sees the same in both.
    """
    worlds = [states.copy(), determinize(states, seat, rng)]
    masks = np.zeros((2, A.N_ACTIONS), np.int8)
    rules = Rules.from_numbers(states[0]["rules"])
    for _ in range(25):
        if worlds[0][0]["phase"] == engine.OVER:
            return
        for world, mask in zip(worlds, masks, strict=True):
            engine.legal_mask_at(world, 0, mask)
        common = masks[0] & masks[1]
        common[A.FLIP : A.CHANCE + 1] = 0  # these turn a hidden card up
        if rules.starter != "left_of_dealer" and worlds[0][0]["swapped"] == worlds[0][0]["players"] - 1:
            common[A.DONE] = 0  # who starts tells something of the hands
        if not common.any():
            return
        action, actor = draw(rng, common), int(worlds[0][0]["turn"])
        before = [world.copy() for world in worlds]
        for world in worlds:
            engine.apply_at(world, 0, action)
        draws = actor == seat and worlds[0][0]["stock_size"] < before[0][0]["stock_size"]
        told = [tell(old[0], action, new[0]) for old, new in zip(before, worlds, strict=True)]
        yield A.TEXTS[action], told, None if draws else worlds
        if draws:
            return  # the seat has seen new cards; they need not be the same in both worlds


def check_events(tell: Tell, n_games: int) -> Counter[str]:
    rng = np.random.default_rng(50)
    compared: Counter[str] = Counter()
    for game in moments(rng, n_games, 0.1):
        seat = int(rng.integers(game.players))
        for text, (first, second), worlds in shared_public_actions(game.states, seat, rng, tell):
            assert first == second, "the event tells what cannot be known"
            compared[text.split()[0]] += 1
            if worlds:
                real, other = (view_of(world, seat) for world in worlds)
                assert (real.observation == other.observation).all()
                assert (real.action_mask == other.action_mask).all()
    return compared


def test_events_tell_nothing_hidden() -> None:
    compared = check_events(describe, 60)
    assert compared.total() > 2000
    assert set(compared) == {"play", "take", "swap", "done", "stack", "sneak", "run"}


def test_a_leaky_event_is_found() -> None:
    def tells_drawn_cards(before: np.void, action: int, after: np.void) -> tuple[Event, list[int]]:
        seat = int(before["turn"])
        return describe(before, action, after), cards_in(int(after["hand"][seat]) & ~int(before["hand"][seat]))

    with pytest.raises(AssertionError, match="the event tells"):
        check_events(tells_drawn_cards, 5)
