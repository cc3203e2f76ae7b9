"""Idiot for Gymnasium: one seat against any opponents, one game at a time or N side by side.

=====================  ===============================================================================================
what                   value
=====================  ===============================================================================================
one game               ``idiot_env.single.IdiotEnv(...)`` or, after ``import idiot_env``,
                       ``gymnasium.make("idiot_env/Idiot-v0", ...)``
N games                ``idiot_env.single.IdiotVectorEnv(N, ...)``, or
                       ``gymnasium.make_vec("idiot_env/Idiot-v0", N, ...)``
step                   one decision of the learner; the opponents' are played inside
action space           ``Discrete(A)``: ids of ``idiot_env.actions``, the same for all rules and numbers of players
observation space      ``Box`` int8 ``[O]``, see ``idiot_env.observation.LAYOUT``
action mask            int8 ``[A]`` in ``info["action_mask"]`` and from ``action_masks()``, where ``MaskablePPO`` looks
                       (within wrappers: ``env.get_wrapper_attr("action_masks")()``)
rewards                with the last step only: an idiot −1, every other player +losers / (players − losers)
terminated             the learner is out or the game is over: nothing can change its reward any more
truncated              ``max_decisions`` actions of all seats were played: reward 0
autoreset              ``IdiotVectorEnv``: ``AutoresetMode.SAME_STEP``
render modes           of ``IdiotEnv``: ``ansi`` (a string), ``human`` (prints it after every reset and step),
                       ``rgb_array``
=====================  ===============================================================================================

Arguments of both:

``opponents=None``
    Who plays the other seats: a batch policy (``idiot_agents.registry.make_agent("greedy")``, or anything with
    ``idiot_env.seats.Policy``'s ``act_batch``), an agent with ``act(view)``, a function ``(observation, mask) -> action
    id``, or a list of these.  From a list each seat's opponent is drawn for every game.  ``None`` plays uniformly among
    the legal actions.
``shares=None``
    How often each entry of the list is drawn; equally unless given.
``rules="standard"``, ``players=4``
    The table: ``Rules``, a short text such as ``"norsk chance=yes"``, or a mapping; 2 to 5.  ``IdiotVectorEnv`` takes
    lists of N, too.
``seat=None``
    The learner's seat, from 0 on; drawn for every game unless given.
``max_decisions=2000``
    After so many actions the game is cut off.
``render_mode=None``, ``illegal="raise"``
    Only ``IdiotEnv``.  An illegal action raises ``IllegalAction``, which names what was legal, and changes nothing.
    ``illegal="forfeit"`` ends the game instead, terminated with reward −1, as ``idiot_env.env`` does: for tools that
    act without looking at the mask, such as Gymnasium's ``check_env``.

Masks at the end
----------------
While the learner is to act, its mask has at least one 1.  After the end nothing is legal, but a mask of zeros turns a
softmax into NaN wherever a learner masks the last observation, too.  So the last decision's mask is repeated there; no
step is possible.  ``view()`` and ``render()`` say honestly that nothing is legal.

The last observation is the learner's view in the moment its fate was settled: of the end of the game, or of the game
that the others play on.

Seeds
-----
``reset(seed)`` starts a series of games that the seed determines: decks, seats, the drawing of opponents and the
randomness of batch policies.  ``reset()`` deals the next game of the series, whether or not the present one is over.
Game number e is ``Game(rules, players, seed=game_seed(seed, e))``, as in ``idiot_env.aec``; ``deal_seed`` tells it, and
``seats`` holds the full truth: both are for referees and tools, never for players.  A game that is cut off before the
learner's first decision counts but is not shown.

``reset(options={...})`` of ``IdiotEnv`` changes one game.  ``dealer``: a seat.  ``deck``: all card texts in dealing
order.  Anything else is a ``ValueError`` that leaves the running game as it is.

N games
-------
Row i of ``IdiotVectorEnv`` after ``reset(seed)`` is ``IdiotEnv`` after ``reset(seed + i)``, move by move, and the whole
is ``SyncVectorEnv`` of such, with ``AutoresetMode.SAME_STEP``: where a game is settled the observation and the mask are
the next game's first, and ``info["final_obs"]`` (objects ``[N]``) and ``info["final_info"]`` have the last ones.  A
list of N seeds gives each row its own.  ``reset_mask`` is not an option: rows reset themselves.  An illegal action
raises before any row has moved.  After a step in which an opponent failed, only ``reset`` works.

Everything handed out is a copy that may be kept.  ``copy.deepcopy`` and, if the opponents allow it, ``pickle`` keep the
games exactly where they are.

Version history
---------------
* v0: first version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import logger, spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from idiot_env import engine
from idiot_env.actions import N_ACTIONS, TEXTS
from idiot_env.batched import show_row
from idiot_env.game import IllegalAction, check_dealer, check_deck, seed_number
from idiot_env.observation import OBSERVATION_SIZE, upper_bounds
from idiot_env.rules import Rules
from idiot_env.seats import LearnerSeats, Policy, SeatStep, UniformPlay
from idiot_env.view import View

Observation = npt.NDArray[np.int8]
Mask = npt.NDArray[np.int8]

RENDER_MODES = ("ansi", "human", "rgb_array")
ILLEGAL_MODES = ("raise", "forfeit")
FORFEIT_REWARD = -1.0
"""What ``illegal="forfeit"`` gives for an illegal action: an idiot's reward."""
_OPTIONS = ("dealer", "deck")


