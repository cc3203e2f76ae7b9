"""``idiot train --config FILE``: train, benchmark the result, and say how to play against it."""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
from pathlib import Path

from idiot_agents.errors import InputError

NEEDED = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "matplotlib", "yaml", "pydantic", "tqdm")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train a model by self-play, benchmark it, and keep it as a folder that plays without torch."
    parser.epilog = "example: idiot train --config quick --set decisions=500000 --set 'widths=[128, 128]'"
    parser.add_argument(
        "--config",
        required=True,
        metavar="NAME",
        help="a shipped configuration such as quick, or a YAML file",
    )
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


def make_folder(folder: Path) -> None:
    """An empty folder for the run.

    Raises:
        InputError: if it is not empty or cannot be written.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} is not empty: name another folder with --out, so that no run is overwritten.")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{folder} cannot be written ({reason}): name another folder with --out.") from None


def run(args: argparse.Namespace) -> int:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"training needs {', '.join(missing)}: install the extra with pip install '.[train]'.")
    from idiot_train.config import SELF, config_path, load_config

    config = load_config(config_path(args.config), args.set)
    folder = args.out or free_folder(config.name)

    from idiot_agents.arena import MAX_DECISIONS
    from idiot_agents.bench import print_matches, result_json, run_bench, write_json
    from idiot_agents.neural import NeuralAgent
    from idiot_agents.registry import make_agent
    from idiot_env import Rules
    from idiot_train.ppo import train

    # Everything that can be wrong is found before anything is written.
    opponents = [make_agent(spec, config.seed) for spec in config.bench]
    for agent in (*opponents, *(make_agent(spec) for spec in config.opponents if spec != SELF)):
        if isinstance(agent, NeuralAgent):
            agent.check_players(config.players)
    make_folder(folder)
    print(
        f"training {config.name}: {config.decisions:,} decisions, {config.players} players, {config.rules}", flush=True
    )
    try:
        model, curve = train(config, folder, quiet=args.quiet)
    except KeyboardInterrupt:
        checkpoints = sorted((folder / "checkpoints").glob("*"))
        left = f"the last checkpoint plays as ppo:{checkpoints[-1]}" if checkpoints else "there is no checkpoint yet"
        print(f"\nstopped before the end; {left}")
        raise
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
