"""Agents by name, as every command line writes them: :data:`AGENTS` is the table, ``idiot agents`` prints it."""

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

AGENTS = {
    "random": "uniformly among the legal actions",
    "greedy": "the lowest rank that fits",
    "careful": "readable maxims",
    "linear": "the largest weighted sum of some thirty readable features, tuned",
    "hoarder": "odd, to punish over-fitting: keeps specials and pairs, and rather takes",
    "gambler": "odd: burns, draws by chance, lays what the lot says",
    "taker": "odd: takes whenever it may",
    "linear:FILE": "linear with weights of one's own, written by python -m idiot_train.tune_linear",
    "ppo:PATH": "a trained model, its policy sharpened: a folder, or the name of a shipped one",
    "ppo!:PATH": "the same, always its likeliest action: a little stronger, but may stall for ever",
    "ppo~:PATH": "the same, drawing from its policy as it is",
    "ppo+search:PATH": "the same thinking ahead, in 32 worlds or as told: ppo+search:generalist,50ms",
    "exploit:AGENT": "searches as if all played as AGENT, to exploit it; in 32 worlds: exploit:32,greedy",
    "pimc:BUDGET": "honest search, in worlds or for a time: pimc:128, pimc:50ms; rollouts: pimc:128,careful",
    "ismcts:BUDGET": "honest tree search, by iterations or time: ismcts:2000, ismcts:1s,careful",
    "openspiel:METHOD:SIMULATIONS": "OpenSpiel's own: openspiel:ismcts:100, openspiel:mcts:100; extra openspiel",
}
"""Every agent that plays honestly, and what it is.  A spec with capitals is a pattern."""
CHEATERS = {
    cheater.NAME: "sees all cards: an upper bound, only where marked",
    f"{cheater.NAME}:ROLLOUTS": "the same with more or fewer rollouts: cheater:64",
}
"""Every agent that does not."""
SPECS = tuple(AGENTS)
CHEATS = tuple(CHEATERS)
COMMON = "random, greedy, careful, linear, ppo:generalist, ppo:PATH, pimc:50ms … (all: idiot agents)"
"""What the help of a command names."""
EXPLOIT_WORLDS = 64
"""Worlds of ``exploit:AGENT`` where no budget is named."""
_TEMPERATURES = {"ppo": SHARP, "ppo!": 0.0, "ppo~": 1.0}


def make_agent(spec: str, seed: int = 0, *, cheats: bool = False) -> Agent:
    """The agent that ``spec`` names; ``seed`` is for its own random choices.

    Args:
        spec: as :data:`AGENTS` says.
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
        # The victim does exactly what it does.  The searcher slips, or both would go round in circles.  Not lost, where
        # it alone slips, all do as in pimc, nobody does: greedy, 64 worlds, 300 games 93.0 %, 87.3 %, 90.7 %; careful,
        # 24 worlds, 200 games 73.5 %, 71.0 %, 69.8 % (and 5 games cut off); deals of seed 21.
        return FlatSampler(spec, budget, rollout_player(spec, victim, seed), seed, others_slip=0)
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
