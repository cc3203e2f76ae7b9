"""Tournaments and ``idiot bench``: the same numbers whatever the order, the processes and the interruptions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idiot_agents import bench, tournament
from idiot_agents.arena import Games, play_match
from idiot_agents.compiled import CompiledAgent
from idiot_agents.protocol import Actions, Masks, Observations, Streams
from idiot_agents.registry import make_agent
from idiot_agents.report import html_report
from idiot_agents.result_files import differences, read_json
from idiot_agents.results import find_cycles, make_result, surely_better
from idiot_agents.sprt import Sprt
from idiot_agents.tournament import Cell, Task, Tournament
from idiot_env import Rules
from idiot_train.cli import main

ROOT = Path(__file__).resolve().parent.parent
AGENTS = ("greedy", "careful", "random")


def run(*names: str, players: int = 2, deals: int = 60, watching: bool = True) -> dict[str, Any]:
    agents = [make_agent(name) for name in names]
    games = Tournament(agents, Rules(), players, deals, seed=3, watching=watching)
    return make_result(games, bench.play_tournament(games, quiet=True))


def without_time(result: dict[str, Any]) -> dict[str, Any]:
    return {name: entry for name, entry in result.items() if name != "timing"}


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "OF_COMPILED", 16)


# --- the same numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3])
def test_the_order_of_agents_does_not_matter(players: int) -> None:
    there, back = run(*AGENTS, players=players), run(*reversed(AGENTS), players=players)
    assert there["ratings"] == back["ratings"]
    assert sorted(there["behaviour"], key=str) == sorted(back["behaviour"], key=str)
    assert sorted(there.get("mixed", ()), key=str) == sorted(back.get("mixed", ()), key=str)
    pairs = {(match["focal"], match["others"]): match for match in back["matches"]}
    for match in there["matches"]:
        if players == 3:
            assert pairs[match["focal"], match["others"]] == match
        else:
            other = pairs[match["others"], match["focal"]]
            assert other["score"]["low"] == pytest.approx(1 - match["score"]["high"])
            assert other["lost"]["mean"] == pytest.approx(1 - match["lost"]["mean"])
            assert other["lengths"] == match["lengths"]


def test_a_pairing_is_a_match() -> None:
    """The tournament and ``play_match`` agree, from both sides."""
    result = run("greedy", "careful", deals=80)
    match = play_match(CompiledAgent("greedy"), CompiledAgent("careful"), Rules(), 2, 80, seed=3)
    (pairing,) = result["matches"]
    assert pairing["score"]["mean"] == pytest.approx(match.figures.score.mean)
    assert (pairing["score"]["low"], pairing["score"]["high"]) == pytest.approx(
        (match.figures.score.low, match.figures.score.high), abs=0.01
    )
    assert (pairing["truncated"], pairing["decisions"]) == (match.truncated, match.figures.decisions)
    assert "ratings" not in result
    assert sum(pairing["lengths"]["classes"]) == pairing["games"] == 160


def test_other_processes_give_the_same_numbers(small_tasks: None) -> None:
    agents = [make_agent(name) for name in AGENTS]
    games = Tournament(agents, Rules.parse("norsk"), 3, 40, seed=1, watching=True)
    one = make_result(games, bench.play_tournament(games, quiet=True))
    two = make_result(games, bench.play_tournament(games, quiet=True, jobs=2))
    assert without_time(one) == without_time(two)
    assert one["mixed"][0]["games"] == 120


def test_the_size_of_tasks_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(*AGENTS, players=3)
    monkeypatch.setattr(tournament, "OF_COMPILED", 7)
    assert without_time(run(*AGENTS, players=3)) == without_time(whole)


# --- stopping and going on -------------------------------------------------------------------------------------------


def bench_command(path: Path, *more: str) -> list[str]:
    return ["bench", *AGENTS, "--deals", "50", "--seed", "4", "--json", str(path), "--quiet", "--behaviour", *more]


def interrupted_after(tasks: int, monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Let ``play_tasks`` be stopped by Ctrl-C after so many tasks; returns the list of all that are played."""
    played: list[Task] = []
    original = tournament.play_tasks

    def play_tasks(games: Tournament, todo: Sequence[Task], jobs: int) -> Iterator[tuple[Task, Games]]:
        for task, result in original(games, todo, jobs):
            if len(played) == tasks:
                raise KeyboardInterrupt
            played.append(task)
            yield task, result

    monkeypatch.setattr(bench, "play_tasks", play_tasks)
    return played


