"""``idiot study``: games counted by independent code, intervals that hold the truth, one for every number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idiot_agents.arena import deal_seeds, play_match
from idiot_agents.compiled import NAMES, CompiledAgent
from idiot_agents.protocol import Agent
from idiot_agents.quantities import (
    Quantity,
    difference,
    mean,
    median_difference,
    quantile,
    ratio,
    share_difference,
)
from idiot_agents.registry import make_agent
from idiot_agents.study import (
    COMPARED,
    SIZE_NAMES,
    Cell,
    Studied,
    all_cells,
    cell_seeds,
    house_rules,
    play_focal,
    run_study,
    share,
    study_json,
    turned,
)
from idiot_agents.study_tables import print_study
from idiot_agents.tally import (
    BURN_SIZES,
    BURNED,
    BURNS,
    SIZES,
    STARTER,
    TAKE_SIZES,
    TAKEN,
    TAKES,
    Tally,
    tally_games,
)
from idiot_env import Game, Rules
from idiot_env.actions import TEXTS
from idiot_env.rules import PRESETS
from idiot_train.cli import main
from tests.moments import random_rules
from tests.twin import Twin

LIMIT = 400


class OneOf:
    """A compiled agent that the study does not know to be compiled: it plays by the other road."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._agent = CompiledAgent(name)

    def act(self, view: Any) -> int:
        return self._agent.act(view)

    def act_batch(self, observation: Any, mask: Any, streams: Any) -> Any:
        return self._agent.act_batch(observation, mask, streams)


def tables() -> list[tuple[Rules, int]]:
    rng = np.random.default_rng(4)
    mixed = [(random_rules(rng, players), players) for players in (2, 3, 4, 5)]
    return [(Rules.preset(name), 2 + number) for number, name in enumerate(PRESETS)] + mixed


# --- counting games --------------------------------------------------------------------------------------------------


def count_with_twin(rules: Rules, players: int, seed: int, names: list[str], exchanging: list[bool]) -> dict[str, Any]:
    """One game counted on the twin's lists; agents without luck choose on the view of a game that runs beside it."""
    game = Game(rules, players, seed=seed)
    twin = Twin(rules.as_dict(), players, list(game.deck), game.dealer)
    found: dict[str, Any] = {"takes": [], "burns": [], "starter": None}
    while twin.turn is not None and len(game.actions) < LIMIT:
        seat = twin.turn
        if found["starter"] is None and twin.phase != "swap":
            found["starter"] = seat
        view = game.view(seat)
        mask = view.action_mask.copy()
        if not exchanging[seat]:
            for action, text in enumerate(TEXTS):
                mask[action] &= not text.startswith("swap")
        action = int(CompiledAgent(names[seat]).act_batch(view.observation[None], mask[None], np.zeros(1, np.int64))[0])
        pile, burned, hand = len(twin.pile), len(twin.burned), len(twin.hands[seat])
        twin.apply(TEXTS[action])
        game.apply(action)
        if len(twin.burned) > burned:
            found["burns"].append(len(twin.burned) - burned)
        elif pile and not twin.pile:
            found["takes"].append(len(twin.hands[seat]) - hand)
    return found | {"out": twin.out, "decisions": len(game.actions), "truncated": twin.turn is not None}


@pytest.mark.parametrize(("rules", "players"), tables(), ids=str)
def test_games_are_counted_as_the_twin_counts_them(rules: Rules, players: int) -> None:
    rng = np.random.default_rng(players)
    who = ("greedy", "careful", "hoarder", "taker")  # none of them draws by lot
    agents: list[Agent] = [CompiledAgent(name) for name in who]
    seeds = deal_seeds(rules, players, 12, 5)
    lineups = rng.integers(0, len(who), (len(seeds), players))
    exchanging = rng.random(lineups.shape) < 0.6
    tally = tally_games(agents, lineups, exchanging, seeds, rules, LIMIT)
    for g, seed in enumerate(seeds):
        names = [who[k] for k in lineups[g]]
        found = count_with_twin(rules, players, int(seed), names, exchanging[g].tolist())
        counts = tally.counts[g]
        assert counts[[TAKES, TAKEN]].tolist() == [len(found["takes"]), sum(found["takes"])]
        assert counts[[BURNS, BURNED]].tolist() == [len(found["burns"]), sum(found["burns"])]
        for first, sizes in ((TAKE_SIZES, found["takes"]), (BURN_SIZES, found["burns"])):
            classes = [sum(size > largest for largest in SIZES) for size in sizes]
            assert counts[first : first + 4].tolist() == [classes.count(k) for k in range(4)]
        assert counts[STARTER] == found["starter"]
        assert tally.decisions[g] == found["decisions"]
        assert tally.truncated[g] == found["truncated"]
        assert [int(tally.place[g, seat]) for seat in found["out"]] == list(range(1, len(found["out"]) + 1))