# --- opponents -------------------------------------------------------------------------------------------------------


class OneByOne:
    """A policy made of a function, or of an agent with ``act(view)``, which is asked about one view after the other."""

    def __init__(self, opponent: Any) -> None:
        self.opponent = opponent

    def act_batch(self, observation: Observation, mask: Mask, streams: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Legal actions int64 ``[K]``.

        Raises:
            IllegalAction: for any other answer.
        """
        return np.array([self._ask(seen, legal) for seen, legal in zip(observation, mask)], np.int64)

    def _ask(self, observation: Observation, mask: Mask) -> int:
        own = observation.copy(), mask.copy()
        answer = self.opponent.act(View(*own, 0)) if hasattr(self.opponent, "act") else self.opponent(*own)
        number = _legal_id(answer, mask)
        if number is None:
            raise IllegalAction(f"the opponent {self.opponent!r} answered {answer!r}: legal were {_legal_text(mask)}.")
        return number


def make_opponents(opponents: Any) -> list[Policy]:
    """The policies that ``opponents`` names, see the module's documentation.

    Raises:
        ValueError: for anything that cannot play.
    """
    if opponents is None:
        return [UniformPlay()]
    if isinstance(opponents, list | tuple):
        if not opponents:
            raise ValueError(f"opponents={opponents!r} is not possible: name at least one, or None for random play.")
        return [_policy(opponent) for opponent in opponents]
    return [_policy(opponents)]


def _policy(opponent: Any) -> Policy:
    if isinstance(opponent, str):
        raise ValueError(
            f"{opponent!r} is no opponent: idiot_env knows no agents by name; "
            f'pass idiot_agents.registry.make_agent("{opponent}").'
        )
    if isinstance(opponent, type):
        raise ValueError(f"{opponent!r} is no opponent but a class: pass an instance of it.")
    if hasattr(opponent, "act_batch"):
        policy: Policy = opponent
        return policy
    if hasattr(opponent, "act") or callable(opponent):
        return OneByOne(opponent)
    raise ValueError(
        f"{opponent!r} is no opponent: pass a policy with act_batch, an agent with act(view), "
        "a function (observation, mask) -> action, or a list of these."
    )


# --- what both share -------------------------------------------------------------------------------------------------


def _spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Spaces of one learner's observation and action."""
    return spaces.Box(0, upper_bounds(), dtype=np.int8), spaces.Discrete(N_ACTIONS)


def _legal_id(action: Any, mask: Mask) -> int | None:
    """An action as a plain number if it is one and legal."""
    try:
        number = -1 if isinstance(action, bool) else index(action)
    except TypeError:
        return None
    return number if 0 <= number < N_ACTIONS and mask[number] == 1 else None


def _legal_text(mask: Mask) -> str:
    return ", ".join(f"{TEXTS[number]} ({number})" for number in np.flatnonzero(mask))


def _check_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed={seed!r} is not possible: give a whole number from 0 on.")
    return int(seed)


def _check_options(options: Any, known: Sequence[str]) -> Mapping[str, Any]:
    options = {} if options is None else options
    listed = f"the options are {', '.join(known)}" if known else "there are none"
    if not isinstance(options, Mapping):
        raise ValueError(f"options={options!r} is not possible: give a mapping; {listed}.")
    for key in options:
        if key not in known:
            raise ValueError(f"unknown reset option {key!r}: {listed}.")
    return options


# --- one game --------------------------------------------------------------------------------------------------------


class IdiotEnv(gymnasium.Env[Observation, Any]):
    """One learner's seat in one game at a time; see the module's documentation.

    Attributes:
        seats: the game as ``LearnerSeats`` of one row, with the full truth: for tools, never for players.

    Raises:
        ValueError: for an impossible table, seat, opponent, limit or mode, saying what is possible.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012 - as Gymnasium does
    render_lang = "en"

    def __init__(
        self,
        opponents: Any = None,
        *,
        shares: Sequence[float] | None = None,
        rules: Rules | str | Mapping[str, Any] = "standard",
        players: int = 4,
        seat: int | None = None,
        max_decisions: int = 2000,
        render_mode: str | None = None,
        illegal: str = "raise",
    ) -> None:
        self.rules = Rules.make(rules)
        self.players = self.rules.check_players(players)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r} is not possible: it is one of {', '.join(RENDER_MODES)}.")
        if illegal not in ILLEGAL_MODES:
            raise ValueError(f"illegal={illegal!r} is not possible: it is one of {', '.join(ILLEGAL_MODES)}.")
        self.render_mode = render_mode
        self.illegal = illegal
        self.seats = LearnerSeats(
            1,
            make_opponents(opponents),
            shares=shares,
            rules=self.rules,
            players=self.players,
            max_decisions=max_decisions,
            seat=seat,
            autoreset=False,
        )
        self.observation_space, self.action_space = _spaces()
        self._rows = np.zeros(1, np.int64)
        self._observation = np.zeros(OBSERVATION_SIZE, np.int8)
        self._mask = np.zeros(N_ACTIONS, np.int8)
        self._dealt = False
        self._ended = True

    @property
    def seat(self) -> int:
        """The learner's seat in this game: only a name, observations are relative to it."""
        return int(self.seats.learner[0])

    @property
    def deal_seed(self) -> int:
        """``Game(seed=deal_seed)`` deals this game again, unless a reset option changed it; never for players."""
        return int(self.seats.batch.seeds[0])

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a game and play to the learner's first decision; the module's documentation says how seeds work.

        Raises:
            ValueError: for a seed or an option that is not possible; the running game goes on then.
        """
        given = _check_options(options, _OPTIONS)
        dealer = None if given.get("dealer") is None else check_dealer(given["dealer"], self.players)
        deck = None if given.get("deck") is None else check_deck(given["deck"], self.rules)
        seed = None if seed is None else _check_seed(seed)
        super().reset(seed=seed)
        if seed is None and not self._dealt:
            seed = int(self.np_random.integers(2**62))
        self._dealt, self._ended = True, True
        if seed is None:
            self.seats.batch.reset_games(self._rows)
        else:
            self.seats.batch.reset([seed_number(seed)])
        if dealer is not None or deck is not None:
            self._deal_again(dealer, deck)
        self._take(self.seats.start(self._rows))
        return self._show()

    def _deal_again(self, dealer: int | None, deck: npt.NDArray[np.int8] | None) -> None:
        """Deal the game that is on the table with a given dealer or deck; whatever is not given stays."""
        batch = self.seats.batch
        order, numbers = np.zeros(54, np.int8), self.rules.numbers()
        drawn = engine.draw_deal(order, numbers, self.players, -1 if dealer is None else dealer, self.deal_seed)
        if deck is not None:
            order[: len(deck)] = deck
        engine.deal_at(batch.states, 0, order, numbers, self.players, int(drawn))
        show_row(batch.states, 0, batch.observation, batch.mask, batch.seat)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play to its next decision, or to the end.

        Raises:
            IllegalAction: if the action is not legal; nothing has changed then.
            ResetNeeded: before the first reset and after the end.
        """
        if self._ended:
            raise ResetNeeded("no game is running: call reset() before step().")
        number = _legal_id(action, self._mask)
        if number is None and self.illegal == "raise":
            legal = _legal_text(self._mask)
            raise IllegalAction(f"action {action!r} is not legal for seat {self.seat}: legal are {legal}.")
        if number is None:
            self._ended = True
            observation, info = self._show()
            return observation, FORFEIT_REWARD, True, False, info
        self._ended = True  # should an opponent fail, the game is half way to the learner's next decision
        step = self.seats.step(np.array([number]))
        self._take(step)
        observation, info = self._show()
        return observation, float(step.reward[0]), bool(step.terminated[0]), bool(step.truncated[0]), info

    def _take(self, step: SeatStep) -> None:
        """Keep what the learner sees now; at the end, the last decision's mask stays."""
        self._ended = bool(step.terminated[0] or step.truncated[0])
        self._observation[:] = step.observation[0]
        if not self._ended:
            self._mask[:] = step.mask[0]

    def _show(self) -> tuple[Observation, dict[str, Any]]:
        if self.render_mode == "human":
            self.render()
        return self._observation.copy(), {"action_mask": self._mask.copy()}

    def action_masks(self) -> Mask:
        """int8 ``[A]``: 1 for each legal action of the learner; at the end, that of its last decision."""
        return self._mask.copy()

    def view(self) -> View:
        """What the learner may see, with readable accessors; nothing is legal after the end.

        Raises:
            ResetNeeded: before the first reset.
        """
        if not self._dealt:
            raise ResetNeeded("there is nothing to see before reset().")
        mask = np.zeros(N_ACTIONS, np.int8) if self._ended else self._mask.copy()
        return View(self._observation.copy(), mask, self.seat)

    def render(self) -> Any:
        """The table as the learner sees it: a string, a picture ``[H, W, 3]``, or printed (``human``)."""
        if self.render_mode is None:
            logger.warn("render() does nothing without a render mode: pass render_mode to the environment.")
            return None
        from idiot_env.render import ansi, picture  # pictures need Pillow, which nobody else should wait for

        view = self.view()
        if self.render_mode == "rgb_array":
            return picture(view, lang=self.render_lang)
        text = ansi(view, lang=self.render_lang)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None


# --- N games ---------------------------------------------------------------------------------------------------------


class IdiotVectorEnv(VectorEnv[Observation, npt.NDArray[np.integer[Any]], npt.NDArray[Any]]):
    """N games side by side, one learner's seat in each; see the module's documentation.

    Observations int8 ``[N, O]``, masks int8 ``[N, A]``, rewards float64 ``[N]``, ends bool ``[N]``.

    Attributes:
        seats: the games, with the full truth: for tools, never for players.

    Raises:
        ValueError: for an impossible number, table, seat, opponent or limit, saying what is possible.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Any = None,
        *,
        shares: Sequence[float] | None = None,
        rules: Any = "standard",
        players: int | Sequence[int] = 4,
        seat: int | None = None,
        max_decisions: int = 2000,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not possible: give a whole number from 1 on.")
        self.num_envs = int(num_envs)
        self.seats = LearnerSeats(
            self.num_envs,
            make_opponents(opponents),
            shares=shares,
            rules=rules,
            players=players,
            max_decisions=max_decisions,
            seat=seat,
            last_views=True,
        )
        self.single_observation_space, self.single_action_space = _spaces()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._dealt = False

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal all games: those of a new series, or the next ones of each row's.

        Args:
            seed: one for row 0, from which the others count up; or one for each row.

        Raises:
            ValueError: for a seed that is not possible, or any option; the running games go on then.
        """
        _check_options(options, ())
        seeds = None if seed is None else self._row_seeds(seed)
        super().reset(seed=seeds[0] if seeds and not isinstance(seed, Sequence | np.ndarray) else None)
        if seeds is None and not self._dealt:
            seeds = self._row_seeds(int(self.np_random.integers(2**62)))
        if seeds is None:
            step = self.seats.next_games(np.arange(self.num_envs))
        else:
            step = self.seats.reset([seed_number(number) for number in seeds])
        self._dealt = True
        return step.observation.copy(), self._infos()

    def _row_seeds(self, seed: int | Sequence[int]) -> list[int]:
        if not isinstance(seed, Sequence | np.ndarray):
            first = _check_seed(seed)
            return [first + row for row in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds are not possible: give one, or one for each of {self.num_envs} games.")
        return [_check_seed(number) for number in seed]

    def step(
        self, actions: npt.NDArray[np.integer[Any]]
    ) -> tuple[Observation, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Carry out every learner's action ``[N]``, and play to its next decision, in the next game where one ended.

        Raises:
            IllegalAction: names the first row whose action is not legal; no game has moved then.
            ResetNeeded: before the first reset.
        """
        if not self._dealt:
            raise ResetNeeded("no game is running: call reset() before step().")
        acted_on = self.seats.mask.copy()
        step = self.seats.step(actions)
        infos = self._infos()
        done = step.terminated | step.truncated
        if done.any():
            assert self.seats.last_view is not None
            final = np.full(self.num_envs, None, dtype=object)
            for row in np.flatnonzero(done):
                final[row] = self.seats.last_view[row].copy()
            acted_on[~done] = 0
            infos |= {
                "final_obs": final,
                "_final_obs": done.copy(),
                "final_info": {"action_mask": acted_on, "_action_mask": done.copy()},
                "_final_info": done.copy(),
            }
        return (
            step.observation.copy(),
            step.reward.astype(np.float64),
            step.terminated.copy(),
            step.truncated.copy(),
            infos,
        )

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "_action_mask": np.ones(self.num_envs, np.bool_)}

    def action_masks(self) -> Mask:
        """int8 ``[N, A]``: 1 for each legal action of each learner; no row is empty."""
        return self.seats.mask.copy()


__all__ = ["FORFEIT_REWARD", "ILLEGAL_MODES", "RENDER_MODES", "IdiotEnv", "IdiotVectorEnv"]
