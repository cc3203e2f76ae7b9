"""The trained models that come with Idiot: folders in ``idiot_agents/models``, each with a model card for people."""

from __future__ import annotations

from pathlib import Path

from idiot_agents.network import CARD

FOLDER = Path(__file__).resolve().parent / "models"
MODEL_CARD = "README.md"
"""What it was trained on, for how long, the command, its results, its weaknesses."""


def shipped_models() -> dict[str, Path]:
    """The folder of every shipped model by its name."""
    return {path.parent.name: path.parent for path in sorted(FOLDER.glob(f"*/{CARD}"))}


def model_folder(text: str | Path) -> Path:
    """The folder that ``text`` stands for: a path, or the bare name of a shipped model where no such folder is."""
    path = Path(text)
    return path if path.exists() else shipped_models().get(str(text), path)