@pytest.mark.parametrize(("rules", "players"), tables()[::2], ids=str)
def test_both_roads_count_the_same(rules: Rules, players: int) -> None:
    seeds = deal_seeds(rules, players, 20, 6)
    rng = np.random.default_rng(1)
    lineups = rng.integers(0, len(NAMES), (len(seeds), players))
    exchanging = rng.random(lineups.shape) < 0.5
    one = tally_games([CompiledAgent(name) for name in NAMES], lineups, exchanging, seeds, rules, LIMIT)
    two = tally_games([OneOf(name) for name in NAMES], lineups, exchanging, seeds, rules, LIMIT)
    for name in Tally.__dataclass_fields__:
        assert (getattr(one, name) == getattr(two, name)).all(), name


def test_focal_games_are_those_of_the_arena() -> None:
    cell = Cell("sjanse", None, None, Rules.preset("sjanse"), 3, 40)
    careful, greedy = CompiledAgent("careful"), CompiledAgent("greedy")
    lost = play_focal(cell, careful, greedy, cell_seeds(cell, 2))
    assert lost.mean() == pytest.approx(play_match(careful, greedy, cell.rules, 3, 40, seed=2).lost)
    assert play_focal(cell, careful, careful, cell_seeds(cell, 2)).tolist() == pytest.approx([1 / 3] * 40)


def test_who_never_exchanges_loses_nothing_by_not_exchanging() -> None:
    cell = Cell("standard", None, None, Rules(), 2, 30)
    seeds = cell_seeds(cell, 0)
    greedy, careful = CompiledAgent("greedy"), CompiledAgent("careful")
    assert (play_focal(cell, greedy, greedy, seeds, exchanging=False) == 0.5).all()
    assert play_focal(cell, careful, careful, seeds, exchanging=False).mean() > 0.5


def test_turned_by_hand() -> None:
    lost = np.array([[1.0, 0, 0], [0, 0.5, 0.5]])
    assert turned(lost, np.array([1, 2])).tolist() == [[0, 0, 1], [0.5, 0, 0.5]]


# --- cells -----------------------------------------------------------------------------------------------------------


def test_house_rules_change_one_option_and_none_that_nothing_reads() -> None:
    for table in PRESETS:
        base = Rules.preset(table)
        found = list(house_rules(table))
        assert len({(option, value) for option, value, _ in found}) == len(found)
        for option, _, rules in found:
            changed = [name for name, value in rules.as_dict().items() if value != base.as_dict()[name]]
            assert changed == [option]
    assert not any(option == "starter_tie" for option, _, _ in house_rules("standard"))
    assert sum(option == "starter_tie" for option, _, _ in house_rules("norsk")) == 2
    assert {value for option, value, _ in house_rules("norsk") if option == "swap"} == {"before", "anytime"}


def test_cells_leave_out_what_cannot_be_seated_and_share_their_tables_deals() -> None:
    cells = all_cells(["standard", "norsk"], [2, 5], 100, None, 20)
    assert [cell.option for cell in cells if cell.option is None] == [None] * 4
    seated = {(cell.option, cell.players) for cell in cells}
    assert ("losers", 2) not in seated
    assert ("losers", 5) in seated
    assert ("hand_size", 5) not in seated
    assert all(cell.deals == (100 if cell.option is None else 20) for cell in cells)
    base = cells[0]
    for cell in cells:
        if (cell.table, cell.players) == (base.table, base.players):
            assert (cell_seeds(cell, 3) == cell_seeds(base, 3)[: cell.deals]).all()
    assert [c.option for c in all_cells(["norsk"], [3], 9, ["chance"], 20)] == [None, "chance"]
    assert all_cells(["norsk"], [3], 9, ["chance"], 20)[1].deals == 9
    assert [c.option for c in all_cells(["norsk"], [3], 9, [], 20)] == [None]


