"""The slow twin: Idiot once more, with plain lists, to be compared with the compiled engine move by move.

It was written from the rules alone, without a look at the engine, so that a slip in one is not repeated in the other.
Nothing here is meant to be quick.  A card is a text such as ``6S``, ``TH`` or ``*1``.

Where the rules can be read in two ways, this is how the twin reads them:

* ``last_two``: the hand is refilled first, so twos are the last cards only when nothing is drawn after them.
  Four twos that would burn the pile are last cards too.  A chance draw never is one: the hand is not empty.
* An empty pile may be taken when neither a play nor a chance draw is legal.  Exchanging and stacking do not count as
  something to do instead; a run contains a legal play, and there is no sneaking under an empty pile.
* ``skip_same``: who goes out by laying the rank on top still skips, among those who remain.  With one other player left
  the turn comes back.  A sneak and a run skip nobody.
* A sneak passes the turn, except that four threes which are the whole pile burn and give an extra turn like any burn.
* ``swap=anytime``: the budget of a turn is the number of face-up cards when it begins; cards stacked during the turn do
  not add to it.  Failed and fitting chance draws, flips and takes end the turn like a play.
* ``opening=lowest``: the lowest rank is that of the starter's hand, whoever ``starter`` names.
* ``starter_tie=left_of_dealer`` applies to ties only; a single lowest hand starts.
* ``stack`` looks at the hand after drawing.  It makes no difference: with stock left a hand has three cards or more.
"""

from __future__ import annotations

import copy
import random
from typing import Any

ORDINARY = "3456789JQKA"
NATURAL = "3456789TJQKA"
LOW_TO_HIGH = NATURAL + "2*"
SUITS = "CDHS"
CLEARING = "T*"

RuleDict = dict[str, Any]

OPTIONS: dict[str, list[Any]] = {
    "swap": ["before", "never", "anytime"],
    "after_two": ["pass", "again"],
    "ten_on": ["any", "below_ten"],
    "chance": [False, True],
    "face_up_take": ["with_card", "alone"],
    "last_two": ["allowed", "forbidden", "blind_only"],
    "seven_low": [False, True],
    "sneak_three": [False, True],
    "runs": [False, True],
    "skip_same": [False, True],
    "stack": [False, True],
    "hand_size": [3, 6],
    "jokers": [0, 2],
    "losers": [1, 2],
    "starter": ["first_three", "lowest_hand", "left_of_dealer"],
    "starter_tie": ["nearest_left", "most_low", "left_of_dealer"],
    "opening": ["any", "lowest"],
}
DEFAULTS: RuleDict = {name: values[0] for name, values in OPTIONS.items()}

PRESETS: dict[str, RuleDict] = {
    "standard": dict(DEFAULTS),
    "norsk": DEFAULTS
    | {"swap": "never", "starter": "lowest_hand", "starter_tie": "nearest_left", "after_two": "again"},
    "sjanse": DEFAULTS
    | {
        "swap": "anytime",
        "starter": "lowest_hand",
        "starter_tie": "most_low",
        "chance": True,
        "face_up_take": "alone",
    },
    "familie": DEFAULTS
    | {
        "swap": "before",
        "starter": "lowest_hand",
        "starter_tie": "left_of_dealer",
        "opening": "lowest",
        "chance": True,
        "face_up_take": "alone",
    },
}


def possible(rules: RuleDict, players: int) -> bool:
    """Whether so many people can sit at this table."""
    enough_cards = players * (6 + rules["hand_size"]) <= 52 + rules["jokers"]
    return enough_cards and players > rules["losers"]


def random_rules(rng: random.Random, players: int) -> RuleDict:
    """Any possible combination of option values."""
    while True:
        rules = {name: rng.choice(values) for name, values in OPTIONS.items()}
        if possible(rules, players):
            return rules


def all_cards(rules: RuleDict) -> list[str]:
    """The deck, unshuffled."""
    jokers = [f"*{number}" for number in range(1, rules["jokers"] + 1)]
    return [rank + suit for rank in LOW_TO_HIGH if rank != "*" for suit in SUITS] + jokers


