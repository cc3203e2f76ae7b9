"""``idiot train --config FILE``: train, benchmark the result, and say how to play against it."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from agents.errors import InputError

NEEDED = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "matplotlib", "yaml", "pydantic", "tqdm")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train a model by self-play, benchmark it, and keep it as a folder that plays without torch."
    parser.epilog = "example: idiot train --config configs/quick.yaml --set decisions=500000 --set 'widths=[128, 128]'"
    parser.add_argument("--config", type=Path, required=True, help="a configuration such as configs/quick.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key (repeatable)")
    parser.add_argument("--out", type=Path, help="folder of the run (default: runs/NAME, or the next free NAME-2 …)")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")


def free_folder(name: str) -> Path:
    """``runs/NAME``, or the first of ``runs/NAME-2``, … that does not exist: no run overwrites another."""
    folder, number = Path("runs") / name, 2
    while folder.exists():
        folder = Path("runs") / f"{name}-{number}"
        number += 1
    return folder


def run(args: argparse.Namespace) -> int:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"training needs {', '.join(missing)}: install the extra with pip install '.[train]'.")
    from train.config import load_config

    config = load_config(args.config, args.set)
    folder = args.out or free_folder(config.name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not empty: name another folder with --out, so that no run is overwritten.")

    from agents.arena import MAX_DECISIONS
    from agents.bench import print_matches, result_json, run_bench, write_json
    from agents.registry import make_agent
    from idiot_env import Rules
    from train.ppo import train

    opponents = [make_agent(spec, config.seed) for spec in config.bench]
    print(
        f"training {config.name}: {config.decisions:,} decisions, {config.players} players, {config.rules}", flush=True
    )
    model, curve = train(config, folder, quiet=args.quiet)
    if curve:
        print(f"trained in {curve[-1].seconds:.0f} s; learning curve in {folder / 'curve.png'}")
    if opponents:
        rules, deals = Rules.parse(config.rules), config.bench_deals
        agents = [model, *opponents]
        pairs = [(model, opponent) for opponent in opponents]
        matches = run_bench(agents, rules, config.players, deals, seed=config.seed, quiet=args.quiet, only=pairs)
        print_matches(matches, rules)
        write_json(folder / "bench.json", result_json(matches, agents, rules, deals, config.seed, MAX_DECISIONS))
    print(f"play against it: idiot play ppo:{folder / 'model'}")
    return 0
