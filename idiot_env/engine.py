"""The compiled engine: one game is one record of ``STATE``; ``deal``, ``legal_mask`` and ``apply`` are the whole game.

It knows nothing of learning, of observations or of who may see what.  All randomness enters as a deal (the deck's
order) or as a seed.  The rules are numbered in ``rules.py``; each has its function here, in the order of play.

Functions that take ``state`` expect one record (``states[i]`` of a 1-D array) and are meant to be called from compiled
code; called from Python they work, too, at the price of Numba's dispatch.  Copying a game is ``states[i:i+1].copy()``.

=============  ========  =========================================================================================
field          shape     meaning
=============  ========  =========================================================================================
hand           [5]       card set of each seat's hand
known          [5]       the part of each hand that everybody knows (R29)
up             [5]       card set of each seat's face-up cards
pile_set       –         the pile as a card set
burned         –         burned cards as a card set
decisions      –         actions applied so far
pile           [54]      the pile from bottom to top, ``pile_size`` cards
stock          [36]      the stock with the next card LAST, ``stock_size`` cards
down           [5, 3]    face-down cards by slot, −1 where empty
rules          [17]      ``Rules.numbers()``
place          [5]       1 for the first who went out, …; 0 while in the game
top, run       –         rank on top of the pile (−1: empty) and run length
turn, phase    –         seat to act (−1: over) and one of ``SWAPPING HAND UP DOWN OVER``
exchanges      –         exchanges the seat to act may still make
opening        –         1 while the first action must be a play of the starter's lowest rank
=============  ========  =========================================================================================
"""

from __future__ import annotations

import numpy as np

from idiot_env import actions as A
from idiot_env import rules as R
from idiot_env._jit import jit
from idiot_env.cards import (
    JOKER,
    N_RANKS,
    NO_RANK,
    RANK_BITS,
    SEVEN,
    TEN,
    THREE,
    TWO,
    advance,
    below,
    count_rank,
    leaving_cards,
    lowest_cards,
    lowest_rank,
    pushed_down,
    rank_set,
    ranks_of,
    shuffle,
    size_of,
)

SEATS = R.MAX_PLAYERS
SLOTS = 3
FULL_HAND = 3
"""The refill's target, whatever ``hand_size`` (R6)."""
START_EXCHANGES = 3
MAX_STOCK = 36
NO_CARD = -1
NOBODY = -1

SWAPPING, HAND, UP, DOWN, OVER = range(5)
PHASES = ("swap", "hand", "up", "down", "over")

STATE = np.dtype(
    [
        ("hand", np.int64, (SEATS,)),
        ("known", np.int64, (SEATS,)),
        ("up", np.int64, (SEATS,)),
        ("pile_set", np.int64),
        ("burned", np.int64),
        ("decisions", np.int32),
        ("pile", np.int8, (54,)),
        ("stock", np.int8, (MAX_STOCK,)),
        ("down", np.int8, (SEATS, SLOTS)),
        ("rules", np.int8, (R.N_OPTIONS,)),
        ("place", np.int8, (SEATS,)),
        ("pile_size", np.int8),
        ("stock_size", np.int8),
        ("top", np.int8),
        ("run", np.int8),
        ("turn", np.int8),
        ("phase", np.int8),
        ("players", np.int8),
        ("dealer", np.int8),
        ("n_out", np.int8),
        ("exchanges", np.int8),
        ("swapped", np.int8),
        ("opening", np.int8),
        ("first_up_rank", np.int8),
        ("first_up_seat", np.int8),
        # Whole words, and no hidden padding that copies would leave unset: equal states are equal byte for byte.
        ("spare", np.int8, (7,)),
    ],
    align=True,
)

_EVERY_CARD = (1 << (4 * N_RANKS)) - 1
_TWOS = RANK_BITS << (4 * TWO)
_TENS = RANK_BITS << (4 * TEN) | RANK_BITS << (4 * JOKER)
_TEN_BELOW, _ALONE, _FORBIDDEN, _BLIND_ONLY = 1, 1, 1, 2
_NEVER, _ANYTIME = 1, 2
_LOWEST_HAND, _STARTER_LEFT = 1, 2
_MOST_LOW, _TIE_LEFT = 1, 2
_N_ORDINARY = 11
_RUN_ID, _RUN_LOW, _RUN_HIGH = A.RUN_ID, A.RUN_LOW, A.RUN_HIGH