def rank_of(card: str) -> str:
    return card[0]


def height(rank: str) -> int:
    """A rank's place when the lowest card is looked for."""
    return LOW_TO_HIGH.index(rank)


def ranks_of(cards: list[str]) -> str:
    """Cards as a text of ranks from low to high."""
    return "".join(sorted((rank_of(card) for card in cards), key=height))


def suit_place(card: str) -> str:
    return card[1]


class Twin:
    """One game, in lists."""

    def __init__(self, rules: RuleDict, players: int, deck: list[str], dealer: int) -> None:
        assert set(rules) == set(OPTIONS)
        assert sorted(deck) == sorted(all_cards(rules))
        assert possible(rules, players)
        self.rules = dict(rules)
        self.players = players
        self.dealer = dealer
        self.hands: list[list[str]] = [[] for _ in range(players)]
        self.ups: list[list[str]] = [[] for _ in range(players)]
        self.downs: list[list[str | None]] = [[] for _ in range(players)]
        self.seen: list[list[str]] = [[] for _ in range(players)]
        """The hand cards of each seat that everybody knows."""
        self.pile: list[str] = []
        self.burned: list[str] = []
        self.out: list[int] = []
        self.dealt_up: list[tuple[int, str]] = []
        """Seat and rank of every face-up card in the order of dealing: the starter rule asks for it after swaps."""
        self.stock = self.deal(list(deck))
        self.turn: int | None = None
        self.phase = "swap"
        self.exchanges_left = 0
        self.opening_due = False
        self.waiting: list[int] = []
        """Seats that still have to say done."""
        if rules["swap"] == "never":
            self.start_play()
        else:
            self.waiting = self.clockwise_from_left()
            self.next_swapper()

    # --- the deal ----------------------------------------------------------------------------------------------------

    def clockwise_from_left(self) -> list[int]:
        """All seats, beginning at the dealer's left."""
        return [(self.dealer + step) % self.players for step in range(1, self.players + 1)]

    def deal(self, deck: list[str]) -> list[str]:
        """Deal round by round and return what is left."""
        for _ in range(3):
            for seat in self.clockwise_from_left():
                self.downs[seat].append(deck.pop(0))
        for _ in range(3):
            for seat in self.clockwise_from_left():
                card = deck.pop(0)
                self.ups[seat].append(card)
                self.dealt_up.append((seat, rank_of(card)))
        for _ in range(self.rules["hand_size"]):
            for seat in self.clockwise_from_left():
                self.hands[seat].append(deck.pop(0))
        return deck

    # --- before the first turn ---------------------------------------------------------------------------------------

    def next_swapper(self) -> None:
        """Let the next player exchange, or begin when all are done."""
        if not self.waiting:
            self.start_play()
            return
        self.turn = self.waiting.pop(0)
        self.exchanges_left = 3

    def start_play(self) -> None:
        self.opening_due = self.rules["opening"] == "lowest"
        self.begin_turn(self.find_starter())

    def find_starter(self) -> int:
        rule = self.rules["starter"]
        if rule == "first_three":
            return self.starter_first_three()
        if rule == "lowest_hand":
            return self.starter_lowest_hand()
        return self.clockwise_from_left()[0]

    def starter_first_three(self) -> int:
        for rank in LOW_TO_HIGH:
            for seat, dealt in self.dealt_up:
                if dealt == rank:
                    return seat
            for seat in self.clockwise_from_left():
                if rank in ranks_of(self.hands[seat]):
                    return seat
        raise AssertionError("somebody holds a card")

    def starter_lowest_hand(self) -> int:
        order = self.clockwise_from_left()
        heights = {seat: sorted(height(rank_of(card)) for card in self.hands[seat]) for seat in order}
        lowest = min(heights[seat][0] for seat in order)
        tied = [seat for seat in order if heights[seat][0] == lowest]
        if len(tied) == 1:
            return tied[0]
        if self.rules["starter_tie"] == "nearest_left":
            return tied[0]
        if self.rules["starter_tie"] == "left_of_dealer":
            return order[0]
        best = min(heights[seat] for seat in tied)
        return next(seat for seat in tied if heights[seat] == best)

    # --- turns -------------------------------------------------------------------------------------------------------

    def begin_turn(self, seat: int) -> None:
        """A turn, an extra one too, looks afresh where its cards come from."""
        self.turn = seat
        if self.hands[seat]:
            self.phase = "hand"
        elif self.ups[seat]:
            self.phase = "up"
        else:
            self.phase = "down"
        self.exchanges_left = 0
        if self.rules["swap"] == "anytime" and self.phase == "hand":
            self.exchanges_left = len(self.ups[seat])

    def has_cards(self, seat: int) -> bool:
        return bool(self.hands[seat] or self.ups[seat] or self.down_cards(seat))

    def down_cards(self, seat: int) -> list[str]:
        return [card for card in self.downs[seat] if card is not None]

    def others_then(self, seat: int) -> list[int]:
        """Who still plays, clockwise from the next seat; ``seat`` comes last if it is still in."""
        around = [(seat + step) % self.players for step in range(1, self.players + 1)]
        return [other for other in around if other not in self.out]

    def pass_turn(self, seat: int, skip: bool = False) -> None:
        order = self.others_then(seat)
        self.begin_turn(order[1 % len(order)] if skip else order[0])

    def zone(self) -> list[str]:
        """The cards to be played from in this turn, for hand and face-up."""
        seat = self.seat()
        return self.hands[seat] if self.phase == "hand" else self.ups[seat]

    def seat(self) -> int:
        assert self.turn is not None
        return self.turn

    # --- what fits ---------------------------------------------------------------------------------------------------

    def fits(self, rank: str) -> bool:
        """Whether a rank may lie on the pile as it is."""
        if not self.pile:
            return True
        top = rank_of(self.pile[-1])
        if rank == "2":
            return True
        if rank in CLEARING:
            return self.rules["ten_on"] == "any" or top == "2" or top in "3456789"
        if top == "2":
            return True
        if self.rules["seven_low"] and top == "7":
            return height(rank) < height("7")
        return height(rank) >= height(top)

    def twos_empty_the_player(self, count: int) -> bool:
        """Whether ``count`` twos from this turn's zone, after the refill, would leave their player without a card."""
        seat = self.seat()
        if self.phase == "hand":
            left = len(self.hands[seat]) - count + len(self.stock) + len(self.ups[seat])
        else:
            left = len(self.ups[seat]) - count
        return left + len(self.down_cards(seat)) == 0

    def play_allowed(self, rank: str, count: int) -> bool:
        if not self.fits(rank):
            return False
        return not (rank == "2" and self.rules["last_two"] != "allowed" and self.twos_empty_the_player(count))

    # --- what is legal -----------------------------------------------------------------------------------------------

    def legal(self) -> list[str]:
        if self.turn is None:
            return []
        if self.phase == "swap":
            return sorted([*self.legal_swaps(), "done"])
        if self.phase == "down":
            return sorted(self.legal_flips())
        if self.opening_due:
            return sorted(self.legal_opening())
        texts = self.legal_plays() + self.legal_chance()
        may_take_nothing = not texts
        texts += self.legal_runs() + self.legal_sneaks() + self.legal_swaps() + self.legal_stacks()
        if self.pile or may_take_nothing:
            texts += self.legal_takes()
        return sorted(texts)

    def legal_plays(self) -> list[str]:
        ranks = [rank_of(card) for card in self.zone()]
        return [
            play_text(rank, count)
            for rank in sorted(set(ranks))
            for count in range(1, ranks.count(rank) + 1)
            if self.play_allowed(rank, count)
        ]

    def legal_opening(self) -> list[str]:
        ranks = ranks_of(self.hands[self.seat()])
        return [play_text(ranks[0], count) for count in range(1, ranks.count(ranks[0]) + 1)]

    def legal_takes(self) -> list[str]:
        if self.phase == "up" and self.rules["face_up_take"] == "with_card":
            return [f"take {rank}" for rank in set(ranks_of(self.ups[self.seat()]))]
        return ["take"]

    def legal_flips(self) -> list[str]:
        return [f"flip {slot}" for slot, card in enumerate(self.downs[self.seat()], start=1) if card is not None]

    def legal_chance(self) -> list[str]:
        return ["chance"] if self.rules["chance"] and self.phase == "hand" and self.stock else []

    def legal_swaps(self) -> list[str]:
        """Before the start and, with a budget for the turn, later: two equal ranks are never exchanged."""
        if self.exchanges_left == 0:
            return []
        seat = self.seat()
        mine, table = set(ranks_of(self.hands[seat])), set(ranks_of(self.ups[seat]))
        return [f"swap {given} {got}" for given in mine for got in table if given != got]

    def legal_stacks(self) -> list[str]:
        if not self.rules["stack"] or self.phase != "hand":
            return []
        seat = self.seat()
        if len(self.hands[seat]) == 1 and not self.stock:
            return []
        return [f"stack {rank}" for rank in set(ranks_of(self.hands[seat])) & set(ranks_of(self.ups[seat]))]

    def legal_sneaks(self) -> list[str]:
        if not self.rules["sneak_three"] or not self.pile:
            return []
        threes = ranks_of(self.zone()).count("3")
        return ["sneak" if count == 1 else f"sneak x{count}" for count in range(1, threes + 1)]

    def legal_runs(self) -> list[str]:
        if not self.rules["runs"]:
            return []
        held = ranks_of(self.zone())
        texts = []
        for low in range(len(ORDINARY)):
            for high in range(low + 2, len(ORDINARY)):
                if all(rank in held for rank in ORDINARY[low : high + 1]) and self.fits(ORDINARY[low]):
                    texts.append(f"run {ORDINARY[low]}-{ORDINARY[high]}")
        return texts

    # --- acting ------------------------------------------------------------------------------------------------------

    def apply(self, text: str) -> None:
        if text not in self.legal():
            raise ValueError(f"{text!r} is not legal: {self.legal()}")
        word, *rest = text.split()
        if word == "done":
            self.next_swapper()
        elif word == "swap":
            self.do_swap(*rest)
        elif word == "stack":
            self.do_stack(*rest)
        else:
            # Whatever ends a turn ends the opening as well.
            self.opening_due = False
            getattr(self, f"do_{word}")(*rest)

    def do_swap(self, given: str, got: str) -> None:
        seat = self.seat()
        table = self.from_up(got)
        self.ups[seat].append(self.from_hand(given))
        self.to_hand([table])
        self.exchanges_left -= 1

    def do_stack(self, rank: str) -> None:
        seat = self.seat()
        self.ups[seat].append(self.from_hand(rank))
        if len(self.hands[seat]) < 3 and self.stock:
            self.hands[seat].append(self.stock.pop(0))

    def do_play(self, what: str) -> None:
        rank, count = what[0], int(what[2:] or 1)
        self.lay([self.from_zone(rank) for _ in range(count)])

    def do_flip(self, slot: str) -> None:
        seat = self.seat()
        last = len(self.down_cards(seat)) == 1
        card = self.downs[seat][int(slot) - 1]
        assert card is not None
        self.downs[seat][int(slot) - 1] = None
        forbidden = last and rank_of(card) == "2" and self.rules["last_two"] == "forbidden"
        self.lay_or_take(card, self.fits(rank_of(card)) and not forbidden)

    def do_chance(self) -> None:
        card = self.stock.pop(0)
        self.lay_or_take(card, self.fits(rank_of(card)))

    def do_take(self, rank: str | None = None) -> None:
        extra = [] if rank is None else [self.from_up(rank)]
        self.take_pile(extra)

    def do_sneak(self, times: str = "x1") -> None:
        threes = [self.from_zone("3") for _ in range(int(times[1:]))]
        self.pile = threes + self.pile
        burns = all(rank_of(card) == "3" for card in self.pile) and len(self.pile) >= 4
        self.finish(burns=burns, again=False, skip=False)

    def do_run(self, ends: str) -> None:
        low, high = ORDINARY.index(ends[0]), ORDINARY.index(ends[2])
        self.pile += [self.from_zone(rank) for rank in ORDINARY[low : high + 1]]
        self.finish(burns=False, again=False, skip=False)

    # --- what follows ------------------------------------------------------------------------------------------------

    def lay_or_take(self, card: str, fitting: bool) -> None:
        if fitting:
            self.lay([card])
        else:
            self.take_pile([card])

    def lay(self, cards: list[str]) -> None:
        """Cards of one rank come onto the pile, from wherever."""
        rank = rank_of(cards[0])
        same_as_top = bool(self.pile) and rank_of(self.pile[-1]) == rank
        self.pile += cards
        burns = rank in CLEARING or self.run_length() >= 4
        again = rank == "2" and self.rules["after_two"] == "again"
        self.finish(burns, again, skip=same_as_top and self.rules["skip_same"])

    def run_length(self) -> int:
        top = rank_of(self.pile[-1])
        length = 0
        for card in reversed(self.pile):
            if rank_of(card) != top:
                break
            length += 1
        return length

    def take_pile(self, extra: list[str]) -> None:
        self.to_hand(self.pile + extra)
        self.pile = []
        self.pass_turn(self.seat())

    def finish(self, burns: bool, again: bool, skip: bool) -> None:
        """Refill, burn, go out, and find who is next."""
        seat = self.seat()
        while len(self.hands[seat]) < 3 and self.stock:
            self.hands[seat].append(self.stock.pop(0))
        if burns:
            self.burned += self.pile
            self.pile = []
        if not self.has_cards(seat):
            self.out.append(seat)
            if self.players - len(self.out) == self.rules["losers"]:
                self.turn = None
                self.phase = "over"
                return
        extra_turn = burns or again
        if extra_turn and seat not in self.out:
            self.begin_turn(seat)
        else:
            self.pass_turn(seat, skip=skip and not extra_turn)

    # --- moving cards ------------------------------------------------------------------------------------------------

    def from_zone(self, rank: str) -> str:
        return self.from_hand(rank) if self.phase == "hand" else self.from_up(rank)

    def from_hand(self, rank: str) -> str:
        """Take a card of this rank out of the hand: known ones first, then by suit."""
        seat = self.seat()
        known = [card for card in self.seen[seat] if rank_of(card) == rank]
        choice = known or [card for card in self.hands[seat] if rank_of(card) == rank]
        card = min(choice, key=suit_place)
        self.hands[seat].remove(card)
        if known:
            self.seen[seat].remove(card)
        return card

    def from_up(self, rank: str) -> str:
        seat = self.seat()
        card = min((card for card in self.ups[seat] if rank_of(card) == rank), key=suit_place)
        self.ups[seat].remove(card)
        return card

    def to_hand(self, cards: list[str]) -> None:
        """Cards that everybody has seen come into the hand."""
        seat = self.seat()
        self.hands[seat] += cards
        self.seen[seat] += cards

    # --- what can be asked -------------------------------------------------------------------------------------------

    @property
    def known(self) -> list[str]:
        return [ranks_of(cards) for cards in self.seen]

    @property
    def result(self) -> dict[str, Any] | None:
        if self.turn is not None:
            return None
        idiots = [seat for seat in range(self.players) if seat not in self.out]
        return {"out": list(self.out), "idiots": idiots, "truncated": False}

    def snapshot(self) -> dict[str, Any]:
        return {
            "turn": self.turn,
            "phase": self.phase,
            "hand": [ranks_of(cards) for cards in self.hands],
            "up": [ranks_of(cards) for cards in self.ups],
            "down": ["".join("." if card is None else rank_of(card) for card in slots) for slots in self.downs],
            "pile": "".join(rank_of(card) for card in self.pile),
            "burned": ranks_of(self.burned),
            "stock": "".join(rank_of(card) for card in self.stock),
            "out": list(self.out),
            "legal": self.legal(),
        }

    def copy(self) -> Twin:
        return copy.deepcopy(self)


def play_text(rank: str, count: int) -> str:
    return f"play {rank}" if count == 1 else f"play {rank}x{count}"
