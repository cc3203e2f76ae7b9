"""What an agent is: code that turns a seat's view into an action.  It never sees the state."""

from __future__ import annotations

from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from idiot_env import View
from idiot_env.observation import LAYOUT

Observations = npt.NDArray[np.int8]
Masks = npt.NDArray[np.int8]
Streams = npt.NDArray[np.int64]
Actions = npt.NDArray[np.int64]


@runtime_checkable
class Agent(Protocol):
    """Chooses for one seat."""

    name: str

    def act(self, view: View) -> int:
        """The id of a legal action; called only when ``view`` is to act."""
        ...


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent without memory of its own that also chooses for many games at once."""

    def act_batch(self, observation: Observations, mask: Masks, streams: Streams) -> Actions:
        """Legal actions for K views.

        Args:
            observation: int8 ``[K, O]``.
            mask: int8 ``[K, A]``.
            streams: int64 ``[K]`` random states, one for each view, advanced in place; the same view and state give
                the same action whatever the batch.
        """
        ...


@runtime_checkable
class Model(Agent, Protocol):
    """An agent that can say what it thinks."""

    def probabilities(self, view: View) -> npt.NDArray[np.float32]:
        """Probability of each action, float32 ``[A]``; zero where illegal."""
        ...

    def value(self, view: View) -> float:
        """Expected final reward of the seat to act."""
        ...


@runtime_checkable
class Cheater(Agent, Protocol):
    """An agent that sees all cards: no opponent, but a yardstick.  Only the arena hands it a state; tables mark it."""

    cheats: bool

    def act_state(self, states: npt.NDArray[np.void], seat: int, stream: int) -> int:
        """The id of a legal action for ``seat``.

        Args:
            states: a copy of the game, one record ``[1]`` of ``engine.STATE``.
            seat: the seat to act.
            stream: a random state for this decision alone.
        """
        ...


def is_reproducible(agent: Agent) -> bool:
    """Whether the same deals and streams give the same games; not so with ``reproducible = False``."""
    return bool(getattr(agent, "reproducible", True))


def is_cheater(agent: Agent) -> TypeGuard[Cheater]:
    """Whether the agent sees what its seat may not."""
    return isinstance(agent, Cheater) and agent.cheats


def most_players(observation: Observations) -> int:
    """Players at the largest table of a batch, int8 ``[K, O]``; 0 of an empty one."""
    return int(observation[:, LAYOUT["players"].start].max(initial=0))


def fresh_streams(seed: int, n: int) -> Streams:
    """``n`` independent random states from a seed, int64 ``[n]``."""
    return np.random.default_rng(seed % 2**64).integers(-(2**63), 2**63 - 1, n, dtype=np.int64)


__all__ = [
    "Actions",
    "Agent",
    "BatchAgent",
    "Cheater",
    "Masks",
    "Model",
    "Observations",
    "Streams",
    "fresh_streams",
    "is_cheater",
    "is_reproducible",
    "most_players",
]
