"""Idiot as an OpenSpiel game; needs the extra ``openspiel``.

Importing this module registers it: ``pyspiel.load_game("python_idiot(rules=norsk,players=3)")``.

=================  ===========  =====================================================================================
parameter          default      meaning
=================  ===========  =====================================================================================
``rules``          standard     a table, and changed options with a colon, as in ``norsk chance:yes hand_size:6``
``players``        4            2 to 5
``dealer``         −1           a seat; −1: chance draws it
``max_decisions``  2000         after so many decisions the game is cut off: everybody's return is 0
``ranks``          (all)        the ranks in the deck, as in ``3 4 5 T 2``, for small games; without blanks it must hold
                                a rank that is no digit, or OpenSpiel reads a number
``suits``          4            cards of each rank, 1 to 4 (of the jokers as many as ``rules`` says, and not more)
``down``           3            face-down cards dealt to each player, 0 to 3
``up``             3            face-up cards dealt to each player, 0 to 3
``hand``           −1           cards dealt to each hand, 1 to 6; −1: as ``rules`` says
=================  ===========  =====================================================================================

Decisions are those of the engine; player k is seat k, an action id means what ``idiot_env.actions`` says.  Cards that
are not in a small deck count as burned from the start, so the engine, the observation and every agent know what to make
of them.

Chance
------
A state holds no hidden randomness: whatever nobody has seen has not been drawn yet.  Chance nodes decide the dealer,
each face-up and each hand card of the deal, each card drawn from the stock, and each card that is turned blind, at the
moment at which somebody sees it.  An outcome is a *rank*, as likely as its share of all cards that nobody has seen:
suits mean nothing in Idiot, and at most 14 outcomes keep trees small.  Inside, the cards that nobody has seen lie in
the engine's stock and face-down slots as placeholders; chance swaps the card it has drawn to where it is wanted.

What players see
----------------
* ``observation_tensor``: the environment's observation ``[O]`` (``idiot_env.observation``), for ``make_observation``
  in its named blocks; ``observation_string`` says the same in words.  Zeros until the deal is over.
* ``information_state_string``: everything the player has been shown since the deal, action by action: perfect recall.
* ``information_state_tensor``: the observation again, which holds what a person can remember of the cards, not the
  order of events.
* ``resample_from_infostate`` deals afresh what the player cannot know, with a history that leads there and in which
  everybody has done the same.

Returns are those of the environment; they come at the end only and sum to 0.

Searches
--------
Use those of ``open_spiel.python.algorithms``: the searches in C++, ``pyspiel.MCTSBot`` and ``pyspiel.ISMCTSBot``, crash
the process on every game written in Python, OpenSpiel's own included (2.0.2).  Its solvers and random bots do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from idiot_env import actions as A
from idiot_env import engine
from idiot_env._jit import jit
from idiot_env.cards import FULL_DECK, JOKER, N_CARDS, N_RANKS, RANKS, card_set, cards_in, counts_text, shuffle, size_of
from idiot_env.engine import NO_CARD, OVER, SLOTS, STATE, SWAPPING
from idiot_env.game import check_dealer, check_limit
from idiot_env.observation import LAYOUT, OBSERVATION_SIZE, determinize, observe, observe_at
from idiot_env.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from idiot_env.view import View

NAME = "python_idiot"
GAME_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Idiot",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=MIN_PLAYERS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={
        "rules": "standard",
        "players": 4,
        "dealer": -1,
        "max_decisions": 2000,
        "ranks": "",
        "suits": 4,
        "down": SLOTS,
        "up": 3,
        "hand": -1,
    },
)
_CHANCE, _TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
_NOTHING = -1
_REJECTIONS = 200
"""Worlds to try before :meth:`IdiotState.resample_from_infostate` walks from one world to the next instead."""
_STEPS_PER_CARD = 20


# --- cards that nobody has seen --------------------------------------------------------------------------------------


@jit
def deal_at(states, deck, n_cards, rules, players, dealer, down, up, hand, missing):
    """Deal ``states[0]`` with any number of rounds; the card set ``missing`` is burned before the game begins."""
    engine.deal_rounds(states[0], deck, n_cards, rules, players, dealer, down, up, hand)
    states[0]["burned"] = missing


@jit
def undrawn(state):
    """The cards that nobody has seen, as a set: the placeholders in the stock and in the face-down slots."""
    cards = np.int64(0)
    for i in range(int(state["stock_size"])):
        cards |= np.int64(1) << int(state["stock"][i])
    for seat in range(int(state["players"])):
        for slot in range(SLOTS):
            if state["down"][seat, slot] != NO_CARD:
                cards |= np.int64(1) << int(state["down"][seat, slot])
    return cards


@jit
def turned_slot(action):
    """The face-down slot that an action turns, or −1."""
    return action - A.FLIP if A.FLIP <= action < A.CHANCE else _NOTHING


@jit
def wants_another(states, action, drawn, trial):
    """Whether ``action``, for which chance has drawn ``drawn`` cards, shows somebody one more that nobody has seen.

    What it does is written into ``trial``: it is carried out with the placeholders as they lie.  How many cards are
    refilled depends on no rank but that of a card turned blind, so ``trial`` is the truth once it wants no other.
    """
    trial[0] = states[0]
    engine.apply(trial[0], action)
    return states[0]["stock_size"] - trial[0]["stock_size"] + (turned_slot(action) >= 0) > drawn


@jit
def seat_to_act(states, limit):
    """The seat to act, or −1 when the game is over or cut off after ``limit`` decisions."""
    state = states[0]
    return _NOTHING if state["decisions"] >= limit or state["phase"] == OVER else int(state["turn"])


@jit
def undrawn_for(states, action, drawn):
    """The cards that chance may still draw for ``action``, for which it has drawn ``drawn`` already."""
    state = states[0]
    cards = undrawn(state)
    slot = turned_slot(action)
    for i in range(drawn):
        if i == 0 and slot >= 0:
            cards &= ~(np.int64(1) << int(state["down"][int(state["turn"]), slot]))
        else:
            place = int(state["stock_size"]) - 1 - (i - 1 if slot >= 0 else i)
            cards &= ~(np.int64(1) << int(state["stock"][place]))
    return cards


@jit
def draw_for(states, action, drawn, card):
    """Put ``card`` where ``action``, for which chance has drawn ``drawn`` cards, takes its next card from.

    The placeholder there goes to where the card was.
    """
    state = states[0]
    turn, slot = int(state["turn"]), turned_slot(action)
    place = int(state["stock_size"]) - 1 - (drawn - 1 if slot >= 0 else drawn)
    at_slot = drawn == 0 and slot >= 0
    displaced = int(state["down"][turn, slot]) if at_slot else int(state["stock"][place])
    for i in range(int(state["stock_size"])):
        if state["stock"][i] == card:
            state["stock"][i] = displaced
    for seat in range(int(state["players"])):
        for other in range(SLOTS):
            if state["down"][seat, other] == card:
                state["down"][seat, other] = displaced
    if at_slot:
        state["down"][turn, slot] = card
    else:
        state["stock"][place] = card


@jit
def draw_all(states, action, drawn, random_state):
    """Draw all that nobody has seen at random, what ``drawn`` says aside, and carry out ``action`` (−1: none)."""
    state = states[0]
    stock_size, seats = int(state["stock_size"]), int(state["players"])
    slot = turned_slot(action) if drawn > 0 else _NOTHING
    blind = 1 if slot >= 0 else 0
    free = stock_size - (drawn - blind)
    cards = np.empty(N_CARDS, np.int8)
    n = 0
    for i in range(free):
        cards[n] = state["stock"][i]
        n += 1
    for seat in range(seats):
        for other in range(SLOTS):
            if state["down"][seat, other] != NO_CARD and not (seat == state["turn"] and other == slot):
                cards[n] = state["down"][seat, other]
                n += 1
    shuffle(cards, n, random_state)
    n = 0
    for i in range(free):
        state["stock"][i] = cards[n]
        n += 1
    for seat in range(seats):
        for other in range(SLOTS):
            if state["down"][seat, other] != NO_CARD and not (seat == state["turn"] and other == slot):
                state["down"][seat, other] = cards[n]
                n += 1
    if action >= 0:
        engine.apply(state, action)


# --- the game --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """What the parameters of a game say, checked.

    Raises:
        ValueError: for impossible parameters, with what would be possible.
    """

    rules: Rules
    players: int
    dealer: int
    max_decisions: int
    deck: int
    """Card set."""
    down: int
    up: int
    hand: int

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Table:
        rules = Rules.parse(parameters["rules"].replace(":", "="))
        players = rules.check_players(parameters["players"])
        dealer = parameters["dealer"]
        hand = rules.hand_size if parameters["hand"] == -1 else _number("hand", parameters["hand"], 1, 6)
        table = cls(
            rules,
            players,
            dealer if dealer == -1 else check_dealer(dealer, players),
            check_limit(parameters["max_decisions"]),
            _deck(parameters["ranks"], _number("suits", parameters["suits"], 1, 4), rules),
            _number("down", parameters["down"], 0, SLOTS),
            _number("up", parameters["up"], 0, 3),
            hand,
        )
        stock = int(size_of(table.deck)) - players * (table.down + table.up + table.hand)
        if not 0 <= stock <= engine.MAX_STOCK:
            raise ValueError(
                f"a stock of {stock} cards is not possible: it has 0 to {engine.MAX_STOCK}, and here are "
                f"{int(size_of(table.deck))} cards less {players} times {table.down} + {table.up} + {table.hand}."
            )
        return table

    @property
    def every_card(self) -> int:
        """The cards that are anywhere, in the deck or burned before the game begins, as a set."""
        jokers = 3 << 4 * JOKER if self.rules.jokers else 0
        return FULL_DECK | jokers


def _number(name: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise ValueError(f"{name}={value} is not possible: give a number from {low} to {high}.")
    return value


def _deck(ranks: str, suits: int, rules: Rules) -> int:
    """The card set of a deck with some ranks, named in any order, and some cards of each."""
    named = "".join(ranks.upper().split()) or RANKS[:JOKER] + ("*" if rules.jokers else "")
    for rank in named:
        if rank not in RANKS:
            raise ValueError(f"ranks={ranks!r} is not possible: {rank!r} is none of {' '.join(RANKS)}.")
        if named.count(rank) > 1:
            raise ValueError(f"ranks={ranks!r} is not possible: {rank!r} is named twice.")
        if rank == "*" and not rules.jokers:
            raise ValueError(f"ranks={ranks!r} is not possible: jokers need the option jokers:2 in rules.")
    places = [RANKS.index(rank) for rank in named]
    return card_set(4 * rank + suit for rank in places for suit in range(min(suits, 2) if rank == JOKER else suits))


class IdiotGame(pyspiel.Game):
    """``python_idiot`` with its parameters; see the module's documentation."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**GAME_TYPE.parameter_specification, **(params or {})}
        given["rules"] = given["rules"].replace("=", ":")  # "=" would break the game's text, which must load it again
        self.table = table = Table.from_parameters(given)
        losers = table.rules.losers
        info = pyspiel.GameInfo(
            num_distinct_actions=A.N_ACTIONS,
            max_chance_outcomes=max(N_RANKS, table.players),
            num_players=table.players,
            min_utility=-1.0,
            max_utility=losers / (table.players - losers),
            utility_sum=0.0,
            max_game_length=table.max_decisions,
        )
        super().__init__(GAME_TYPE, info, given)

    def new_initial_state(self) -> IdiotState:
        """A game before the deal: chance is to act."""
        return IdiotState(self)

    def state_at(self, states: npt.NDArray[np.void]) -> IdiotState:
        """An OpenSpiel state that stands where ``states[0]`` of an array of ``STATE`` stands, with no history.

        Cards in its stock and face-down count as not drawn yet, wherever they lie.
        """
        state = IdiotState(self)
        state._stand_at(states)
        return state

    def max_chance_nodes_in_history(self) -> int:
        """The dealer, and every card once."""
        return 1 + int(size_of(self.table.deck))

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> IdiotObserver:
        """An observer of what a player sees; with ``perfect_recall``, its string tells the game from the deal on.

        Raises:
            ValueError: for parameters, and for what only the public or everybody together sees.
        """
        return IdiotObserver(iig_obs_type, params)