# --- intervals -------------------------------------------------------------------------------------------------------


def coverage(trials: int, once: Any, truth: float) -> float:
    rng = np.random.default_rng(11)
    found = [once(rng, trial) for trial in range(trials)]
    return float(np.mean([one.low <= truth <= one.high for one in found]))


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    def one_ratio(rng: np.random.Generator, trial: int) -> Quantity:
        takes = rng.poisson(3, 100)
        found = ratio(np.array([rng.poisson(4, k).sum() for k in takes]), takes, trial)
        assert found is not None
        return found

    def medians(rng: np.random.Generator, trial: int) -> Quantity:
        base = rng.normal(80, 20, 100)
        return median_difference(base + rng.normal(5, 10, 100), base, trial)

    assert 0.91 <= coverage(300, lambda rng, k: mean(rng.poisson(3, 60), k), 3) <= 0.98
    assert 0.91 <= coverage(300, one_ratio, 4) <= 0.98
    assert 0.93 <= coverage(400, lambda rng, k: quantile(rng.exponential(size=100), 0.5, 99), np.log(2)) <= 1
    assert 0.93 <= coverage(400, lambda rng, k: quantile(rng.exponential(size=100), 0.95, 99), np.log(20)) <= 1
    assert 0.93 <= coverage(400, lambda rng, k: quantile(rng.exponential(size=100), 1.0, 99), np.log(100)) <= 1
    assert 0.91 <= coverage(150, medians, 5) <= 1
    rare = coverage(300, lambda rng, k: share_difference(rng.random(60) < 0.03, rng.random(60) < 0.01, k), 0.02)
    assert rare >= 0.94


def test_quantities_by_hand() -> None:
    assert mean([4, 4, 4]) == Quantity(4, 4, 4)
    assert ratio(np.array([0, 0]), np.array([0, 0])) is None
    assert ratio(np.array([6, 2]), np.array([2, 2])).value == 2  # type: ignore[union-attr]
    values = np.arange(1, 101)
    assert quantile(values, 0.5, 500).value == 50
    assert quantile(values, 0.95, 500).value == 95
    longest = quantile(values, 1.0, 500)
    assert (longest.value, longest.high) == (100, 500)
    assert longest.low < 100
    assert quantile([7], 0.5, 9) == Quantity(7, 0, 9)
    assert difference(values + 2, values) == Quantity(2, 2, 2)
    assert median_difference(values + 2, values) == Quantity(2, 2, 2)
    same = share_difference(np.zeros(50), np.zeros(50))
    assert same.value == 0
    assert same.low == -same.high < 0  # what was not seen may yet be
    assert share(np.zeros(50), 0.25).value == -0.25


def test_no_interval_is_endless_where_one_deal_stands_against_the_rest() -> None:
    lonely = np.zeros(50)
    lonely[7] = 2000
    for found in (mean(lonely), difference(lonely, np.ones(50)), ratio(lonely, np.ones(50))):
        assert found is not None
        assert np.isfinite([found.low, found.high]).all()
        assert found.low <= found.value <= found.high


# --- a small study ---------------------------------------------------------------------------------------------------


def small_study(seed: int = 0) -> list[Studied]:
    cells = all_cells(["standard", "norsk"], [2, 3], 60, ["chance", "losers"], 30)
    agents = [CompiledAgent(name) for name in ("careful", "linear", "greedy")]
    return list(run_study(cells, *agents, seed))


def quantities(number: Any) -> list[dict[str, float]]:
    if number is None:
        return []
    if isinstance(number, list):
        return [one for part in number for one in quantities(part)]
    return [number] if set(number) == {"value", "low", "high"} else quantities(list(number.values()))


