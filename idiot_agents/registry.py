"""Agents by name, as every command line writes them.

==================  ==============================================================================================
spec                agent
==================  ==============================================================================================
``random``          uniformly among the legal actions
``greedy``          lowest rank that fits
``careful``         readable maxims
``ppo:PATH``        a trained model, its policy sharpened; PATH is its folder
``ppo!:PATH``       the same model, always its most probable action: stronger by a little, but may stall for ever
``ppo~:PATH``       the same model, drawing from its policy as it is
==================  ==============================================================================================
"""

from __future__ import annotations

from idiot_agents import compiled
from idiot_agents.compiled import CompiledAgent
from idiot_agents.errors import InputError
from idiot_agents.neural import SHARP, NeuralAgent
from idiot_agents.protocol import Agent

SPECS = (*compiled.NAMES, "ppo:PATH", "ppo!:PATH", "ppo~:PATH")
_TEMPERATURES = {"ppo": SHARP, "ppo!": 0.0, "ppo~": 1.0}


def make_agent(spec: str, seed: int = 0) -> Agent:
    """The agent that ``spec`` names; ``seed`` is for its own random choices.

    Raises:
        InputError: for an unknown name or a folder that is no model.
    """
    if spec in compiled.NAMES:
        return CompiledAgent(spec, seed)
    kind, colon, path = spec.partition(":")
    if colon and path and kind in _TEMPERATURES:
        return NeuralAgent.load(path, name=spec, temperature=_TEMPERATURES[kind], seed=seed)
    raise InputError(f"unknown agent {spec!r}: the agents are {', '.join(SPECS)}.")
