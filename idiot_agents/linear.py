"""A strong agent of some thirty numbers: the action with the largest weighted sum of readable features.

Every legal action has the features of ``FEATURES``, read off the view; ``linear.json`` holds the weights and the
command that tuned them (``idiot_train/tune_linear.py``).  Exchanges come first: the best of them is made if its sum is
above zero, which is what doing without is worth.  Then the best of all other actions is chosen, but for stacking, which
was found to be worth nothing.

A *height* is a rank's place in natural order, from 0 (three) to 1 (ace); a two, ten or joker has 1 where its height is
asked for and features of its own besides.  Sizes of piles and hands are in tens of cards.  *Stop* is the probability
that the next player cannot answer, from the cards that everybody knows and, for the rest, the cards this seat cannot
see.  An exchange's features say what the table cards gain.

Without a stock, one turn in ``WHIM`` is played as greedy would: two players who always did the same in the same
position could pass the same cards to and fro for ever.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from idiot_agents.errors import InputError
from idiot_agents.protocol import Actions, Masks, Observations, Streams, fresh_streams
from idiot_agents.reading import START, answers, lowest_play, next_opponent, top_rank
from idiot_env import View
from idiot_env import actions as A
from idiot_env import rules as R
from idiot_env._jit import jit
from idiot_env.cards import ACE, JOKER, N_RANKS, NINE, NO_RANK, SEVEN, TEN, TWO, advance, below

FORMAT = "idiot-linear/1"
WEIGHTS_FILE = Path(__file__).with_name("linear.json")
Weights = npt.NDArray[np.float64]

FEATURES = {
    "height": "a play: the height of an ordinary rank",
    "height_with_stock": "the same while the stock lasts",
    "ace": "a play of aces",
    "two": "a play of twos",
    "two_with_stock": "the same while the stock lasts",
    "ten": "a play of tens or jokers",
    "ten_with_stock": "the same while the stock lasts",
    "copies": "cards laid beyond the first",
    "copies_height": "these times the height",
    "copies_with_stock": "these while the stock lasts",
    "copies_stop": "these times stop: one after the other would stop as often as there are cards",
    "burn": "the play burns the pile",
    "burn_pile": "the size of the pile that it burns",
    "stop": "stop, if the turn passes",
    "stop_pile": "stop times the size of the pile the next player would take",
    "stop_danger": "stop, if the next player has three cards left or fewer",
    "third": "the play makes three on top, and the fourth may be the next player's",
    "empties": "the play leaves no card in this zone",
    "rest": "the height of the lowest card it leaves in this zone",
    "take": "taking the pile",
    "take_size": "the size of the pile taken",
    "take_special": "twos, tens, jokers and aces in it",
    "take_court": "jacks, queens and kings in it",
    "take_low": "cards below eight in it, in tens",
    "take_fours": "ranks of which it completes all four in the hand",
    "take_stock": "the size of the stock, in tens",
    "take_height": "the height of the face-up card that goes along",
    "chance": "a chance draw",
    "chance_pile": "the probability that it does not fit times the size of the pile",
    "swap_height": "the height that the table cards gain",
    "swap_two": "twos that they gain",
    "swap_ten": "tens and jokers that they gain",
    "sneak": "threes laid under the pile",
    "run": "cards of a run beyond the first",
}
"""What an action's features say, in the order of the weights."""
N_FEATURES = len(FEATURES)
(HEIGHT, HEIGHT_STOCK, ACES, TWOS, TWO_STOCK, TENS, TEN_STOCK, COPIES, COPIES_HEIGHT, COPIES_STOCK, COPIES_STOP,
 BURN, BURN_PILE, STOP, STOP_PILE, STOP_DANGER, THIRD, EMPTIES, REST, TAKE, TAKE_SIZE, TAKE_SPECIAL, TAKE_COURT,
 TAKE_LOW, TAKE_FOURS, TAKE_STOCK, TAKE_HEIGHT, CHANCE, CHANCE_PILE, SWAP_HEIGHT, SWAP_TWO, SWAP_TEN, SNEAK,
 RUN) = range(N_FEATURES)  # fmt: skip