@jit
def ordinary_rank(place):
    """The rank at a place of the ordinary order, in which J follows 9."""
    return place if place < TEN else place + 1


# --- R2, R13–R15: deal, exchange, start ------------------------------------------------------------------------------


@jit
def deal(state, deck, rules, players, dealer):
    """Start a game in ``state`` from a deck (first card dealt first), option numbers ``[17]``, and a dealer."""
    hand_rounds = 6 if rules[R.HAND_SIZE] == 1 else 3
    deal_rounds(state, deck, 52 + 2 * int(rules[R.JOKERS]), rules, players, dealer, SLOTS, SLOTS, hand_rounds)


@jit
def deal_rounds(state, deck, n_cards, rules, players, dealer, down_rounds, up_rounds, hand_rounds):
    """:func:`deal` with any number of rounds (at most three face-down) from a deck of ``n_cards``."""
    state["hand"][:] = 0
    state["known"][:] = 0
    state["up"][:] = 0
    state["down"][:] = NO_CARD
    state["place"][:] = 0
    state["pile"][:] = NO_CARD
    state["stock"][:] = NO_CARD
    for option in range(R.N_OPTIONS):
        state["rules"][option] = rules[option]
    state["players"] = players
    state["dealer"] = dealer
    state["burned"] = 0
    state["decisions"] = 0
    state["n_out"] = 0
    state["swapped"] = 0
    state["opening"] = 0
    state["exchanges"] = 0
    clear_pile(state)

    first_up_rank, first_up_seat = N_RANKS, NOBODY
    position = 0
    for round_ in range(down_rounds + up_rounds + hand_rounds):
        for step in range(1, players + 1):
            seat = (dealer + step) % players
            card = int(deck[position])
            position += 1
            if round_ < down_rounds:
                state["down"][seat, round_] = card
            elif round_ < down_rounds + up_rounds:
                state["up"][seat] |= 1 << card
                if card // 4 < first_up_rank:
                    first_up_rank, first_up_seat = card // 4, seat
            else:
                state["hand"][seat] |= 1 << card
    state["first_up_rank"] = first_up_rank
    state["first_up_seat"] = first_up_seat

    stock_size = n_cards - position
    state["stock_size"] = stock_size
    for i in range(stock_size):
        state["stock"][stock_size - 1 - i] = deck[position + i]

    if rules[R.SWAP] == _NEVER:
        start_play(state)
    else:
        begin_exchange(state, (dealer + 1) % players)


@jit
def deal_seeded(state, rules, players, dealer, seed):
    """As :func:`deal`, with a deck shuffled by ``seed``; a dealer of −1 is drawn from the same seed."""
    deck = np.empty(54, np.int8)
    dealer = draw_deal(deck, rules, players, dealer, seed)
    deal(state, deck, rules, players, dealer)


@jit
def draw_deal(deck, rules, players, dealer, seed):
    """Fill ``deck`` with the order that ``seed`` stands for and return the dealer (drawn unless given)."""
    n_cards = 52 + 2 * int(rules[R.JOKERS])
    for card in range(n_cards):
        deck[card] = card
    random_state = shuffle(deck, n_cards, seed)
    if dealer < 0:
        dealer = below(advance(random_state), players)
    return dealer


@jit
def begin_exchange(state, seat):
    state["phase"] = SWAPPING
    state["turn"] = seat
    state["exchanges"] = START_EXCHANGES


@jit
def end_exchange(state):
    """``done``: the next player exchanges, or play starts (R13)."""
    state["swapped"] += 1
    if state["swapped"] == state["players"]:
        start_play(state)
    else:
        begin_exchange(state, (int(state["turn"]) + 1) % int(state["players"]))


@jit
def start_play(state):
    begin_turn(state, starter(state))
    if state["rules"][R.OPENING] == 1:
        state["opening"] = 1
        state["exchanges"] = 0


