"""Who sits in the seats that do not learn: named agents, a frozen copy of the learner, and snapshots of what it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from idiot_agents.network import Network
from idiot_agents.neural import NeuralAgent
from idiot_agents.protocol import Actions, BatchAgent, Masks, Observations, Streams
from idiot_agents.registry import make_agent
from idiot_env.seats import LearnerSeats
from idiot_train.config import PAST, SELF, TrainConfig

FORGETTING = 0.98
"""Weight of what was known before when a rollout's results against a snapshot come in."""
LEAST = 0.05
"""The loss rate that every snapshot counts with at least, so that none is forgotten."""


class FrozenCopy:
    """The learner as it was at the last refresh, drawing from its policy."""

    def __init__(self, name: str = SELF) -> None:
        self.name = name
        self._agent: NeuralAgent | None = None

    @property
    def network(self) -> Network | None:
        """The weights; ``None`` before the first refresh."""
        return None if self._agent is None else self._agent.network

    def refresh(self, network: Network) -> None:
        self._agent = NeuralAgent(network, self.name, temperature=1.0)

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        if self._agent is None:
            raise RuntimeError("the frozen copy has no weights yet: call refresh first.")
        return self._agent.act_batch(observation, mask, streams)


class Opponents:
    """The opponents of a run in the order in which ``LearnerSeats`` numbers them: the copy, named agents, snapshots.

    Attributes:
        copy: the present policy as it was at the last refresh; number 0.
        past: the snapshots; before the first one, their share goes to the copy.
        lost: float ``[slots]``, how often the learner was an idiot against each snapshot, of late.
    """

    def __init__(self, config: TrainConfig) -> None:
        shares = {SELF: 0.0} | {spec: share for spec, share in config.opponents.items() if spec != PAST}
        self.config = config
        self.copy = FrozenCopy()
        self.past = [FrozenCopy(f"{PAST} {k}") for k in range(config.past_slots if PAST in config.opponents else 0)]
        self.lost = np.full(len(self.past), 0.5)
        self.taken = 0
        self._named = [make_agent(spec, config.seed) for spec in shares if spec != SELF]
        self._shares = list(shares.values())
        self._past_share = config.opponents.get(PAST, 0.0)

    @property
    def policies(self) -> list[BatchAgent]:
        policies: list[Any] = [self.copy, *self._named, *self.past]
        return policies

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of each policy, float ``[len(policies)]``."""
        shares = np.zeros(len(self.policies))
        shares[: len(self._shares)] = self._shares
        there = min(self.taken, len(self.past))
        if there:
            weights = np.maximum(self.lost[:there], LEAST) ** self.config.past_priority
            start = len(self._shares)
            shares[start : start + there] = self._past_share * weights / weights.sum()
        else:
            shares[0] += self._past_share
        return shares

    def snapshot(self, network: Network) -> None:
        """Keep the present weights as an opponent, in place of the oldest one."""
        slot = self.taken % len(self.past)
        self.past[slot].refresh(network)
        self.lost[slot] = 0.5
        self.taken += 1

    def take_results(self, seats: LearnerSeats) -> None:
        """Take in the results since the last call, and let the seats draw by them from now on."""
        start = len(self._shares)
        games, lost = seats.met[start:], seats.lost_to[start:]
        for slot in np.flatnonzero(games):
            keep = FORGETTING ** games[slot]
            self.lost[slot] = keep * self.lost[slot] + (1 - keep) * lost[slot] / games[slot]
        seats.met[:] = 0
        seats.lost_to[:] = 0
        seats.set_shares(self.shares)
