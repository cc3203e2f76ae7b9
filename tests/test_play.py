"""``idiot play``: whole games by a scripted person who also types garbage, saving, secrecy, and the art of reading."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from idiot_agents import play, typed
from idiot_agents.compiled import CompiledAgent
from idiot_agents.play import Session, risk, seat_names
from idiot_agents.protocol import Agent, Model
from idiot_agents.terminal import Terminal, clean
from idiot_agents.typed import NotAnAction, read_action
from idiot_env import Game, View
from idiot_env.actions import N_ACTIONS, TEXTS
from idiot_env.cards import RANKS
from idiot_env.observation import LAYOUT, OBSERVATION_SIZE, determinize
from idiot_env.rules import PRESETS, Rules
from idiot_env.words import LANGUAGES
from idiot_train.cli import main

GARBAGE = [
    "", " ", "?", "h", "i", "log", "rules", "regler", "table", "help", "foo", "play", "play 99", "play 6x9", "6x", "x3",
    "take 1", "flip 9", "swap", "swap 4", "stack", "sneak x9", "run 8-5", "run", "#0", "#999", "#", "1", "999999999999",
    "²", "½", "٣", "ÆØÅ", "🂡🂡", "\x1b[2J", "\t\t", "6" * 10_000, "ta " * 3000, "-1", "None", "{}", "%s", "{name}",
    "\x00", "\u202e6",
]  # fmt: skip


class Keyboard(io.StringIO):
    """Standard input whose lines are typed by a function; ``None`` is the end of the input."""

    def __init__(self, typing: Callable[[], str | None]) -> None:
        super().__init__()
        self.typing = typing
        self.count = 0

    def readline(self, size: int | None = -1, /) -> str:
        self.count += 1
        assert self.count < 20_000, "the game asks for ever"
        line = self.typing()
        return "" if line is None else line + "\n"

    def isatty(self) -> bool:
        return False


@pytest.fixture
def games(monkeypatch: pytest.MonkeyPatch) -> list[Game]:
    """The games that ``idiot play`` deals, for the script to look at."""
    dealt: list[Game] = []

    class Spy(Game):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            dealt.append(self)

    monkeypatch.setattr(play, "Game", Spy)
    return dealt


def spellings(text: str) -> list[str]:
    """Ways to type one action."""
    words = [text, text.upper(), f"  {text.replace(' ', '   ')} "]
    verb, _, rest = text.partition(" ")
    if verb == "play" and rest != "Q":
        rank, _, count = rest.partition("x")
        words += [rest, rest.lower(), rank * int(count or 1)] if rank != "T" else [rest.replace("T", "10")]
    return [word for word in words if word.strip().lower() not in ("t", "q")]


def person(games: list[Game], seed: int, answer: str | None = None) -> Callable[[], str | None]:
    """Types greedy's actions in all spellings, with garbage between; ``answer`` to whatever is asked at the end."""
    rng = np.random.default_rng(seed)
    greedy = CompiledAgent("greedy", seed)

    def typing() -> str | None:
        game = games[-1]
        if game.over:
            return answer
        if rng.random() < 0.4:
            return GARBAGE[int(rng.integers(len(GARBAGE)))]
        assert game.turn is not None
        return str(rng.choice(spellings(TEXTS[greedy.act(game.view(game.turn))])))

    return typing


def run(monkeypatch: pytest.MonkeyPatch, typing: Callable[[], str | None], *argv: str) -> int:
    monkeypatch.setattr("sys.stdin", Keyboard(typing))
    return main(["play", *argv])