@jit
def starter(state):
    """Who begins (R14)."""
    players, dealer = int(state["players"]), int(state["dealer"])
    left = (dealer + 1) % players
    rule = state["rules"][R.STARTER]
    if rule == _STARTER_LEFT:
        return left
    lowest, holder = N_RANKS, NOBODY
    for step in range(1, players + 1):
        seat = (dealer + step) % players
        rank = lowest_rank(state["hand"][seat])
        if rank < lowest:
            lowest, holder = rank, seat
    if rule != _LOWEST_HAND:
        return holder if lowest < state["first_up_rank"] else int(state["first_up_seat"])
    tie = state["rules"][R.STARTER_TIE]
    holders = 0
    for seat in range(players):
        holders += rank_set(state["hand"][seat], lowest) != 0
    if holders > 1 and tie == _TIE_LEFT:
        return left
    if holders > 1 and tie == _MOST_LOW:
        for step in range(1, players + 1):
            seat = (dealer + step) % players
            if lower_hand(state["hand"][seat], state["hand"][holder]):
                holder = seat
    return holder


@jit
def lower_hand(hand, other):
    """Whether a hand, sorted from low to high, comes before another of the same size."""
    for rank in range(N_RANKS):
        mine, theirs = count_rank(hand, rank), count_rank(other, rank)
        if mine != theirs:
            return mine > theirs
    return False


# --- R3, R9: turns ---------------------------------------------------------------------------------------------------


@jit
def begin_turn(state, seat):
    """Give the turn to ``seat`` and find its zone afresh."""
    state["turn"] = seat
    state["exchanges"] = 0
    if state["hand"][seat] != 0:
        state["phase"] = HAND
        if state["rules"][R.SWAP] == _ANYTIME:
            state["exchanges"] = size_of(state["up"][seat])
    elif state["up"][seat] != 0:
        state["phase"] = UP
    else:
        state["phase"] = DOWN


@jit
def clockwise(seat, steps, players):
    """The seat ``steps`` (at most ``players``) after ``seat``; a division would cost as much as twenty additions."""
    seat += steps
    return seat - players if seat >= players else seat


@jit
def next_seat(state, seat):
    """The next player clockwise who still has cards."""
    players = int(state["players"])
    seat = clockwise(seat, 1, players)
    while state["place"][seat] != 0:
        seat = clockwise(seat, 1, players)
    return seat


@jit
def pass_turn(state):
    begin_turn(state, next_seat(state, int(state["turn"])))


# --- R4, R5, R19–R25: what is legal ----------------------------------------------------------------------------------


@jit
def fitting(state):
    """The set of all cards that may lie on the pile as it is (R4, R19, R21); ``last_two`` is judged elsewhere."""
    top = int(state["top"])
    if top == NO_RANK or top == TWO:
        return _EVERY_CARD
    special = _TWOS
    if state["rules"][R.TEN_ON] != _TEN_BELOW or top < TEN:
        special |= _TENS
    below_top = (1 << (4 * top)) - 1
    if top == SEVEN and state["rules"][R.SEVEN_LOW] == 1:
        return special | (below_top & ~(_TWOS | _TENS))
    return special | (_EVERY_CARD & ~(below_top | _TWOS | _TENS))


@jit
def fits(state, rank):
    """Whether a card of ``rank`` may lie on the pile as it is."""
    return rank_set(fitting(state), rank) != 0


@jit
def cards_left(state, seat):
    """How many cards a seat has in all zones."""
    left = size_of(state["hand"][seat]) + size_of(state["up"][seat])
    for slot in range(SLOTS):
        left += state["down"][seat, slot] != NO_CARD
    return left


@jit
def zone_cards(state):
    """The card set that the seat to act plays from: its hand or its face-up cards (R3)."""
    seat = int(state["turn"])
    if state["phase"] == HAND:
        return state["hand"][seat]
    return state["up"][seat]


@jit
def legal_mask(state, mask):
    """Write 1 for every legal action of the seat to act into ``mask`` (int8 ``[A]``) and 0 elsewhere."""
    mask[:] = 0
    phase = int(state["phase"])
    if phase == HAND or phase == UP:
        if state["opening"] == 1:
            mark_opening(state, mask)
        else:
            mark_turn(state, mask)
    elif phase == DOWN:
        seat = int(state["turn"])
        for slot in range(SLOTS):
            mask[A.FLIP + slot] = state["down"][seat, slot] != NO_CARD
    elif phase == SWAPPING:
        mask[A.DONE] = 1
        mark_exchanges(state, mask)


@jit
def mark_opening(state, mask):
    """R15: the starter's lowest rank, any number of them."""
    hand = state["hand"][int(state["turn"])]
    rank = lowest_rank(hand)
    for k in range(count_rank(hand, rank)):
        mask[A.PLAY + 4 * rank + k] = 1


