"""Idiot: the reinforcement-learning environment for the Norwegian shedding game (the family of Shithead and Palace)."""

from idiot_env.game import Game, IllegalAction, RecordError
from idiot_env.rules import Rules
from idiot_env.view import View

__version__ = "0.1.0"

__all__ = ["Game", "IllegalAction", "RecordError", "Rules", "View"]