def test_every_number_has_its_interval() -> None:
    results = small_study()
    careful, linear = CompiledAgent("careful"), CompiledAgent("linear")
    result = json.loads(json.dumps(study_json(results, careful, linear, 0, "idiot study")))
    assert len(result["cells"]) == 2 * (2 + 3)
    for cell in result["cells"]:
        found = quantities(cell["numbers"]) + quantities(cell["against_table"])
        assert len(found) >= 24
        for number in found:
            assert set(number) == {"value", "low", "high"}
            assert np.isfinite(list(number.values())).all()
            assert number["low"] <= number["value"] + 1e-9
            assert number["value"] <= number["high"] + 1e-9
        numbers = cell["numbers"]
        assert [name for name, number in numbers.items() if not quantities(number)] == (
            ["exchanging"] if Rules.parse(cell["rules"]).swap == "never" else []
        )
        for seats in ("by_start", "by_dealer"):
            assert len(numbers[seats]) == cell["players"]
            assert sum(seat["value"] for seat in numbers[seats]) == pytest.approx(0, abs=1e-9)
        assert numbers["starter"] == numbers["by_start"][0]
        for sizes in ("take_sizes", "burn_sizes"):
            assert set(numbers[sizes]) == set(SIZE_NAMES)
            assert sum(size["value"] for size in numbers[sizes].values()) == pytest.approx(1)
        assert numbers["skill"]["value"] == pytest.approx(1 - numbers["skilled"]["value"] / cell["even"])
        expected = set(COMPARED) - ({"exchanging"} if cell["table"] == "norsk" else set())
        assert set(cell["against_table"]) == (expected if cell["option"] else set())
        assert len(cell["deals_hash"]) == 16


def test_a_study_can_be_repeated_and_another_seed_is_another_one() -> None:
    careful, linear = CompiledAgent("careful"), CompiledAgent("linear")
    one, two, other = (study_json(small_study(seed), careful, linear, seed, "") for seed in (0, 0, 1))
    assert one == two
    assert one["cells"][0]["deals_hash"] != other["cells"][0]["deals_hash"]


def test_differences_are_those_of_the_same_deals() -> None:
    """Losing both 2-player games or none, by hand: what a house rule changes is a difference deal by deal."""
    table, chance = small_study()[:2]
    assert (table.cell.option, chance.cell.option) == (None, "chance")
    apart = chance.per_deal["skilled"] - table.per_deal["skilled"][:30]
    assert chance.against_table["skilled"].value == pytest.approx(apart.mean())
    medians = np.median(chance.per_deal["length_median"]) - np.median(table.per_deal["length_median"][:30])
    assert chance.against_table["length_median"].value == medians


def test_an_agent_that_sees_all_cards_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    cells = all_cells(["norsk"], [2], 4, [], 4)
    cheater = make_agent("cheater", cheats=True)
    careful, greedy = CompiledAgent("careful"), CompiledAgent("greedy")
    result = study_json(list(run_study(cells, careful, cheater, greedy, 0)), careful, cheater, 0, "")
    print_study(result)
    out = capsys.readouterr().out
    assert "cheater†" in out
    assert "sees all cards" in out
    assert "careful†" not in out


# --- the command -----------------------------------------------------------------------------------------------------

SMALL = ["study", "--tables", "norsk", "--players", "3", "--deals", "20", "--house-deals", "10", "--quiet"]


def test_the_command_prints_tables_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "study.json"
    assert main([*SMALL, "--house-rules", "chance", "--agent", "greedy", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    for text in ("Games of greedy", "Seats, clockwise", "chance=yes", "skill", f"wrote {path}"):
        assert text in out
    result = json.loads(path.read_text())
    assert result["format"] == "idiot-study/1"
    again = tmp_path / "again.json"
    assert main([*result["command"].split()[1:], "--json", str(again), "--quiet"]) == 0
    assert json.loads(again.read_text())["cells"] == result["cells"]


def test_the_command_draws(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "plots"
    assert main([*SMALL, "--house-rules", "chance", "runs", "--plots", str(folder)]) == 0
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["house-rules-norsk-3.png", "length.png", "seats.png"]
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in folder.iterdir())


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--agent", "nobody"], "unknown agent 'nobody'"),
        (["--house-rules", "all", "chance"], "give all, none, or names of options"),
        (["--house-rules", "lunch"], "invalid choice: 'lunch'"),
        (["--tables", "poker"], "invalid choice: 'poker'"),
        (["--players", "6"], "played by 2 to 5"),
        (["--deals", "0"], "a whole number from 1 on"),
        (["--json", "no/where.json"], "no is no folder"),
        (["--plots", "no/where"], "name a folder in one that exists"),
    ],
)
def test_bad_input_is_one_sentence(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, *argv]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