def test_stopped_and_taken_up_is_as_never_stopped(
    small_tasks: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, path = tmp_path / "whole.json", tmp_path / "stopped.json"
    assert main(bench_command(whole)) == 0
    first = interrupted_after(5, monkeypatch)
    assert main(bench_command(path)) == 130
    assert "42% is kept in" in capsys.readouterr().err
    assert not path.exists()
    monkeypatch.undo()
    monkeypatch.setattr(tournament, "OF_COMPILED", 16)
    rest = interrupted_after(99, monkeypatch)
    assert main(bench_command(path)) == 0
    assert not set(first) & set(rest)
    assert len(first) + len(rest) == 12
    assert without_time(read_json(path)) == without_time(read_json(whole))
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["stopped.json", "whole.json"]


def test_what_another_command_began_is_not_mixed_in(
    small_tasks: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    interrupted_after(3, monkeypatch)
    assert main(bench_command(path)) == 130
    capsys.readouterr()
    for other, says in ((("--max-decisions", "77"), "max decisions"), (("--rules", "norsk"), "rules")):
        assert main(bench_command(path, *other)) == 2
        assert says in capsys.readouterr().err
    partial = tmp_path / "r.json.partial"
    content = json.loads(partial.read_text())
    content["finished"][0]["games"] = "bm90IGFuIGFyY2hpdmU="
    for text in ("{", "[]", json.dumps(content)):
        partial.write_text(text)
        assert main(bench_command(path)) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert "remove it" in error


def test_without_a_file_nothing_is_kept(
    small_tasks: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted_after(1, monkeypatch)
    assert main(["bench", "greedy", "random", "--deals", "50", "--quiet"]) == 130
    assert "--json FILE" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_all_processes(jobs: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    words = [
        "bench",
        "greedy",
        "careful",
        "random",
        "--deals",
        "150000",
        "--json",
        str(path),
        "--jobs",
        jobs,
        "--quiet",
    ]
    # Whatever runs the tests in the background may have told its children to ignore Ctrl-C.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += f"from idiot_train.cli import main\nif __name__ == '__main__': sys.exit(main({words!r}))"
    script = tmp_path / "run.py"
    script.write_text(code)
    process = subprocess.Popen(
        [sys.executable, str(script)], cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    partial = tmp_path / "r.json.partial"
    for _ in range(1200):
        if partial.exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "is kept in" in errors
    for _ in range(300):  # the helper that Python starts for its workers notices a moment later
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("a process is left")


# --- replaying -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--players", "3"), ("--sprt", "0.3,0.7")])
def test_reproduce(more: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    agents = AGENTS[:2] if "--sprt" in more else AGENTS
    assert main(["bench", *agents, "--deals", "70", "--behaviour", "--json", str(path), "--quiet", *more]) == 0
    assert main(["bench", "--reproduce", str(path), "--quiet"]) == 0
    assert "the numbers are the same" in capsys.readouterr().out
    # The command that the file names gives the same file.
    result = read_json(path)
    words = result["command"].split(" ", 2)[2]
    again = tmp_path / "again.json"
    assert main(["bench", *words.split(), "--json", str(again), "--quiet"]) == 0
    assert without_time(read_json(again)) == without_time(result)


DOCTORED = {
    "matches: greedy against random: score.mean": lambda r: r["matches"][1]["score"].update(mean=0.5),
    "matches: careful against random: truncated": lambda r: r["matches"][2].update(truncated=9),
    "deals_hash": lambda r: r.update(deals_hash="0" * 16),
    "ratings: careful: rating": lambda r: next(x for x in r["ratings"] if x["agent"] == "careful").update(rating=2000),
    "behaviour: greedy: decisions": lambda r: r["behaviour"][0].update(decisions=1.5),
    "cycles": lambda r: r["cycles"].append(["greedy", "careful", "random"]),
    "mood": lambda r: r.update(mood="good"),
}


@pytest.mark.parametrize("where", DOCTORED)
def test_a_doctored_file_is_found_out(where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    result = run(*AGENTS)
    path.write_text(json.dumps(result))
    DOCTORED[where](result)
    path.write_text(json.dumps(result))
    assert main(["bench", "--reproduce", str(path), "--quiet"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert "is not reproduced" in last
    assert where in last


def test_files_that_cannot_be_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    result = run("greedy", "random", deals=5, watching=False)
    broken = {
        "{": "not JSON",
        "[]": "format",
        json.dumps({**result, "format": "idiot-bench/1"}): "format",
        json.dumps({**result, "deals": "5"}): "'deals'",
        json.dumps({**result, "rules": "chess"}): "chess",
        json.dumps({**result, "agents": [{"name": "nobody"}, {"name": "greedy"}]}): "nobody",
        json.dumps({**result, "sprt": {}}): "p0",
    }
    for text, says in broken.items():
        path.write_text(text)
        assert main(["bench", "--reproduce", str(path), "--quiet"]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert says in error
    path.write_text(json.dumps(result))
    assert main(["bench", "greedy", "--reproduce", str(path)]) == 2
    assert main(["bench", "--reproduce", str(tmp_path / "none.json")]) == 2


def test_changed_code_is_noted_and_changed_weights_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    result = run("greedy", "random", deals=5, watching=False)
    result["agents"][0]["code_sha256"] = "0" * 64
    path.write_text(json.dumps(result))
    assert main(["bench", "--reproduce", str(path), "--quiet"]) == 0
    assert "code has changed" in capsys.readouterr().err


def test_differences_to_nine_digits() -> None:
    assert not list(differences({"a": [0.1, 3]}, {"a": [0.1 + 1e-12, 3]}))
    assert list(differences({"a": 0.1}, {"a": 0.1 + 1e-8})) == ["a is 0.1 in the file, 0.10000001 replayed"]
    assert list(differences({"a": 3}, {"a": 4})) == ["a is 3 in the file, 4 replayed"]
    assert list(differences({"a": [1]}, {"a": []})) == ["a has 1 entries in the file, 0 replayed"]
    assert list(differences({"a": None}, {})) == ["a is only in the file"]
    assert list(differences({"a": True}, {"a": 1})) == ["a is True in the file, 1 replayed"]


class Hasty:
    """Greedy that claims to think for a time."""

    name = "hasty"
    reproducible = False

    def __init__(self) -> None:
        self._greedy = CompiledAgent("greedy")

    def act(self, view: Any) -> int:
        return self._greedy.act(view)

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        return self._greedy.act_batch(observation, mask, streams)


def test_what_rests_on_time_is_marked_and_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def make(spec: str, seed: int = 0, *, cheats: bool = False) -> Any:
        return Hasty() if spec == "hasty" else make_agent(spec, seed, cheats=cheats)

    monkeypatch.setattr(bench, "make_agent", make)
    path = tmp_path / "r.json"
    command = ["bench", "hasty", "careful", "random", "--deals", "10", "--json", str(path), "--quiet"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "hasty*" in out
    assert "* thinks for a time" in out
    result = json.loads(path.read_text())
    result["matches"][0]["score"]["mean"] = 0.123  # hasty against careful
    path.write_text(json.dumps(result))
    assert main(["bench", "--reproduce", str(path), "--quiet"]) == 0
    assert "not compared: the games of hasty" in capsys.readouterr().out
    result["matches"][2]["score"]["mean"] = 0.123  # careful against random
    path.write_text(json.dumps(result))
    assert main(["bench", "--reproduce", str(path), "--quiet"]) == 1


def test_a_cheater_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "greedy", "cheater", "--deals", "3", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "cheater†" in out
    assert "† sees all cards" in out


# --- circles ---------------------------------------------------------------------------------------------------------


def planted(chances: dict[tuple[int, int], float], agents: int, deals: int, rng: np.random.Generator) -> Any:
    """A tournament of two players, and games in which a beats b with a chance of ``chances[a, b]``."""
    games = Tournament([CompiledAgent(name) for name in sorted(AGENTS)[:agents]], Rules(), 2, deals)
    played = {}
    for cell in games.cells:
        results = Games.empty(2 * deals, 2, agents)
        won = rng.random(2 * deals) < chances[cell]
        focal_seat = np.tile([0, 1], deals)
        results.place[np.arange(2 * deals), np.where(won, focal_seat, 1 - focal_seat)] = 1
        played[cell] = results
    return games, played


def test_circles_are_told_where_they_are_sure() -> None:
    rng = np.random.default_rng(1)
    circle = {Cell(0, 1): 0.6, Cell(1, 2): 0.6, Cell(0, 2): 0.4}
    games, played = planted(circle, 3, 1000, rng)
    assert find_cycles(surely_better(games, played)) == [[0, 1, 2]]
    result = make_result(games, played)
    assert result["cycles"] == [["careful", "greedy", "random"]]
    assert "warning: the table is cyclic" in html_report(result)
    games, played = planted(circle, 3, 30, rng)  # the same, but nobody can know
    assert find_cycles(surely_better(games, played)) == []
    games, played = planted({**circle, Cell(0, 2): 0.6}, 3, 1000, rng)
    assert make_result(games, played)["cycles"] == []


def test_chance_makes_no_circles() -> None:
    rng = np.random.default_rng(2)
    even = dict.fromkeys((Cell(0, 1), Cell(1, 2), Cell(0, 2)), 0.5)
    found = [bool(surely_better(*planted(even, 3, 200, rng))[k]) for _ in range(100) for k in range(3)]
    assert sum(found) <= 12  # 5 % of tables have any sure pairing at all


def test_longer_circles() -> None:
    assert find_cycles({0: {1}, 1: {2}, 2: {3}, 3: {0}}) == [[0, 1, 2, 3]]
    assert find_cycles({0: {1, 2}, 1: {2}, 2: set()}) == []
    assert find_cycles({0: {1}, 1: {2, 3}, 2: {0}, 3: {0}}) == [[0, 1, 2], [0, 1, 3]]


# --- the sequential test at the table --------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("careful", "greedy"), ("greedy", "careful")])
def test_sprt_stops_and_tells_of_the_deals_it_used(names: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    agents = [make_agent(name) for name in names]
    sprt = Sprt(0.45, 0.55)

    def play(size: int) -> dict[str, Any]:
        monkeypatch.setattr(tournament, "OF_COMPILED", size)
        return bench.play_sprt(Tournament(agents, Rules(), 2, 5000, seed=3), sprt, quiet=True)

    result = play(50)
    assert result["sprt"]["verdict"] == ("H1" if names[0] == "careful" else "H0")
    assert without_time(play(1000)) == without_time(result)
    deals = result["sprt"]["deals"]
    assert result["deals"] == deals < 1000
    plain = run(*names, deals=deals, watching=False)
    assert {**result, "sprt": 0, "timing": 0} == {**plain, "sprt": 0, "timing": 0}


def test_an_undecided_test_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bench", "careful", "greedy", "--deals", "80", "--sprt", "0.6,0.62", "--quiet"]
    assert main(command) == 0
    assert "undecided after 80 deals" in capsys.readouterr().out


BAD = {
    ("--sprt", "0.5"): "'0.5'",
    ("--sprt", "0.6,0.5"): "0 < p0 < p1 < 1",
    ("--sprt", "0.5,0.6", "--alpha", "2"): "alpha=2",
    ("--beta", "0.1"): "--sprt",
    ("--jobs", "0"): "'0'",
    ("--deals", "5", "--tier", "smoke"): "--tier",
    ("--tier", "huge"): "'huge'",
    ("--html", "/no/such/folder/r.html"): "/no/such/folder",
    ("random", "--sprt", "0.5,0.6"): "3 are named",
    ("greedy",): "named twice",
}


@pytest.mark.parametrize("more", BAD)
def test_bad_input(more: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "greedy", "careful", *more]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert BAD[more] in error


# --- the page --------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Everything that a page names and says; every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize(("names", "players"), [(AGENTS, 2), (AGENTS, 3), (("greedy", "careful"), 2)])
def test_the_page_needs_nothing_else(names: tuple[str, ...], players: int, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    assert main(["bench", *names, "--players", str(players), "--deals", "30", "--html", str(path), "--quiet"]) == 0
    text = path.read_text()
    assert "http" not in text
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not {"src", "href"} & {name for name, _ in page.attributes}
    said = " ".join(page.text)
    assert all(name in said for name in names)
    assert page.tags.count("svg") == (3 if len(names) > 2 else 2)
    assert ("All agents mixed" in said) == (players > 2)


def test_names_are_text_on_the_page() -> None:
    result = run("greedy", "random", deals=10)
    text = json.dumps(result).replace('"greedy"', '"<script>alert(1)</script>&"')
    page = html_report(json.loads(text))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in page


def test_games_that_never_end_are_counted_for_every_pairing() -> None:
    agents = [make_agent(name) for name in AGENTS]
    games = Tournament(agents, Rules(), 3, 4, max_decisions=5)
    result = make_result(games, bench.play_tournament(games, quiet=True))
    assert [match["truncated"] for match in result["matches"]] == [12] * 6
    assert {row["truncated"] for row in result["mixed"]} == {12}
    assert {match["score"]["mean"] for match in result["matches"]} == {0.5}
    assert {match["lengths"]["longest"] for match in result["matches"]} == {5}
    assert [round(row["rating"]) for row in result["ratings"]] == [1000] * 3