def lines(*typed: str | None) -> Callable[[], str | None]:
    """Types these lines, then the input ends."""
    rest = list(typed)
    return lambda: rest.pop(0) if rest else None


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("table", PRESETS)
def test_whole_games(
    table: str,
    players: int,
    games: list[Game],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, lang = tmp_path / "game.json", LANGUAGES[players % 2]
    argv = [*["greedy", "careful"][: players - 1], "--rules", table, "--players", str(players), "--lang", lang]
    argv += ["--seed", str(players), "--seat", str(players - 1), "--save", str(file)]
    options = ["--set", "jokers=2", "runs=yes", "stack=yes", "sneak_three=yes", "skip_same=yes", "last_two=forbidden"]
    for extra in ([], options):
        file.unlink(missing_ok=True)
        assert run(monkeypatch, person(games, players), *argv, *extra) == 0
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        assert "\x1b" not in out
        assert max(map(len, out.splitlines())) < 300
        result = games[-1].result
        assert result is not None
        lost = players - 1 in result["idiots"]
        said = {"no": ("Du er idioten!", "Du er ikke idioten."), "en": ("You are the idiot!", "You are not the idiot.")}
        if not result["truncated"]:
            assert said[lang][not lost] in out
        replayed = Game.from_record(json.loads(file.read_text()))
        assert replayed.snapshot() == games[-1].snapshot()
        assert main(["replay", str(file), "--seat", str(players - 1), "--lang", lang]) == 0
        assert capsys.readouterr().err == ""


def test_what_happens_is_told(
    games: list[Game], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every action since one's last turn has its line, and the log has them all."""
    assert run(monkeypatch, person(games, 3), "greedy", "--players", "3", "--lang", "en", "--seed", "4") == 0
    out = capsys.readouterr().out
    told = [line for line in out.splitlines() if line.startswith("· ")]
    assert sum("begins." in line or "begin." in line for line in told) >= 1
    assert len([line for line in told if "The" not in line]) >= len(games[-1].actions) // 2
    assert "draws" in out
    assert "You drew:" in out


# --- leaving and saving ----------------------------------------------------------------------------------------------


def test_the_end_of_the_input_ends_the_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, lines(), "greedy", "--seed", "1") == 0
    assert list(tmp_path.iterdir()) == []
    assert run(monkeypatch, lines("d"), "greedy", "--seed", "1", "--save", "x.json") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    assert "done" in Game.from_record(json.loads(Path("x.json").read_text())).record()["actions"]


@pytest.mark.parametrize(
    ("typed", "files"),
    [
        (["q", "n"], []),
        (["Q", "y"], ["idiot-1.json"]),
        (["q", "j"], ["idiot-1.json"]),
        (["slutt", "spill.json"], ["spill.json"]),
        (["q", "", "?", "q", "N"], []),  # Enter goes on playing
        (["q", "no/such/folder/x.json", "x.json"], ["x.json"]),
        (["q", ".", "x.json"], ["x.json"]),
        (["q", "a\0b", "x" * 300, "x.json"], ["x.json"]),
        (["q"], []),
    ],
)
def test_leaving(
    typed: list[str], files: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, lines(*typed), "greedy", "--seed", "1") == 0
    assert [path.name for path in tmp_path.iterdir()] == files
    for path in tmp_path.iterdir():
        Game.from_record(json.loads(path.read_text()))


def test_no_file_is_overwritten_unasked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.json"
    for typed_lines, kept in ((["q", str(file)], True), (["q", str(file), "n"], True), (["q", str(file), "y"], False)):
        file.write_text("precious")
        assert run(monkeypatch, lines(*typed_lines), "greedy", "--seed", "1") == 0
        assert (file.read_text() == "precious") is kept
    file.write_text("precious")
    assert run(monkeypatch, lines(), "greedy", "--save", str(file)) == 0
    assert file.read_text() == "precious"


def test_interrupt_asks_and_leaves_with_130(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def typing(*answers: str | None) -> Callable[[], str | None]:
        rest = list(answers)

        def line() -> str | None:
            answer = rest.pop(0) if rest else None
            if answer == "^C":
                raise KeyboardInterrupt
            return answer

        return line

    assert run(monkeypatch, typing("?", "^C", "y"), "greedy", "--seed", "1") == 130
    assert [path.name for path in tmp_path.iterdir()] == ["idiot-1.json"]
    assert run(monkeypatch, typing("^C", "^C"), "greedy", "--seed", "2") == 130
    assert run(monkeypatch, typing("^C"), "greedy", "--seed", "3", "--save", "s.json") == 130
    assert (tmp_path / "s.json").exists()
    assert not (tmp_path / "idiot-2.json").exists()
    assert "Traceback" not in capsys.readouterr().err


def test_a_failing_write_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("idiot_agents.network.os.replace", full)
    assert run(monkeypatch, lines("q", str(tmp_path / "x.json"), "n"), "greedy", "--lang", "en") == 0
    assert "No space left on device" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


# --- secrecy ---------------------------------------------------------------------------------------------------------


class Listener(Terminal):
    """A terminal that remembers what it said, and types given lines."""

    def __init__(self, typed: list[str] | None = None) -> None:
        self.interactive = self.styled = self.edited = False
        self.said: list[str] = []
        self.typed = typed or []

    def say(self, text: str = "") -> None:
        self.said.append(text)

    def ask(self, prompt: str, *styles: str) -> str | None:
        self.said.append(prompt)
        return self.typed.pop(0) if self.typed else None


@pytest.mark.parametrize("seat", range(3))
def test_the_screen_holds_no_secret(seat: int) -> None:
    """Deal afresh what the person cannot know: whatever the person types, the screen stays the same."""
    rng = np.random.default_rng(seat)
    agents: list[Agent | None] = [CompiledAgent("greedy", k) for k in range(3)]
    agents[seat] = None
    game = Game("sjanse jokers=2 stack=yes", 3, seed=seat + 40, max_decisions=150)
    compared = 0
    while not game.over:
        if game.turn == seat:
            twin = game.copy()
            twin._states = determinize(game.states, seat, rng)
            screens = []
            for world in (game, twin):
                terminal = Listener(["?", "h", "i", "log", "nonsense", "play 1", "table", "rules"])
                with pytest.raises(play.Quit):
                    Session(world.copy(), agents, "en", terminal).choose(world.view(seat))
                screens.append(terminal.said)
            assert screens[0] == screens[1]
            assert len(screens[0]) > 30
            compared += 1
        game.apply(str(rng.choice(game.legal())))
    assert compared > 10


def test_the_source_never_touches_the_state() -> None:
    for module in ("play.py", "typed.py", "terminal.py"):
        source = (Path(play.__file__).parent / module).read_text()
        for secret in (".states", "_states", "snapshot", ".deck", ".known"):
            assert secret not in source, f"{module} uses {secret}"


# --- hints -----------------------------------------------------------------------------------------------------------


class Oracle:
    """A model that is sure of the last legal action and of losing one game in four."""

    name = "ppo:some/where"

    def act(self, view: View) -> int:
        return int(view.legal[-1])

    def probabilities(self, view: View) -> npt.NDArray[np.float32]:
        probabilities = np.zeros(N_ACTIONS, np.float32)
        probabilities[view.legal[-1]] = 1.0
        return probabilities

    def value(self, view: View) -> float:
        return 0.75 * 1.0 - 0.25


@pytest.mark.parametrize("lang", LANGUAGES)
def test_hints(lang: str) -> None:
    assert isinstance(Oracle(), Model)
    game = Game("standard", 2, seed=1)
    assert game.turn is not None
    agents: list[Agent | None] = [Oracle(), Oracle()]
    agents[game.turn] = None
    terminal = Listener(["h"])
    view = game.view(game.turn)
    with pytest.raises(play.Quit):
        Session(game, agents, lang, terminal).choose(view)
    said = "\n".join(terminal.said)
    assert f"100%  {TEXTS[view.legal[-1]]}" in said
    assert "25%" in said
    assert "some/where" not in said


@pytest.mark.parametrize(("players", "losers"), [(2, 1), (3, 1), (5, 1), (3, 2), (5, 2)])
def test_risk_inverts_the_reward(players: int, losers: int) -> None:
    for p in (0.0, 0.3, 1.0):
        value = (1 - p) * losers / (players - losers) - p
        assert risk(value, players, losers) == pytest.approx(p)
    assert risk(9, players, losers) == 0
    assert risk(-9, players, losers) == 1


def test_names() -> None:
    greedy, model = CompiledAgent("greedy", 0), Oracle()
    assert seat_names([None, greedy], "person") == ["person", "greedy"]
    assert seat_names([greedy, None, greedy, model], "person") == ["greedy 1", "person", "greedy 2", "ppo"]


# --- reading ---------------------------------------------------------------------------------------------------------


def a_view(phase: str, legal: list[str], hand: str = "", up: str = "", top: str = "", rules: str = "standard") -> View:
    """A view made by hand, with just what reading an action looks at."""
    observation = np.zeros(OBSERVATION_SIZE, np.int8)
    observation[LAYOUT["zone"].start + ["swap", "hand", "up", "down"].index(phase)] = 1
    for block, cards in (("hand", hand), ("up", up), ("top", top)):
        for rank in cards:
            observation[LAYOUT[block].start + RANKS.index(rank)] += 1
    observation[LAYOUT["rules"].slice] = Rules.parse(rules).numbers()
    mask = np.zeros(N_ACTIONS, np.int8)
    for text in legal:
        mask[TEXTS.index(text)] = 1
    return View(observation, mask, 0)


HAND = ["play 6", "play 6x2", "play 6x3", "play T", "play Tx2", "play A", "play 2", "play Q", "play *", "take",
        "chance", "swap 6 K", "stack 6", "sneak", "sneak x2", "run 5-8", "run 9-Q"]  # fmt: skip


@pytest.mark.parametrize(
    ("typed_text", "action"),
    [
        ("6", "play 6"), ("66", "play 6x2"), ("6 6 6", "play 6x3"), ("6x3", "play 6x3"), ("6 X 2", "play 6x2"),
        ("PLAY 6X3", "play 6x3"), ("legg 6", "play 6"), ("l 66", "play 6x2"), ("l6", "play 6"), ("10", "play T"),
        ("1010", "play Tx2"), ("tt", "play Tx2"), ("10x2", "play Tx2"), ("tx2", "play Tx2"), ("play t", "play T"),
        ("a", "play A"), ("2", "play 2"), ("dame", "play Q"), ("queen", "play Q"), ("play q", "play Q"),
        ("*", "play *"), ("joker", "play *"), ("sekser", "play 6"), ("t", "take"), ("T", "take"), ("take", "take"),
        ("ta", "take"), ("TA", "take"), ("c", "chance"), ("Sjanse", "chance"), ("swap 6 k", "swap 6 K"),
        ("bytt 6 K", "swap 6 K"), ("6k", "swap 6 K"), ("+6", "stack 6"), ("+ 6", "stack 6"), ("stable 6", "stack 6"),
        ("s", "sneak"), ("snik", "sneak"), ("s2", "sneak x2"), ("sneak 2", "sneak x2"), ("sneak x2", "sneak x2"),
        ("5-8", "run 5-8"), ("run 5-8", "run 5-8"), ("5 - 8", "run 5-8"), ("9-q", "run 9-Q"), ("r 5–8", "run 5-8"),
        ("#1", "play 6"), ("#4", "play T"), ("# 2", "play 6x2"), ("1", "play 6"), ("11", "chance"), (".3", "play 6x3"),
    ],
)  # fmt: skip
def test_reading_in_the_hand(typed_text: str, action: str) -> None:
    assert TEXTS[read_action(typed_text, a_view("hand", HAND, hand="666TTA2Q*"), "en")] == action


@pytest.mark.parametrize(
    ("phase", "legal", "typed_text", "action"),
    [
        ("swap", ["done", "swap 4 K", "swap T 4"], "4k", "swap 4 K"),
        ("swap", ["done", "swap 4 K", "swap T 4"], "10 4", "swap T 4"),
        ("swap", ["done", "swap 4 K", "swap T 4"], "4 mot k", "swap 4 K"),
        ("swap", ["done", "swap 4 K", "swap T 4"], "d", "done"),
        ("swap", ["done", "swap 4 K", "swap T 4"], "Ferdig", "done"),
        ("swap", ["done", "swap 4 K", "swap T 4"], "2", "swap 4 K"),
        ("down", ["flip 1", "flip 3"], "3", "flip 3"),
        ("down", ["flip 1", "flip 3"], "snu 1", "flip 1"),
        ("down", ["flip 1", "flip 3"], "f3", "flip 3"),
        ("up", ["take K", "take 4"], "take k", "take K"),
        ("up", ["take K", "take 4"], "tk", "take K"),
        ("up", ["take K", "take 4"], "ta 4", "take 4"),
        ("up", ["take K"], "t", "take K"),
    ],
)
def test_reading_in_other_zones(phase: str, legal: list[str], typed_text: str, action: str) -> None:
    assert TEXTS[read_action(typed_text, a_view(phase, legal), "en")] == action


@pytest.mark.parametrize(
    ("view", "typed_text", "reason"),
    [
        (a_view("hand", ["take"], hand="3", top="Q"), "3", "3 does not fit on Q"),
        (a_view("hand", ["take"], hand="3", top="Q"), "33", "You do not have 3 3"),
        (a_view("hand", ["take"], hand="3", top="Q"), "play 5", "You do not have 5"),
        (a_view("hand", ["take"], hand="3", top="Q"), "chance", "not possible now: chance"),
        (a_view("hand", ["take"], hand="3", top="Q"), "#7", "from 1 to 1"),
        (a_view("hand", ["take"], hand="3", top="Q"), "#" + "9" * 30, "from 1 to 1"),
        (a_view("hand", ["take"], hand="3", top="Q"), "hello", "'hello'"),
        (a_view("hand", ["play 4"], hand="43"), "3", "cannot lay 3 now"),
        (a_view("up", ["take K", "take 4"], up="K4", top="A"), "t", "take 4, take k"),
        (a_view("swap", ["done", "swap 4 K"], hand="4", up="K"), "play 4", "Type 4 k"),
        (a_view("swap", ["done"]), "4k", "type d"),
        (a_view("down", ["flip 1", "flip 3"]), "2", "type 1 or 3"),
        (a_view("down", ["flip 1", "flip 3"]), "t", "type 1 or 3"),
    ],
)
def test_what_cannot_be_done_is_explained(view: View, typed_text: str, reason: str) -> None:
    with pytest.raises(NotAnAction) as error:
        read_action(typed_text, view, "en")
    assert reason in str(error.value)
    with pytest.raises(NotAnAction):
        read_action(typed_text, view, "no")


def test_every_legal_action_can_be_typed_as_listed() -> None:
    rng = np.random.default_rng(5)
    for seed, table in enumerate(PRESETS):
        rules = f"{table} jokers=2 runs=yes stack=yes sneak_three=yes"
        game = Game(rules, 3, seed=seed, max_decisions=120)
        while not game.over:
            assert game.turn is not None
            view = game.view(game.turn)
            for number, action in enumerate(typed.ordered_legal(view), 1):
                assert read_action(TEXTS[action], view, "no") == action
                assert read_action(f"#{number}", view, "en") == action
            game.apply(str(rng.choice(game.legal())))


def test_garbage_never_gets_through() -> None:
    rng = np.random.default_rng(6)
    signs = "0123456789xX tTqkKjJaA*+-#.?½ØÅ🂡\x00\x1bplayswd"
    game = Game("sjanse jokers=2 runs=yes stack=yes sneak_three=yes", 4, seed=3)
    told: list[str] = []
    for _ in range(400):
        assert game.turn is not None
        view = game.view(game.turn)
        text = "".join(rng.choice(list(signs), int(rng.integers(1, 7))))
        try:
            assert view.action_mask[read_action(text, view, "en")] == 1
        except NotAnAction as error:
            told.append(str(error))
        game.apply(str(rng.choice(game.legal())))
        if game.over:
            break
    assert len(told) > 50
    assert all(len(reason) < 200 and reason.isprintable() for reason in told)


def test_clean() -> None:
    assert clean("\x1b[2Jhei\n") == "�[2Jhei�"
    assert clean("a" * 100, 5) == "aaaaa…"
    assert clean("\ud800") == "�"


def test_an_agent_that_sees_all_cards_plays_only_where_it_is_allowed(
    monkeypatch: pytest.MonkeyPatch, games: list[Game], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, lines(), "cheater", "--seed", "5", "--lang", "en") == 2
    assert "sees all cards and is no honest agent" in capsys.readouterr().err
    argv = ["cheater", "greedy", "--allow-cheats", "--seed", "5", "--lang", "en"]
    assert run(monkeypatch, person(games, 5), *argv) == 0
    out = capsys.readouterr().out
    assert "cheater sees all cards, yours as well." in out
    assert "greedy sees all cards" not in out
    assert games[-1].over