WHIM = 12
"""Costs next to nothing, and leaves hardly a game that the limit has to end."""
FEW = 3
"""Cards with which a player is about to go out."""

_HAND, _UP, _PILE, _RUN, _PILE_SIZE = (START[name] for name in ("hand", "up", "pile", "run", "pile_size"))
_OPP_UP, _OPP_KNOWN, _OPP_HAND, _OPP_DOWN = (START[n] for n in ("opp_up", "opp_known", "opp_hand", "opp_down"))
_STOCK, _UNSEEN, _ZONE, _EXCHANGES, _RULES = (START[n] for n in ("stock", "unseen", "zone", "exchanges", "rules"))
_ZONE_SWAP, _ZONE_HAND = _ZONE, _ZONE + 1


# --- weights ---------------------------------------------------------------------------------------------------------


def read_weights(path: Path) -> Weights:
    """Weights from a file as ``idiot_train.tune_linear`` writes it, float64 ``[F]``.

    Raises:
        InputError: if it is no such file, names other features, or holds what is no finite number.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no JSON"
        raise InputError(f"the weights {path} cannot be read ({reason}).") from None
    weights = content.get("weights") if isinstance(content, dict) and content.get("format") == FORMAT else None
    if not isinstance(weights, dict) or set(weights) != set(FEATURES):
        raise InputError(
            f"{path} holds no weights of the linear agent: write some with python -m idiot_train.tune_linear."
        )
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not np.isfinite(weight):
            raise InputError(f"the weight {name}={weight!r} in {path} is no finite number.")
    return np.array([weights[name] for name in FEATURES], dtype=np.float64)


def weights_fingerprint(weights: Weights) -> dict[str, str]:
    """The hash of the weights, under its name in result files."""
    return {"weights_sha256": hashlib.sha256(weights.tobytes()).hexdigest()}


WEIGHTS: Weights = read_weights(WEIGHTS_FILE)
"""The tuned weights; compiled code holds them as constants, and the cache of compiled code knows the file."""


# --- reading a view --------------------------------------------------------------------------------------------------


@jit
def height(rank):
    """0 for a three to 1 for an ace; 1 for twos, tens and jokers."""
    if rank == TEN or rank > ACE:
        return 1.0
    return rank / ACE


@jit
def lowest_left(observation, zone, rank, k):
    """The height of the lowest card left in a zone after ``k`` of ``rank``, or −1 for an empty zone."""
    for other in range(N_RANKS):
        left = observation[zone + other] - (k if other == rank else 0)
        if left > 0:
            return height(other)
    return -1.0


@jit
def might_answer(top, rank):
    """Whether ``rank`` usually lies on ``top``: the same or higher, a two, ten or joker; anything on a two."""
    return rank >= top or rank == TEN or top in (TWO, NO_RANK)


@jit
def unseen_share(observation, top):
    """The share of the cards this seat cannot see that would answer ``top``."""
    answering, unseen = 0, 0
    for rank in range(N_RANKS):
        unseen += observation[_UNSEEN + rank]
        if might_answer(top, rank):
            answering += observation[_UNSEEN + rank]
    return answering / unseen if unseen > 0 else 0.0


@jit
def cards_of(observation, start):
    """The number of cards in a block of counts by rank."""
    total = 0
    for rank in range(N_RANKS):
        total += observation[start + rank]
    return total


@jit
def stop_probability(observation, opponent, top):
    """The probability that an opponent cannot answer ``top``."""
    if top == TWO or answers(observation, opponent, top) > 0:
        return 0.0
    hidden = int(observation[_OPP_HAND + opponent])
    if hidden > 0:
        hidden -= cards_of(observation, _OPP_KNOWN + N_RANKS * opponent)
    elif cards_of(observation, _OPP_UP + N_RANKS * opponent) == 0:
        hidden = 1  # a blind flip
    return (1.0 - unseen_share(observation, top)) ** hidden


@jit
def cards_left_of(observation, opponent):
    """How many cards an opponent has in all zones."""
    left = int(observation[_OPP_HAND + opponent]) + cards_of(observation, _OPP_UP + N_RANKS * opponent)
    for slot in range(3):
        left += observation[_OPP_DOWN + 3 * opponent + slot]
    return left


# --- features --------------------------------------------------------------------------------------------------------


@jit
def passing_features(observation, top, laid, out):
    """What it means for the next player to face ``top``."""
    opponent = next_opponent(observation)
    stop = stop_probability(observation, opponent, top)
    out[STOP] = stop
    out[STOP_PILE] = stop * (observation[_PILE_SIZE] + laid) / 10
    if cards_left_of(observation, opponent) <= FEW:
        out[STOP_DANGER] = stop


@jit
def play_features(observation, rank, k, out):
    """Features of laying ``k`` cards of ``rank``."""
    stock = observation[_STOCK] > 0
    zone = _HAND if observation[_ZONE_HAND] == 1 else _UP
    if rank == TWO:
        out[TWOS] = 1
        out[TWO_STOCK] = stock
    elif rank in (TEN, JOKER):
        out[TENS] = 1
        out[TEN_STOCK] = stock
    else:
        out[HEIGHT] = height(rank)
        out[HEIGHT_STOCK] = height(rank) * stock
        out[ACES] = rank == ACE
    out[COPIES] = k - 1
    out[COPIES_HEIGHT] = (k - 1) * height(rank)
    out[COPIES_STOCK] = (k - 1) * stock
    run = k
    if top_rank(observation) == rank:
        run += int(observation[_RUN])
    if rank in (TEN, JOKER) or run >= 4:
        out[BURN] = 1
        out[BURN_PILE] = (observation[_PILE_SIZE] + k) / 10
    else:
        passing_features(observation, rank, k, out)
        out[COPIES_STOP] = (k - 1) * out[STOP]
        opponent = next_opponent(observation)
        fourth = observation[_UNSEEN + rank] + observation[_OPP_KNOWN + N_RANKS * opponent + rank]
        out[THIRD] = run == 3 and fourth > 0
    left = lowest_left(observation, zone, rank, k)
    if left < 0:
        out[EMPTIES] = 1
    else:
        out[REST] = left


@jit
def take_features(observation, up_rank, out):
    """Features of taking the pile, with the face-up card ``up_rank`` or ``NO_RANK``."""
    special, court, low, fours = 0, 0, 0, 0
    for rank in range(N_RANKS):
        count = observation[_PILE + rank]
        fours += count > 0 and count + observation[_HAND + rank] == 4
        if rank == TEN or rank >= ACE:
            special += count
        elif rank > NINE:
            court += count
        elif rank <= SEVEN:
            low += count
    out[TAKE] = 1
    out[TAKE_SIZE] = observation[_PILE_SIZE] / 10
    out[TAKE_SPECIAL] = special
    out[TAKE_COURT] = court
    out[TAKE_LOW] = low / 10
    out[TAKE_FOURS] = fours
    out[TAKE_STOCK] = observation[_STOCK] / 10
    if up_rank != NO_RANK:
        out[TAKE_HEIGHT] = height(up_rank)


@jit
def chance_features(observation, out):
    """Features of turning the top stock card."""
    fail = 1.0 - unseen_share(observation, top_rank(observation))
    out[CHANCE] = 1
    out[CHANCE_PILE] = fail * observation[_PILE_SIZE] / 10


@jit
def exchange_features(hand_rank, up_rank, out):
    """Features of giving a hand card for a face-up card."""
    out[SWAP_HEIGHT] = height(hand_rank) - height(up_rank)
    out[SWAP_TWO] = int(hand_rank == TWO) - int(up_rank == TWO)
    out[SWAP_TEN] = int(hand_rank in (TEN, JOKER)) - int(up_rank in (TEN, JOKER))


@jit
def sneak_features(observation, k, out):
    """Features of laying ``k`` threes under the pile, whose top the next player faces."""
    out[SNEAK] = k
    passing_features(observation, top_rank(observation), k, out)


@jit
def run_features(observation, low, high, out):
    """Features of a run between two places of the ordinary order."""
    rank = high if high <= NINE else high + 1
    out[RUN] = high - low
    out[HEIGHT] = height(rank)
    passing_features(observation, rank, high - low + 1, out)


@jit
def write_features(observation, action, out):
    """The features of a legal action into ``out``, float64 ``[F]``."""
    out[:] = 0
    if action < A.TAKE:
        play_features(observation, action // 4, action % 4 + 1, out)
    elif action == A.TAKE:
        take_features(observation, NO_RANK, out)
    elif action < A.FLIP:
        take_features(observation, action - A.TAKE_WITH, out)
    elif action == A.CHANCE:
        chance_features(observation, out)
    elif A.SWAP <= action < A.STACK:
        hand_rank, up_rank = A.swap_ranks_at(action)
        exchange_features(hand_rank, up_rank, out)
    elif A.SNEAK <= action < A.RUN:
        sneak_features(observation, action - A.SNEAK + 1, out)
    elif action >= A.RUN:
        run_features(observation, int(A.RUN_LOW[action - A.RUN]), int(A.RUN_HIGH[action - A.RUN]), out)


# --- choosing --------------------------------------------------------------------------------------------------------


@jit
def best_of(weights, observation, mask, first, stop, best, most, features):
    """The legal action in a range of ids with the largest sum, and the sum; ``best`` and ``most`` if none is larger."""
    for action in range(first, stop):
        if mask[action] == 1:
            write_features(observation, action, features)
            total = 0.0
            for i in range(N_FEATURES):
                total += weights[i] * features[i]
            if total > most:
                best, most = action, total
    return best, most


@jit
def linear(weights, observation, mask, random_state):
    """The action of the linear agent with ``weights``, float64 ``[F]``."""
    features = np.empty(N_FEATURES)
    if observation[_EXCHANGES] > 0:
        best, _ = best_of(weights, observation, mask, A.SWAP, A.STACK, -1, 0.0, features)
        if best >= 0:
            return best
    best, most = best_of(weights, observation, mask, A.PLAY, A.SWAP, -1, -np.inf, features)
    if observation[_STOCK] == 0 and below(random_state, WHIM) == 0:
        play = lowest_play(mask)
        if play >= 0:
            return play
    if observation[_RULES + R.SNEAK_THREE] == 1 or observation[_RULES + R.RUNS] == 1:
        best, most = best_of(weights, observation, mask, A.SNEAK, A.N_ACTIONS, best, most, features)
    return best


@jit
def linear_batch(weights, observation, mask, streams, actions):
    """Actions for K views into ``actions``; advances ``streams``."""
    for k in range(actions.shape[0]):
        streams[k] = advance(streams[k])
        actions[k] = linear(weights, observation[k], mask[k], streams[k])


class LinearAgent:
    """The linear agent with weights of one's own, from a file."""

    def __init__(self, name: str, path: Path, seed: int = 0) -> None:
        self.name = name
        self.weights = read_weights(path)
        self._streams = fresh_streams(seed, 1)

    def fingerprint(self) -> dict[str, str]:
        """What tells these weights from others."""
        return weights_fingerprint(self.weights)

    def act(self, view: View) -> int:
        return int(self.act_batch(view.observation[None], view.action_mask[None], self._streams)[0])

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        actions = np.empty(len(streams), np.int64)
        linear_batch(self.weights, observation, mask, streams, actions)
        return actions


def weights_json(weights: Weights, **origin: Any) -> str:
    """The text of a weights file: the weights by feature, and where they come from."""
    named = {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)}
    return json.dumps({"format": FORMAT, **origin, "weights": named}, indent=1) + "\n"
