"""Endgames: exact values, against an independent solver on the slow twin; what qualifies; wins thrown away."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from idiot_agents.compiled import CompiledAgent
from idiot_agents.endgame import Solution, Solver
from idiot_agents.registry import make_agent
from idiot_agents.throwaway import Throwaway, keeps, throwaway
from idiot_env import Game, Rules, View
from idiot_env import actions as A
from idiot_env.observation import determinize, observe
from tests.endgames import PATH, state_of
from tests.twin import PRESETS, Twin, all_cards, rank_of

TABLE: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))
SOLVER = Solver(5000, 16)


def solve(entry: dict[str, Any], solver: Solver = SOLVER) -> Solution | None:
    return solver.solve(observe(state_of(entry), 0))


def test_the_table_stands() -> None:
    """106 proven positions of seven tables: each value and each action's, as they were when the table was written."""
    assert len({entry["rules"] for entry in TABLE}) == 7
    for entry in TABLE:
        solution = solve(entry)
        assert solution is not None
        assert solution.positions == entry["positions"]
        assert [solution.value.win, solution.value.lose] == pytest.approx(entry["value"], abs=1e-11)
        assert {A.TEXTS[action] for action in solution.actions} == set(entry["actions"])
        for action, value in solution.actions.items():
            assert [value.win, value.lose] == pytest.approx(entry["actions"][A.TEXTS[action]], abs=1e-11)


# --- the same by other code ------------------------------------------------------------------------------------------

HIDDEN = "?"
"""A face-down card of the twin's that nobody has seen."""


def twin_of(entry: dict[str, Any]) -> tuple[Twin, tuple[str, ...]]:
    """The twin at an entry, its face-down cards unnamed, and those cards by rank."""
    rules = Rules.parse(entry["rules"])
    options = PRESETS["standard"] | {name: getattr(rules, name) for name in PRESETS["standard"]}
    twin = Twin(options, 2, all_cards(options), 0)
    suits: Counter[str] = Counter()

    def cards(text: str) -> list[str]:
        named = []
        for rank in text:
            suits[rank] += 1
            named.append(rank + ("CDHS" if rank != "*" else "12")[suits[rank] - 1])
        return named

    twin.stock, twin.out, twin.burned, twin.waiting, twin.opening_due = [], [], [], [], False
    twin.hands = [cards(text) for text in entry["hand"]]
    twin.ups = [cards(text) for text in entry["up"]]
    twin.seen = [[], []]
    twin.downs = [[HIDDEN if slot in slots else None for slot in (1, 2, 3)] for slots in entry["down"]]
    twin.pile = cards(entry["pile"])
    twin.begin_turn(0)
    twin.exchanges_left = entry["exchanges"]
    return twin, tuple(sorted(cards(entry["unseen"])))


Key = tuple[Any, ...]
Move = list[tuple[Fraction, Key]]


def key_of(twin: Twin, unseen: tuple[str, ...]) -> Key:
    if twin.turn is None:
        return ("over", twin.out[0])
    ranks = [tuple(sorted(map(rank_of, cards))) for cards in (*twin.hands, *twin.ups, unseen)]
    downs = [len(twin.down_cards(seat)) for seat in range(2)]
    return (*ranks, *downs, tuple(map(rank_of, twin.pile)), twin.turn, twin.phase, twin.exchanges_left)


def follow(twin: Twin, unseen: tuple[str, ...], text: str) -> list[tuple[Fraction, Twin, tuple[str, ...]]]:
    """What an action may lead to, and how likely; a flip may turn up any unseen card."""
    if not text.startswith("flip"):
        after = twin.copy()
        after.apply(text)
        return [(Fraction(1), after, unseen)]
    outcomes = []
    for card in unseen:
        after = twin.copy()
        after.downs[after.seat()][int(text[-1]) - 1] = card
        after.apply(text)
        left = list(unseen)
        left.remove(card)
        outcomes.append((Fraction(1, len(unseen)), after, tuple(left)))
    return outcomes


def solve_by_twin(entry: dict[str, Any]) -> tuple[Fraction, Fraction, dict[str, tuple[Fraction, Fraction]]]:
    """Win and loss that can be forced, for the position and each action: plain value iteration with fractions."""
    twin, unseen = twin_of(entry)
    root = key_of(twin, unseen)
    graph: dict[Key, tuple[int, dict[str, Move]]] = {}
    pending = [(root, twin, unseen)]
    while pending:
        key, here, left = pending.pop()
        if key in graph or key[0] == "over":
            continue
        moves: dict[str, Move] = {}
        for text in here.legal():
            moves[text] = []
            for chance, after, still in follow(here, left, text):
                moves[text].append((chance, key_of(after, still)))
                pending.append((key_of(after, still), after, still))
        graph[key] = here.seat(), moves

    def forced(winner: int) -> dict[Key, Fraction]:
        values = dict.fromkeys(graph, Fraction(0)) | {("over", seat): Fraction(seat == winner) for seat in range(2)}
        while True:
            new = dict(values)
            for key, (seat, moves) in graph.items():
                options = [sum(chance * values[after] for chance, after in move) for move in moves.values()]
                new[key] = Fraction(max(options) if seat == winner else min(options))
            if new == values:
                return values
            values = new

    win, lose = forced(0), forced(1)
    actions = {
        text: (sum((c * win[k] for c, k in move), Fraction(0)), sum((c * lose[k] for c, k in move), Fraction(0)))
        for text, move in graph[root][1].items()
    }
    return win[root], lose[root], actions