@jit
def mark_turn(state, mask):
    """A turn from the hand or from the face-up cards."""
    cards = zone_cards(state)
    playable = mark_plays(state, cards, mask)
    if state["phase"] == HAND:
        if state["rules"][R.CHANCE] == 1 and state["stock_size"] > 0:
            mask[A.CHANCE] = 1
            playable = True
        if state["exchanges"] > 0:
            mark_exchanges(state, mask)
        if state["rules"][R.STACK] == 1:
            mark_stacks(state, mask)
    if state["pile_size"] > 0 or not playable:
        mark_takes(state, cards, mask)
    if state["rules"][R.SNEAK_THREE] == 1 and state["pile_size"] > 0:
        for k in range(count_rank(cards, THREE)):
            mask[A.SNEAK + k] = 1
    if state["rules"][R.RUNS] == 1:
        mark_runs(state, cards, mask)


@jit
def mark_plays(state, cards, mask):
    """R5: one to all cards of a rank that fits; returns whether there is such a play."""
    plays = pushed_down(cards) & fitting(state)
    twos = count_rank(plays, TWO)
    if twos > 0 and not may_end_on_two(state, twos):
        plays &= ~(1 << (4 * TWO + twos - 1))
    # Bit by bit rather than rank by rank: no branch to mispredict, and the compiler writes many bytes at once.
    for action in range(A.TAKE):
        mask[A.PLAY + action] = (plays >> action) & 1
    return plays != 0


@jit
def may_end_on_two(state, count):
    """R20: whether laying ``count`` twos (all that the zone holds) is allowed, judged after the refill."""
    if state["rules"][R.LAST_TWO] == 0 or state["stock_size"] > 0:
        return True
    return cards_left(state, int(state["turn"])) > count


@jit
def mark_takes(state, cards, mask):
    """R5, R17: the pile alone, or with one of the face-up cards."""
    if state["phase"] == HAND or state["rules"][R.FACE_UP_TAKE] == _ALONE:
        mask[A.TAKE] = 1
        return
    for rank in range(N_RANKS):
        if rank_set(cards, rank) != 0:
            mask[A.TAKE_WITH + rank] = 1


@jit
def mark_exchanges(state, mask):
    """R13, R18: any hand card for any own face-up card of another rank."""
    if state["exchanges"] == 0:
        return
    seat = int(state["turn"])
    hand, up = state["hand"][seat], ranks_of(state["up"][seat])
    for hand_rank in range(N_RANKS):
        if rank_set(hand, hand_rank) != 0:
            first = A.SWAP + (N_RANKS - 1) * hand_rank
            below_own = (1 << (4 * hand_rank)) - 1  # its own rank has no exchange: the ranks above move down by one
            others = (up & below_own) | ((up >> 4) & ~below_own)
            for place in range(N_RANKS - 1):
                mask[first + place] = (others >> (4 * place)) & 1


@jit
def mark_stacks(state, mask):
    """R25: hand cards whose rank lies face-up, unless the hand would be left empty."""
    seat = int(state["turn"])
    hand = state["hand"][seat]
    if size_of(hand) == 1 and state["stock_size"] == 0:
        return
    for rank in range(N_RANKS):
        if rank_set(hand, rank) != 0 and rank_set(state["up"][seat], rank) != 0:
            mask[A.STACK + rank] = 1


@jit
def mark_runs(state, cards, mask):
    """R23: three or more neighbouring ordinary ranks, the lowest of which fits."""
    for low in range(_N_ORDINARY - A.MIN_RUN + 1):
        if not fits(state, ordinary_rank(low)):
            continue
        high = low
        while high < _N_ORDINARY and rank_set(cards, ordinary_rank(high)) != 0:
            if high - low + 1 >= A.MIN_RUN:
                mask[_RUN_ID[low, high]] = 1
            high += 1


# --- R5–R11, R16–R25: what an action does ----------------------------------------------------------------------------


