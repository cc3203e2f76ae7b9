"""The package's version, readable without importing the engine."""

__version__ = "0.1.0"
