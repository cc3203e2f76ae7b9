"""Decks for tests, written as the table sees them: each seat's cards and the beginning of the stock, as ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.twin import DEFAULTS, all_cards, rank_of

Seats = Sequence[str] | Mapping[int, str]
"""Ranks by seat, as a list from seat 0 on or as a mapping; whatever is left open is filled with spare cards."""

QUIET: dict[str, Any] = {"swap": "never", "starter": "left_of_dealer"}
"""Options with which the seat at the dealer's left simply begins."""


def deck_of(
    players: int,
    *,
    down: Seats = (),
    up: Seats = (),
    hand: Seats = (),
    stock: str = "",
    dealer: int | None = None,
    hand_size: int = 3,
    jokers: int = 0,
) -> list[str]:
    """A full deck in dealing order, so that every seat gets what is written.

    The dealer is the last seat unless given.  Ranks get suits in the order C, D, H, S; spare cards fill what is left
    open, low ones first.
    """
    dealer = players - 1 if dealer is None else dealer
    wanted = [_by_seat(zone, players) for zone in (down, up, hand)]
    spare = all_cards(DEFAULTS | {"jokers": jokers})
    zones = [[_draw_all(text, spare) for text in zone] for zone in wanted]
    beginning = _draw_all(stock, spare)
    for zone, size in zip(zones, (3, 3, hand_size), strict=True):
        for cards in zone:
            assert len(cards) <= size, f"{cards} are more than {size}"
            while len(cards) < size:
                cards.append(spare.pop(0))
    order = [(dealer + step) % players for step in range(1, players + 1)]
    dealt = [zone[seat][place] for zone in zones for place in range(len(zone[0])) for seat in order]
    return dealt + beginning + spare


def _by_seat(zone: Seats, players: int) -> list[str]:
    if isinstance(zone, Mapping):
        return [zone.get(seat, "") for seat in range(players)]
    return [*zone, *[""] * (players - len(zone))]


def _draw_all(ranks: Iterable[str], spare: list[str]) -> list[str]:
    cards = []
    for rank in ranks:
        card = next((card for card in spare if rank_of(card) == rank), None)
        assert card is not None, f"no {rank} is left"
        spare.remove(card)
        cards.append(card)
    return cards


LATE_ACTIONS = ["play Tx3", "play T", "play 3x3", "play 4x3", "play 5x3", "play 6x3", "play 7x3", "play 8x3"]
"""Five players use up the stock and their hands; then seat 1 is to act from its face-up cards."""

LATE_PILE = "333444555666777888"
LATE_TABLE_CARDS = "345678" + "9JQKA2" * 4
"""What is left for the face-down and face-up cards of a late deck."""


def late_deck(down: Seats = (), up: Seats = ()) -> list[str]:
    """Five players' deck (dealer: seat 4) that ``LATE_ACTIONS`` bring to the face-up cards in eight moves."""
    return deck_of(5, down=down, up=up, hand=["TTT", "444", "555", "666", "777"], stock="T333888")
