"""Our agents in OpenSpiel, and OpenSpiel's search in our arena; needs the extra ``openspiel``.

:class:`AgentBot` lets any agent play ``python_idiot``.  The other way round:

========================  =========================================================================================
spec                      agent
========================  =========================================================================================
``openspiel:mcts:100``    their MCTS with so many simulations, in one world that the view allows, drawn for each
                          decision
``openspiel:ismcts:100``  their information-set MCTS, whose every simulation begins in a world of its own
========================  =========================================================================================

Their trees grow in Python, a few thousand nodes a second; what lies beyond is played out by greedy in compiled code
(:class:`RolloutEvaluator`, which their bots can use anywhere).  ``ismcts:BUDGET`` is the same, compiled throughout.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.protocol import Agent
from idiot_agents.rollouts import LIMIT, payoff, roll_out
from idiot_agents.search import Budget, SearchAgent
from idiot_agents.worlds import draw_world
from idiot_env import Rules, View
from idiot_env._jit import jit
from idiot_env.actions import N_ACTIONS
from idiot_env.engine import SEATS
from idiot_env.observation import OBSERVATION_SIZE
from idiot_env.openspiel import NAME, IdiotGame, IdiotState

METHODS = ("mcts", "ismcts")
UCT = 1.4
"""Weight of UCB's second term, near the square root of 2 that rewards from −1 to 1 ask for."""


@jit
def play_out(states, kind, limit, observation, mask, random_state, payoffs):
    """Play ``states[0]`` to its end with a compiled agent in all seats; write each seat's payoff (float64 ``[S]``)."""
    roll_out(states[0], kind, limit, observation, mask, random_state)
    for seat in range(int(states[0]["players"])):
        payoffs[seat] = payoff(states[0], seat)


class RolloutEvaluator(mcts.Evaluator):
    """For OpenSpiel's searches: the payoffs of games that a compiled agent plays to the end, and no prior.

    It draws what nobody has seen at random.  A game longer than ``limit`` decisions counts as the arena counts it.
    """

    def __init__(
        self, agent: CompiledAgent, rng: np.random.RandomState, n_rollouts: int = 1, limit: int = LIMIT
    ) -> None:
        self.agent, self.n_rollouts, self.limit = agent, n_rollouts, limit
        self._rng = rng
        self._observation, self._mask = np.zeros(OBSERVATION_SIZE, np.int8), np.zeros(N_ACTIONS, np.int8)
        self._payoffs = np.zeros(SEATS)

    def evaluate(self, state: IdiotState) -> npt.NDArray[np.float64]:
        """The mean payoff of each player, float64 ``[P]``."""
        total = np.zeros(state.num_players())
        for _ in range(self.n_rollouts):
            world, playing = self._rng.randint(-(2**63), 2**63 - 1, 2, dtype=np.int64)
            play_out(state.world(world), self.agent.kind, self.limit, self._observation, self._mask, playing,
                     self._payoffs)  # fmt: skip
            total += self._payoffs[: len(total)]
        return total / self.n_rollouts

    def prior(self, state: IdiotState) -> list[tuple[int, float]]:
        """The same probability for every legal action, or those of chance."""
        if state.is_chance_node():
            return list(state.chance_outcomes())
        legal = state.legal_actions()
        return [(action, 1 / len(legal)) for action in legal]


class AgentBot(pyspiel.Bot):
    """One of our agents as an OpenSpiel bot; it sees its seat's view and nothing else.

    It may sit in any seat, or in several: it answers for whoever is to act.
    """

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self.agent = agent

    def restart_at(self, state: IdiotState) -> None:
        """Nothing: a view holds all that an agent gets."""

    def inform_action(self, state: IdiotState, player: int, action: int) -> None:
        """Nothing, as :meth:`restart_at`."""

    def step(self, state: IdiotState) -> int:
        """The agent's action for the player to act."""
        return int(self.agent.act(state.view(state.current_player())))


class OpenSpielAgent(SearchAgent):
    """OpenSpiel's search as an agent, honest: it thinks about worlds drawn from the view, never about the state.

    Args:
        method: ``mcts`` or ``ismcts``.
        budget: simulations a decision.
    """

    def __init__(self, name: str, method: str, budget: Budget, seed: int = 0) -> None:
        self._greedy = CompiledAgent("greedy")
        super().__init__(name, budget, self._greedy, seed)
        self.method = method
        self._games: dict[tuple[Rules, int], IdiotGame] = {}

    def choose(self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], random_state: int) -> int:
        legal = np.flatnonzero(mask)
        if len(legal) == 1:
            return int(legal[0])
        game = self._game(View(observation, mask, 0))
        rng = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(random_state % 2**64)))
        root = game.state_at(draw_world(observation, random_state))
        evaluator = RolloutEvaluator(self._greedy, rng)
        if self.method == "mcts":
            return int(mcts.MCTSBot(game, UCT, self.budget.count, evaluator, random_state=rng).step(root))
        bot = ismcts.ISMCTSBot(game, evaluator, UCT, self.budget.count, random_state=rng)
        bot.set_resampler(lambda state, seat: state.resample_from_infostate(seat, rng.random_sample))
        return int(bot.step(root))

    def _game(self, view: View) -> IdiotGame:
        key = view.rules, view.players
        if key not in self._games:
            self._games[key] = pyspiel.load_game(NAME, {"rules": str(view.rules), "players": view.players})
        return self._games[key]


def make_openspiel(spec: str, seed: int = 0) -> OpenSpielAgent:
    """The agent that ``openspiel:METHOD:SIMULATIONS`` names.

    Raises:
        InputError: for an unknown method, and for a budget that is no number of simulations.
    """
    _, _, rest = spec.partition(":")
    method, _, number = rest.partition(":")
    if method not in METHODS:
        raise InputError(f"{spec!r} is no agent: write openspiel:METHOD:SIMULATIONS with one of {', '.join(METHODS)}.")
    budget = Budget.parse(number)
    if not budget.count:
        raise InputError(f"{spec!r} is not possible: OpenSpiel's bots count simulations, as in openspiel:{method}:100.")
    return OpenSpielAgent(spec, method, budget, seed)
