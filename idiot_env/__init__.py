"""Idiot: the reinforcement-learning environment for the Norwegian shedding game (the family of Shithead and Palace)."""

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
