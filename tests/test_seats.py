"""A learner's row is its own seat's decisions and nothing else, with the rewards of the rules."""

from __future__ import annotations

import numpy as np
import pytest

from idiot_agents.compiled import CompiledAgent
from idiot_env import Game, Rules, View
from idiot_env.actions import parse_action
from idiot_env.batched import show_row
from idiot_env.observation import observe
from idiot_env.seats import LearnerSeats


def follow(players: int, rules: str, seed: int, steps: int, max_decisions: int = 2000) -> dict[str, int]:
    """Step a batch of learners and check every row against the same games played one by one.

    Everybody plays without randomness, so the single game needs no stream: the learner greedily, the others carefully.
    """
    learner, other = CompiledAgent("greedy"), CompiledAgent("careful")
    seats = LearnerSeats(8, [other], rules=rules, players=players, max_decisions=max_decisions)
    seats.reset(seed)
    streams = np.zeros(8, np.int64)
    seen = {"again": 0, "out first": 0, "lost": 0, "cut": 0}

    def to_learner(game: Game, me: int) -> None:
        while game.turn not in (None, me) and me not in game.out:
            game.apply(other.act(game.view(game.turn)))

    def fresh(row: int) -> Game:
        game = Game(rules, players, seed=int(seats.batch.seeds[row]), max_decisions=max_decisions)
        to_learner(game, int(seats.learner[row]))
        return game

    games = [fresh(row) for row in range(8)]
    for _ in range(steps):
        actions = learner.act_batch(seats.observation, seats.mask, streams)
        me = seats.learner.copy()
        for row, game in enumerate(games):
            assert game.turn == me[row]
            assert (observe(game.states, int(me[row])) == seats.observation[row]).all()
            assert (game.mask == seats.mask[row]).all()
            seen["again"] += game.apply(int(actions[row])).turn == me[row]
            to_learner(game, int(me[row]))
        step = seats.step(actions)
        for row, game in enumerate(games):
            mine = int(me[row])
            out, cut = mine in game.out, game.truncated
            lost = game.over and not out and not cut
            assert bool(step.terminated[row]) == (out or lost)
            assert bool(step.truncated[row]) == (cut and not out)
            losers = Rules.parse(rules).losers
            assert step.reward[row] == pytest.approx(losers / (players - losers) if out else -1.0 if lost else 0.0)
            if out or lost or cut:
                seen["out first"] += out and not game.over
                seen["lost"] += lost
                seen["cut"] += cut
                games[row] = fresh(row)
    return seen


def test_two_players() -> None:
    seen = follow(2, "standard", 1, 300)
    assert min(seen["again"], seen["lost"]) > 20
    assert seen["out first"] == 0


def test_players_drop_out() -> None:
    seen = follow(4, "norsk", 2, 300)
    assert min(seen["again"], seen["out first"], seen["lost"]) > 20


def test_two_idiots_and_house_rules() -> None:
    seen = follow(5, "familie losers=2 skip_same=yes", 3, 200)
    assert min(seen["out first"], seen["lost"]) > 10


def test_cut_off_games_have_no_reward() -> None:
    assert follow(3, "standard", 4, 200, max_decisions=25)["cut"] > 20


def test_seats_and_opponents_are_drawn_evenly() -> None:
    a, b = CompiledAgent("greedy"), CompiledAgent("careful")
    seats = LearnerSeats(4000, [a, b], shares=[3, 1], players=4)
    seats.reset(7)
    assert np.bincount(seats.learner, minlength=4) == pytest.approx([1000] * 4, abs=120)
    assert (seats.opponent[:, :4] == 1).mean() == pytest.approx(0.25, abs=0.02)
    fixed = LearnerSeats(10, [a], players=3, seat=2)
    fixed.reset(1)
    assert (fixed.learner == 2).all()


def test_the_same_seed_is_the_same_run() -> None:
    def run() -> list[float]:
        seats = LearnerSeats(16, [CompiledAgent("random")], players=3)
        seats.reset(9)
        total = []
        for _ in range(100):
            total.append(float(seats.step(seats.mask.argmax(axis=1)).observation.sum()))
        return total

    assert run() == run()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 2}, "seat=2"),
        ({"shares": [1, 2]}, "shares"),
        ({"shares": [-1]}, "shares"),
        ({"shares": [0]}, "shares"),
    ],
)
def test_bad_seats_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnerSeats(2, [CompiledAgent("random")], players=2, **arguments)


# --- games made by hand ----------------------------------------------------------------------------------------------


