"""An agent that sees all cards: no opponent for anybody, but a yardstick of what knowing everything is worth.

``cheater`` plays every candidate action on the true state to the end, with greedy in all seats, and takes the best.
``cheater:64`` adds 63 rollouts in which every eighth decision is a random one, for nobody is quite as greedy as that.

It is handed the state by the arena (``protocol.Cheater``) and refuses to act on a view.  The registry makes it only
where cheating is asked for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from idiot_agents.compiled import GREEDY, random_action
from idiot_agents.errors import InputError
from idiot_agents.protocol import Agent, is_cheater
from idiot_agents.rollouts import LIMIT, candidates, choose_in, payoff
from idiot_env import Game, View
from idiot_env._jit import jit
from idiot_env.actions import N_ACTIONS
from idiot_env.cards import advance, below, stream
from idiot_env.engine import OVER, STATE, apply, legal_mask, legal_mask_at
from idiot_env.observation import OBSERVATION_SIZE

NAME = "cheater"
LARGEST = 100_000
WHIM = 8
"""One decision in so many is random in all rollouts but the first."""


@jit
def roll_out_on_whims(state, whim, limit, observation, mask, random_state):
    """Greedy in all seats to the end, or for ``limit`` decisions; with ``whim`` one decision in so many is random."""
    left = limit
    while state["phase"] != OVER and left > 0:
        random_state = advance(random_state)
        if whim > 0 and below(random_state, whim) == 0:
            legal_mask(state, mask)
            apply(state, random_action(mask, stream(random_state, 0)))
        else:
            apply(state, choose_in(GREEDY, state, observation, mask, random_state))
        left -= 1


@jit
def peek(truth, seat, actions, n, rollouts, random_state, sums, scratch, observation, mask):
    """Add the payoffs of ``n`` candidates in so many rollouts from the true state to ``sums`` (float64 ``[n]``)."""
    for rollout in range(rollouts):
        random_state = advance(random_state)
        for a in range(n):
            scratch[0] = truth[0]
            apply(scratch[0], actions[a])
            whim = WHIM if rollout > 0 else 0
            roll_out_on_whims(scratch[0], whim, LIMIT, observation, mask, stream(random_state, 1))
            sums[a] += payoff(scratch[0], seat)


class CheatingAgent:
    """Sees all cards.

    Args:
        name: as tables show it.
        rollouts: for each candidate action.

    Raises:
        InputError: for a number of rollouts that is not possible.
    """

    cheats = True

    def __init__(self, name: str = NAME, rollouts: int = 1) -> None:
        if not 1 <= rollouts <= LARGEST:
            raise InputError(f"{name!r} is not possible: give the cheater 1 to {LARGEST:,} rollouts.")
        self.name = name
        self.rollouts = rollouts
        self._actions = np.zeros(N_ACTIONS, np.int64)
        self._scratch = np.zeros(1, STATE)
        self._observation, self._mask = np.zeros(OBSERVATION_SIZE, np.int8), np.zeros(N_ACTIONS, np.int8)

    @classmethod
    def parse(cls, spec: str) -> CheatingAgent:
        """``cheater`` or ``cheater:64``.

        Raises:
            InputError: if there is no such number of rollouts.
        """
        _, colon, rollouts = spec.partition(":")
        if colon and not (rollouts.isascii() and rollouts.isdigit()):
            raise InputError(f"{spec!r} is not possible: write a number of rollouts, such as {NAME}:64.")
        return cls(spec, int(rollouts) if colon else 1)

    def act(self, view: View) -> int:
        """Refuses: a view does not show what this agent looks at."""
        raise InputError(f"{self.name!r} sees all cards and cannot play from a view: hand it the state.")

    def act_state(self, states: npt.NDArray[np.void], seat: int, stream: int) -> int:
        """The id of a legal action for ``seat``, which is to act, in the true state ``[1]``."""
        legal_mask_at(states, 0, self._mask)
        n = int(candidates(self._mask, self._actions))
        sums = np.zeros(n)
        peek(states, seat, self._actions, n, self.rollouts, np.int64(stream), sums, self._scratch, self._observation,
             self._mask)  # fmt: skip
        return int(self._actions[int(np.argmax(sums))])


def action_in(agent: Agent, game: Game) -> int:
    """What an agent does on its turn in a game: the one door through which a cheater gets to see the state there."""
    assert game.turn is not None
    if is_cheater(agent):
        return agent.act_state(game.states, game.turn, len(game.actions))
    return agent.act(game.view(game.turn))
