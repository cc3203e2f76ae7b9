"""Idiot: the reinforcement-learning environment for the Norwegian shedding game (the family of Shithead and Palace)."""

import gymnasium
import pettingzoo

from idiot_env.aec import env, raw_env
from idiot_env.game import Game, IllegalAction, RecordError
from idiot_env.rules import Rules
from idiot_env.version import __version__
from idiot_env.view import View

__all__ = ["Game", "IllegalAction", "RecordError", "Rules", "View", "__version__", "env", "raw_env"]

# PettingZoo's registry came with 1.27; a reload must not warn that it overrides itself.
if hasattr(pettingzoo, "register") and "idiot/Idiot-v0" not in pettingzoo.aec_registry:
    pettingzoo.register("aec", "idiot/Idiot-v0", entry_point="idiot_env.aec:env")

# Bare, without Gymnasium's wrappers: it checks the order of calls itself, and ``env.action_masks()`` stays in reach.
if "idiot_env/Idiot-v0" not in gymnasium.registry:
    gymnasium.register(
        "idiot_env/Idiot-v0",
        entry_point="idiot_env.single:IdiotEnv",
        vector_entry_point="idiot_env.single:IdiotVectorEnv",
        order_enforce=False,
        disable_env_checker=True,
    )
