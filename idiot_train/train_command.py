"""``idiot train --config FILE``: train, benchmark the result, and say how to play against it."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from idiot_agents.arguments import positive_int
from idiot_agents.errors import InputError

if TYPE_CHECKING:
    from idiot_train.curve import CurvePoint
from idiot_train.extras import need_extra


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train a model by self-play, benchmark it, and keep it as a folder that plays without torch."
    parser.epilog = """\
examples:
  idiot train --config quick                              a model in three minutes
  idiot train --config quick --set decisions=5_000_000 --set 'widths=[512, 256]'
  idiot train --resume runs/quick                         go on after Ctrl-C: the same curve, bit for bit
  idiot train --config quick --ray auto --workers 8       on the Ray cluster of this machine
"""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--config", metavar="NAME", help="a shipped configuration such as quick or generalist-1, or a YAML file"
    )
    what.add_argument("--resume", type=Path, metavar="FOLDER", help="go on with a stopped run from its saved state")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the configuration (repeatable)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder of the run (default: runs/NAME, or the next free NAME-2 …)"
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on a Ray cluster: local starts one here, auto is this machine's, or HOST:PORT (default: none)",
    )
    parser.add_argument(
        "--workers", type=positive_int, metavar="N", help="with --ray, processes that play (default: 1)"
    )
    parser.add_argument(
        "--learners",
        type=positive_int,
        metavar="N",
        help="with --ray, processes that share each minibatch (default: the one that drives learns)",
    )
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


def nothing_to_resume(folder: Path) -> str:
    """Why a folder has no saved state, and what may be done instead."""
    checkpoints = sorted((folder / "checkpoints").glob("*"))
    if (folder / "model").is_dir():
        return f"it is finished; idiot play ppo:{folder / 'model'} plays against it."
    if checkpoints:
        again = f"--config {folder / 'config.yaml'} --set start={checkpoints[-1]}"
        return f"it was stopped before its first save, or ran on Ray, which saves none; start anew with {again}."
    return "it is no run, or was stopped before its first save."


def run(args: argparse.Namespace) -> int:
    need_extra("train", "training")
    if args.ray is not None:
        need_extra("ray", "--ray")
        if args.resume is not None:
            raise InputError("--resume is not possible with --ray: start from a checkpoint with --set start=FOLDER.")
    elif args.workers is not None or args.learners is not None:
        raise InputError("--workers and --learners belong to a cluster: give --ray, too.")
    from idiot_train.config import PAST, SELF, config_path, load_config
    from idiot_train.state import STATE_FILE

    if args.resume is not None:
        if args.set or args.out:
            raise InputError("--resume goes on as the run began: leave out --set and --out.")
        if not (args.resume / STATE_FILE).is_file():
            raise InputError(f"{args.resume} has no {STATE_FILE}: {nothing_to_resume(args.resume)}")
    config = load_config(args.resume / "config.yaml" if args.resume else config_path(args.config), args.set)
    folder = args.resume or args.out or free_folder(config.name)

    from idiot_agents.arena import check_agents
    from idiot_agents.bench import run_bench
    from idiot_agents.registry import make_agent
    from idiot_agents.result_files import write_json
    from idiot_agents.tables import print_result
    from idiot_train.ppo import make_encoder, train

    # Everything that can be wrong is found before anything is written.
    opponents = [make_agent(spec, config.seed) for spec in config.bench]
    named = (*config.references, *(spec for spec in config.opponents if spec not in (SELF, PAST)))
    for players in config.player_numbers:
        check_agents([*opponents, *map(make_agent, named)], config.tables[0][0], players)
    make_encoder(config)
    if args.resume is None:
        make_folder(folder)
    numbers = " and ".join(map(str, config.player_numbers))
    house_rules = f" and drawn house rules in {config.house_rules:.0%} of games" if config.house_rules else ""
    tables = f"{numbers} players, {', '.join(config.table_names)}{house_rules}"
    print(f"training {config.name}: {config.decisions:,} decisions, {tables}", flush=True)
    try:
        if args.ray is not None:
            from idiot_train import rllib

            model, curve = rllib.train(
                config,
                folder,
                quiet=args.quiet,
                address=args.ray,
                workers=args.workers or 1,
                learners=args.learners or 0,
            )
        else:
            model, curve = train(config, folder, quiet=args.quiet, resume=args.resume is not None, keep_state=True)
        if curve:
            print(summary(curve, config.references[0]))
            print(f"learning curve in {folder / 'curve.png'}")
        for number, (rules, players) in enumerate(config.tables if opponents else ()):
            agents, deals = [model, *opponents], config.bench_deals
            pairs = [(model, opponent) for opponent in opponents]
            result = run_bench(agents, rules, players, deals, seed=config.seed, quiet=args.quiet, only=pairs)
            print_result(result)
            name = "bench.json" if number == 0 else f"bench-{rules.base}-{players}.json"
            write_json(folder / name, result)
    except KeyboardInterrupt:
        saved = (folder / STATE_FILE).is_file()
        checkpoints = sorted((folder / "checkpoints").glob("*"))
        if saved:
            left = f"go on with idiot train --resume {folder}"
        elif checkpoints:
            left = (
                f"the last checkpoint plays as ppo:{checkpoints[-1]}, and --set start={checkpoints[-1]} goes on from it"
            )
        else:
            left = "there is no saved state yet"
        print(f"\nstopped before the end; {left}")
        raise
    (folder / STATE_FILE).unlink(missing_ok=True)  # only now: who is killed in the benchmark can resume, too
    print(f"play against it: idiot play ppo:{folder / 'model'}")
    return 0


def summary(curve: list[CurvePoint], reference: str) -> str:
    """The learning curve in words."""
    first, last = curve[0], curve[-1]
    best = min(curve, key=lambda point: point.lost)
    text = (
        f"trained in {last.seconds:.0f} s: {last.decisions:,} decisions took the share lost to {reference} from "
        f"{first.lost:.1%} to {last.lost:.1%}"
    )
    if best is not last:
        text += f"; its best was {best.lost:.1%} after {best.decisions:,}"
    half = next(p for p in curve if p.lost <= (first.lost + last.lost) / 2) if last.lost < first.lost else None
    if half is not None:
        text += f"; half of the way was gone after {half.decisions:,}"
    return f"{text}. The last evaluation cut off {last.truncated} games."
