"""Idiot as a PettingZoo AEC environment.

=====================  ===============================================================================================
what                   value
=====================  ===============================================================================================
import                 ``idiot_env.env(...)``, ``idiot_env.raw_env(...)``, or, after ``import idiot_env``,
                       ``pettingzoo.make("aec", "idiot/Idiot-v0", ...)``
agents                 ``player_0`` … ``player_{n−1}``, n from 2 to 5; ``player_k`` is seat k
parallel API           no: one player acts at a time
action space           ``Discrete(A)``: ids of ``idiot_env.actions``, the same for all rules and numbers of players
observation space      ``Dict``: ``observation`` int8 ``[O]``, see ``idiot_env.observation.LAYOUT``, and
                       ``action_mask`` int8 ``[A]``
state space            ``Box`` int8 (``idiot_env.truth.LAYOUT``)
rewards                at the end only: each idiot −1, each other player +losers / (players − losers); sum 0
render modes           ``ansi`` (a string), ``human`` (prints it after every reset and step), ``rgb_array``
=====================  ===============================================================================================

Arguments of ``env`` and ``raw_env``:

``rules="standard"``
    ``Rules``, a short text such as ``"norsk chance=yes"``, or a mapping of changed options.
``players=4``
    2 to 5.
``render_mode=None``
    One of the render modes.  ``render()`` shows the table as the agent to act sees it, in the language
    ``env.unwrapped.render_lang`` (``"en"`` or ``"no"``).
``max_decisions=2000``
    After so many actions the game is cut off: every agent is truncated, with reward 0.

A game
------
* The order of turns is the game's: a burn repeats a player, a skip passes one over.  Players who are out stay in
  ``agents``, are skipped and never asked; all agents end together, when the game does.
* The one reward of each agent comes with its last ``last()``, together with ``terminated`` or ``truncated``.
* ``action_mask`` marks the legal actions of the agent to act; for every other agent, and after the end, it is zero.
* ``observe(agent)`` answers for any agent at any moment after ``reset``, also after the end, with fresh arrays that may
  be kept.
* ``infos`` are empty.
* ``state()`` is the FULL TRUTH with every hidden card, for centralised critics.  It is never for a policy that plays.

Reset
-----
``reset(seed)`` starts a series of games that the seed determines; ``reset()`` deals the next game of the series (whose
seed comes from the system if there never was one).  Game number e of the series is
``Game(rules, players, seed=game_seed(seed, e))``, as in ``idiot_env.batched``; ``env.unwrapped.deal_seed`` tells it.

``reset(options={...})`` changes one game, the next one is as configured again.  ``dealer``: a seat.  ``deck``: all card
texts in dealing order.  ``rules``: what the argument ``rules`` takes; the action and observation spaces stay the same.
Anything else is a ``ValueError`` that leaves the running game as it is, except for the key ``options``, which means
nothing: PettingZoo's ``api_test`` passes it.

Safety
------
``raw_env.step`` raises ``IllegalAction`` (a ``ValueError`` that names what was legal) and changes nothing.  ``env`` is
``raw_env`` inside one wrapper that behaves like PettingZoo's usual three: an illegal action ends the game for all
(terminated and truncated) with reward −1 for who made it, an action outside the action space is an ``AssertionError``,
and so is calling things before ``reset``.

Two environments share nothing; ``copy.deepcopy`` and ``pickle`` keep the game exactly where it is.

Version history
---------------
* v0: first version.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger, spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from idiot_env import engine
from idiot_env._jit import jit
from idiot_env.actions import N_ACTIONS, TEXTS
from idiot_env.batched import game_seed
from idiot_env.cards import card_text
from idiot_env.engine import OVER, SEATS, STATE, apply, legal_mask, write_rewards
from idiot_env.events import Event, describe
from idiot_env.game import IllegalAction, check_dealer, check_deck, seed_number
from idiot_env.observation import OBSERVATION_SIZE, observe_at, upper_bounds, write_observation
from idiot_env.rules import Rules
from idiot_env.truth import LAYOUT as TRUTH_LAYOUT
from idiot_env.truth import truth
from idiot_env.view import View

AgentID = str
Observation = dict[str, npt.NDArray[np.int8]]

RENDER_MODES = ("ansi", "human", "rgb_array")
ILLEGAL_REWARD = -1.0
"""What ``env`` gives a player for an illegal action: an idiot's reward."""
_OPTIONS = ("dealer", "deck", "rules")
_FINISHED, _CUT, _ILLEGAL = -1, -2, -3


@jit
def show(states, observation, mask):
    """Write what the seat to act sees, and return that seat; a finished game shows seat 0's view and no action."""
    seat = int(states[0]["turn"])
    legal_mask(states[0], mask)
    write_observation(states[0], max(seat, 0), observation)
    return seat