def small(limit: int, each: int) -> list[dict[str, Any]]:
    """The smallest entries of each table."""
    chosen = []
    for rules in sorted({entry["rules"] for entry in TABLE}):
        mine = [entry for entry in TABLE if entry["rules"] == rules and entry["positions"] <= limit]
        chosen += sorted(mine, key=lambda entry: entry["positions"])[:each]
    return chosen


def check_against_twin(entry: dict[str, Any]) -> None:
    solution = solve(entry)
    assert solution is not None
    win, lose, actions = solve_by_twin(entry)
    assert (solution.value.win, solution.value.lose) == pytest.approx((float(win), float(lose)), abs=1e-12)
    # All legal flips are one to the solver.
    assert {A.TEXTS[action] for action in solution.actions} <= set(actions)
    for action, value in solution.actions.items():
        assert (value.win, value.lose) == pytest.approx(tuple(map(float, actions[A.TEXTS[action]])), abs=1e-12)


@pytest.mark.parametrize("entry", small(600, 5), ids=lambda entry: f"{entry['rules']}-{entry['positions']}")
def test_another_solver_agrees(entry: dict[str, Any]) -> None:
    check_against_twin(entry)


@pytest.mark.slow
@pytest.mark.parametrize("entry", small(2500, 100), ids=lambda entry: f"{entry['rules']}-{entry['positions']}")
def test_another_solver_agrees_everywhere(entry: dict[str, Any]) -> None:
    check_against_twin(entry)


# --- by hand ---------------------------------------------------------------------------------------------------------


def position(hand: list[str], pile: str = "", up: tuple[str, str] = ("", ""), down: Any = ((), ()), unseen: str = "",
             rules: str = "standard") -> dict[str, Any]:  # fmt: skip
    return {"rules": rules, "hand": hand, "up": list(up), "down": down, "pile": pile, "unseen": unseen, "exchanges": 0}


def test_a_win_is_found() -> None:
    """A ten burns the king, and the last card follows."""
    solution = solve(position(["5T", "3"], "K"))
    assert solution is not None
    assert solution.value.win == 1
    assert A.TEXTS[solution.best] == "play T"
    assert keeps(solution, A.parse_action("play T"))
    assert not keeps(solution, A.parse_action("take"))


def test_equal_hands() -> None:
    """An ace and a four against the same: the other solver says what that is worth."""
    solution = solve(position(["4A", "4A"], "5"))
    assert solution is not None
    win, lose, _ = solve_by_twin(position(["4A", "4A"], "5"))
    assert (solution.value.win, solution.value.lose) == (win, lose)


def test_some_positions_are_endless() -> None:
    endless = [entry for entry in TABLE if sum(entry["value"]) < 1 - 1e-9]
    assert endless
    for entry in endless:
        solution = solve(entry)
        assert solution is not None
        assert solution.value.endless == pytest.approx(1 - sum(entry["value"]))


def test_chance_is_known_to_neither() -> None:
    """On a nine, a last face-down ace goes out; of a four and an ace, either may be seat 0's."""
    solution = solve(position(["", "KK"], "9", down=((2,), ()), unseen="A"))
    assert solution is not None
    assert (solution.value.win, list(solution.actions)) == (1, [A.FLIP + 1])
    even = solve(position(["", "3"], "9", down=((1,), (2,)), unseen="4A"))
    assert even is not None
    assert even.value.win == pytest.approx(0.5)


# --- what qualifies --------------------------------------------------------------------------------------------------


def late_games() -> Iterator[Game]:
    """Decisions of games between greedy players, at several tables."""
    greedy = CompiledAgent("greedy")
    for text in ("standard", "norsk", "sjanse stack=yes", "familie sneak_three=yes"):
        for players, games in ((2, 20), (3, 5)):
            for seed in range(games):
                game = Game(text, players, seed=seed, max_decisions=300)
                while game.turn is not None:
                    yield game
                    game.apply(greedy.act(game.view(game.turn)))


