"""Idiot in OpenSpiel: its contract, the same games as ``Game``, nothing drawn before it is seen, bots and CFR."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import numpy as np
import pytest

from idiot_env import Game, Rules
from idiot_env import actions as A
from idiot_env.cards import FULL_DECK, JOKER, RANKS, card_set, cards_in, parse_card, ranks_text, size_of
from idiot_env.engine import NO_CARD
from idiot_env.observation import LAYOUT, observe
from tests.moments import TABLES, draw, random_table

pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")
# These need pyspiel.
from idiot_env.openspiel import IdiotState, draw_for, undrawn  # noqa: E402

TINY = "python_idiot(rules=norsk,ranks=36T,suits=2,up=1,down=0,hand=2,players=2,dealer=0,max_decisions=8)"
CFR_GAME = "python_idiot(rules=norsk,ranks=36T2,suits=1,up=0,down=1,hand=1,players=2,dealer=0,max_decisions=8)"
SMALL = "python_idiot(rules=familie,ranks=346T2,suits=3,up=1,down=1,hand=2,players=2)"
ODD = "python_idiot(rules=sjanse runs:yes stack:yes sneak_three:yes skip_same:yes jokers:2 losers:2,players=3)"


def load(rules: Rules | str = "standard", players: int = 4, **parameters: Any) -> Any:
    return pyspiel.load_game("python_idiot", {"rules": str(rules), "players": players, **parameters})


def random_outcome(rng: np.random.Generator, state: Any) -> int:
    """An outcome at a chance node, or a random action."""
    if state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        return int(rng.choice(outcomes, p=probabilities))
    return draw(rng, state._mask())


def play(rng: np.random.Generator, state: Any, length: int) -> Any:
    """``state`` after at most so many chance nodes and decisions."""
    for _ in range(length):
        if state.is_terminal():
            break
        state.apply_action(random_outcome(rng, state))
    return state


# --- OpenSpiel's own contract ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *(f"python_idiot(rules={rules},players={players},max_decisions=120)" for rules, players in TABLES[::3]),
        ODD.replace(")", ",max_decisions=120)"),
        "python_idiot(rules=norsk ten_on:below_ten,players=5,dealer=3,max_decisions=60)",
        TINY,
        "python_idiot(players=2,ranks=3 4 5 6 7,up=0,down=2,hand=6)",
    ],
)
def test_random_simulation(text: str) -> None:
    game = pyspiel.load_game(text)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    assert str(pyspiel.load_game(str(game))) == str(game)


def test_a_game_that_is_not_cut_off() -> None:
    pyspiel.random_sim_test(load(players=2), num_sims=3, serialize=False, verbose=False)


def test_game_info() -> None:
    game = load("norsk losers=2 jokers=2", 5)
    assert game.num_players() == 5
    assert game.num_distinct_actions() == A.N_ACTIONS
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-1.0, 2 / 3, 0.0)
    assert game.max_game_length() == 2000
    assert game.max_chance_nodes_in_history() == 55
    assert game.observation_tensor_shape() == game.information_state_tensor_shape()
    assert sum(block.size for block in LAYOUT.values()) == game.observation_tensor_size()
    assert game.get_type().chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rules": "nosuch"}, "unknown table 'nosuch'"),
        ({"rules": "norsk chance:maybe"}, "chance=maybe is not possible"),
        ({"players": 6}, "players=6 is not possible"),
        ({"dealer": 4}, "dealer=4 is not possible"),
        ({"max_decisions": 0}, "max_decisions=0 is not possible"),
        ({"ranks": "3X"}, "'X' is none of"),
        ({"ranks": "3T3"}, "'3' is named twice"),
        ({"ranks": "3T*"}, "jokers need the option"),
        ({"suits": 5}, "suits=5 is not possible: give a number from 1 to 4"),
        ({"down": 4}, "down=4"),
        ({"up": -1}, "up=-1"),
        ({"hand": 0}, "hand=0"),
        ({"ranks": "3T"}, "a stock of -28 cards is not possible"),
        ({"hand": 1, "up": 0, "down": 0}, "a stock of 48 cards is not possible"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game("python_idiot", parameters)


def test_observers() -> None:
    from open_spiel.python.observation import make_observation

    game = load("norsk", 3)
    state = play(np.random.default_rng(1), game.new_initial_state(), 60)
    observation = make_observation(game)
    observation.set_from(state, 1)
    expected = observe(state.states, 1)
    assert (observation.tensor == expected).all()
    assert (observation.dict["opp_up"] == expected[LAYOUT["opp_up"].slice].reshape(4, 14)).all()
    assert observation.string_from(state, 1) == state.observation_string(1)
    assert (np.array(state.observation_tensor(1)) == expected).all()
    with pytest.raises(ValueError, match="one player's own cards"):
        make_observation(
            game, pyspiel.IIGObservationType(perfect_recall=True, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS)
        )
    with pytest.raises(ValueError, match="there are none"):
        make_observation(game, params={"blocks": 3})


def test_the_observation_string_says_all_that_the_observation_says() -> None:
    rng = np.random.default_rng(4)
    seen: dict[str, bytes] = {}
    for rules in ("standard", "sjanse"):
        for _ in range(6):
            state = load(rules, 3).new_initial_state()
            while not state.is_terminal():
                if not state.is_chance_node():
                    for player in range(3):
                        key = f"{rules} {state.observation_string(player)}"
                        tensor = np.array(state.observation_tensor(player)).tobytes()
                        assert seen.setdefault(key, tensor) == tensor
                state.apply_action(random_outcome(rng, state))
    assert len(set(seen.values())) == len(seen) > 500


# --- the same games --------------------------------------------------------------------------------------------------


def outcomes_of(game: Game) -> list[int]:
    """The ranks of the deal in the order in which chance deals them."""
    deck = [parse_card(text) // 4 for text in game.deck]
    return deck[3 * game.players : (6 + game.rules.hand_size) * game.players]


def shown_by(before: Any, after: Any, action: int) -> list[int]:
    """The ranks of the cards that an action of a game with a known deck shows to somebody, in order."""
    cards = []
    if A.FLIP <= action < A.CHANCE:
        cards.append(int(before["down"][int(before["turn"]), action - A.FLIP]))
    cards += before["stock"][int(after["stock_size"]) : int(before["stock_size"])][::-1].tolist()
    return [card // 4 for card in cards]


def unseen_ranks(state: Any) -> Counter[int]:
    """How many cards of each rank lie in the stock and face-down."""
    cards = [*state["stock"][: state["stock_size"]].tolist(), *state["down"][state["down"] != NO_CARD].tolist()]
    return Counter(card // 4 for card in cards)


def probabilities(ranks: Counter[int]) -> list[tuple[int, float]]:
    return [(rank, count / ranks.total()) for rank, count in sorted(ranks.items()) if count]


@pytest.mark.parametrize("seed", range(40))
def test_chance_that_draws_a_games_deck_plays_that_game(seed: int) -> None:
    """At every chance node the odds are the shares of the cards still unseen; at every decision all views agree."""
    rng = np.random.default_rng(seed)
    rules, players = random_table(rng)
    game = Game(rules, players, seed=seed, max_decisions=300)
    state = load(rules, players, max_decisions=300).new_initial_state()
    assert state.chance_outcomes() == [(seat, 1 / players) for seat in range(players)]
    state.apply_action(game.dealer)
    ranks = Counter(parse_card(text) // 4 for text in game.deck)
    for rank in outcomes_of(game):
        assert state.chance_outcomes() == probabilities(ranks)
        state.apply_action(rank)
        ranks[rank] -= 1
    while not game.over:
        assert state.current_player() == game.turn
        assert state.legal_actions() == np.flatnonzero(game.mask).tolist()
        for seat in range(players):
            assert (observe(state.states, seat) == game.view(seat).observation).all()
            assert (state.view(seat).action_mask == game.view(seat).action_mask).all()
        action, before = draw(rng, game.mask), game.states
        state.apply_action(action)
        game.apply(action)
        unseen = unseen_ranks(before[0])
        for rank in shown_by(before[0], game.states[0], action):
            assert state.chance_outcomes() == probabilities(unseen)
            state.apply_action(rank)
            unseen[rank] -= 1
    assert state.is_terminal()
    assert state.returns() == pytest.approx(game.rewards().tolist())
    assert abs(sum(state.returns())) < 1e-12


def test_small_decks() -> None:
    rng = np.random.default_rng(2)
    game = load("standard jokers=2", 3, ranks="3 4 T *", suits=3, up=1, down=1, hand=1)
    for _ in range(10):
        state = play(rng, game.new_initial_state(), 10)
        deck = card_set(card for card in range(54) if RANKS[card // 4] in "34T*" and card % 4 < 3)
        deck &= ~(12 << 4 * JOKER)
        elsewhere = (FULL_DECK | 3 << 4 * JOKER) & ~deck
        assert size_of(deck) == 11
        assert int(state.states[0]["burned"]) & elsewhere == elsewhere
        for seat in range(3):
            assert int(state.states[0]["hand"][seat]) & elsewhere == 0
        assert state.observation_tensor(0)[LAYOUT["unseen"].start + RANKS.index("5")] == 0


# --- nothing is drawn before it is seen ------------------------------------------------------------------------------


def shuffled_placeholders(rng: np.random.Generator, state: Any) -> Any:
    """A copy in which the cards that nobody has seen lie in another order."""
    other = state.clone()
    record = other._states[0]
    places = [("stock", (i,)) for i in range(int(record["stock_size"]))]
    places += [("down", tuple(place)) for place in np.argwhere(record["down"] != NO_CARD)]
    if other._dealing or other._pending >= 0:
        return other  # chance is drawing: what it has drawn for the action at hand lies among them
    cards = [int(record[field][place]) for field, place in places]
    for (field, place), card in zip(places, rng.permutation(cards), strict=True):
        record[field][place] = card
    return other


def told(state: Any) -> list[Any]:
    """All that a state says to players and algorithms."""
    players = range(state.num_players())
    return [
        str(state),
        state.current_player(),
        state.legal_actions(),
        state.chance_outcomes() if state.is_chance_node() else None,
        state.returns(),
        *(state.information_state_string(player) for player in players),
        *(state.observation_string(player) for player in players),
        *(state.information_state_tensor(player) for player in players),
    ]


@pytest.mark.parametrize("text", ["python_idiot", ODD, "python_idiot(rules=familie hand_size:6,players=2)", SMALL])
def test_what_nobody_has_seen_is_not_there(text: str) -> None:
    rng = np.random.default_rng(5)
    game = pyspiel.load_game(text)
    moved = 0
    for _ in range(3 if text != SMALL else 12):
        state = game.new_initial_state()
        while not state.is_terminal() and len(state.history()) < 250:
            other = shuffled_placeholders(rng, state)
            moved += (other.states != state.states).any()
            for _ in range(12):
                assert told(other) == told(state)
                if state.is_terminal():
                    break
                outcome = random_outcome(rng, state)
                state.apply_action(outcome)
                other.apply_action(outcome)
    assert moved > 10


def test_a_draw_may_come_from_anywhere() -> None:
    """A card that chance draws changes places with a placeholder, in the stock or face-down."""
    state = play(np.random.default_rng(3), load("standard swap=never", 4).new_initial_state(), 40)
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    flip, play_one = A.FLIP, A.PLAY
    for action in (flip, play_one):
        for card in cards_in(int(undrawn(state.states[0]))):
            states = state.states
            states[0]["down"][int(states[0]["turn"]), 0] = max(states[0]["down"][int(states[0]["turn"]), 0], 0)
            before = states.copy()
            draw_for(states, action, 0, card)
            turn = int(states[0]["turn"])
            top = int(states[0]["stock_size"]) - 1
            drawn = states[0]["down"][turn, 0] if action == flip else states[0]["stock"][top]
            assert drawn == card
            assert undrawn(states[0]) == undrawn(before[0])


def test_copies_go_on_alone() -> None:
    rng = np.random.default_rng(6)
    game = load("sjanse", 3)
    state = play(rng, game.new_initial_state(), 70)
    for twin in (state.clone(), game.deserialize_state(state.serialize()), copy.deepcopy(state)):
        before = told(state)
        assert told(twin) == before
        assert twin.history() == state.history()
        play(rng, twin, 30)
        assert told(state) == before


# --- what players know -----------------------------------------------------------------------------------------------


def uniform_sampler(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda: float(rng.random())


@pytest.mark.parametrize("text", ["python_idiot", ODD, "python_idiot(rules=familie,players=5)", SMALL])
def test_resampling_keeps_the_view(text: str) -> None:
    rng, sampler = np.random.default_rng(7), uniform_sampler(7)
    game = pyspiel.load_game(text)
    changed = checked = 0
    for _ in range(3 if text != SMALL else 12):
        state = game.new_initial_state()
        while not state.is_terminal() and len(state.history()) < 150:
            if not state.is_chance_node() and rng.random() < 0.1:
                for player in range(game.num_players()):
                    world = state.resample_from_infostate(player, sampler)
                    assert isinstance(world, IdiotState)
                    assert world.information_state_string(player) == state.information_state_string(player)
                    assert world.observation_string(player) == state.observation_string(player)
                    assert world.information_state_tensor(player) == state.information_state_tensor(player)
                    assert world.legal_actions(player) == state.legal_actions(player)
                    assert world.current_player() == state.current_player()
                    again = game.new_initial_state()
                    for action in world.history():
                        assert action in again.legal_actions()
                        again.apply_action(action)
                    assert told(again) == told(world)
                    checked += 1
                    changed += world.history() != state.history()
            state.apply_action(random_outcome(rng, state))
    assert changed > checked / 4 > 1


def test_resampling_is_uniform_over_what_fits() -> None:
    """The lowest hand begins: where its lowest card is a four, the other cannot hold a three."""
    game = load("norsk", 2, ranks="3 4 5 6 T", suits=2, up=0, down=1, hand=2, dealer=1)
    state = game.new_initial_state()
    for card in ("4", "5", "6", "T"):  # to 0, 1, 0, 1: seat 0 holds 4 6 and begins, seat 1 holds 5 T
        state.apply_action(RANKS.index(card))
    assert state.current_player() == 0
    sampler = uniform_sampler(11)
    n = 2000
    hands: Counter[str] = Counter()
    for _ in range(n):
        hands[ranks_text(state.resample_from_infostate(0, sampler).states[0]["hand"][1])] += 1
    # Seat 0 sits left of the dealer and wins the tie at 4.
    unseen = "4556TT"
    pairs = Counter(a + b for i, a in enumerate(unseen) for b in unseen[i + 1 :])
    assert set(hands) == set(pairs)
    for hand, count in pairs.items():
        expected = n * count / pairs.total()
        assert abs(hands[hand] - expected) < 5 * expected**0.5


def test_a_walk_replaces_hopeless_guesses() -> None:
    """Lowest hand starts with a king: none of three others can hold anything below, which guesses never find."""
    game = load("norsk", 4, dealer=3)
    state = game.new_initial_state()
    up, hands = "3456789TJQ33", ["KKKK", "AAAA", "2222"]
    for rank in (*up, *"".join(hands)):
        state.apply_action(RANKS.index(rank))
    assert state.current_player() == 0
    sampler = uniform_sampler(3)
    seen = set()
    for _ in range(3):
        world = state.resample_from_infostate(0, sampler)
        assert world.information_state_string(0) == state.information_state_string(0)
        seen.add(str(world))
    assert len(seen) > 1


def test_resampling_needs_a_decision() -> None:
    with pytest.raises(ValueError, match="chance is to act"):
        load().new_initial_state().resample_from_infostate(0, uniform_sampler(1))


def test_the_information_state_is_perfect_recall() -> None:
    """What a player was told before is the beginning of what it is told now; each action is told to everybody."""
    rng = np.random.default_rng(9)
    state = play(rng, load("standard", 3).new_initial_state(), 30)
    while state.is_chance_node():
        state.apply_action(random_outcome(rng, state))
    before = [state.information_state_string(player) for player in range(3)]
    while not state.is_terminal() and len(state.history()) < 120:
        action, actor = random_outcome(rng, state), state.current_player()
        state.apply_action(action)
        for player in range(3):
            now = state.information_state_string(player)
            assert now.startswith(before[player])
            if actor >= 0:
                assert f"{actor} {A.TEXTS[action]}" in now[len(before[player]) :]
            before[player] = now


def test_others_do_not_hear_what_is_drawn() -> None:
    state = load("norsk", 2, dealer=1).new_initial_state()
    for rank in "3456783456JJ":
        state.apply_action(RANKS.index(rank))
    assert state.current_player() == 0
    twin = state.clone()
    for one, rank in ((state, "A"), (twin, "K")):
        one.apply_action(A.parse_action("play 3"))
        one.apply_action(RANKS.index(rank))
    assert state.information_state_string(1) == twin.information_state_string(1)
    assert state.information_state_string(1).endswith("; 0 play 3 + 1")
    assert state.information_state_string(0).endswith("; 0 play 3 + A")
    assert twin.information_state_string(0).endswith("; 0 play 3 + K")


# --- their algorithms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [TINY, "python_idiot(rules=norsk,players=3,max_decisions=60)"])
def test_mcts_and_evaluate_bots(text: str) -> None:
    from open_spiel.python.algorithms import evaluate_bots, mcts
    from open_spiel.python.bots import uniform_random

    game, rng = pyspiel.load_game(text), np.random.RandomState(1)
    bots = [uniform_random.UniformRandomBot(player, rng) for player in range(game.num_players())]
    bots[0] = mcts.MCTSBot(game, 1.4, 8, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
    returns = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)
    assert sum(returns) == pytest.approx(0)


@pytest.mark.parametrize("text", [TINY, "python_idiot(rules=norsk,players=3,max_decisions=24)"])
def test_information_set_mcts(text: str) -> None:
    """``evaluate_bots`` cannot take this bot: in OpenSpiel 2.0 it has no ``restart_at``."""
    from open_spiel.python.algorithms import ismcts, mcts

    game, rng = pyspiel.load_game(text), np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, rng), 1.4, 12, random_state=rng)
    state, generator, asked = game.new_initial_state(), np.random.default_rng(1), 0
    while not state.is_terminal():
        if state.current_player() == 0:
            action = int(bot.step(state))
            assert action in state.legal_actions()
            asked += 1
        else:
            action = random_outcome(generator, state)
        state.apply_action(action)
    assert asked > 1


def test_counterfactual_regret_falls() -> None:
    from open_spiel.python.algorithms import cfr, exploitability

    game = pyspiel.load_game(CFR_GAME)
    solver = cfr.CFRPlusSolver(game)
    distance = []
    for _ in range(3):
        distance.append(exploitability.exploitability(game, solver.average_policy()))
        for _ in range(8):
            solver.evaluate_and_update_policy()
    assert distance[0] > 0.1
    assert distance[0] > 10 * distance[1] > 20 * distance[2] > 0


def test_compiled_solvers_and_bots() -> None:
    solver = pyspiel.CFRPlusSolver(game := pyspiel.load_game(CFR_GAME))
    for _ in range(20):
        solver.evaluate_and_update_policy()
    assert 0 < pyspiel.exploitability(game, solver.average_policy()) < 0.01
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(2)]
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, 3)) == 0


def test_their_reinforcement_learning_environment() -> None:
    from open_spiel.python import rl_environment

    env = rl_environment.Environment(load("norsk", 3, max_decisions=100))
    env.seed(1)
    rng, step = np.random.default_rng(1), env.reset()
    while not step.last():
        player = step.observations["current_player"]
        assert len(step.observations["info_state"][player]) == sum(block.size for block in LAYOUT.values())
        step = env.step([int(rng.choice(step.observations["legal_actions"][player]))])
    assert sum(step.rewards) == pytest.approx(0)