@jit
def act(states, action, limit, observation, mask, rewards):
    """Check an action id against ``mask``, apply it, and write what the next seat sees.

    Returns the seat to act next or ``_FINISHED``, ``_CUT``, ``_ILLEGAL``; ``rewards`` is written at an end only, and an
    illegal action changes nothing.  One call instead of four: crossing into compiled code costs as much as a move.
    """
    if mask[action] == 0:
        return _ILLEGAL
    state = states[0]
    apply(state, action)
    finished = state["phase"] == OVER
    if finished or state["decisions"] >= limit:
        mask[:] = 0
        write_rewards(state, rewards)
        return _FINISHED if finished else _CUT
    return show(states, observation, mask)


class raw_env(AECEnv[AgentID, Any, Any]):
    """The environment itself; see the module's documentation.

    Raises:
        ValueError: for an impossible table, render mode or limit, saying what is possible.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo declares it so
        "name": "idiot_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }
    render_lang = "en"

    def __init__(
        self,
        rules: Rules | str | Mapping[str, Any] = "standard",
        players: int = 4,
        render_mode: str | None = None,
        max_decisions: int = 2000,
    ) -> None:
        super().__init__()
        self.rules = Rules.make(rules)
        self.players = self.rules.check_players(players)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r} is not possible: it is one of {', '.join(RENDER_MODES)}.")
        if isinstance(max_decisions, bool) or not isinstance(max_decisions, int | np.integer) or max_decisions < 1:
            raise ValueError(f"max_decisions={max_decisions!r} is not possible: give a whole number from 1 on.")
        self.render_mode = render_mode
        self.max_decisions = int(max_decisions)
        self.possible_agents = [f"player_{seat}" for seat in range(self.players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, upper_bounds(), dtype=np.int8),
                    "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(N_ACTIONS) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, upper_bounds(TRUTH_LAYOUT), dtype=np.int8)
        self._seed: int | None = None
        self._episode = 0
        self._states = np.zeros(1, STATE)
        self._before = np.zeros(1, STATE)
        self._observation = np.zeros(OBSERVATION_SIZE, np.int8)
        self._mask = np.zeros(N_ACTIONS, np.int8)
        self._rewards = np.zeros(SEATS, np.float32)
        self._action: int | None = None
        self._turn: AgentID | None = None  # whom _observation and _mask are for; None: nobody is to act

    def observation_space(self, agent: AgentID) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: AgentID) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    # --- dealing -----------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a game; the module's documentation says what seeds and options do.

        Raises:
            ValueError: for a seed or an option that is not possible; the running game goes on then.
        """
        rules, dealer, deck = self._read(options or {})
        if seed is not None:
            self._seed, self._episode = seed_number(seed), 0
        elif self._seed is None:
            self._seed = secrets.randbits(63)
        self.deal_seed = int(game_seed(np.int64(self._seed), np.int64(self._episode)))
        self._episode += 1

        order, numbers = np.zeros(54, np.int8), rules.numbers()
        dealer = int(engine.draw_deal(order, numbers, self.players, dealer, self.deal_seed))
        if deck is not None:
            order[: len(deck)] = deck
        engine.deal_at(self._states, 0, order, numbers, self.players, dealer)
        self.game_rules = rules
        self.deck = [card_text(card) for card in order[: 52 + rules.jokers]]
        self.dealer = dealer
        self._action = None

        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None  # type: ignore[assignment]
        self._turn = self.agent_selection = self.possible_agents[show(self._states, self._observation, self._mask)]
        if self.render_mode == "human":
            self.render()

    def _read(self, options: Mapping[str, Any]) -> tuple[Rules, int, npt.NDArray[np.int8] | None]:
        """Rules, dealer (−1: drawn) and deck of the next game."""
        if not isinstance(options, Mapping):
            raise ValueError(f"options={options!r} is not possible: give a mapping of {', '.join(_OPTIONS)}.")
        unknown = [key for key in options if key not in _OPTIONS and key != "options"]
        if unknown:
            raise ValueError(f"unknown reset option {unknown[0]!r}: the options are {', '.join(_OPTIONS)}.")
        rules, dealer, deck = self.rules, options.get("dealer"), options.get("deck")
        if options.get("rules") is not None:
            rules = Rules.make(options["rules"])
            rules.check_players(self.players)
        return (
            rules,
            -1 if dealer is None else check_dealer(dealer, self.players),
            None if deck is None else check_deck(deck, rules),
        )

    # --- playing -----------------------------------------------------------------------------------------------------

    def observe(self, agent: AgentID) -> Observation:
        if agent == self._turn:
            return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        if not hasattr(self, "agents"):
            raise RuntimeError("there is nothing to observe before reset().")
        if agent not in self._seats:
            raise ValueError(f"{agent!r} is not at the table: the agents are {', '.join(self.possible_agents)}.")
        observation = np.empty(OBSERVATION_SIZE, np.int8)
        observe_at(self._states, 0, self._seats[agent], observation)
        return {"observation": observation, "action_mask": np.zeros(N_ACTIONS, np.int8)}

    def step(self, action: Any) -> None:
        """Carry out the action of ``agent_selection``; ``None`` once it is terminated or truncated.

        Raises:
            IllegalAction: if the action is not legal; nothing has changed then.
        """
        if self._turn is None:
            if not hasattr(self, "agents"):
                raise RuntimeError("call reset() before step().")
            if not self.agents:
                raise IllegalAction("the game is over and every agent knows it: call reset().")
            self._was_dead_step(action)
            return
        try:
            number = index(action)
        except TypeError:
            number = -1
        if not 0 <= number < N_ACTIONS:
            raise self._illegal(action)
        if self.render_mode is not None:
            self._before[:] = self._states
        turn = act(self._states, number, self.max_decisions, self._observation, self._mask, self._rewards)
        if turn >= 0:
            self._turn = self.agent_selection = self.possible_agents[turn]
        elif turn == _ILLEGAL:
            raise self._illegal(action)
        else:
            self._end(turn == _FINISHED)
        self._action = number
        if self.render_mode == "human":
            self.render()

    def _illegal(self, action: Any) -> IllegalAction:
        legal = ", ".join(f"{TEXTS[number]} ({number})" for number in np.flatnonzero(self._mask))
        return IllegalAction(f"action {action!r} is not legal for {self._turn}: legal are {legal}.")

    def _end(self, finished: bool) -> None:
        """All agents end at once; their rewards wait in ``_cumulative_rewards`` for their last ``last()``."""
        agents = self.agents
        self.rewards = {agent: float(self._rewards[self._seats[agent]]) for agent in agents}
        self._cumulative_rewards = dict(self.rewards)
        self.terminations = dict.fromkeys(agents, finished)
        self.truncations = dict.fromkeys(agents, not finished)
        self._turn = None
        self._skip_agent_selection = self.agent_selection
        self.agent_selection = agents[0]

    def forfeit(self, reward: float) -> None:
        """End the game for all because the agent to act did something illegal, as PettingZoo's wrapper does."""
        offender = self._turn
        self._mask[:] = 0
        self._end(True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = {agent: reward if agent == offender else 0.0 for agent in self.agents}
        self._cumulative_rewards = dict(self.rewards)

    # --- looking on --------------------------------------------------------------------------------------------------

    def state(self) -> npt.NDArray[np.int8]:
        """The FULL TRUTH with every hidden card (``idiot_env.truth.LAYOUT``): for critics, never for players."""
        if not hasattr(self, "agents"):
            raise RuntimeError("there is no state before reset().")
        return truth(self._states)

    @property
    def states(self) -> npt.NDArray[np.void]:
        """A copy of the engine's state as an array ``[1]`` of ``STATE``: for referees and tools, never for players."""
        return self._states.copy()

    def view(self, agent: AgentID) -> View:
        """What ``agent`` may see, with readable accessors."""
        seen = self.observe(agent)
        return View(seen["observation"], seen["action_mask"], self._seats[agent])

    @property
    def last_event(self) -> Event | None:
        """What the last action did, as everybody saw it; kept only with a render mode."""
        if self._action is None or self.render_mode is None:
            return None
        return describe(self._before[0], self._action, self._states[0])

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The table as ``agent_selection`` sees it: a string, a picture ``[H, W, 3]``, or printed (``human``)."""
        if self.render_mode is None:
            logger.warn("render() does nothing without a render mode: pass render_mode to the environment.")
            return None
        from idiot_env.render import ansi, picture  # pictures need Pillow, which nobody else should wait for

        view = self.view(self.agent_selection)
        if self.render_mode == "rgb_array":
            return picture(view, self.last_event, names=self.possible_agents, lang=self.render_lang)
        text = ansi(view, self.last_event, names=self.possible_agents, lang=self.render_lang)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def close(self) -> None:
        """Nothing is open."""


class Guard(OrderEnforcingWrapper[AgentID, Any, Any]):
    """PettingZoo's three usual wrappers in one layer: order of calls, bounds of actions, illegal actions.

    They find the agent and its mask anew in each layer; here the environment's own check is the only one.
    """

    env: raw_env

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        self.env.reset(seed, options)
        self._has_reset = True
        self._has_updated = True

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return self.env.last(observe)

    def step(self, action: Any) -> None:
        env = self.env
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not env.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        try:
            env.step(action)
        except IllegalAction:
            assert env.action_space(env.agent_selection).contains(action), "action is not in action space"
            EnvLogger.warn_on_illegal_move()
            env.forfeit(ILLEGAL_REWARD)

    def __str__(self) -> str:
        return str(self.env)


def env(
    rules: Rules | str | Mapping[str, Any] = "standard",
    players: int = 4,
    render_mode: str | None = None,
    max_decisions: int = 2000,
) -> Guard:
    """The environment with the safety of PettingZoo's usual wrappers; see the module's documentation."""
    return Guard(raw_env(rules, players, render_mode, max_decisions))


__all__ = ["ILLEGAL_REWARD", "RENDER_MODES", "env", "raw_env"]
