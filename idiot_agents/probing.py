"""What a model thinks, over many positions at once: where it would take the pile, what a card is worth to it.

Everything is worked out from views, so it can tell no more than the seats knew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from idiot_agents.arena import MAX_DECISIONS, deal_seeds
from idiot_agents.errors import InputError
from idiot_agents.network import Network, masked_softmax
from idiot_agents.protocol import BatchAgent, fresh_streams
from idiot_agents.quantities import Quantity, ratio
from idiot_env import Rules, engine
from idiot_env import actions as A
from idiot_env.batched import Batch
from idiot_env.cards import N_RANKS, RANKS
from idiot_env.engine import NOBODY, SEATS
from idiot_env.observation import LAYOUT

Observations = npt.NDArray[np.int8]

_HAND, _UNSEEN = LAYOUT["hand"].slice, LAYOUT["unseen"].slice
_ZONE_HAND = LAYOUT["zone"].start + engine.PHASES.index("hand")


@dataclass(frozen=True)
class Positions:
    """M decisions of some games, in the order in which they were made side by side.

    Attributes:
        observation: int8 ``[M, O]``, what the seat to act saw.
        mask: int8 ``[M, A]``, its legal actions.
        action: int64 ``[M]``, what it did.
        game: int64 ``[M]``, the game.
        reward: float32 ``[M]``, the seat's reward when that game was over.
    """

    observation: Observations
    mask: npt.NDArray[np.int8]
    action: npt.NDArray[np.int64]
    game: npt.NDArray[np.int64]
    reward: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, which: npt.NDArray[Any]) -> Positions:
        """Some of them: ``which`` is a condition bool ``[M]`` or numbers."""
        parts = (self.observation, self.mask, self.action, self.game, self.reward)
        return Positions(*(part[which] for part in parts))

    def block(self, name: str) -> npt.NDArray[np.int8]:
        """A block of every observation by its name in ``LAYOUT``, ``[M, …]``."""
        block = LAYOUT[name]
        values: npt.NDArray[np.int8] = self.observation[:, block.slice].reshape(-1, *block.shape)
        return values


def positions_of(agent: BatchAgent, rules: Rules, players: int, games: int, seed: int = 0) -> Positions:
    """All decisions of ``agent`` in every seat of ``games`` games, the first deals of the arena's ``seed``.

    Raises:
        InputError: for less than one game.
        ValueError: for an impossible table.
    """
    if games < 1:
        raise InputError(f"games={games} is not possible: give a whole number from 1 on.")
    batch = Batch(games, rules, players, max_decisions=MAX_DECISIONS, autoreset="disabled")
    batch.deal(deal_seeds(rules, players, games, seed))
    streams = fresh_streams(seed, games * players).reshape(games, players)
    rows, parts = np.arange(games, dtype=np.int64), []
    while len(rows):
        seats = batch.seat[rows]
        own = streams[rows, seats]
        # Copies: the batch writes the next views over these.
        seen, legal = batch.observation[rows].copy(), batch.mask[rows].copy()
        chosen = agent.act_batch(seen, legal, own)
        streams[rows, seats] = own
        parts.append((seen, legal, chosen, rows, seats))
        batch.step(chosen, rows)
        rows = rows[batch.seat[rows] != NOBODY]
    observation, mask, action, game, seat = (np.concatenate(column) for column in zip(*parts, strict=True))
    rewards = np.zeros((games, SEATS), np.float32)
    for number in range(games):
        engine.rewards_at(batch.states, number, rewards[number])
    return Positions(observation, mask, action, game, rewards[game, seat])


# --- taking the pile -------------------------------------------------------------------------------------------------


def may_take(positions: Positions) -> npt.NDArray[np.bool_]:
    """Where the pile could be taken as well as played on, bool ``[M]``."""
    play = positions.mask[:, : A.TAKE].any(axis=1)
    take = positions.mask[:, A.TAKE : A.FLIP].any(axis=1)
    both: npt.NDArray[np.bool_] = play & take & (positions.block("pile_size")[:, 0] > 0)
    return both


def take_probability(network: Network, positions: Positions) -> npt.NDArray[np.float32]:
    """The probability of taking the pile in the policy as it was trained, float32 ``[M]``."""
    logits = network.logits(network.hidden(positions.observation), positions.mask)
    probabilities = masked_softmax(logits, positions.mask)
    taking: npt.NDArray[np.float32] = probabilities[:, A.TAKE : A.FLIP].sum(axis=1)
    return taking


# --- what a card is worth --------------------------------------------------------------------------------------------


def exchanged(observation: Observations, old: npt.NDArray[np.int64], new: npt.NDArray[np.int64]) -> Observations:
    """The same views, ``[M, O]``, but for one card of the own hand, which trades places with one that is unseen.

    Args:
        observation: int8 ``[M, O]``.
        old: int64 ``[M]``, the rank that leaves the hand, of which it holds one or more.
        new: int64 ``[M]``, the rank that comes, of which one or more is unseen, or the same rank.
    """
    changed, rows = observation.copy(), np.arange(len(observation))
    for start, sign in ((_HAND.start, 1), (_UNSEEN.start, -1)):
        changed[rows, start + old] -= sign
        changed[rows, start + new] += sign
    return changed


def worth_of_ranks(network: Network, positions: Positions, seed: int = 0) -> dict[str, Quantity]:
    """What each rank in the hand is worth to a model, in units of the final reward, with 95 % intervals over games.

    In every view whose turn is played from the hand, one card of it, drawn by ``seed``, becomes each rank that is
    unseen.  A rank's worth is how much higher the model values the view then than it would on average if that card were
    drawn blind from all that is unseen.  Ranks that no view could hold are left out.
    """
    own = positions[(positions.observation[:, _ZONE_HAND] == 1) & (positions.block("hand").sum(axis=1) > 0)]
    if not len(own):
        return {}
    rng = np.random.default_rng(seed)
    hand, unseen = own.block("hand"), own.block("unseen").astype(np.float64)
    drawn = rng.random((len(own), 1)) * hand.sum(axis=1, keepdims=True)
    old = (hand.cumsum(axis=1) <= drawn).sum(axis=1)
    unseen[np.arange(len(own)), old] += 1  # the card itself might have been drawn, too
    possible = unseen > 0
    values = np.zeros((len(own), N_RANKS))
    for rank in range(N_RANKS):
        there = np.flatnonzero(possible[:, rank])
        if len(there):
            views = exchanged(own.observation[there], old[there], np.full(len(there), rank))
            values[there, rank] = network(views)[1]
    blind = (values * unseen).sum(axis=1) / unseen.sum(axis=1)
    gained = np.where(possible, values - blind[:, None], 0.0)
    _, game = np.unique(own.game, return_inverse=True)
    worth = {
        RANKS[rank]: ratio(np.bincount(game, gained[:, rank]), np.bincount(game, possible[:, rank]))
        for rank in range(N_RANKS)
    }
    return {rank: found for rank, found in worth.items() if found is not None}


__all__ = ["Positions", "exchanged", "may_take", "positions_of", "take_probability", "worth_of_ranks"]
