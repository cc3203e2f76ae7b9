"""What a training option is worth: ``python -m idiot_train.sweep --config quick --try epochs=5 --try critic=perfect``.

Every variant is trained from several seeds, at equal decisions or, with ``--seconds``, at equal CPU time of training:
its rate is measured first and the number of decisions set to fit, so that schedules end where the time ends.  Each
trained model meets the references on the same deals.  The table gives the mean share of games lost over the seeds with
a 95 % interval (Student's t over seeds, since runs differ more than deals do), and goes as JSON to ``--json``.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from idiot_agents.arena import play_match
from idiot_agents.arguments import exit_code, positive_int
from idiot_agents.errors import InputError
from idiot_agents.network import write_file
from idiot_agents.registry import make_agent
from idiot_agents.result_files import check_place
from idiot_train.config import TrainConfig, config_path, load_config
from idiot_train.opponents import Opponents
from idiot_train.ppo import SelfPlay, make_learner, train

T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Quantiles of Student's t for a two-sided 95 % interval, by the number of seeds."""
CALIBRATION_ROLLOUTS = 2


@dataclass(frozen=True)
class Trial:
    """One trained model.

    Attributes:
        variant: the changed keys; empty for the configuration as it stands.
        lost: share of games lost against each reference.
        cpu_seconds: of training, without evaluation.
    """

    variant: str
    seed: int
    decisions: int
    cpu_seconds: float
    lost: dict[str, float]


def decisions_in(config: TrainConfig, seconds: float) -> int:
    """How many decisions fit into so much CPU time, in whole rollouts."""
    opponents = Opponents(config)
    learner = make_learner(config, opponents)
    rollout = config.games * config.horizon
    with tempfile.TemporaryDirectory() as folder:
        callback = SelfPlay(config.model_copy(update={"evaluations": 0}), opponents, Path(folder), quiet=True)
        learner.learn(rollout, callback=callback)  # compiles and warms up
        start = time.process_time()
        learner.learn(CALIBRATION_ROLLOUTS * rollout, callback=callback)
        rate = CALIBRATION_ROLLOUTS * rollout / (time.process_time() - start)
    return max(1, round(seconds * rate / rollout)) * rollout


def run_trial(config: TrainConfig, variant: str, seconds: float | None, deals: int) -> Trial:
    """Train one model and let it meet the references."""
    changes: dict[str, object] = {"evaluations": 0, "keep_checkpoints": 0, "keep": "last"}
    if seconds is not None:
        changes["decisions"] = decisions_in(config, seconds)
    config = config.model_copy(update=changes)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        agent, _ = train(config, Path(folder), quiet=True)
        spent = time.process_time() - start
    rules, players = config.tables[0]
    lost = {spec: play_match(agent, make_agent(spec), rules, players, deals, seed=1).lost for spec in config.references}
    return Trial(variant, config.seed, config.decisions, spent, lost)


def mean_and_margin(values: list[float]) -> tuple[float, float]:
    """The mean and half the width of its 95 % interval; no interval (NaN) from a single seed or more than ten."""
    if len(values) not in T_95:
        return statistics.mean(values), math.nan
    return statistics.mean(values), T_95[len(values)] * statistics.stdev(values) / math.sqrt(len(values))


def table(trials: list[Trial], references: list[str]) -> str:
    """The trials as a markdown table, one line a variant."""
    head = ["variant", "seeds", "decisions", "CPU s", *(f"lost to {spec}" for spec in references)]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for variant in dict.fromkeys(trial.variant for trial in trials):
        own = [trial for trial in trials if trial.variant == variant]
        cells = [
            variant or "as it stands",
            str(len(own)),
            f"{statistics.mean(trial.decisions for trial in own):,.0f}",
            f"{statistics.mean(trial.cpu_seconds for trial in own):.0f}",
        ]
        for spec in references:
            mean, margin = mean_and_margin([trial.lost[spec] for trial in own])
            cells.append(f"{mean:.1%} ± {margin:.1%}" if not math.isnan(margin) else f"{mean:.1%}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m idiot_train.sweep", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--config", required=True, metavar="NAME", help="a shipped configuration or a YAML file")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key for all variants")
    parser.add_argument(
        "--try", action="append", default=[], metavar="CHANGES", dest="variants",
        help="a variant: one or more KEY=VALUE, separated by semicolons (repeatable)",
    )  # fmt: skip
    parser.add_argument("--seeds", type=positive_int, default=3, help="seeds a variant (default: %(default)s)")
    parser.add_argument("--seconds", type=float, help="CPU seconds of training for every run instead of its decisions")
    parser.add_argument("--deals", type=positive_int, default=2500, help="deals of a match (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every trial to FILE as it is done")
    return parser


def variants(config: str, changes: list[str], tried: list[str]) -> dict[str, TrainConfig]:
    """The configuration as it stands, under an empty name, and with each variant's further changes.

    Raises:
        InputError: for changes that are not possible, or variants that cannot be compared.
    """
    found = {"": load_config(config_path(config), changes)}
    for variant in tried:
        if not variant or variant in found:
            raise InputError(f"--try {variant!r} is not possible: name changes that no other variant has.")
        found[variant] = load_config(config_path(config), [*changes, *variant.split(";")])
        if found[variant].references != found[""].references:
            raise InputError(f"--try {variant!r} is not possible: all variants meet the same references (--set).")
    return found


def run(args: argparse.Namespace) -> None:
    """Train and compare what the command line names.

    Raises:
        InputError: before the first model is trained.
    """
    if args.seconds is not None and not 0 < args.seconds < math.inf:
        raise InputError(f"--seconds {args.seconds} is not possible: give more than 0, and an end.")
    configs, trials = variants(args.config, args.set, args.variants), list[Trial]()
    if args.json is not None:
        check_place(args.json, "--json")
    for variant, config in configs.items():
        for k in range(args.seeds):
            seeded = config.model_copy(update={"seed": config.seed + k})
            trials.append(run_trial(seeded, variant, args.seconds, args.deals))
            print(f"{variant or 'as it stands'}, seed {seeded.seed}: {trials[-1].lost}", file=sys.stderr, flush=True)
            if args.json is not None:
                write_file(args.json, json.dumps([asdict(trial) for trial in trials], indent=1).encode())
    print(table(trials, configs[""].references))


def main() -> int:
    args = make_parser().parse_args()
    return exit_code(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