class IdiotState(pyspiel.State):
    """One game with everything undrawn that nobody has seen; see the module's documentation."""

    # OpenSpiel copies a state by a deep copy of each attribute and writes it as a pickle of them all: they are numbers,
    # tuples, texts and small arrays.

    def __init__(self, game: IdiotGame) -> None:
        super().__init__(game)
        table = game.table
        self._states = np.zeros(1, STATE)
        self._limit = table.max_decisions
        self._dealing = True
        self._dealer = table.dealer
        self._dealt: tuple[int, ...] = ()  # the cards that chance has dealt, while the deal goes on
        self._pending = _NOTHING  # the action for which chance draws cards now
        self._drawn: tuple[int, ...] = ()  # the ranks it has drawn for that action
        self._heard = ("",) * table.players  # what each player has been shown
        self._origin = np.full(N_CARDS, _NOTHING, np.int16)  # the place in the history of the draw of each card
        self._length = 0  # of the history
        self._to_act = _CHANCE  # OpenSpiel asks for it several times a node

    def _stand_at(self, states: npt.NDArray[np.void]) -> None:
        self._states[0] = states[0]
        self._dealing = False
        self._find_player()
        self._heard = tuple(f"at {observation_text(self._states, p)}" for p in range(self.num_players()))

    # --- where the game stands ---------------------------------------------------------------------------------------

    @property
    def states(self) -> npt.NDArray[np.void]:
        """A copy of the engine's array ``[1]`` of ``STATE``: for tools, never for players.

        Stock and face-down cards are placeholders: any order of them would do.  Before the deal it is all zeros.
        """
        return self._states.copy()

    def world(self, random_state: int) -> npt.NDArray[np.void]:
        """An engine state ``[1]`` in which chance has drawn everything, at random: for playing on outside OpenSpiel.

        Where chance is drawing for an action, the action has been carried out.

        Raises:
            ValueError: before the deal is over.
        """
        if self._dealing:
            raise ValueError("there is no world before the deal is over.")
        world = self._states.copy()
        draw_all(world, self._pending, len(self._drawn), np.int64(random_state))
        return world

    def view(self, player: int) -> View:
        """What ``player`` may see, for our agents; its mask is zero unless it is to act.

        Raises:
            ValueError: before the deal is over.
        """
        if self._dealing:
            raise ValueError("there is nothing to see before the deal is over.")
        acts = self.current_player() == player
        return View(observe(self._states, player), self._mask() if acts else np.zeros(A.N_ACTIONS, np.int8), player)

    def _mask(self) -> npt.NDArray[np.int8]:
        mask = np.empty(A.N_ACTIONS, np.int8)
        engine.legal_mask_at(self._states, 0, mask)
        return mask

    def current_player(self) -> int:
        """A seat, or OpenSpiel's ids for chance and for the end."""
        return self._to_act

    def _find_player(self) -> None:
        """After the deal or an action: chance has nothing more to draw."""
        seat = int(seat_to_act(self._states, self._limit))
        self._to_act = _TERMINAL if seat == _NOTHING else seat

    def is_terminal(self) -> bool:
        """Whether the game is over or cut off."""
        return self._to_act == _TERMINAL

    def returns(self) -> list[float]:
        """Each player's reward: zeros while the game goes on, and when it was cut off."""
        rewards = np.zeros(engine.SEATS, np.float32)
        engine.rewards_at(self._states, 0, rewards)
        # The engine's shares are float32, whose thirds are too coarse for OpenSpiel's check that they sum to zero.
        won = rewards > 0
        share = (rewards < 0).sum() / max(won.sum(), 1)
        return [float(share if won[player] else rewards[player]) for player in range(self.num_players())]

    # --- chance ------------------------------------------------------------------------------------------------------

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Who deals, or the rank of the next card, each with its probability."""
        if self._dealing and self._dealer < 0:
            players = self.num_players()
            return [(seat, 1 / players) for seat in range(players)]
        cards = cards_in(self._unseen())
        ranks = [card // 4 for card in cards]
        return [(rank, ranks.count(rank) / len(cards)) for rank in sorted(set(ranks))]

    def _unseen(self) -> int:
        """The cards of which chance draws the next one, as a set."""
        if self._dealing:
            return int(self.get_game().table.deck) & ~card_set(self._dealt)
        return int(undrawn_for(self._states, self._pending, len(self._drawn)))

    def _draw(self, rank: int) -> int:
        """The card that stands for a rank which chance has drawn."""
        card = next(card for card in cards_in(self._unseen()) if card // 4 == rank)
        self._origin[card] = self._length
        return card

    def _deal(self, outcome: int) -> None:
        """The dealer, or one more card; the last one starts the game."""
        table: Table = self.get_game().table
        if self._dealer < 0:
            self._dealer = outcome
            return
        self._dealt = (*self._dealt, self._draw(outcome))
        if len(self._dealt) < table.players * (table.up + table.hand):
            return
        rest = cards_in(self._unseen())
        blind = table.players * table.down
        deck = np.zeros(N_CARDS, np.int8)
        order = [*rest[:blind], *self._dealt, *rest[blind:]]
        deck[: len(order)] = order
        deal_at(self._states, deck, len(order), table.rules.numbers(), table.players, self._dealer,
                table.down, table.up, table.hand, table.every_card & ~table.deck)  # fmt: skip
        self._dealing, self._dealt = False, ()
        self._find_player()
        self._heard = tuple(f"dealt {observation_text(self._states, p)}" for p in range(table.players))

    # --- actions -----------------------------------------------------------------------------------------------------

    def _legal_actions(self, player: int) -> list[int]:
        legal: list[int] = self._mask().nonzero()[0].tolist()
        return legal

    def _apply_action(self, action: int) -> None:
        if self._dealing:
            self._deal(action)
        elif self._pending == _NOTHING:
            self._pending = action
            self._tell(f"; {self._to_act} {A.TEXTS[action]}")
            self._carry_out()
        else:
            draw_for(self._states, self._pending, len(self._drawn), self._draw(action))
            self._drawn = (*self._drawn, action)
            self._carry_out()
        self._length += 1

    def _carry_out(self) -> None:
        """Do what is pending, unless it needs another card that chance has not drawn yet."""
        trial = np.empty(1, STATE)
        if wants_another(self._states, self._pending, len(self._drawn), trial):
            self._to_act = _CHANCE
            return
        before, self._states = self._states, trial
        drawn = list(self._drawn)
        if A.FLIP <= self._pending <= A.CHANCE:
            self._tell(f" = {RANKS[drawn.pop(0)]}")
        if drawn:
            # Several cards are picked up at once: in which order chance drew them is nobody's knowledge.
            own = "".join(RANKS[rank] for rank in sorted(drawn))
            actor = int(before[0]["turn"])
            self._tell(f" + {len(drawn)}", but=actor)
            self._tell(f" + {own}", only=actor)
        if self._pending == A.DONE and trial[0]["phase"] != SWAPPING:  # hands that nobody else sees decide who
            self._tell(f"; {trial[0]['turn']} begins")
        self._pending, self._drawn = _NOTHING, ()
        self._find_player()

    def _tell(self, text: str, but: int = _NOTHING, only: int = _NOTHING) -> None:
        """Everybody hears ``text``; or all but one seat, or one seat alone."""
        self._heard = tuple(
            [
                heard + text if player != but and only in (_NOTHING, player) else heard
                for player, heard in enumerate(self._heard)
            ]
        )

    # --- words -------------------------------------------------------------------------------------------------------

    def _action_to_string(self, player: int, action: int) -> str:
        if player != _CHANCE:
            return A.action_text(action)
        return f"dealer {action}" if self._dealing and self._dealer < 0 else f"card {RANKS[action]}"

    def __str__(self) -> str:
        """Everything that has been drawn, for people who look for faults."""
        if self._dealing:
            return f"dealer {self._dealer}, dealt {''.join(RANKS[card // 4] for card in self._dealt)}"
        seats = range(self.num_players())
        text = " | ".join(f"{seat}: {observation_text(self._states, seat)}" for seat in seats)
        if self._pending == _NOTHING:
            return text
        return f"{text} | {A.TEXTS[self._pending]} with {''.join(RANKS[rank] for rank in self._drawn)}"

    # --- other worlds ------------------------------------------------------------------------------------------------

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> IdiotState:
        """A state that ``player`` cannot tell from this one, uniform over what the cards it cannot see may be.

        Others hold what makes every action so far legal and the same player the starter.  The history is that of the
        new world.

        Args:
            player: whose knowledge stays as it is.
            sampler: gives numbers from 0 up to 1; the only source of randomness.

        Raises:
            ValueError: at a chance node, where what was just drawn is half seen, and some way after ``state_at``.
        """
        if self.is_chance_node():
            raise ValueError("resample_from_infostate needs a decision or the end: chance is to act.")
        if not self._length:
            game: IdiotGame = self.get_game()
            rng = np.random.default_rng(int(sampler() * 2**53))
            return game.state_at(determinize(self._states, player, rng))
        hidden = sorted(self._hidden_from(player), key=lambda card: int(self._origin[card]))
        draws = [int(self._origin[card]) for card in hidden]
        if draws and draws[0] == _NOTHING:
            raise ValueError("resample_from_infostate needs the history from the deal on, or none at all.")
        history = self.full_history()

        def world(cards: list[int]) -> IdiotState | None:
            """The one in which the hidden cards were the first of ``cards``."""
            return self._replay(player, history, {draw: card // 4 for draw, card in zip(draws, cards, strict=False)})

        unseen = hidden + cards_in(int(undrawn(self._states[0])))
        for _ in range(_REJECTIONS):
            cards = unseen[:]
            for i in range(len(cards) - 1, 0, -1):
                _exchange(cards, i, int(sampler() * (i + 1)))
            if (found := world(cards)) is not None:
                return found
        # Rarely, what was done says so much about the cards that a blind guess never fits.  A walk that exchanges two
        # cards at a time and turns back from impossible worlds tends to the same distribution.
        cards, found = unseen[:], world(unseen)
        for _ in range(_STEPS_PER_CARD * len(draws)):
            i, j = int(sampler() * len(draws)), int(sampler() * len(cards))
            _exchange(cards, i, j)
            if (other := world(cards)) is None:
                _exchange(cards, i, j)
            else:
                found = other
        assert found is not None, "what has happened is possible"
        return found

    def _hidden_from(self, player: int) -> list[int]:
        """The cards in other hands that ``player`` cannot know (R29)."""
        state = self._states[0]
        return [
            card
            for seat in range(self.num_players())
            if seat != player
            for card in cards_in(int(state["hand"][seat]) & ~int(state["known"][seat]))
        ]

    def _replay(self, player: int, history: Sequence[Any], ranks: Mapping[int, int]) -> IdiotState | None:
        """The history with other ranks drawn at some places; ``None`` if somebody could not have done the same."""
        state = self.get_game().new_initial_state()
        for place, past in enumerate(history):
            if past.player == _CHANCE:
                state.apply_action(ranks.get(place, past.action))
            elif state.current_player() == past.player and state._mask()[past.action]:
                state.apply_action(past.action)
            else:
                return None
        return state if state._heard[player] == self._heard[player] else None


def _exchange(cards: list[int], i: int, j: int) -> None:
    cards[i], cards[j] = cards[j], cards[i]


# --- what players see ------------------------------------------------------------------------------------------------


def observation_text(states: npt.NDArray[np.void], seat: int) -> str:
    """The observation of ``seat`` in ``states[0]`` in words: every block that is not all zero, by its name."""
    observation = observe(states, seat)
    words = []
    for block in LAYOUT.values():
        values = observation[block.slice].reshape(block.shape)
        if not values.any() or block.name in ("rules", "players"):
            continue
        if block.unit == "one-hot":
            text = str(int(values.argmax()))
        elif block.shape[-1] == N_RANKS:
            text = "/".join(counts_text(row) or "-" for row in values.reshape(-1, N_RANKS))
        else:
            text = "".join(f"{value}," for value in values.ravel())[:-1]
        words.append(f"{block.name}={text}")
    return " ".join(words)


class IdiotObserver:
    """OpenSpiel's observer: ``tensor`` float32 ``[O]``, and ``dict`` with its blocks of ``observation.LAYOUT``."""

    def __init__(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> None:
        if params:
            raise ValueError(f"observer parameters {dict(params)!r} are not possible: there are none.")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(f"{kind} is not possible: an observer sees what is public and one player's own cards.")
        self._recalls = kind.perfect_recall
        self.tensor = np.zeros(OBSERVATION_SIZE, np.float32)
        self.dict = {block.name: self.tensor[block.slice].reshape(block.shape) for block in LAYOUT.values()}

    def set_from(self, state: IdiotState, player: int) -> None:
        """Write what ``player`` sees into ``tensor``; zeros until the deal is over."""
        if state._dealing:
            self.tensor[:] = 0
        else:
            observation = np.empty(OBSERVATION_SIZE, np.int8)
            observe_at(state._states, 0, player, observation)
            self.tensor[:] = observation

    def string_from(self, state: IdiotState, player: int) -> str:
        """What ``player`` sees, or has seen from the deal on, in words."""
        if self._recalls:
            return f"{player} {state._heard[player]}"
        return f"{player} {'' if state._dealing else observation_text(state._states, player)}"


if NAME not in pyspiel.registered_names():
    pyspiel.register_game(GAME_TYPE, IdiotGame)