class Script:
    """An opponent that plays given actions in order, then, in the games dealt after, whatever is legal first."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    def act_batch(self, observation: np.ndarray, mask: np.ndarray, streams: np.ndarray) -> np.ndarray:
        assert len(mask) == 1
        if not self.texts:
            return mask.argmax(axis=1)
        action = parse_action(self.texts.pop(0))
        assert mask[0, action] == 1
        return np.array([action])


def last_cards(hands: list[str], top: str, script: Script, rules: str = "standard") -> LearnerSeats:
    """A game in which everybody has only these hand cards left; the learner, seat 0, acts on a pile of one card."""
    seats = LearnerSeats(1, [Script()], rules=f"{rules} swap=never", players=len(hands), seat=0)
    seats.reset(1)
    seats.opponents = [script]
    state = seats.batch.states[0]
    spare = {rank: [4 * place + suit for suit in range(4)] for place, rank in enumerate("3456789TJQKA2")}
    state["up"][:], state["known"][:], state["down"][:], state["stock_size"] = 0, 0, -1, 0
    for seat, hand in enumerate(hands):
        state["hand"][seat] = sum(1 << spare[rank].pop() for rank in hand)
    pile = spare[top].pop()
    state["pile"][0], state["pile_size"], state["pile_set"] = pile, 1, 1 << pile
    state["top"], state["run"], state["turn"], state["phase"] = pile // 4, 1, 0, 1
    state["burned"] = sum(1 << card for cards in spare.values() for card in cards)
    batch = seats.batch
    show_row(batch.states, 0, batch.observation, batch.mask, batch.seat)
    return seats


def act(seats: LearnerSeats, text: str) -> tuple[float, bool]:
    step = seats.step(np.array([parse_action(text)]))
    return float(step.reward[0]), bool(step.terminated[0])


def test_a_burn_repeats_the_learner_without_asking_anybody() -> None:
    script = Script("play 9")
    seats = last_cards(["T4QQ", "9J"], "5", script)
    assert act(seats, "play T") == (0.0, False)
    assert script.texts == ["play 9"], "the burn gave the learner another turn"
    assert View(seats.observation[0], seats.mask[0], 0).pile_size == 0
    assert act(seats, "play 4") == (0.0, False)
    assert script.texts == []
    assert View(seats.observation[0], seats.mask[0], 0).top == 6
    assert act(seats, "play Qx2") == (1.0, True), "the game was over when the learner went out"


def test_an_opponents_burn_is_one_step_of_the_learner() -> None:
    script = Script("play T", "play 2", "play Kx2")
    seats = last_cards(["44", "T2KK"], "3", script)
    assert act(seats, "play 4") == (0.0, False)
    assert script.texts == ["play Kx2"], "ten, extra turn, two; then the learner"
    assert act(seats, "take") == (-1.0, True)
    assert script.texts == []


def test_players_who_drop_out_are_skipped_and_the_last_loses() -> None:
    script = Script("play 9", "play K", "play A", "play K")
    seats = last_cards(["3QQ", "9A", "KK"], "9", script)
    assert act(seats, "take") == (0.0, False), "seat 1 lays a nine, seat 2 a king"
    assert script.texts == ["play A", "play K"]
    script.texts[1:] = ["take"]
    assert act(seats, "take") == (0.0, False), "seat 1 goes out with its ace, seat 2 takes it"
    assert seats.batch.states[0]["place"][:3].tolist() == [0, 1, 0]
    script.texts[:] = ["play A", "play K"]
    assert act(seats, "play 3") == (0.0, False), "seat 1 is skipped: seat 2 lays its ace"
    assert script.texts == ["play K"]
    assert act(seats, "take") == (-1.0, True), "seat 2 goes out with its king: the learner is the idiot"
    assert script.texts == []


def test_the_learner_who_drops_out_first_ends_its_row() -> None:
    script = Script()
    seats = last_cards(["9", "35", "46"], "8", script)
    first = int(seats.batch.seeds[0])
    assert act(seats, "play 9") == (0.5, True), "the others' game is not played on"
    assert int(seats.batch.seeds[0]) != first
    assert seats.mask[0].any()


def test_with_two_idiots_the_reward_is_shared_by_the_others() -> None:
    script = Script("play A", "take", "play 5")
    seats = last_cards(["3QQ", "A", "44", "5"], "9", script, "standard losers=2")
    # Seat 1 goes out; seat 2 takes the ace, seat 3 leads its five and goes out: two are left, both idiots.
    assert act(seats, "take") == (-1.0, True)
    winner = last_cards(["9", "35", "46", "7"], "8", Script(), "standard losers=2")
    assert act(winner, "play 9") == (1.0, True), "+losers/(players − losers) = 2/2"


def test_seats_are_dealt_before_they_are_stepped() -> None:
    """Nobody sits anywhere before the deal: waiting for the learner's turn would last for ever."""
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        LearnerSeats(2, [Script()]).step(np.zeros(2, np.int64))


@pytest.mark.parametrize("opponents", [["greedy"], [None], [Script(), "greedy"]])
def test_opponents_are_policies(opponents: list) -> None:
    with pytest.raises(ValueError, match="is no opponent"):
        LearnerSeats(2, opponents)


@pytest.mark.parametrize("share", [np.nan, np.inf, -1.0])
def test_shares_are_finite(share: float) -> None:
    with pytest.raises(ValueError, match="shares="):
        LearnerSeats(2, [Script(), Script()], shares=[1.0, share])
