"""Agents by name, as every command line writes them.

==================  ==============================================================================================
spec                agent
==================  ==============================================================================================
``random``          uniformly among the legal actions
``greedy``          lowest rank that fits
``careful``         readable maxims
``linear``          the largest weighted sum of some thirty readable features, tuned
``linear:FILE``     the same with weights of one's own, see ``idiot_train/tune_linear.py``
``hoarder``         keeps specials and pairs, and rather takes; odd, as the next two, to punish over-fitting
``gambler``         burns, draws by chance, lays what the lot says
``taker``           takes whenever it may
``ppo:PATH``        a trained model, its policy sharpened; PATH is its folder
``ppo!:PATH``       the same model, always its most probable action: stronger by a little, but may stall for ever
``ppo~:PATH``       the same model, drawing from its policy as it is
``pimc:BUDGET``     honest search in so many worlds (``pimc:128``) or for so long (``pimc:50ms``), see ``search.py``;
                    greedy plays the rollouts, or whoever is named after a comma: ``pimc:128,careful``
==================  ==============================================================================================
"""

from __future__ import annotations

from pathlib import Path

from idiot_agents import compiled
from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.linear import LinearAgent
from idiot_agents.neural import SHARP, NeuralAgent
from idiot_agents.protocol import Agent, BatchAgent
from idiot_agents.search import METHODS, make_search

SPECS = (
    *compiled.NAMES,
    "linear:FILE",
    "ppo:PATH",
    "ppo!:PATH",
    "ppo~:PATH",
    *(f"{method}:BUDGET" for method in METHODS),
)
_TEMPERATURES = {"ppo": SHARP, "ppo!": 0.0, "ppo~": 1.0}


def make_agent(spec: str, seed: int = 0) -> Agent:
    """The agent that ``spec`` names; ``seed`` is for its own random choices.

    Raises:
        InputError: for an unknown name, a folder that is no model, a file without weights, or a budget that is none.
    """
    if spec in compiled.NAMES:
        return CompiledAgent(spec, seed)
    kind, colon, path = spec.partition(":")
    if colon and path and kind in _TEMPERATURES:
        return NeuralAgent.load(path, name=spec, temperature=_TEMPERATURES[kind], seed=seed)
    if colon and path and kind == "linear":
        return LinearAgent(spec, Path(path))
    if colon and kind in METHODS:
        return make_search(spec, rollout_agent(spec, seed), seed)
    raise InputError(f"unknown agent {spec!r}: the agents are {', '.join(SPECS)}.")


def rollout_agent(spec: str, seed: int) -> BatchAgent | None:
    """The agent that a search's spec names for its rollouts; ``None`` where it names none.

    Raises:
        InputError: for an unknown agent, or one that cannot play many games at once.
    """
    _, comma, name = spec.partition(",")
    if not comma:
        return None
    agent = make_agent(name, seed)
    if not isinstance(agent, BatchAgent):
        raise InputError(f"{spec!r} is not possible: {name} cannot play many games at once, as rollouts need it.")
    return agent
