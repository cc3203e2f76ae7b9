"""Agents by name, as every command line writes them.

==================  ==============================================================================================
spec                agent
==================  ==============================================================================================
``random``          uniformly among the legal actions
``greedy``          lowest rank that fits
``careful``         readable maxims
``ppo:PATH``        a trained model's most probable action; PATH is its folder
``ppo~:PATH``       the same model, drawing from its policy
==================  ==============================================================================================
"""

from __future__ import annotations

from agents import compiled
from agents.compiled import CompiledAgent
from agents.errors import InputError
from agents.neural import NeuralAgent
from agents.protocol import Agent

SPECS = (*compiled.NAMES, "ppo:PATH", "ppo~:PATH")


def make_agent(spec: str, seed: int = 0) -> Agent:
    """The agent that ``spec`` names; ``seed`` is for its own random choices.

    Raises:
        InputError: for an unknown name or a folder that is no model.
    """
    if spec in compiled.NAMES:
        return CompiledAgent(spec, seed)
    kind, colon, path = spec.partition(":")
    if colon and path and kind in ("ppo", "ppo~"):
        return NeuralAgent.load(path, name=spec, sample=kind == "ppo~", seed=seed)
    raise InputError(f"unknown agent {spec!r}: the agents are {', '.join(SPECS)}.")
