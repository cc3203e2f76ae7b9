"""The exact endgame of two players: who can force what, once nothing but face-down cards is hidden.

A position qualifies when the stock is empty and the seat to act can name every card in both hands: all of the
opponent's were seen, or no card lies face-down, or the unseen ones are all of one rank.  Face-down cards are then
unseen to both, and each order of them is equally likely.  All positions that can follow are written down once, with
the engine itself as the only judge of what is legal and what comes of it, and then valued from the end backwards.

=======  ===========================================================================================================
value    meaning
=======  ===========================================================================================================
win      probability with which the seat to act can force that it gets rid of its cards first
lose     probability with which its opponent can force the same
endless  what is left: neither can force it, and each can keep the other from it for ever
=======  ===========================================================================================================

``win`` counts infinite play as a failure, as ``lose`` does for the opponent: both are reachability values, the least
fixed points of Bellman's equations, and iteration from 0 finds them from below.  A flip can never be undone, so chance
lies on no cycle, only finitely many values occur, and the iteration ends when nothing changes: exactly.  The opponent
is granted sight of the searcher's hand, so a win of 1 holds against anybody.

After k rounds of iteration a value is what can be forced within k decisions.  The round in which it became final tells,
among actions that force as much, which one makes progress: a win is brought home instead of being kept for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from idiot_agents.worlds import World, write_world_at
from idiot_env import actions as A
from idiot_env._jit import jit
from idiot_env.cards import N_RANKS, counts_of, mix, ranks_of, size_of, wrapping_product, wrapping_sum
from idiot_env.engine import DOWN, HAND, NO_CARD, OVER, SLOTS, STATE, SWAPPING, UP, apply, cards_left, legal_mask

POSITION = np.dtype(
    [
        ("hand", np.int64, (2,)),
        ("up", np.int64, (2,)),
        ("pile", np.int64),
        ("unseen", np.int64),
        ("rest", np.int64),
    ]
)
"""A position by ranks: ``cards.counts_of`` each zone, and in ``rest`` top, run, turn, exchanges, face-down cards."""

MAX_NODES = 20_000
MAX_LIVE = 16
"""Cards that are neither burned nor in the stock; with more, the positions would hardly fit."""
EDGES_A_NODE = 10
_WON, _LOST = 0, 1
_GOLDEN = np.int64(-7046029254386353131)


# --- a position and a state ------------------------------------------------------------------------------------------


@jit
def pack(state, unseen, position):
    """Write the position of a state in which ``unseen`` (counts) lie face-down."""
    downs = 0
    for seat in range(2):
        position["hand"][seat] = counts_of(state["hand"][seat])
        position["up"][seat] = counts_of(state["up"][seat])
        n = 0
        for slot in range(SLOTS):
            n += state["down"][seat, slot] != NO_CARD
        downs = downs * 4 + n
    position["pile"] = counts_of(state["pile_set"])
    position["unseen"] = unseen
    rest = (int(state["top"]) + 1) * 8 + int(state["run"])
    rest = (rest * 2 + int(state["turn"])) * 64 + int(state["exchanges"])
    position["rest"] = rest * 16 + downs


@jit
def take_counts(counts, used):
    """Cards for a zone by ``counts``, suits from those that ``used`` (counts) has not given away."""
    cards = 0
    for rank in range(N_RANKS):
        n = (counts >> (4 * rank)) & 15
        cards |= ((1 << n) - 1) << (4 * rank + ((used >> (4 * rank)) & 15))
    return cards


@jit
def unpack(position, state):
    """Write a position into a state that already holds the table (rules, two players, no stock)."""
    used = 0
    for seat in range(2):
        state["hand"][seat] = take_counts(position["hand"][seat], used)
        used += position["hand"][seat]
        state["up"][seat] = take_counts(position["up"][seat], used)
        used += position["up"][seat]
        state["known"][seat] = 0
        state["place"][seat] = 0
    state["pile_set"] = take_counts(position["pile"], used)
    used += position["pile"]
    state["pile_size"] = size_of(state["pile_set"])
    unseen = take_counts(position["unseen"], used)
    rest = int(position["rest"])
    card = 0
    for seat in range(2):
        n = (rest >> (2 - 2 * seat)) & 3
        for slot in range(SLOTS):
            state["down"][seat, slot] = NO_CARD
            if slot < n:
                while (unseen >> card) & 1 == 0:
                    card += 1
                state["down"][seat, slot] = card
                card += 1
    rest >>= 4
    state["exchanges"] = rest & 63
    rest >>= 6
    seat = rest & 1
    state["turn"] = seat
    rest >>= 1
    state["run"] = rest & 7
    state["top"] = (rest >> 3) - 1
    state["n_out"] = 0
    if state["hand"][seat] != 0:
        state["phase"] = HAND
    elif state["up"][seat] != 0:
        state["phase"] = UP
    else:
        state["phase"] = DOWN
    return unseen


# --- all positions that can follow -----------------------------------------------------------------------------------


@jit
def position_hash(position):
    h = mix(wrapping_sum(position["hand"][0], _GOLDEN))
    for word in (
        position["hand"][1],
        position["up"][0],
        position["up"][1],
        position["pile"],
        position["unseen"],
        position["rest"],
    ):
        h = mix(wrapping_sum(wrapping_product(h, _GOLDEN), word))
    return h


@jit
def same_position(a, b):
    for seat in range(2):
        if a["hand"][seat] != b["hand"][seat] or a["up"][seat] != b["up"][seat]:
            return False
    return a["pile"] == b["pile"] and a["unseen"] == b["unseen"] and a["rest"] == b["rest"]


@jit
def number_of(nodes, n, table, new):
    """The number of the position ``nodes[new]`` and the number of positions; −1 if there is no room for it."""
    place = position_hash(nodes[new]) & (table.shape[0] - 1)
    while table[place] >= 0:
        if same_position(nodes[table[place]], nodes[new]):
            return table[place], n
        place = (place + 1) & (table.shape[0] - 1)
    if n + 1 >= nodes.shape[0]:
        return -1, n
    nodes[n] = nodes[new]
    table[place] = n
    return n, n + 1


@jit
def expand(root, nodes, table, first, target, action, weight, states, mask):
    """Write the graph of all positions that can follow; returns their number, or −1 if there are too many.

    ``nodes`` ``[N]`` of POSITION: 0 and 1 stand for a won and a lost game, 2 for the root, and the last one is for
    scratch.  The edges of node i are ``first[i]`` to ``first[i + 1]`` of ``target``, ``action`` and ``weight``.  A
    weight is 0 for an action of choice; from a turn that flips, it is the number of face-down cards of that rank.
    """
    new = nodes.shape[0] - 1
    table[:] = -1
    state, after = states[0], states[1]
    states[0] = root[0]
    # The unseen cards that are not face-down are the opponent's, and known to be.
    unseen = np.int64(0)
    for seat in range(2):
        for slot in range(SLOTS):
            if state["down"][seat, slot] != NO_CARD:
                unseen |= np.int64(1) << int(state["down"][seat, slot])
    pack(state, counts_of(unseen), nodes[new])
    _, n = number_of(nodes, 2, table, new)
    edges = 0
    first[0], first[1], first[2] = 0, 0, 0
    i = 2
    while i < n:
        hidden = unpack(nodes[i], state)
        counts = nodes[i]["unseen"]
        flips = state["phase"] == DOWN
        if flips:
            mask[:] = 0
            for rank in range(N_RANKS):
                mask[rank] = (counts >> (4 * rank)) & 15
        else:
            legal_mask(state, mask)
        for a in range(N_RANKS if flips else A.N_ACTIONS):
            if mask[a] == 0:
                continue
            if edges == target.shape[0]:
                return -1
            states[1] = states[0]
            left = counts
            if flips:
                after["down"][int(state["turn"]), 0] = 4 * a + first_suit(hidden, a)
                left = counts - (np.int64(1) << (4 * a))
                apply(after, A.FLIP)
            else:
                apply(after, a)
            if after["phase"] == OVER:
                number = _WON if after["place"][0] != 0 else _LOST
            else:
                pack(after, left, nodes[new])
                number, n = number_of(nodes, n, table, new)
                if number < 0:
                    return -1
            target[edges] = number
            action[edges] = a
            weight[edges] = mask[a] if flips else 0
            edges += 1
        i += 1
        first[i] = edges
    return n


@jit
def first_suit(cards, rank):
    """The lowest suit of ``rank`` in a set."""
    suit = 0
    while (cards >> (4 * rank + suit)) & 1 == 0:
        suit += 1
    return suit


# --- what they are worth ---------------------------------------------------------------------------------------------


@jit
def value_once(nodes, n, first, target, weight, forcing, before, values):
    """One round of Bellman's equations from ``before`` into ``values`` (float64 ``[N]``); returns if anything changed.

    They are the probabilities with which the seat ``forcing`` gets out first; the other seat lowers them.
    """
    changed = False
    for i in range(2, n):
        if weight[first[i]] > 0:
            total, cards = 0.0, 0
            for e in range(first[i], first[i + 1]):
                total += weight[e] * before[target[e]]
                cards += weight[e]
            value = total / cards
        elif turn_of(nodes[i]) == forcing:
            value = 0.0
            for e in range(first[i], first[i + 1]):
                value = max(value, before[target[e]])
        else:
            value = 1.0
            for e in range(first[i], first[i + 1]):
                value = min(value, before[target[e]])
        values[i] = value
        changed |= value != before[i]
    return changed


@jit
def turn_of(position):
    return (int(position["rest"]) >> 10) & 1


@jit
def value_all(nodes, n, first, target, weight, before, values, settled):
    """Fill ``values`` (float64 ``[2, N]``), what each seat can force, and ``settled``, its last round of change."""
    for seat in range(2):
        values[seat, :n] = 0.0
        settled[seat, :n] = 0
        values[seat, _WON if seat == 0 else _LOST] = 1.0
        before[:n] = values[seat, :n]
        round_ = 1
        while value_once(nodes, n, first, target, weight, seat, before, values[seat]):
            for i in range(2, n):
                if values[seat, i] != before[i]:
                    settled[seat, i] = round_
                    before[i] = values[seat, i]
            round_ += 1


# --- from Python -----------------------------------------------------------------------------------------------------


@jit
def qualifies(world):
    """Whether a world, as ``write_world`` left it, is an endgame that can be solved, by its hidden cards alone."""
    if world["players"] != 2 or world["stock_size"] > 0 or world["turn"] != 0 or world["opening"] == 1:
        return False
    if world["phase"] == OVER or world["phase"] == SWAPPING:
        return False
    unseen = world["hand"][1] & ~world["known"][1]
    if unseen == 0:
        return True
    hidden, downs = unseen, 0
    for seat in range(2):
        for slot in range(SLOTS):
            if world["down"][seat, slot] != NO_CARD:
                hidden |= np.int64(1) << int(world["down"][seat, slot])
                downs += 1
    return downs == 0 or size_of(ranks_of(hidden)) == 1


@jit
def live_cards(world):
    """Cards that can still matter: all but the burned ones and the stock."""
    return cards_left(world, 0) + cards_left(world, 1) + int(world["pile_size"])


@jit
def qualifies_at(worlds, i):
    """:func:`qualifies` of ``worlds[i]``."""
    return qualifies(worlds[i])


@jit
def live_cards_at(worlds, i):
    """:func:`live_cards` of ``worlds[i]``."""
    return live_cards(worlds[i])


@dataclass(frozen=True)
class Value:
    """What can be forced from a position, for the seat to act at the root (see the module's table).

    Attributes:
        win, lose: the two probabilities.
        settled: within how many decisions each of them can be forced.
    """

    win: float
    lose: float
    settled: tuple[int, int]

    @property
    def endless(self) -> float:
        return 1.0 - self.win - self.lose

    @property
    def balance(self) -> float:
        return self.win - self.lose

    @property
    def progress(self) -> int:
        """Larger where a win comes nearer or, without one, where a loss is farther away."""
        return -self.settled[0] if self.win > 0 else self.settled[1]


@dataclass(frozen=True)
class Solution:
    """A solved position.

    Attributes:
        value: of the position.
        actions: the value after each action by its id; all legal flips stand under the first slot's id.
        positions: how many positions can follow.
    """

    value: Value
    actions: dict[int, Value]
    positions: int

    @property
    def best(self) -> int:
        """The action of the best balance, among equals the one of most progress."""
        good = self.equally_good()
        return max(good, key=lambda action: (self.actions[action].progress, -action))

    def equally_good(self) -> list[int]:
        """All actions that force no less, win less lose, than the best."""
        most = max(value.balance for value in self.actions.values())
        return [action for action, value in self.actions.items() if value.balance >= most - 1e-9]


class Solver:
    """Solves endgames of at most ``max_live`` live cards and ``max_nodes`` positions; its memory is used again."""

    def __init__(self, max_nodes: int = MAX_NODES, max_live: int = MAX_LIVE) -> None:
        self.max_live = max_live
        edges = EDGES_A_NODE * max_nodes
        self._nodes = np.zeros(max_nodes + 3, POSITION)
        self._table = np.zeros(1 << int(2 * max_nodes + 2).bit_length(), np.int32)
        self._first = np.zeros(max_nodes + 4, np.int32)
        self._target = np.zeros(edges, np.int32)
        self._action = np.zeros(edges, np.int16)
        self._weight = np.zeros(edges, np.int8)
        self._values = np.zeros((2, max_nodes + 3))
        self._settled = np.zeros((2, max_nodes + 3), np.int32)
        self._before = np.zeros(max_nodes + 3)
        self._states = np.zeros(2, STATE)
        self._mask = np.zeros(A.N_ACTIONS, np.int8)
        self._world = np.zeros(1, STATE)

    def solve(self, observation: npt.NDArray[np.int8]) -> Solution | None:
        """The solution of what an observation (int8 ``[O]``) shows; ``None`` if it does not qualify or is too large."""
        write_world_at(observation, self._world, 0)
        return self.solve_world(self._world)

    def solve_world(self, world: World) -> Solution | None:
        """The same for a world ``[1]`` as ``write_world`` left it."""
        if not qualifies_at(world, 0) or live_cards_at(world, 0) > self.max_live:
            return None
        n = int(expand(world, self._nodes, self._table, self._first, self._target, self._action, self._weight,
                       self._states, self._mask))  # fmt: skip
        if n < 0:
            return None
        values, settled = self._values, self._settled
        value_all(self._nodes, n, self._first, self._target, self._weight, self._before, values, settled)

        def value(i: int) -> Value:
            return Value(float(values[0, i]), float(values[1, i]), (int(settled[0, i]), int(settled[1, i])))

        edges = range(int(self._first[2]), int(self._first[3]))
        if self._weight[0] > 0:
            slot = int(np.flatnonzero(world[0]["down"][0] != NO_CARD)[0])
            after = {A.FLIP + slot: value(2)}
        else:
            after = {int(self._action[e]): value(int(self._target[e])) for e in edges}
        return Solution(value(2), after, n - 2)