@jit
def apply(state, action):
    """Carry out a legal action.  The caller has checked it against :func:`legal_mask`."""
    state["decisions"] += 1
    if action < A.TAKE:
        play(state, action // 4, action % 4 + 1)
    elif action == A.TAKE:
        take_pile(state)
        pass_turn(state)
    elif action < A.FLIP:
        take_with(state, action - A.TAKE_WITH)
    elif action < A.CHANCE:
        flip(state, action - A.FLIP)
    elif action == A.CHANCE:
        chance(state)
    elif action == A.DONE:
        end_exchange(state)
    elif action < A.STACK:
        rank, up_rank = A.swap_ranks_at(action)
        exchange(state, rank, up_rank)
    elif action < A.SNEAK:
        stack(state, action - A.STACK)
    elif action < A.RUN:
        sneak(state, action - A.SNEAK + 1)
    else:
        play_run(state, int(_RUN_LOW[action - A.RUN]), int(_RUN_HIGH[action - A.RUN]))


@jit
def leave_zone(state, rank, k):
    """Remove ``k`` cards of ``rank`` from the zone of the turn and return them as a set (R29)."""
    seat = int(state["turn"])
    if state["phase"] == HAND:
        cards = leaving_cards(state["hand"][seat], state["known"][seat], rank, k)
        state["hand"][seat] &= ~cards
        state["known"][seat] &= ~cards
    else:
        cards = lowest_cards(rank_set(state["up"][seat], rank), k)
        state["up"][seat] &= ~cards
    return cards


@jit
def lay(state, cards, rank):
    """Put cards of one rank on top of the pile."""
    same = rank == state["top"]
    bits = (cards >> (4 * rank)) & 15
    size = int(state["pile_size"])
    before = size
    for suit in range(4):
        if (bits >> suit) & 1:
            state["pile"][size] = 4 * rank + suit
            size += 1
    state["pile_size"] = size
    state["pile_set"] |= cards
    state["run"] = size - before + (int(state["run"]) if same else 0)
    state["top"] = rank


@jit
def clear_pile(state):
    state["pile_size"] = 0
    state["pile_set"] = 0
    state["top"] = NO_RANK
    state["run"] = 0


@jit
def play(state, rank, k):
    """R5: ``k`` cards of one rank from the zone of the turn."""
    same = rank == state["top"]
    state["opening"] = 0
    lay(state, leave_zone(state, rank, k), rank)
    after_play(state, rank, same)


@jit
def play_run(state, low, high):
    """R23: one card each from ``low`` to ``high`` (places in the ordinary order)."""
    for place in range(low, high + 1):
        rank = ordinary_rank(place)
        lay(state, leave_zone(state, rank, 1), rank)
    after_play(state, ordinary_rank(high), False)


@jit
def sneak(state, k):
    """R22: ``k`` threes under the pile; they lengthen the run only where the whole pile is threes."""
    cards = leave_zone(state, THREE, k)
    all_threes = state["top"] == THREE and state["run"] == state["pile_size"]
    size = int(state["pile_size"])
    for i in range(size - 1, -1, -1):
        state["pile"][i + k] = state["pile"][i]
    position = 0
    for suit in range(4):
        if (cards >> suit) & 1:
            state["pile"][position] = suit
            position += 1
    state["pile_size"] = size + k
    state["pile_set"] |= cards
    if all_threes:
        state["run"] += k
    after_play(state, THREE, False)


@jit
def take_pile(state):
    """The whole pile goes to the hand of the seat to act, known to everybody."""
    seat = int(state["turn"])
    state["hand"][seat] |= state["pile_set"]
    state["known"][seat] |= state["pile_set"]
    clear_pile(state)


@jit
def take_with(state, rank):
    """R17: the pile and one own face-up card."""
    state["pile_set"] |= leave_zone(state, rank, 1)
    take_pile(state)
    pass_turn(state)


@jit
def try_card(state, card, allowed):
    """R10, R16: a card nobody chose; it works as a play of one card if it fits, else it is taken with the pile."""
    rank = card // 4
    if allowed and fits(state, rank):
        same = rank == state["top"]
        lay(state, np.int64(1) << card, rank)
        after_play(state, rank, same)
    else:
        state["pile_set"] |= np.int64(1) << card
        take_pile(state)
        pass_turn(state)


@jit
def flip(state, slot):
    """R10: turn a face-down card; under ``last_two=forbidden`` a last card that is a 2 does not fit (R20)."""
    seat = int(state["turn"])
    card = int(state["down"][seat, slot])
    is_last = cards_left(state, seat) == 1
    state["down"][seat, slot] = NO_CARD
    ends_on_two = is_last and card // 4 == TWO
    try_card(state, card, not (ends_on_two and state["rules"][R.LAST_TWO] == _FORBIDDEN))


@jit
def draw(state):
    """Take the next card from the stock."""
    state["stock_size"] -= 1
    size = int(state["stock_size"])
    card = int(state["stock"][size])
    state["stock"][size] = NO_CARD
    return card


@jit
def chance(state):
    """R16: turn the top stock card and play it."""
    try_card(state, draw(state), True)


@jit
def exchange(state, hand_rank, up_rank):
    """R13, R18: a hand card for a face-up card."""
    seat = int(state["turn"])
    from_hand = leaving_cards(state["hand"][seat], state["known"][seat], hand_rank, 1)
    from_up = lowest_cards(rank_set(state["up"][seat], up_rank), 1)
    state["hand"][seat] = (state["hand"][seat] & ~from_hand) | from_up
    state["known"][seat] = (state["known"][seat] & ~from_hand) | from_up
    state["up"][seat] = (state["up"][seat] & ~from_up) | from_hand
    state["exchanges"] -= 1


@jit
def stack(state, rank):
    """R25: a hand card onto a face-up card of its rank, then one card from the stock if fewer than three are left."""
    seat = int(state["turn"])
    state["up"][seat] |= leave_zone(state, rank, 1)
    if size_of(state["hand"][seat]) < FULL_HAND and state["stock_size"] > 0:
        state["hand"][seat] |= np.int64(1) << draw(state)


@jit
def refill(state):
    """R6: up to three cards, as long as the stock lasts."""
    seat = int(state["turn"])
    missing = FULL_HAND - size_of(state["hand"][seat])
    while missing > 0 and state["stock_size"] > 0:
        state["hand"][seat] |= np.int64(1) << draw(state)
        missing -= 1


@jit
def burn(state):
    """R7: the pile leaves the game."""
    state["burned"] |= state["pile_set"]
    clear_pile(state)


@jit
def after_play(state, rank, same):
    """R6–R9, R11, R24: what follows cards laid on the pile; ``same``: they have the rank that was on top before."""
    seat = int(state["turn"])
    refill(state)
    extra = rank == TEN or rank == JOKER or state["run"] >= 4
    if extra:
        burn(state)
    elif rank == TWO and state["rules"][R.AFTER_TWO] == 1:
        extra = True
    is_out = go_out(state, seat)
    if state["phase"] == OVER:
        return
    if extra and not is_out:
        begin_turn(state, seat)
        return
    following = next_seat(state, seat)
    if same and not extra and state["rules"][R.SKIP_SAME] == 1:
        following = next_seat(state, following)
    begin_turn(state, following)


@jit
def go_out(state, seat):
    """R11, R12: without a card one is out; with only ``losers`` players left the game is over."""
    if cards_left(state, seat) > 0:
        return False
    state["n_out"] += 1
    state["place"][seat] = state["n_out"]
    if state["players"] - state["n_out"] == 1 + state["rules"][R.LOSERS]:
        state["phase"] = OVER
        state["turn"] = NOBODY
    return True


# --- R12: result -----------------------------------------------------------------------------------------------------


@jit
def reward_of_out(state):
    """The reward of everyone who is not an idiot: the idiots' losses, shared equally."""
    losers = 1 + int(state["rules"][R.LOSERS])
    return np.float32(losers / (int(state["players"]) - losers))


@jit
def write_rewards(state, rewards):
    """Rewards of a finished game by seat into ``rewards`` (float32 ``[S]``): idiots −1, others their equal share."""
    rewards[:] = 0
    if state["phase"] != OVER:
        return
    for seat in range(int(state["players"])):
        rewards[seat] = reward_of_out(state) if state["place"][seat] > 0 else np.float32(-1.0)


# --- calls from Python: an array of states and an index, one signature each ------------------------------------------


@jit
def deal_at(states, i, deck, rules, players, dealer):
    """:func:`deal` into ``states[i]``."""
    deal(states[i], deck, rules, players, dealer)


@jit
def legal_mask_at(states, i, mask):
    """:func:`legal_mask` of ``states[i]``."""
    legal_mask(states[i], mask)


@jit
def apply_at(states, i, action):
    """:func:`apply` to ``states[i]``."""
    apply(states[i], action)


@jit
def rewards_at(states, i, rewards):
    """:func:`write_rewards` of ``states[i]``."""
    write_rewards(states[i], rewards)
