"""The learning curve of a run: evaluations on the way, checkpoints, and the model that the run leaves."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import idiot_env
from idiot_agents.arena import play_match
from idiot_agents.network import Network, load_model, save_model, write_file
from idiot_agents.neural import NeuralAgent
from idiot_agents.registry import make_agent
from idiot_env import Rules
from idiot_train.beliefs import DECISIONS, teach_belief
from idiot_train.config import TrainConfig

LIBRARIES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib", "ray")
"""What a model's card names with its version, as far as it is installed."""
RATINGS = (800, 900, 1000, 1100, 1200, 1300, 1400)
"""Ticks of the rating's axis."""


@dataclass(frozen=True)
class CurvePoint:
    """One evaluation on the way, of the sharpened policy on deals that stay the same.

    Attributes:
        decisions, seconds: the learner's decisions and the time until then.
        lost, low, high: share of games lost at the main table against the first of ``references``, with its interval.
        relative: share of games lost, as a multiple of an even share, mean over all tables and ``references``.
        truncated: games cut off, of all that were played for this point.
    """

    decisions: int
    seconds: float
    lost: float
    low: float
    high: float
    relative: float
    truncated: int


class Curve:
    """Measures a learner on the way, keeps checkpoints, and writes the finished model.

    Args:
        config: what is evaluated, how often, and what is kept.
        folder: the run's.

    Attributes:
        references: the agents that the learner is measured against.
        points: the evaluations so far.
        best: the checkpoint of the best of them; empty without checkpoints.
    """

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.references = [make_agent(spec, config.seed) for spec in config.references]
        self.points: list[CurvePoint] = []
        self.best = ""

    def is_due(self, decisions: int) -> bool:
        """Whether, after so many decisions, the next point is to be measured; the first one is before any."""
        evaluations = self.config.evaluations
        return evaluations > 0 and decisions / self.config.decisions * evaluations >= len(self.points)

    def measure(self, network: Network, decisions: int, seconds: float) -> CurvePoint:
        """One point of the curve, and a checkpoint."""
        agent = NeuralAgent(network, "learner")
        config, matches, relative = self.config, [], []
        for rules, players in config.tables:
            for reference in self.references:
                match = play_match(agent, reference, rules, players, config.evaluation_deals, seed=config.seed)
                matches.append(match)
                relative.append(match.lost * players / rules.losers)
        lost, mean = matches[0].figures.lost, float(np.mean(relative))
        cut = sum(match.truncated for match in matches)
        best = min((point.relative for point in self.points), default=np.inf)
        point = CurvePoint(decisions, seconds, lost.mean, lost.low, lost.high, relative=mean, truncated=cut)
        self.points.append(point)
        if config.keep_checkpoints:
            name = f"{decisions:010d}"
            folder = self.folder / "checkpoints"
            save_model(folder / name, network, model_facts(config, decisions))
            if mean < best:
                self.best = name
            old = [path for path in sorted(folder.iterdir()) if path.name != self.best]
            for path in old[: -config.keep_checkpoints]:
                shutil.rmtree(path)
        return point

    def finish(self, network: Network, decisions: int) -> NeuralAgent:
        """Write the curve and, with a belief, the model: the best evaluated or the last, as the configuration asks."""
        facts = model_facts(self.config, decisions)
        if self.config.keep == "best":
            network, card = load_model(self.folder / "checkpoints" / self.best)
            facts["decisions"] = card["decisions"]
        network = teach_belief(network, self.config, max(1, min(DECISIONS, decisions // 10)), self.config.seed)
        model = self.folder / "model"
        save_model(model, network, facts)
        if self.points:
            content = json.dumps([asdict(point) for point in self.points], indent=1)
            write_file(self.folder / "curve.json", content.encode())
            draw_curve(self.points, self.references[0].name, self.config, self.folder / "curve.png")
        return NeuralAgent.load(model)


def model_facts(config: TrainConfig, decisions: int) -> dict[str, Any]:
    """What a model folder says about its training."""
    several = len(config.table_names) > 1
    return {
        "rules": [str(Rules.parse(name)) for name in config.table_names] if several else str(config.tables[0][0]),
        "players": config.players,
        "house_rules": config.house_rules,
        "seed": config.seed,
        "decisions": decisions,
        "config": config.model_dump(),
        "versions": {"idiot_env": idiot_env.__version__, "python": platform.python_version(), **library_versions()},
    }


def library_versions() -> dict[str, str]:
    """Versions of the libraries that take part in training."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # trained without it
    return found


def draw_curve(curve: list[CurvePoint], reference: str, config: TrainConfig, path: Path) -> None:
    """The learning curve with its intervals as a picture; with two players also as a rating, greedy being 1000."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    decisions = [point.decisions for point in curve]
    axes.fill_between(decisions, [p.low for p in curve], [p.high for p in curve], alpha=0.25, linewidth=0)
    axes.plot(decisions, [point.lost for point in curve], marker="o")
    rules, players = config.tables[0]
    axes.axhline(rules.losers / players, color="grey", linestyle="--", linewidth=1, label="even")
    axes.set(
        xlabel="learner's decisions",
        ylabel=f"games lost against {reference}",
        title=f"{config.name}: {players} players, {rules}",
        ylim=(0, 1),
    )
    if players == 2 and reference == "greedy":
        ratings = axes.twinx()
        ratings.set(ylim=(0, 1), ylabel="rating")
        ticks = [1 / (1 + 10 ** ((rating - 1000) / 400)) for rating in RATINGS]
        ratings.set_yticks(ticks, [str(rating) for rating in RATINGS])
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)
