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
``ppo:PATH``        a trained model, its policy sharpened; PATH is its folder, or the name of a shipped one
``ppo!:PATH``       the same model, always its most probable action: stronger by a little, but may stall for ever
``ppo~:PATH``       the same model, drawing from its policy as it is
``pimc:BUDGET``     honest search in so many worlds (``pimc:128``) or for so long (``pimc:50ms``), see ``search.py``;
                    greedy plays the rollouts, or whoever is named after a comma: ``pimc:128,careful``
``ismcts:BUDGET``   honest tree search, by iterations (``ismcts:2000``) or time (``ismcts:1s``); rollouts as for pimc,
                    by a compiled agent
``ppo+search:PATH`` a model that thinks ahead, in 32 worlds or as said after a comma: ``ppo+search:PATH,50ms``; see
                    ``guided.py``
``exploit:AGENT``   flat sampling in which everybody plays as AGENT: what AGENT gives away; ``exploit:64,AGENT``: worlds
``openspiel:…``     OpenSpiel's own search, ``openspiel:mcts:100`` or ``openspiel:ismcts:100``, see ``openspiel.py``;
                    needs the extra openspiel
``cheater``         SEES ALL CARDS, see ``cheater.py``: only where cheats are asked for; ``cheater:64``: more rollouts
==================  ==============================================================================================
"""

from __future__ import annotations

from pathlib import Path

from idiot_agents import cheater, compiled
from idiot_agents.cheater import CheatingAgent
from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.guided import make_guided, split_budget
from idiot_agents.linear import LinearAgent
from idiot_agents.neural import SHARP, NeuralAgent
from idiot_agents.protocol import Agent, BatchAgent
from idiot_agents.search import METHODS, Budget, FlatSampler, make_search

SPECS = (
    *compiled.NAMES,
    "linear:FILE",
    "ppo:PATH",
    "ppo!:PATH",
    "ppo~:PATH",
    "ppo+search:PATH",
    "exploit:AGENT",
    *(f"{method}:BUDGET" for method in METHODS),
    "openspiel:METHOD:SIMULATIONS",
)
"""Every agent that plays honestly, as command lines list them."""
CHEATS = (cheater.NAME, f"{cheater.NAME}:ROLLOUTS")
"""Every agent that does not."""
EXPLOIT_WORLDS = 64
"""Worlds of ``exploit:AGENT`` where no budget is named."""
_TEMPERATURES = {"ppo": SHARP, "ppo!": 0.0, "ppo~": 1.0}


def make_agent(spec: str, seed: int = 0, *, cheats: bool = False) -> Agent:
    """The agent that ``spec`` names; ``seed`` is for its own random choices.

    Args:
        spec: as the table above says.
        seed: any number.
        cheats: also make an agent that sees all cards, which acts on a state and on no view.

    Raises:
        InputError: for an unknown name, a folder that is no model, a file without weights, or a budget that is none;
            for one that cheats where that is not asked for.
    """
    if spec in compiled.NAMES:
        return CompiledAgent(spec, seed)
    kind, colon, path = spec.partition(":")
    if colon and path and kind in _TEMPERATURES:
        return NeuralAgent.load(path, name=spec, temperature=_TEMPERATURES[kind], seed=seed)
    if colon and path and kind == "ppo+search":
        return make_guided(spec, seed)
    if colon and path and kind == "exploit":
        budget, victim = split_budget(path, Budget(EXPLOIT_WORLDS))
        return FlatSampler(spec, budget, rollout_player(spec, victim, seed), seed)
    if colon and path and kind == "linear":
        return LinearAgent(spec, Path(path), seed)
    if kind == cheater.NAME:
        if not cheats:
            raise InputError(f"{spec!r} sees all cards and is no honest agent: name one of {', '.join(SPECS)}.")
        return CheatingAgent.parse(spec)
    if colon and kind in METHODS:
        return make_search(spec, rollout_agent(spec, seed), seed)
    if colon and kind == "openspiel":
        return openspiel_agent(spec, seed)
    known = (*SPECS, *CHEATS) if cheats else SPECS
    raise InputError(f"unknown agent {spec!r}: the agents are {', '.join(known)}.")


def openspiel_agent(spec: str, seed: int) -> Agent:
    """An agent that thinks with OpenSpiel.

    Raises:
        InputError: for a spec that names none, and where OpenSpiel is not installed.
    """
    try:
        from idiot_agents.openspiel import make_openspiel
    except ModuleNotFoundError as error:
        if error.name not in ("pyspiel", "open_spiel"):
            raise
        raise InputError(f"{spec!r} needs OpenSpiel: install the extra openspiel.") from None
    return make_openspiel(spec, seed)


def rollout_agent(spec: str, seed: int) -> BatchAgent | None:
    """The agent that a search's spec names for its rollouts; ``None`` where it names none."""
    _, comma, name = spec.partition(",")
    return rollout_player(spec, name, seed) if comma else None


def rollout_player(spec: str, name: str, seed: int) -> BatchAgent:
    """The agent ``name``, for the rollouts of the search ``spec``.

    Raises:
        InputError: for an unknown agent, or one that cannot play many games at once.
    """
    agent = make_agent(name, seed)
    if not isinstance(agent, BatchAgent):
        raise InputError(f"{spec!r} is not possible: {name} cannot play many games at once, as rollouts need it.")
    return agent