def test_only_what_is_known_is_solved() -> None:
    """Re-dealing what cannot be known changes no solution; with a stock, a third player or an unknown hand, none."""
    rng = np.random.default_rng(80)
    solver, solved, refused = Solver(2000, 12), 0, 0
    for game in late_games():
        assert game.turn is not None
        view = game.view(game.turn)
        solution = solver.solve(view.observation)
        if solution is None:
            refused += 1
            continue
        assert game.players == 2
        assert view.stock_size == 0
        assert solution.value.win == max(value.win for value in solution.actions.values())
        assert solution.value.lose == min(value.lose for value in solution.actions.values())
        assert solution.actions[solution.best].balance == max(value.balance for value in solution.actions.values())
        assert solution.best in solution.equally_good()
        other = observe(determinize(game.states, game.turn, rng), game.turn)
        assert solver.solve(other) == solution
        assert set(solution.actions) <= set(np.flatnonzero(view.action_mask).tolist())
        solved += 1
    assert solved > 50
    assert refused > 1000


def test_an_unknown_hand_is_not_solved() -> None:
    states = state_of(position(["5T", "37"], "K", down=((1,), ()), unseen="8"))
    assert SOLVER.solve(observe(states, 0)) is not None
    states[0]["known"][1] = 0
    assert SOLVER.solve(observe(states, 0)) is None
    open_table = state_of(position(["5T", "37"], "K"))
    open_table[0]["known"][1] = 0  # nothing else is unseen, so these two can be named all the same
    assert SOLVER.solve(observe(open_table, 0)) == solve(position(["5T", "37"], "K"))


def test_limits() -> None:
    entry = max(TABLE, key=lambda entry: entry["positions"])
    assert solve(entry, Solver(entry["positions"], entry["live"])) is not None
    assert solve(entry, Solver(entry["positions"] - 1, entry["live"])) is None
    assert solve(entry, Solver(entry["positions"], entry["live"] - 1)) is None


def test_proven_wins_are_brought_home() -> None:
    """By the best action alone, a position of value 1 is won against every opponent here, and soon."""
    solver = Solver(5000, 16)
    for entry in [entry for entry in TABLE if entry["value"][0] == 1]:
        for name in ("random", "greedy", "careful"):
            game, opponent = Game(entry["rules"], 2, seed=0), CompiledAgent(name, 5)
            game._states[:] = state_of(entry)
            for _ in range(200):
                if game.turn is None:
                    break
                view = game.view(game.turn)
                if game.turn == 1:
                    game.apply(opponent.act(view))
                    continue
                solution = solver.solve(view.observation)
                assert solution is not None
                assert solution.value.win == 1
                game.apply(solution.best)
            assert game.out[:1] == [0]


# --- wins thrown away ------------------------------------------------------------------------------------------------


class Advised:
    """Careful, who takes the solver's advice where there is any, or does the opposite."""

    def __init__(self, heeds: bool) -> None:
        self.name = "advised"
        self.heeds = heeds
        self.solver, self.careful = Solver(20_000, 14), CompiledAgent("careful")

    def act(self, view: View) -> int:
        solution = self.solver.solve(view.observation)
        if solution is None:
            return self.careful.act(view)
        return solution.best if self.heeds else min(solution.actions, key=lambda a: solution.actions[a].win)


def test_throwing_away_is_counted() -> None:
    """Whoever heeds the solver keeps every win; whoever does the opposite throws away what can be thrown away."""
    rules, careful, solver = Rules(), CompiledAgent("careful"), Solver(20_000, 14)
    careless = throwaway(Advised(False), careful, rules, 60, solver=solver)
    assert careless == throwaway(Advised(False), careful, rules, 60, solver=solver)
    assert careless.games == 120
    assert 0 < careless.decisions == careless.thrown
    assert careless.share == 1
    assert careless.won_games > careless.lost_games > 0
    perfect = throwaway(Advised(True), careful, rules, 60, solver=solver)
    assert (perfect.thrown, perfect.lost_games, perfect.share) == (0, 0, 0)
    assert perfect.decisions > 0
    assert Throwaway(0, 0, 0, 0, 0).share == 0


def test_search_throws_nothing_away_that_it_can_solve() -> None:
    solver = Solver(5000, 12)
    kept = throwaway(make_agent("pimc:2"), CompiledAgent("greedy"), Rules.parse("norsk"), 20, solver=solver)
    assert kept.decisions > 0
    assert kept.thrown == 0


def test_a_deputy_decides_where_nothing_is_at_stake() -> None:
    """With a deputy the same positions come up whoever is asked in them, and the agent is asked in no other."""

    class Counting(Advised):
        asked = 0

        def act(self, view: View) -> int:
            self.asked += 1
            return super().act(view)

    rules, careful, solver, agent = Rules(), CompiledAgent("careful"), Solver(20_000, 14), Counting(True)
    found = throwaway(agent, careful, rules, 60, solver=solver, deputy=careful)
    assert found.decisions == agent.asked > 0
    assert found.thrown == 0
    alone = throwaway(careful, careful, rules, 60, solver=solver, deputy=careful)
    assert alone == throwaway(careful, careful, rules, 60, solver=solver)
