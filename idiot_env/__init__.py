"""Idiot: the reinforcement-learning environment for the Norwegian shedding game (the family of Shithead and Palace)."""

from idiot_env.game import Game, IllegalAction, RecordError
from idiot_env.rules import Rules
from idiot_env.version import __version__
from idiot_env.view import View

__all__ = ["Game", "IllegalAction", "RecordError", "Rules", "View", "__version__"]
