"""The rules one by one, by their number on the rule card, asked of the engine and of the slow twin alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from idiot_env import Game, IllegalAction, RecordError, Rules
from idiot_env import rules as real_rules
from tests.decks import LATE_ACTIONS, LATE_PILE, LATE_TABLE_CARDS, QUIET, Seats, deck_of, late_deck
from tests.twin import DEFAULTS, LOW_TO_HIGH, OPTIONS, PRESETS, Twin, all_cards

AnyGame = Game | Twin
Dealer = Callable[..., AnyGame]
BURN_OF_LATE_PILE = "play 8"
"""Seat 1's face-up eight on the three eights of the late pile."""
ROUND = {2: "JJJ", 3: "QQQ", 4: "KKK", 0: "AAA"}
"""Face-up cards with which the others can each lay a card while the pile comes round to seat 1."""


def make(kind: str, rules: dict[str, Any], players: int, deck: list[str], dealer: int) -> AnyGame:
    complete = DEFAULTS | rules
    if kind == "twin":
        return Twin(complete, players, deck, dealer)
    return Game(Rules(**complete), players, deck=deck, dealer=dealer)


@pytest.fixture(params=["twin", "game"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table(kind: str) -> Dealer:
    """Deals a game in which seat 0 begins, unless options say otherwise."""

    def start(
        players: int = 2,
        *,
        down: Seats = (),
        up: Seats = (),
        hand: Seats = (),
        stock: str = "",
        dealer: int | None = None,
        **options: Any,
    ) -> AnyGame:
        rules = DEFAULTS | QUIET | options
        dealer = players - 1 if dealer is None else dealer
        sizes = {name: rules[name] for name in ("hand_size", "jokers")}
        deck = deck_of(players, down=down, up=up, hand=hand, stock=stock, dealer=dealer, **sizes)
        return make(kind, rules, players, deck, dealer)

    return start


@pytest.fixture
def late(kind: str) -> Dealer:
    """Five players without stock and hands; seat 1 acts from its face-up cards on a pile with three eights on top."""

    def start(*, down: Seats = (), up: Seats = (), actions: Sequence[str] = LATE_ACTIONS, **options: Any) -> AnyGame:
        game = make(kind, QUIET | options, 5, late_deck(down, up), 4)
        if game.snapshot()["phase"] == "swap":
            go(game, *["done"] * 5)
        go(game, *actions)
        return game

    return start


def go(game: AnyGame, *texts: str) -> AnyGame:
    for text in texts:
        game.apply(text)
    return game


def shows(game: AnyGame, **facts: Any) -> bool:
    """Whether the snapshot has these values; ``hand0`` and the like pick one seat's."""
    snapshot = game.snapshot()
    for name, value in facts.items():
        found = snapshot[name[:-1]][int(name[-1])] if name[-1].isdigit() else snapshot[name]
        assert found == value, f"{name} is {found!r} instead of {value!r}"
    assert game.turn == snapshot["turn"]
    assert game.legal() == snapshot["legal"]
    return True


# --- R1: deck and ranks ----------------------------------------------------------------------------------------------


def test_R1_the_deck_has_52_cards_or_54(table: Dealer) -> None:
    for jokers in (0, 2):
        snapshot = table(jokers=jokers).snapshot()
        cards = "".join([*snapshot["hand"], *snapshot["up"], *snapshot["down"], snapshot["stock"]])
        assert sorted(cards) == sorted("3456789TJQKA2" * 4 + "*" * jokers)


def test_R1_cards_are_shown_from_low_to_high_two_and_joker_last(table: Dealer) -> None:
    assert shows(table(hand=["2T3", "*AJ"], up=["9*T"], jokers=2), hand=["3T2", "JA*"], up0="9T*")


def test_R1_options_and_tables_are_those_of_the_rules() -> None:
    assert {name: list(values) for name, values in real_rules.OPTIONS.items()} == OPTIONS
    assert {name: Rules.preset(name).as_dict() for name in real_rules.PRESETS} == PRESETS
    assert Rules().as_dict() == PRESETS["standard"]


# --- R2: the deal ----------------------------------------------------------------------------------------------------


def test_R2_three_rounds_down_three_up_three_to_the_hand(kind: str) -> None:
    game = make(kind, QUIET, 3, all_cards(DEFAULTS), 0)
    assert game.snapshot() == {
        "turn": 1,
        "phase": "hand",
        "hand": ["889", "789", "789"],
        "up": ["567", "566", "567"],
        "down": ["345", "334", "344"],
        "pile": "",
        "burned": "",
        "stock": "9TTTTJJJJQQQQKKKKAAAA2222",
        "out": [],
        "legal": ["play 7", "play 8", "play 9"],
    }


@pytest.mark.parametrize(("players", "stock"), [(2, 34), (3, 25), (4, 16), (5, 7)])
def test_R2_the_stock_is_what_is_left(table: Dealer, players: int, stock: int) -> None:
    assert len(table(players).snapshot()["stock"]) == stock


def test_R2_face_down_slots_keep_the_dealing_order(table: Dealer) -> None:
    assert shows(table(down=["K3T", "2A5"]), down=["K3T", "2A5"])


def test_R2_a_table_that_needs_too_many_cards_is_refused() -> None:
    with pytest.raises(ValueError, match="hand_size"):
        Game(Rules(hand_size=6), 5)
    with pytest.raises(ValueError, match="players"):
        Game(Rules(), 6)
    with pytest.raises(ValueError, match="players"):
        Game(Rules(), 1)


# --- Scenes with face-down cards -------------------------------------------------------------------------------------


def burned_with(extra: str) -> str:
    """What a late game has burned after seat 1's eight, and ``extra``."""
    return "".join(sorted("TTTT" + LATE_PILE + "8" + extra, key=LOW_TO_HIGH.index))


def to_the_flips(late: Dealer, down: str, **options: Any) -> AnyGame:
    """Seat 1 has only its face-down cards left and faces a pile of two twos."""
    game = late(up={1: "822"} | ROUND, down={1: down}, after_two="again", **options)
    return go(game, BURN_OF_LATE_PILE, "play 2x2")


def a_last_two_is_to_be_flipped(late: Dealer, **options: Any) -> AnyGame:
    """Seat 1 has one face-down card, a two, and faces an empty pile."""
    game = go(to_the_flips(late, "292", **options), "flip 1", "flip 2", "play J", "play Q", "play K", "take A")
    assert shows(game, turn=1, phase="down", pile="", hand0="9JQKA222", down1="..2", legal=["flip 3"])
    return game


def seat_1_goes_out(late: Dealer, **options: Any) -> AnyGame:
    """Seat 1 leaves with a nine on an empty pile."""
    return go(to_the_flips(late, "229", **options), "flip 1", "flip 2", "flip 3")


# --- R3: zones -------------------------------------------------------------------------------------------------------


def test_R3_with_cards_in_hand_only_the_hand_is_played(table: Dealer) -> None:
    assert shows(table(hand=["356"], up=["TT2"]), phase="hand", legal=["play 3", "play 5", "play 6"])


def test_R3_emptying_the_hand_ends_the_turn_before_the_table_cards(late: Dealer) -> None:
    game = late(up={1: "9JQ"})
    assert shows(game, turn=1, phase="up", hand0="", pile=LATE_PILE, stock="")


def test_R3_without_hand_the_face_up_cards_are_played_several_at_once(late: Dealer) -> None:
    game = late(up={1: "J2J"})
    assert shows(game, phase="up", legal=["play 2", "play J", "play Jx2", "take 2", "take J"])
    assert shows(go(game, "play Jx2"), up1="2", pile=LATE_PILE + "JJ", turn=2, hand1="")


def test_R3_after_taking_the_hand_comes_first_again(late: Dealer) -> None:
    game = go(late(up={1: "4JQ", 2: "999", 3: "JJJ", 4: "QQQ", 0: "KKK"}), "take 4")
    go(game, "play 9", "play J", "play Q", "play K")
    assert shows(game, turn=1, phase="hand", up1="JQ", hand1="3334444555666777888", legal=["take"])


def test_R3_without_hand_and_face_up_cards_one_flips(late: Dealer) -> None:
    assert shows(to_the_flips(late, "9JQ"), turn=1, phase="down", legal=["flip 1", "flip 2", "flip 3"])


def test_R3_an_extra_turn_finds_its_zone_afresh(late: Dealer) -> None:
    game = late(up={1: "822"}, after_two="again")
    assert shows(go(game, BURN_OF_LATE_PILE), turn=1, phase="up")
    assert shows(go(game, "play 2x2"), turn=1, phase="down")


# --- R4: what fits ---------------------------------------------------------------------------------------------------

FITTING = {
    "3": "3456789TJQKA2",
    "4": "456789TJQKA2",
    "5": "56789TJQKA2",
    "6": "6789TJQKA2",
    "7": "789TJQKA2",
    "8": "89TJQKA2",
    "9": "9TJQKA2",
    "J": "TJQKA2",
    "Q": "TQKA2",
    "K": "TKA2",
    "A": "TA2",
    "2": "3456789TJQKA2",
}


def ranks_that_fit_on(table: Dealer, top: str, **options: Any) -> str:
    """Which ranks the second player could lay on ``top``."""
    fitting = ""
    for rank in [rank for rank in LOW_TO_HIGH if rank != "*" or options.get("jokers")]:
        game = go(table(hand=[top, rank], **options), f"play {top}")
        assert game.turn == 1
        fitting += rank if f"play {rank}" in game.legal() else ""
    return fitting


@pytest.mark.parametrize("top", FITTING)
def test_R4_same_or_higher_and_twos_and_tens_on_everything(table: Dealer, top: str) -> None:
    assert sorted(ranks_that_fit_on(table, top)) == sorted(FITTING[top])


def test_R4_anything_fits_an_empty_pile(table: Dealer) -> None:
    for ranks in ("345", "678", "9TJ", "QKA"):
        assert table(hand=[ranks]).legal() == sorted(f"play {rank}" for rank in ranks)
    assert table(hand=["23*"], jokers=2).legal() == ["play *", "play 2", "play 3"]


def test_R4_example_a_nine_on_top(table: Dealer) -> None:
    game = go(table(hand=["9", "96J"]), "play 9")
    assert game.legal() == ["play 9", "play J", "take"]
    game = go(table(hand=["9", "6QK"]), "play 9")
    assert game.legal() == ["play K", "play Q", "take"]
    game = go(table(hand=["9", "A2T"]), "play 9")
    assert game.legal() == ["play 2", "play A", "play T", "take"]


def test_R4_example_four_fives_are_no_free_card(table: Dealer) -> None:
    held = {"hand_size": 6, "up": ["3", "3"]}
    on_king = go(table(hand=["K", "555534"], **held), "play K")
    assert on_king.legal() == ["take"]
    on_four = go(table(hand=["4", "555534"], stock="J", **held), "play 4")
    assert on_four.legal() == ["play 4", "play 5", "play 5x2", "play 5x3", "play 5x4", "take"]
    assert shows(go(on_four, "play 5x4"), turn=1, pile="", burned="45555", hand1="34J")


# --- R5: play and take -----------------------------------------------------------------------------------------------


def test_R5_one_or_more_cards_of_a_rank(table: Dealer) -> None:
    game = table(hand=["666", "999"], stock="45")
    assert game.legal() == ["play 6", "play 6x2", "play 6x3"]
    assert shows(
        go(game, "play 6x2"),
        turn=1,
        pile="66",
        hand=["456", "999"],
        legal=["play 9", "play 9x2", "play 9x3", "take"],
    )


def test_R5_the_pile_may_be_taken_although_one_can_play(table: Dealer) -> None:
    game = go(table(hand=["3K4", "99A"], stock="5"), "play 3", "take")
    assert shows(game, turn=0, pile="", hand1="399A", phase="hand", legal=["play 4", "play 5", "play K"])


def test_R5_it_must_be_taken_when_nothing_fits(table: Dealer) -> None:
    assert shows(go(table(hand=["K", "345"]), "play K"), legal=["take"])


def test_R5_an_empty_pile_is_not_taken_while_one_can_play(table: Dealer) -> None:
    assert "take" not in table(hand=["345"]).legal()
    assert "take" not in go(table(hand=["T45"]), "play T").legal()


def test_R5_an_empty_pile_is_taken_as_a_pass_when_nothing_can_be_done(late: Dealer) -> None:
    game = a_last_two_is_to_be_flipped(late, last_two="forbidden")
    go(game, "flip 3", "play J", "play Q", "play K", "take")
    assert shows(game, turn=1, phase="hand", hand1="2", pile="", legal=["take"])
    assert shows(go(game, "take"), turn=2, hand1="2", pile="", out=[])


def test_R5_example_the_next_player_begins_a_new_pile_after_a_take(table: Dealer) -> None:
    game = go(table(3, hand=["K", "345", "67"]), "play K", "take")
    assert shows(game, turn=2, pile="", hand1="345K")
    assert "play 6" in game.legal()
    assert "play 7" in game.legal()


# --- R6: the refill --------------------------------------------------------------------------------------------------


def test_R6_after_a_play_the_hand_is_filled_to_three(table: Dealer) -> None:
    game = go(table(hand=["445"], stock="9JQ"), "play 4x2")
    assert shows(game, hand0="59J")
    assert game.snapshot()["stock"][0] == "Q"


def test_R6_fewer_cards_when_the_stock_runs_out(table: Dealer) -> None:
    game = table(5, hand=["333", "444", "555"], stock="6789JQK")
    assert shows(go(game, "play 3x3", "play 4x3"), stock="K", hand0="678", hand1="9JQ")
    assert shows(go(game, "play 5x3"), stock="", hand2="K")


def test_R6_nothing_is_drawn_by_taking(table: Dealer) -> None:
    game = go(table(hand=["3", "456"]), "play 3")
    before = game.snapshot()["stock"]
    assert shows(go(game, "take"), hand1="3456", stock=before)


def test_R6_nothing_is_drawn_with_three_or_more_in_hand(table: Dealer) -> None:
    game = go(table(hand=["3", "456"], stock="K"), "play 3", "take", "play K")
    before = game.snapshot()["stock"]
    assert shows(go(game, "take"), stock=before, hand1="3456K")


def test_R6_the_refill_comes_before_the_extra_turn(table: Dealer) -> None:
    game = go(table(hand=["T45"], stock="Q"), "play T")
    assert shows(game, turn=0, hand0="45Q", legal=["play 4", "play 5", "play Q"])


# --- R7: the burn ----------------------------------------------------------------------------------------------------


def test_R7_a_ten_burns_the_pile_and_plays_again(table: Dealer) -> None:
    game = go(table(hand=["A", "T34"], stock="5Q"), "play A", "play T")
    assert shows(game, turn=1, pile="", burned="TA", hand1="34Q", legal=["play 3", "play 4", "play Q"])


def test_R7_several_tens_burn_too(table: Dealer) -> None:
    assert shows(go(table(hand=["TT3"]), "play Tx2"), turn=0, pile="", burned="TT")


def test_R7_four_at_once_burn(table: Dealer) -> None:
    game = go(table(hand=["444456"], stock="7", hand_size=6), "play 4x4")
    assert shows(game, turn=0, pile="", burned="4444", hand0="567")


def test_R7_four_across_turns_burns(table: Dealer) -> None:
    game = go(table(hand=["663", "669"], stock="JQ34"), "play 6x2", "play 6x2")
    assert shows(game, turn=1, pile="", burned="6666", hand1="349", legal=["play 3", "play 4", "play 9"])


def test_R7_four_over_three_players_burn(table: Dealer) -> None:
    game = go(table(3, hand=["8", "8", "88"]), "play 8", "play 8", "play 8x2")
    assert shows(game, turn=2, pile="", burned="8888")


def test_R7_three_do_not_burn(table: Dealer) -> None:
    assert shows(go(table(hand=["666"]), "play 6x3"), turn=1, pile="666", burned="")


def test_R7_example_four_scattered_sixes_do_not_burn(table: Dealer) -> None:
    game = go(table(hand=["662", "266"]), "play 6x2", "play 2", "play 2", "play 6x2")
    assert shows(game, turn=0, pile="662266", burned="")


def test_R7_four_twos_burn_rather_than_pass(table: Dealer) -> None:
    game = go(table(hand=["223", "22K"]), "play 2x2", "play 2x2")
    assert shows(game, turn=1, pile="", burned="2222")


def test_R7_a_flipped_fourth_card_burns(late: Dealer) -> None:
    game = go(to_the_flips(late, "22K"), "flip 1")
    assert shows(game, turn=1, pile="222", down1=".2K")
    assert shows(go(game, "flip 2"), turn=1, pile="", down1="..K", burned=burned_with("2222"), legal=["flip 3"])


def test_R7_a_fourth_card_drawn_by_chance_burns(table: Dealer) -> None:
    game = go(table(hand=["66J", "6"], stock="KKQ6", chance=True), "play 6x2", "play 6", "chance")
    assert shows(game, turn=0, pile="", burned="6666", hand0="JKK")


# --- R8: twos --------------------------------------------------------------------------------------------------------


def test_R8_anything_fits_on_a_two_and_the_pile_stays(table: Dealer) -> None:
    game = go(table(3, hand=["A", "2", "345"]), "play A", "play 2")
    assert shows(game, turn=2, pile="A2", legal=["play 3", "play 4", "play 5", "take"])


def test_R8_pass_the_next_player_goes_on(table: Dealer) -> None:
    assert shows(go(table(hand=["234"], after_two="pass"), "play 2"), turn=1, pile="2")


def test_R8_again_the_same_player_refills_and_goes_on(table: Dealer) -> None:
    game = go(table(hand=["234"], stock="K", after_two="again"), "play 2")
    assert shows(game, turn=0, pile="2", hand0="34K", legal=["play 3", "play 4", "play K", "take"])


def test_R8_again_the_extra_turn_may_be_a_take(table: Dealer) -> None:
    game = go(table(hand=["234"], stock="K", after_two="again"), "play 2", "take")
    assert shows(game, turn=1, pile="", hand0="34K2")


def test_R8_again_by_chance(table: Dealer) -> None:
    game = go(table(hand=["345"], stock="2", after_two="again", chance=True), "chance")
    assert shows(game, turn=0, pile="2", hand0="345")


def test_R8_example_a_round_of_the_norwegian_table(table: Dealer) -> None:
    norsk = PRESETS["norsk"] | {"starter": "left_of_dealer"}
    game = table(3, hand=["6T3", "88K", "245"], stock="QJJ79A5", **norsk)
    assert shows(go(game, "play 6"), turn=1, hand0="3TQ")
    assert shows(go(game, "play 8x2"), turn=2, hand1="JJK", pile="688")
    assert game.legal() == ["play 2", "take"]
    assert shows(go(game, "play 2"), turn=2, hand2="457", pile="6882")
    assert shows(go(game, "play 4"), turn=0, hand2="579", pile="68824")
    assert shows(go(game, "play T"), turn=0, hand0="3QA", pile="", burned="4688T2")
    assert shows(go(game, "play 3"), turn=1, hand=["5QA", "JJK", "579"], pile="3")


# --- R9: whose turn --------------------------------------------------------------------------------------------------


def test_R9_clockwise(table: Dealer) -> None:
    game = table(4, hand=["3", "4", "5", "6"])
    turns = []
    for text in ("play 3", "play 4", "play 5", "play 6"):
        turns.append(game.turn)
        game.apply(text)
    assert [*turns, game.turn] == [0, 1, 2, 3, 0]


def test_R9_players_who_are_out_are_passed_over(late: Dealer) -> None:
    game = go(seat_1_goes_out(late), "play J", "play Q", "play K", "play A")
    assert shows(game, turn=2, out=[1], pile="9JQKA")


# --- R10: the blind flip ---------------------------------------------------------------------------------------------


def test_R10_a_fitting_card_stays_and_works_like_a_play(late: Dealer) -> None:
    game = go(to_the_flips(late, "9JQ"), "flip 2")
    assert shows(game, turn=2, pile="22J", down1="9.Q", hand1="")


def test_R10_a_misfit_is_taken_with_the_pile(late: Dealer) -> None:
    game = go(to_the_flips(late, "94Q"), "flip 1", "play J", "play Q", "play K", "play A", "flip 2")
    assert shows(game, turn=2, pile="", down1="..Q", hand1="49JQKA22", out=[])
    assert game.known[1] == "49JQKA22"


def test_R10_there_is_no_take(late: Dealer) -> None:
    assert to_the_flips(late, "9JQ", face_up_take="alone").legal() == ["flip 1", "flip 2", "flip 3"]


def test_R10_only_slots_that_hold_a_card_are_flipped(late: Dealer) -> None:
    assert go(to_the_flips(late, "9J2"), "flip 3").legal() == ["flip 1", "flip 2"]


# --- R11: going out --------------------------------------------------------------------------------------------------


def test_R11_without_a_card_a_player_is_out_at_once(late: Dealer) -> None:
    game = seat_1_goes_out(late)
    assert shows(game, out=[1], turn=2, pile="9", hand1="", up1="", down1="...")


def test_R11_a_last_card_that_does_not_fit_keeps_its_player_in(late: Dealer) -> None:
    game = go(to_the_flips(late, "293"), "flip 1", "flip 2", "play J", "play Q", "play K", "play A", "flip 3")
    assert shows(game, out=[], turn=2, hand1="39JQKA222", down1="...", pile="")


def test_R11_out_by_a_burn_the_next_player_has_the_empty_pile(late: Dealer) -> None:
    up = {1: "822", 2: "JJJ", 3: "QQJ", 4: "Q99", 0: "KKK"}
    game = go(late(up=up, down={1: "29K"}, after_two="again"), BURN_OF_LATE_PILE, "play 2x2", "flip 1", "flip 2")
    go(game, "play J", "play Q", "play Q", "play Kx3")
    assert shows(
        go(game, "flip 3"), out=[1], turn=2, pile="", burned=burned_with("2229JQQKKKK"), legal=["play J", "play Jx2"]
    )


def test_R11_out_with_a_two_the_next_player_has_the_turn(late: Dealer) -> None:
    game = go(a_last_two_is_to_be_flipped(late), "flip 3")
    assert shows(game, out=[1], turn=2, pile="2", up2="JJ")


# --- R12: the end ----------------------------------------------------------------------------------------------------


def play_to_the_end(game: AnyGame, seed: int = 1) -> AnyGame:
    """Random play that takes only when it must."""
    rng = random.Random(seed)
    for _ in range(5000):
        if game.turn is None:
            return game
        legal = game.legal()
        game.apply(rng.choice([text for text in legal if not text.startswith(("take", "swap"))] or legal))
    raise AssertionError("the game does not end")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_R12_the_last_with_cards_is_the_idiot(table: Dealer, players: int) -> None:
    game = table(players)
    assert game.result is None
    snapshot = play_to_the_end(game).snapshot()
    result = game.result
    assert result is not None
    assert result["out"] == snapshot["out"]
    assert sorted(result["out"] + result["idiots"]) == list(range(players))
    assert len(result["idiots"]) == 1
    assert result["truncated"] is False
    assert (snapshot["turn"], snapshot["phase"], snapshot["legal"], game.turn) == (None, "over", [], None)
    with_cards = [s for s in range(players) if snapshot["hand"][s] + snapshot["up"][s] + snapshot["down"][s].strip(".")]
    assert with_cards == result["idiots"]
    with pytest.raises(ValueError, match="not legal"):
        game.apply("take")


@pytest.mark.parametrize(("players", "losers"), [(2, 1), (3, 1), (4, 1), (5, 1), (3, 2), (4, 2), (5, 2)])
def test_R12_rewards(players: int, losers: int) -> None:
    game = Game(Rules(losers=losers), players, seed=3)
    assert game.rewards().tolist() == [0.0] * players
    play_to_the_end(game)
    assert game.result is not None
    rewards = game.rewards().tolist()
    assert [rewards[seat] for seat in game.result["idiots"]] == [-1.0] * losers
    assert [rewards[seat] for seat in game.result["out"]] == pytest.approx(
        [losers / (players - losers)] * (players - losers)
    )


def test_R12_a_game_that_is_cut_off_has_no_result() -> None:
    game = Game(Rules(swap="never"), 3, seed=3, max_decisions=2)
    for _ in range(2):
        game.apply(game.legal()[0])
    assert game.result == {"out": [], "idiots": [], "truncated": True}
    assert game.rewards().tolist() == [0.0] * 3


# --- R13: the exchange before the start ------------------------------------------------------------------------------

SWAPPING: dict[str, Any] = {"hand": ["345", "678"], "up": ["9JQ", "KA2"]}
ALL_SWAPS = [f"swap {given} {got}" for given in "345" for got in "9JQ"]


def test_R13_hand_cards_go_for_own_face_up_cards(table: Dealer) -> None:
    game = table(**SWAPPING, swap="before")
    assert shows(game, turn=0, phase="swap", legal=["done", *ALL_SWAPS])
    assert shows(go(game, "swap 3 Q"), turn=0, phase="swap", hand0="45Q", up0="39J")
    assert game.known == ["Q", ""]


def test_R13_three_exchanges_reach_every_arrangement_and_then_one_is_done(table: Dealer) -> None:
    game = go(table(**SWAPPING, swap="before"), "swap 3 9", "swap 4 J", "swap 5 Q")
    assert shows(game, turn=0, hand0="9JQ", up0="345", legal=["done"])
    assert game.known == ["9JQ", ""]


def test_R13_an_exchange_can_be_undone_within_the_three(table: Dealer) -> None:
    game = go(table(**SWAPPING, swap="before"), "swap 3 9", "swap 9 3")
    assert shows(game, hand0="345", up0="9JQ")
    assert game.known == ["3", ""]


def test_R13_equal_ranks_are_not_exchanged(table: Dealer) -> None:
    game = table(hand=["99K"], up=["9KK"], swap="before")
    assert game.legal() == ["done", "swap 9 K", "swap K 9"]


def test_R13_clockwise_from_the_dealers_left(table: Dealer) -> None:
    game = table(3, dealer=0, swap="before")
    turns = []
    while game.snapshot()["phase"] == "swap":
        turns.append(game.turn)
        game.apply("done")
    assert turns == [1, 2, 0]
    assert shows(game, turn=1, phase="hand")


def test_R13_never_the_game_begins_at_once(table: Dealer) -> None:
    assert shows(table(**SWAPPING, swap="never"), phase="hand", legal=["play 3", "play 4", "play 5"])


def test_R13_before_means_not_later(table: Dealer) -> None:
    game = go(table(**SWAPPING, swap="before"), "done", "done")
    assert shows(game, phase="hand", legal=["play 3", "play 4", "play 5"])


# --- R14: who begins -------------------------------------------------------------------------------------------------


def test_R14_first_three_the_first_open_three_in_dealing_order(table: Dealer) -> None:
    up = {1: "7J3", 2: "3QK", 0: "45A"}
    assert table(3, dealer=0, up=up, starter="first_three").turn == 2
    assert table(3, dealer=0, up={1: "7J3", 2: "8Q3", 0: "5A3"}, starter="first_three").turn == 1
    assert table(3, dealer=0, up={1: "7J3", 2: "8Q3", 0: "3A5"}, starter="first_three").turn == 0


def test_R14_first_three_else_a_three_in_hand(table: Dealer) -> None:
    game = table(
        3, dealer=0, up={1: "7J8", 2: "8QK", 0: "45A"}, hand={1: "999", 2: "3JK", 0: "36Q"}, starter="first_three"
    )
    assert shows(game, turn=2, legal=["play 3", "play J", "play K"])


def test_R14_first_three_else_fours_first_the_open_ones(table: Dealer) -> None:
    up = {1: "7J8", 2: "84K", 0: "45A"}
    assert table(3, dealer=0, up=up, hand={1: "499", 2: "JJK", 0: "66Q"}, starter="first_three").turn == 0


def test_R14_first_three_a_dealt_three_counts_although_it_was_exchanged(table: Dealer) -> None:
    game = table(up=["789", "3JQ"], hand=["34K", "55K"], swap="before", starter="first_three")
    assert shows(go(game, "done", "swap K 3", "done"), turn=1, phase="hand", hand1="355")


def test_R14_first_three_a_hand_three_counts_only_while_it_is_held(table: Dealer) -> None:
    game = table(up=["789", "8JQ"], hand=["35K", "36K"], swap="before", starter="first_three")
    assert go(game, "swap 3 9", "done", "done").turn == 1
    game = table(up=["789", "8JQ"], hand=["35K", "36K"], swap="before", starter="first_three")
    assert go(game, "done", "done").turn == 0


def test_R14_lowest_hand(table: Dealer) -> None:
    assert table(hand=["5KK", "4AA"], starter="lowest_hand").turn == 1
    assert table(hand=["TKK", "JJJ"], starter="lowest_hand").turn == 0


def test_R14_a_two_or_joker_is_never_the_lowest_beside_another(table: Dealer) -> None:
    assert table(hand=["AAA", "22K"], starter="lowest_hand").turn == 1
    assert table(hand=["222", "**A"], jokers=2, starter="lowest_hand").turn == 1
    assert table(3, hand=["**2", "222", "AAA"], jokers=2, starter="lowest_hand").turn == 2


def test_R14_lowest_hand_is_asked_after_the_exchange(table: Dealer) -> None:
    game = table(hand=["3KK", "4AA"], up=["QQQ", "JJJ"], swap="before", starter="lowest_hand")
    assert go(game, "swap 3 Q", "done", "done").turn == 1


TIED = {1: "5KK", 2: "4AK", 0: "445"}


@pytest.mark.parametrize(("tie", "turn"), [("nearest_left", 2), ("most_low", 0), ("left_of_dealer", 1)])
def test_R14_lowest_hand_ties(table: Dealer, tie: str, turn: int) -> None:
    assert table(3, dealer=0, hand=TIED, starter="lowest_hand", starter_tie=tie).turn == turn


@pytest.mark.parametrize("tie", OPTIONS["starter_tie"])
def test_R14_no_tie_needs_no_rule(table: Dealer, tie: str) -> None:
    hands = {1: "5KK", 2: "4AK", 0: "66J"}
    assert table(3, dealer=0, hand=hands, starter="lowest_hand", starter_tie=tie).turn == 2


@pytest.mark.parametrize(("hands", "turn"), [(("45K", "45A", "4AA"), 0), (("4AA", "45K", "45A"), 1)])
def test_R14_most_low_compares_card_by_card(table: Dealer, hands: tuple[str, ...], turn: int) -> None:
    assert table(3, hand=hands, starter="lowest_hand", starter_tie="most_low").turn == turn


def test_R14_most_low_still_tied_is_nearest_left(table: Dealer) -> None:
    hands = {1: "9JJ", 2: "45K", 0: "45K"}
    assert table(3, dealer=0, hand=hands, starter="lowest_hand", starter_tie="most_low").turn == 2


@pytest.mark.parametrize("tie", OPTIONS["starter_tie"])
def test_R14_left_of_dealer(table: Dealer, tie: str) -> None:
    assert table(3, dealer=1, hand=TIED, starter="left_of_dealer", starter_tie=tie).turn == 2


# --- R15: the opening ------------------------------------------------------------------------------------------------


def test_R15_any_the_first_turn_is_like_any_other(table: Dealer) -> None:
    assert table(hand=["44K"], opening="any").legal() == ["play 4", "play 4x2", "play K"]


def test_R15_lowest_any_number_of_the_lowest_and_nothing_else(table: Dealer) -> None:
    house = {"chance": True, "stack": True, "runs": True, "sneak_three": True, "swap": "anytime"}
    game = go(table(hand=["445569"], up=["4JQ"], hand_size=6, opening="lowest", **house), "done", "done")
    assert shows(game, turn=0, phase="hand", legal=["play 4", "play 4x2"])


def test_R15_afterwards_everything_is_legal(table: Dealer) -> None:
    game = go(table(hand=["44K", "69J"], opening="lowest", chance=True), "play 4x2")
    assert shows(game, turn=1, legal=["chance", "play 6", "play 9", "play J", "take"])


def test_R15_with_twos_and_a_ten_the_ten_is_lowest_and_burns(table: Dealer) -> None:
    game = table(hand=["22T"], stock="K", opening="lowest")
    assert game.legal() == ["play T"]
    assert shows(go(game, "play T"), turn=0, legal=["play 2", "play 2x2", "play K"])


def test_R15_two_and_joker(table: Dealer) -> None:
    assert table(hand=["2**"], opening="lowest", jokers=2).legal() == ["play 2"]


# --- R16: chance -----------------------------------------------------------------------------------------------------


def test_R16_also_on_an_empty_pile_and_when_one_can_play(table: Dealer) -> None:
    game = table(hand=["345"], stock="K", chance=True)
    assert game.legal() == ["chance", "play 3", "play 4", "play 5"]
    assert shows(go(game, "chance"), turn=1, pile="K", hand0="345")


def test_R16_a_fitting_card_is_played(table: Dealer) -> None:
    game = go(table(hand=["9JQ", "345"], stock="KA4", chance=True), "play 9")
    assert game.legal() == ["chance", "take"]
    assert shows(go(game, "chance"), turn=0, pile="9A", hand1="345")


def test_R16_a_misfit_is_taken_with_the_pile(table: Dealer) -> None:
    game = go(table(hand=["9JQ", "345"], stock="K4A", chance=True), "play 9", "chance")
    assert shows(game, turn=0, pile="", hand1="34459")
    assert game.snapshot()["stock"][0] == "A"
    assert game.known == ["", "49"]


def test_R16_a_ten_by_chance_burns(table: Dealer) -> None:
    game = go(table(hand=["9JQ", "345"], stock="KT", chance=True), "play 9", "chance")
    assert shows(game, turn=1, pile="", burned="9T", hand1="345")


def test_R16_only_with_the_option(table: Dealer) -> None:
    assert table(hand=["345"], chance=False).legal() == ["play 3", "play 4", "play 5"]


def test_R16_not_without_stock_nor_from_the_table(late: Dealer) -> None:
    before = late(chance=True, actions=LATE_ACTIONS[:3])
    assert shows(before, turn=1, stock="", legal=["play 4", "play 4x2", "play 4x3", "take"])
    assert shows(
        late(up={1: "9JQ"}, chance=True), phase="up", legal=["play 9", "play J", "play Q", "take 9", "take J", "take Q"]
    )


# --- R17: taking from the face-up cards ------------------------------------------------------------------------------


def test_R17_with_card_one_goes_along(late: Dealer) -> None:
    game = late(up={1: "9JQ"}, face_up_take="with_card")
    assert game.legal() == ["play 9", "play J", "play Q", "take 9", "take J", "take Q"]
    assert shows(go(game, "take J"), turn=2, pile="", up1="9Q", hand1=LATE_PILE + "J")
    assert game.known[1] == LATE_PILE + "J"


def test_R17_the_card_that_goes_along_never_burns(late: Dealer) -> None:
    game = go(late(up={1: "8JQ"}, face_up_take="with_card"), "take 8")
    assert shows(game, turn=2, pile="", burned="TTTT", hand1=LATE_PILE + "8")


def test_R17_alone_the_face_up_cards_stay(late: Dealer) -> None:
    game = late(up={1: "9JQ"}, face_up_take="alone")
    assert game.legal() == ["play 9", "play J", "play Q", "take"]
    assert shows(go(game, "take"), turn=2, pile="", up1="9JQ", hand1=LATE_PILE)


def test_R17_one_of_two_equal_cards_goes_along(late: Dealer) -> None:
    assert shows(go(late(up={1: "9J9"}), "take 9"), up1="9J", hand1=LATE_PILE + "9")


def test_R17_an_empty_pile_is_not_taken_from_the_face_up_cards(late: Dealer) -> None:
    for take in OPTIONS["face_up_take"]:
        game = go(late(up={1: "8JQ"}, face_up_take=take), BURN_OF_LATE_PILE)
        assert shows(game, turn=1, pile="", legal=["play J", "play Q"])


# --- R18: exchanging at any time -------------------------------------------------------------------------------------


def test_R18_on_ones_turn_up_to_the_number_of_face_up_cards(table: Dealer) -> None:
    game = go(table(**SWAPPING, stock="3", swap="anytime"), "done", "done")
    assert shows(game, phase="hand", legal=["play 3", "play 4", "play 5", *ALL_SWAPS])
    go(game, "swap 3 9", "swap 4 J")
    assert shows(game, turn=0, hand0="59J", up0="34Q")
    assert "swap 5 Q" in game.legal()
    assert shows(go(game, "swap 5 Q"), turn=0, hand0="9JQ", up0="345", legal=["play 9", "play J", "play Q"])


def test_R18_an_extra_turn_is_a_new_turn(table: Dealer) -> None:
    game = go(table(hand=["T44"], up=["555"], stock="4", swap="anytime"), "done", "done")
    go(game, *["swap 4 5", "swap 5 4", "swap 4 5"])
    assert game.legal() == ["play 4", "play 5", "play T"]
    assert shows(go(game, "play T"), turn=0, legal=["play 4", "play 4x2", "play 5", "swap 4 5", "swap 5 4"])


def test_R18_the_next_turn_brings_a_new_budget(table: Dealer) -> None:
    game = go(table(hand=["344"], up=["555"], stock="4", swap="anytime"), "done", "done")
    go(game, "swap 4 5", "swap 5 4", "swap 4 5", "play 3", "take")
    assert [text for text in game.legal() if text.startswith("swap")] == ["swap 4 5", "swap 5 4"]


def test_R18_not_from_the_face_up_cards(late: Dealer) -> None:
    assert shows(
        late(up={1: "9JQ"}, swap="anytime", face_up_take="alone"), legal=["play 9", "play J", "play Q", "take"]
    )


def test_R18_not_before_an_opening_play(table: Dealer) -> None:
    game = go(table(**SWAPPING, swap="anytime", opening="lowest"), "done", "done")
    assert game.legal() == ["play 3"]
    assert any(text.startswith("swap") for text in go(game, "play 3").legal())


def test_R18_stacking_raises_the_budget_only_of_the_next_turn(table: Dealer) -> None:
    game = go(table(hand=["9KT"], up=["9JQ"], stock="KK", swap="anytime", stack=True), "done", "done", "stack 9")
    go(game, "swap K J", "swap J K", "swap K J")
    assert [text for text in game.legal() if text.startswith("swap")] == []
    go(game, "play T", "swap K Q", "swap Q K", "swap K Q")
    assert "swap Q K" in game.legal()
    assert [text for text in go(game, "swap Q K").legal() if text.startswith("swap")] == []


# --- R19: tens only below ten ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("top", FITTING)
def test_R19_below_ten(table: Dealer, top: str) -> None:
    fitting = FITTING[top] + "*" if top in "34567892" else FITTING[top].replace("T", "")
    assert sorted(ranks_that_fit_on(table, top, ten_on="below_ten", jokers=2)) == sorted(fitting)


def test_R19_on_an_empty_pile(table: Dealer) -> None:
    assert table(hand=["T*3"], ten_on="below_ten", jokers=2).legal() == ["play *", "play 3", "play T"]


def test_R19_a_chance_ten_that_does_not_fit_is_taken(table: Dealer) -> None:
    game = go(table(hand=["K", "345"], stock="3T", ten_on="below_ten", chance=True), "play K", "chance")
    assert shows(game, turn=0, pile="", burned="", hand1="345TK")


# --- R20: a two as the last card -------------------------------------------------------------------------------------


def test_R20_allowed_and_blind_only_a_flipped_last_two_is_fine(late: Dealer) -> None:
    for last_two in ("allowed", "blind_only"):
        assert shows(go(a_last_two_is_to_be_flipped(late, last_two=last_two), "flip 3"), out=[1], turn=2, pile="2")


def test_R20_forbidden_a_flipped_last_two_does_not_fit(late: Dealer) -> None:
    game = go(a_last_two_is_to_be_flipped(late, last_two="forbidden"), "flip 3")
    assert shows(game, out=[], turn=2, hand1="2", down1="...", pile="")
    assert game.known[1] == "2"


def test_R20_a_flipped_two_that_is_not_the_last_fits(late: Dealer) -> None:
    assert shows(go(to_the_flips(late, "292", last_two="forbidden"), "flip 1"), turn=1, pile="222", down1=".92")


@pytest.mark.parametrize("last_two", OPTIONS["last_two"])
def test_R20_twos_from_the_hand_that_would_be_the_last(late: Dealer, last_two: str) -> None:
    game = to_the_flips(late, "295", last_two=last_two, runs=True)
    go(game, "flip 1", "flip 2", "play J", "play Q", "play K", "play A", "flip 3")
    assert shows(game, turn=2, hand1="59JQKA222", down1="...")
    go(game, "play J", "play Q", "play K", "play A", "play 2", "run 9-A")
    assert shows(game, turn=2, hand1="522")
    go(game, "take J", "play Q", "play K", "take A", "play 5")
    assert shows(game, turn=2, hand1="22", pile="5")
    go(game, "play J", "flip 1")
    while game.turn != 1:
        go(game, game.legal()[-1])
    plays = [text for text in game.legal() if text.startswith("play")]
    assert plays == (["play 2", "play 2x2"] if last_two == "allowed" else ["play 2"])
    go(game, "play 2")
    assert shows(game, turn=1, hand1="2", legal=["play 2", "take"] if last_two == "allowed" else ["take"])


def test_R20_four_twos_that_would_burn_are_last_cards_too(late: Dealer) -> None:
    game = to_the_flips(late, "922", last_two="forbidden", runs=True)
    go(game, "flip 1", "play J", "play Q", "play K", "play A", "flip 2", "flip 3")
    assert shows(game, turn=2, pile="", hand1="9JQKA2222", down1="...")
    go(game, "play J", "take Q", "play K", "take A", "run 9-A", "take J", "play J", "play K", "play A")
    assert shows(game, turn=1, pile="JKA", hand1="2222", legal=["play 2", "play 2x2", "play 2x3", "take"])


# --- R21: sevens low -------------------------------------------------------------------------------------------------


def test_R21_on_a_seven_only_lower_cards_and_the_special_ones(table: Dealer) -> None:
    assert sorted(ranks_that_fit_on(table, "7", seven_low=True, jokers=2)) == sorted("3456T2*")


@pytest.mark.parametrize("top", [top for top in FITTING if top != "7"])
def test_R21_other_tops_are_as_always(table: Dealer, top: str) -> None:
    assert sorted(ranks_that_fit_on(table, top, seven_low=True)) == sorted(FITTING[top])


def test_R21_a_seven_itself_fits_as_always(table: Dealer) -> None:
    game = go(table(hand=["5", "789"], seven_low=True), "play 5")
    assert game.legal() == ["play 7", "play 8", "play 9", "take"]


# --- R22: threes under the pile --------------------------------------------------------------------------------------


def test_R22_under_any_top_and_the_turn_passes(table: Dealer) -> None:
    game = go(table(hand=["9KK", "33A"], stock="456", sneak_three=True), "play 9")
    assert game.legal() == ["play A", "sneak", "sneak x2", "take"]
    assert shows(go(game, "sneak x2"), turn=0, pile="339", hand1="56A", legal=["play K", "play Kx2", "take"])


def test_R22_not_under_an_empty_pile(table: Dealer) -> None:
    assert table(hand=["334"], sneak_three=True).legal() == ["play 3", "play 3x2", "play 4"]


def test_R22_threes_under_threes_lengthen_the_run_and_four_burn(table: Dealer) -> None:
    game = go(table(hand=["33K", "33A"], sneak_three=True), "play 3x2", "sneak x2")
    assert shows(game, turn=1, pile="", burned="3333")
    game = go(table(3, hand=["3", "33K", "3AA"], stock="JJJ", sneak_three=True), "play 3", "sneak x2")
    assert shows(game, turn=2, pile="333")
    assert shows(go(game, "play 3"), turn=2, pile="", burned="3333")


def test_R22_four_threes_under_another_card_stay(table: Dealer) -> None:
    game = go(table(3, hand=["3", "9", "333"], sneak_three=True), "play 3", "play 9", "sneak x3")
    assert shows(game, turn=0, pile="33339", burned="")


def test_R22_the_top_keeps_its_run_length(table: Dealer) -> None:
    game = go(table(3, hand=["99", "3", "99"], sneak_three=True), "play 9x2", "sneak", "play 9x2")
    assert shows(game, turn=2, pile="", burned="39999")


def test_R22_from_the_face_up_cards(late: Dealer) -> None:
    game = late(up={1: "3JQ"}, sneak_three=True)
    assert game.legal() == ["play J", "play Q", "sneak", "take 3", "take J", "take Q"]
    assert shows(go(game, "sneak"), turn=2, pile="3" + LATE_PILE, up1="JQ")


def test_R22_only_with_the_option(table: Dealer) -> None:
    assert go(table(hand=["9", "33A"]), "play 9").legal() == ["play A", "take"]


# --- R23: runs -------------------------------------------------------------------------------------------------------


def test_R23_example_five_six_seven(table: Dealer) -> None:
    game = table(hand=["567", "68K"], stock="JQKA", runs=True)
    assert game.legal() == ["play 5", "play 6", "play 7", "run 5-7"]
    assert shows(go(game, "run 5-7"), turn=1, pile="567", hand0="JQK", legal=["play 8", "play K", "take"])


def test_R23_longer_runs(table: Dealer) -> None:
    runs = [text for text in table(hand=["45678K"], hand_size=6, runs=True).legal() if text.startswith("run")]
    assert runs == ["run 4-6", "run 4-7", "run 4-8", "run 5-7", "run 5-8", "run 6-8"]


def test_R23_nine_and_jack_are_neighbours_and_special_cards_are_in_no_run(table: Dealer) -> None:
    def runs(hand: str) -> list[str]:
        return [text for text in table(hand=[hand], runs=True).legal() if text.startswith("run")]

    assert runs("89J") == ["run 8-J"]
    assert runs("9TJ") == []
    assert runs("KA2") == []
    assert runs("234") == []
    assert runs("QKA") == ["run Q-A"]
    assert runs("556") == []


def test_R23_the_lowest_must_fit(table: Dealer) -> None:
    assert go(table(hand=["6", "567"], runs=True), "play 6").legal() == ["play 6", "play 7", "take"]
    assert "run 6-8" in go(table(hand=["6", "678"], runs=True), "play 6").legal()


def test_R23_with_sevens_low(table: Dealer) -> None:
    game = go(table(hand=["7", "678"], runs=True, seven_low=True), "play 7")
    assert game.legal() == ["play 6", "run 6-8", "take"]


def test_R23_a_run_never_burns(table: Dealer) -> None:
    game = go(table(hand=["555", "567"], runs=True), "play 5x3", "run 5-7")
    assert shows(game, turn=0, pile="555567", burned="")


def test_R23_its_top_counts_one(table: Dealer) -> None:
    game = go(table(3, hand=["567", "777"], runs=True), "run 5-7", "play 7x3")
    assert shows(game, turn=1, pile="", burned="567777")


def test_R23_a_run_never_skips(table: Dealer) -> None:
    assert go(table(3, hand=["5", "567"], runs=True, skip_same=True), "play 5", "run 5-7").turn == 2


def test_R23_from_the_face_up_cards(late: Dealer) -> None:
    game = late(up={1: "9QJ"}, runs=True, face_up_take="alone")
    assert game.legal() == ["play 9", "play J", "play Q", "run 9-Q", "take"]
    assert shows(go(game, "run 9-Q"), turn=2, pile=LATE_PILE + "9JQ", up1="", down=game.snapshot()["down"])


def test_R23_only_with_the_option(table: Dealer) -> None:
    assert table(hand=["567"]).legal() == ["play 5", "play 6", "play 7"]


# --- R24: equal cards skip -------------------------------------------------------------------------------------------


def test_R24_the_same_rank_skips_the_next_player(table: Dealer) -> None:
    assert go(table(3, hand=["9", "9"], skip_same=True), "play 9", "play 9").turn == 0
    assert go(table(3, hand=["9", "99"], skip_same=True), "play 9", "play 9x2").turn == 0
    assert go(table(3, hand=["9", "9"], skip_same=False), "play 9", "play 9").turn == 2


def test_R24_with_two_players_the_turn_comes_back(table: Dealer) -> None:
    assert shows(go(table(hand=["9", "94J"], skip_same=True), "play 9", "play 9"), turn=1, pile="99")


def test_R24_an_empty_pile_has_no_top(table: Dealer) -> None:
    assert go(table(3, hand=["99"], skip_same=True), "play 9x2").turn == 1
    assert go(table(3, hand=["9", "T99"], skip_same=True), "play 9", "play T", "play 9x2").turn == 2


def test_R24_a_burn_comes_first(table: Dealer) -> None:
    assert shows(go(table(3, hand=["66", "66"], skip_same=True), "play 6x2", "play 6x2"), turn=1, pile="")


def test_R24_an_extra_turn_comes_first(table: Dealer) -> None:
    assert go(table(3, hand=["22"], skip_same=True, after_two="again"), "play 2", "play 2").turn == 0
    assert go(table(3, hand=["2", "2"], skip_same=True, after_two="pass"), "play 2", "play 2").turn == 0


def test_R24_by_chance(table: Dealer) -> None:
    assert go(table(3, hand=["9"], stock="49", chance=True, skip_same=True), "play 9", "chance").turn == 0


def test_R24_by_a_flip(late: Dealer) -> None:
    game = go(to_the_flips(late, "9A5", skip_same=True), "flip 1", "play J", "play Q", "play K", "play A", "flip 2")
    assert shows(game, turn=3, pile="229JQKAA")


def test_R24_whoever_goes_out_with_an_equal_card_skips_too(late: Dealer) -> None:
    game = go(to_the_flips(late, "29A", skip_same=True), "flip 1", "flip 2", "play J", "play Q", "play K", "play A")
    assert shows(go(game, "flip 3"), out=[1], turn=3, pile="2229JQKAA")


def test_R24_going_out_by_a_burn_skips_nobody(late: Dealer) -> None:
    up = {1: "822", 2: "JJJ", 3: "QQJ", 4: "3QQ", 0: "KKK"}
    game = late(up=up, down={1: "29K"}, after_two="again", skip_same=True, sneak_three=True)
    go(game, BURN_OF_LATE_PILE, "play 2x2", "flip 1", "flip 2", "play J", "play Q", "sneak", "play Kx3", "flip 3")
    assert shows(game, out=[1], turn=2, pile="", burned=burned_with("32229JQKKKK"))


def test_R24_going_out_with_a_two_that_gives_an_extra_turn_skips_nobody(late: Dealer) -> None:
    game = go(to_the_flips(late, "922", skip_same=True), "flip 1", "play J", "play Q", "play K", "take A", "flip 2")
    assert shows(go(game, "flip 3"), out=[1], turn=2, pile="22")


def test_R24_who_is_out_is_not_the_one_skipped(late: Dealer) -> None:
    game = go(seat_1_goes_out(late, skip_same=True), "play J", "play Q", "take K", "play A", "take J", "play Q")
    assert shows(go(game, "play Q"), turn=2, pile="QQ", out=[1])


def test_R24_a_sneaked_three_does_not_skip(table: Dealer) -> None:
    game = go(table(3, hand=["3", "3"], sneak_three=True, skip_same=True), "play 3", "sneak")
    assert shows(game, turn=2, pile="33")


# --- R25: stacking ---------------------------------------------------------------------------------------------------


def test_R25_a_hand_card_on_an_equal_face_up_card_then_a_draw(table: Dealer) -> None:
    game = table(hand=["9KK"], up=["9JQ"], stock="Q4", stack=True)
    assert game.legal() == ["play 9", "play K", "play Kx2", "stack 9"]
    assert shows(
        go(game, "stack 9"), turn=0, hand0="QKK", up0="99JQ", legal=["play K", "play Kx2", "play Q", "stack Q"]
    )
    assert shows(go(game, "stack Q"), turn=0, hand0="4KK", up0="99JQQ", legal=["play 4", "play K", "play Kx2"])


def test_R25_no_draw_with_three_or_more_left(table: Dealer) -> None:
    game = table(hand=["9KK345"], up=["9JQ"], hand_size=6, stack=True)
    stock = game.snapshot()["stock"]
    assert shows(go(game, "stack 9"), hand0="345KK", stock=stock)


def with_eights_left(late: Dealer, last: str) -> AnyGame:
    """Seat 0 keeps eights in hand and has the fourth one face-up; the stock is empty and a king is on top."""
    up = {1: "99Q", 2: "JJJ", 3: "QQ2", 4: "KKK", 0: "8AA"}
    game = late(up=up, stack=True, face_up_take="alone", actions=[*LATE_ACTIONS[:-1], last])
    return go(game, "play 9", "play J", "play Q", "play K")


def test_R25_never_the_last_hand_card(late: Dealer) -> None:
    game = with_eights_left(late, "play 8x2")
    assert shows(game, turn=0, phase="hand", hand0="8", up0="8AA", stock="", legal=["take"])


def test_R25_without_stock_nothing_is_drawn(late: Dealer) -> None:
    game = with_eights_left(late, "play 8")
    assert game.legal() == ["stack 8", "take"]
    assert shows(go(game, "stack 8"), turn=0, hand0="8", up0="88AA", legal=["take"])


def test_R25_not_during_the_exchange_before_the_start(table: Dealer) -> None:
    game = table(hand=["999"], up=["9JJ"], stack=True, swap="before")
    assert game.legal() == ["done", "swap 9 J"]


def test_R25_only_with_the_option(table: Dealer) -> None:
    assert table(hand=["9KK"], up=["9JQ"]).legal() == ["play 9", "play K", "play Kx2"]


# --- R26 to R28: hand size, jokers, two idiots -----------------------------------------------------------------------


@pytest.mark.parametrize(("players", "stock"), [(2, 28), (3, 16), (4, 4)])
def test_R26_six_cards_to_the_hand(table: Dealer, players: int, stock: int) -> None:
    snapshot = table(players, hand_size=6).snapshot()
    assert [len(hand) for hand in snapshot["hand"]] == [6] * players
    assert len(snapshot["stock"]) == stock


def test_R26_the_refill_stays_at_three(table: Dealer) -> None:
    game = table(hand=["999JQK"], hand_size=6, stock="4")
    assert shows(go(game, "play 9x3"), hand0="JQK")
    game = table(hand=["999JJJ"], hand_size=6, stock="4")
    assert shows(go(game, "play 9x2"), hand0="9JJJ")


def test_R27_a_joker_works_as_a_ten(table: Dealer) -> None:
    game = go(table(hand=["A", "*34"], stock="5Q", jokers=2), "play A", "play *")
    assert shows(game, turn=1, pile="", burned="A*", hand1="34Q")


def test_R27_tens_and_jokers_are_not_laid_together(table: Dealer) -> None:
    assert table(hand=["T**"], jokers=2).legal() == ["play *", "play *x2", "play T"]


def test_R27_jokers_can_be_exchanged(table: Dealer) -> None:
    game = go(table(hand=["*44"], up=["555"], jokers=2, swap="before"), "swap * 5")
    assert shows(game, hand0="445", up0="55*", legal=["done", "swap 4 *", "swap 4 5", "swap 5 *"])


@pytest.mark.parametrize("players", [3, 4, 5])
def test_R28_the_last_two_are_both_idiots(table: Dealer, players: int) -> None:
    game = play_to_the_end(table(players, losers=2))
    assert game.result is not None
    assert len(game.result["idiots"]) == 2
    assert len(game.result["out"]) == players - 2


def test_R28_two_idiots_need_three_players() -> None:
    with pytest.raises(ValueError, match="3 players"):
        Game(Rules(losers=2), 2)


# --- R29: what is known ----------------------------------------------------------------------------------------------


def test_R29_a_taken_pile_is_known_and_drawn_cards_are_not(table: Dealer) -> None:
    game = go(table(hand=["9KK", "9JQ"], stock="4567"), "play 9")
    assert game.known == ["", ""]
    assert go(game, "take").known == ["", "9"]


def test_R29_known_cards_leave_first(table: Dealer) -> None:
    game = go(table(hand=["9KK", "9JQ"], stock="4567"), "play 9", "take", "play 4", "play 9")
    assert shows(game, hand1="9JQ")
    assert game.known == ["", ""]


def test_R29_of_two_known_and_one_hidden_two_known_leave_first(table: Dealer) -> None:
    game = go(table(hand=["99K", "9JQ"], stock="4567"), "play 9x2", "take", "play 4")
    assert game.known == ["", "99"]
    assert go(game.copy(), "play 9").known == ["", "9"]
    assert go(game.copy(), "play 9x2").known == ["", ""]
    assert go(game.copy(), "play 9x3").known == ["", ""]


def test_R29_an_exchanged_card_is_known_and_a_known_card_is_laid_down_first(table: Dealer) -> None:
    game = go(table(hand=["4JQ"], up=["4KA"], swap="before"), "swap J 4")
    assert game.known == ["4", ""]
    assert shows(go(game, "swap 4 K"), hand0="4QK", up0="4JA")
    assert game.known == ["K", ""]


def test_R29_stacked_and_sneaked_cards_leave_the_known_ones(table: Dealer) -> None:
    house = {"stack": True, "sneak_three": True}
    game = go(table(hand=["3KK", "3JQ"], up={1: "3AA"}, stock="4567", **house), "play 3", "take", "play 4")
    assert game.known == ["", "3"]
    assert go(game.copy(), "stack 3").known == ["", ""]
    assert go(game.copy(), "sneak").known == ["", ""]
    assert go(game.copy(), "sneak x2").known == ["", ""]


# --- R30: text -------------------------------------------------------------------------------------------------------


def test_R30_an_illegal_action_changes_nothing(table: Dealer) -> None:
    game = table(hand=["345"])
    before = game.snapshot()
    for text in ("play 9", "take", "flip 1", "chance", "done", "swap 3 4", "stack 3", "sneak", "run 3-5", "nonsense"):
        with pytest.raises(ValueError, match=r"[Ll]egal"):
            game.apply(text)
    assert game.snapshot() == before


def test_R30_the_message_names_what_was_legal() -> None:
    game = Game(Rules(**QUIET), 2, deck=deck_of(2, hand=["345"]), dealer=1)
    with pytest.raises(IllegalAction, match="play 3, play 4, play 5"):
        game.apply("play 9")


def test_R30_a_snapshot_in_the_middle(late: Dealer) -> None:
    down = ["9KQ", "29K", "J56", "79A", "34Q"]
    game = late(up={1: "822", 2: "JJJ", 3: "QQ2", 4: "KK9", 0: "AAA"}, down=down, after_two="again")
    go(game, BURN_OF_LATE_PILE, "play 2x2", "flip 1", "flip 2", "play J", "take Q")
    assert sorted("".join(down) + "822JJJQQ2KK9AAA") == sorted(LATE_TABLE_CARDS)
    assert game.snapshot() == {
        "turn": 4,
        "phase": "up",
        "hand": ["", "", "", "9JQ222", ""],
        "up": ["AAA", "", "JJ", "Q2", "9KK"],
        "down": ["9KQ", "..K", "J56", "79A", "34Q"],
        "pile": "",
        "burned": burned_with(""),
        "stock": "",
        "out": [],
        "legal": ["play 9", "play K", "play Kx2"],
    }


def test_R30_a_record_replays_to_the_same_state() -> None:
    game = Game(Rules.preset("sjanse", stack=True), 3, seed=5)
    rng = random.Random(2)
    for _ in range(60):
        game.apply(rng.choice(game.legal()))
    assert Game.from_record(game.record()).snapshot() == game.snapshot()


def test_R30_a_bad_record_is_refused_with_its_place_and_what_was_legal() -> None:
    record = Game(Rules(**QUIET), 2, deck=deck_of(2, hand=["345", "9JQ"]), dealer=1).record()
    with pytest.raises(ValueError, match=r"1.*play 9, play J, play Q, take"):
        Game.from_record(record | {"actions": ["play 3", "play 4"]})
    with pytest.raises(ValueError, match="snap"):
        Game.from_record(record | {"rules": {"snap": True}})
    with pytest.raises(ValueError, match="deck"):
        Game.from_record(record | {"deck": record["deck"][1:]})
    for changed, message in (
        ({"deck": None}, "deck is None"),
        ({"dealer": None}, "dealer is None"),
        ({"rules": {"name": 1}}, "unknown option 'name'"),
    ):
        with pytest.raises(RecordError, match=message):
            Game.from_record(record | changed)


@pytest.mark.parametrize("action", [None, 3.7, True, [], b"take", float("nan"), float("inf")])
def test_R30_an_action_is_a_text_or_a_whole_number(action: object) -> None:
    game = Game(seed=1)
    before = game.snapshot()
    with pytest.raises(IllegalAction, match=r"is not an action: .* Legal now: done"):
        game.apply(action)  # type: ignore[arg-type]
    assert game.snapshot() == before


@pytest.mark.parametrize("seat", [-1, 4, "0", None, 1.0, True])
def test_R29_only_a_seat_has_a_view(seat: object) -> None:
    with pytest.raises(ValueError, match="is not at the table: seats go from 0 to 3"):
        Game(seed=1).view(seat)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, -1, "9", 1.5, True])
def test_R30_a_limit_lets_a_game_begin(limit: object) -> None:
    with pytest.raises(ValueError, match="max_decisions="):
        Game(max_decisions=limit)  # type: ignore[arg-type]


def test_wrong_names_of_tables_and_options_are_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"unknown table \[\]"):
        Rules.preset([])  # type: ignore[arg-type]
    for option in ("name", 1):
        with pytest.raises(ValueError, match=f"unknown option {option!r}: the options are"):
            Rules.make({option: 2})  # type: ignore[dict-item]
