"""How often an agent throws away a win that is proven: a measure that needs no opinion.

The agent plays whole games, in both seats of every deal.  Wherever its view is an endgame that can be solved and a win
of probability 1 is there to be kept, its action either keeps it or throws it away.  Such decisions are rare, so an
agent that thinks long may leave all others to a quick one.
"""

from __future__ import annotations

from dataclasses import dataclass

from idiot_agents.arena import MAX_DECISIONS, deal_seeds
from idiot_agents.endgame import Solution, Solver
from idiot_agents.protocol import Agent
from idiot_env import Game, Rules


@dataclass(frozen=True)
class Throwaway:
    """What became of proven wins.

    Attributes:
        games: played games.
        won_games: games in which a win was proven at some decision of the agent's that offered a choice.
        lost_games: those of them that the agent did not win.
        decisions: the agent's decisions with a proven win and something to throw it away with.
        thrown: those at which it did.
    """

    games: int
    won_games: int
    lost_games: int
    decisions: int
    thrown: int

    @property
    def share(self) -> float:
        """The share of such decisions that throw the win away; 0 where there were none."""
        return self.thrown / self.decisions if self.decisions else 0.0


def keeps(solution: Solution, action: int) -> bool:
    """Whether an action keeps a proven win."""
    return solution.actions[action].win == 1.0


def throwaway(
    agent: Agent,
    opponent: Agent,
    rules: Rules,
    deals: int,
    *,
    seed: int = 0,
    solver: Solver | None = None,
    max_decisions: int = MAX_DECISIONS,
    deputy: Agent | None = None,
) -> Throwaway:
    """Play ``deals`` deals of ``(rules, 2 players, seed)`` in both seats against ``opponent``, and count.

    Args:
        agent: who decides where a proven win can be thrown away.
        opponent: in the other seat.
        rules: of the table.
        deals: each played twice.
        seed: of the deals.
        solver: what proves wins.
        max_decisions: after which a game is cut off.
        deputy: who decides for the agent elsewhere; the agent itself unless named.

    Raises:
        ValueError: for rules that two players cannot play by.
    """
    rules.check_players(2)
    solver = solver or Solver()
    won_games = lost_games = decisions = thrown = 0
    for deal in deal_seeds(rules, 2, deals, seed):
        for seat in range(2):
            game = Game(rules, 2, seed=int(deal), max_decisions=max_decisions)
            proven = False
            while game.turn is not None:
                view = game.view(game.turn)
                if game.turn != seat:
                    game.apply(opponent.act(view))
                    continue
                solution = solver.solve(view.observation) if view.action_mask.sum() > 1 else None
                won = solution is not None and solution.value.win == 1.0
                proven |= won
                if solution is not None and won and any(value.win < 1.0 for value in solution.actions.values()):
                    action = agent.act(view)
                    decisions += 1
                    thrown += not keeps(solution, action)
                else:
                    action = (deputy or agent).act(view)
                game.apply(action)
            won_games += proven
            lost_games += proven and game.out[:1] != [seat]
    return Throwaway(2 * deals, won_games, lost_games, decisions, thrown)
