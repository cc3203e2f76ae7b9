"""Put a trained model into the package: ``python -m idiot_train.ship runs/two --name standard-2 --deals 5000``.

Makes the folder ``idiot_agents/models/NAME``, in place of one that is there: the run's model, files of ``idiot
exploit`` (``--exploiter``), and the model card, ``README.md``: what it was trained on, for how long, by which command,
and its results in the arena with intervals.  Every number in the card comes from this command or from those files.  The
folder appears when it is complete.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from idiot_agents.arena import play_match
from idiot_agents.arguments import exit_code, positive_int
from idiot_agents.errors import InputError
from idiot_agents.exploiters import read_best_responses
from idiot_agents.guided import WORLDS, GuidedSearcher
from idiot_agents.network import CARD, WEIGHTS, write_file
from idiot_agents.neural import NeuralAgent
from idiot_agents.registry import make_agent
from idiot_agents.search import Budget
from idiot_agents.shipped import FOLDER, MODEL_CARD
from idiot_agents.stalls import find_stalls, in_words
from idiot_agents.throwaway import throwaway
from idiot_agents.tournament import describe_agent
from idiot_env import Rules
from idiot_train.config import TrainConfig, config_of_card
from idiot_train.tables import held_out_tables

LARGEST = 3_000_000
"""Bytes of a shipped model."""
NAME = r"[a-z0-9][a-z0-9-]*"
"""What a shipped model may be called."""


def results_table(model: NeuralAgent, tables: list[tuple[Rules, int]], opponents: list[str], deals: int) -> list[str]:
    """Lines of markdown: the model against or among each opponent at each table."""
    lines = ["| table | players | against | games | lost | 95 % interval | cut off |", "|---|---|---|---|---|---|---|"]
    for rules, players in tables:
        for spec in opponents:
            match = play_match(model, make_agent(spec), rules, players, deals, seed=1)
            lost = match.figures.lost
            lines.append(
                f"| {rules} | {players} | {spec} | {match.games:,} | {lost.mean:.1%} | {lost} | {match.truncated} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
    return lines


def held_out_line(model: NeuralAgent, config: TrainConfig, tables: int, deals: int) -> str:
    """How the model does against greedy at tables with combinations that its training left out."""
    lost, even, cut = [], [], 0
    for rules, players in held_out_tables(config, tables, seed=1):
        match = play_match(model, make_agent("greedy"), rules, players, deals, seed=1)
        lost.append(match.lost)
        even.append(rules.losers / players)
        cut += match.truncated
    return (
        f"At {tables} tables drawn with combinations that training left out ({'; '.join(config.held_out)}), "
        f"{deals} deals each, it loses {sum(lost) / tables:.1%} against greedy where {sum(even) / tables:.1%} is even; "
        f"{cut} games were cut off."
    )


def endgame_lines(model: NeuralAgent, rules: Rules, deals: int) -> list[str]:
    """How often the model throws away a proven win in a two-player endgame, alone and with search in such positions."""
    searcher, lines = GuidedSearcher("with search", Budget(WORLDS), model), list[str]()
    for who, agent in (("", model), ("with search ", searcher)):
        found = throwaway(agent, make_agent("greedy"), rules, deals, seed=1, deputy=model)
        share = f"{found.share:.1%} of {found.decisions} proven wins"
        lines.append(f"- {who}throws away {share} in endgames of two players ({found.games} games against greedy)")
    return lines


def stall_line(model: NeuralAgent, tables: list[tuple[Rules, int]], deals: int) -> str:
    """How many games with itself have no end, at which tables, and in what position most of them are cut off."""
    told, games = [], 0
    for rules, players in tables:
        stalls = find_stalls(model, model, rules, players, deals, seed=1)
        games += deals * players
        if stalls:
            told.append(f"{len(stalls)} of {deals * players:,} at {rules}, {players} players ({in_words(stalls)})")
    return f"- with itself, of {games:,} games so many are cut off: {'; '.join(told) or 'none'}"


def exploiter_lines(files: list[Path]) -> list[str]:
    """What exploiters found, from the files that ``idiot exploit`` wrote."""
    lines = []
    for path in files:
        told = read_best_responses(path)
        for found in told.found:
            lost = found["lost"]
            escapes = f"{1 - lost['mean']:.1%} ({1 - lost['high']:.1%} – {1 - lost['low']:.1%})"
            line = (
                f"- PPO best response at {told.rules}, {told.players} players, from {found['start']}, "
                f"{found['decisions']:,} decisions: escapes in {escapes} of {found['games']:,} games; "
                f"{found['truncated']:,} were cut off"
            )
            if told.players == 2:  # a game that is cut off counts as half a loss
                won = round((1 - lost["mean"]) * found["games"] - found["truncated"] / 2)
                line += f", {won:,} won"
            lines.append(line)
    return lines


def copy_exploiters(files: list[Path], model: NeuralAgent, folder: Path) -> None:
    """Lay files of ``idiot exploit`` beside the model, where ``idiot bench`` finds them.

    Raises:
        InputError: for a file that tells of another model.
    """
    for number, path in enumerate(files, 1):
        if not read_best_responses(path).is_against(describe_agent(model)):
            raise InputError(f"{path} tells of another model than {model.name}.")
        shutil.copyfile(path, folder / f"exploiter-{number}.json")


def seconds_of(run: Path) -> float:
    """How long a run took.

    Raises:
        InputError: if it has no learning curve.
    """
    path = run / "curve.json"
    try:
        return float(json.loads(path.read_text(encoding="utf-8"))[-1]["seconds"])
    except (OSError, ValueError, LookupError, TypeError):
        raise InputError(f"{path} is no learning curve: name a finished run with evaluations.") from None


def training_lines(run: Path, config: TrainConfig, card: dict[str, Any]) -> list[str]:
    """What it was trained on, for how long, and how to do it again."""
    changed = config.model_dump(exclude_defaults=True)
    minutes = seconds_of(run) / 60
    how = (
        f"Its last stage of self-play PPO: {card['decisions']:,} decisions, {minutes:.0f} minutes on one of "
        f"{os.cpu_count()} cores ({platform.machine()}), beside other work; those before it are in the road. "
        f"Again: `idiot train --config {config.name}.yaml` with this file."
    )
    lines = [how, "", "```yaml", yaml.safe_dump(changed, sort_keys=False).strip(), "```"]
    if "distilled" in card:
        commands = " and ".join(f"`{command}`" for command in distil_commands(card["distilled"], run))
        lines += ["", f"Then taught by specialists: {commands}."]
    return lines


def distil_commands(told: dict[str, Any], run: Path | str) -> list[str]:
    """The commands that made a run out of a student's, and that one out of its own student's, the first one first."""
    before = told.get("before")
    command = (
        f"python -m idiot_train.distil {told['student']} --specialist {' '.join(told['specialists'])} --decisions "
        f"{told['decisions']} --share {told['share']} --learning-rate {told['learning_rate']} --seed {told['seed']} "
        f"--out {run}"
    )
    return [*(distil_commands(before, told["student"]) if before else []), command]


def replace_folder(new: Path, old: Path) -> None:
    """Put a complete folder in the place of another, if there is one, which stays if that fails."""
    aside = new.with_name(f"{new.name}-before")
    if old.exists():
        old.rename(aside)
    try:
        new.rename(old)
    except BaseException:
        if aside.exists():
            aside.rename(old)
        raise


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m idiot_train.ship", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("run", type=Path, help="folder of a finished run")
    parser.add_argument("--name", required=True, help="name of the shipped model")
    parser.add_argument("--opponents", nargs="+", default=["greedy", "careful", "linear"], metavar="AGENT")
    parser.add_argument("--deals", type=positive_int, default=5000, help="deals of each match (default: %(default)s)")
    parser.add_argument("--slow", nargs="*", default=[], metavar="AGENT", help="opponents that take their time")
    parser.add_argument("--slow-deals", type=positive_int, default=300, help="their deals (default: %(default)s)")
    parser.add_argument("--held-out-tables", type=positive_int, default=50, help="where training left something out")
    parser.add_argument("--endgame-deals", type=positive_int, default=200, help="deals in which wins are proven")
    parser.add_argument("--own-deals", type=positive_int, default=500, help="with itself (default: %(default)s)")
    parser.add_argument("--exploiter", nargs="*", default=[], type=Path, metavar="FILE", help="exploiter.json")
    parser.add_argument("--note", nargs="*", default=[], help="sentences about known weaknesses")
    return parser


def run(args: argparse.Namespace) -> None:
    """Ship the run that the command line names.

    Raises:
        InputError: before the package is changed.
    """
    if not re.fullmatch(NAME, args.name):
        raise InputError(f"--name {args.name} is not possible: give letters, digits and - alone.")
    model = NeuralAgent.load(args.run / "model", name=f"ppo:{args.name}")
    size = sum((args.run / "model" / name).stat().st_size for name in (WEIGHTS, CARD))
    if size > LARGEST:
        raise InputError(f"the model has {size:,} bytes: a shipped one has at most {LARGEST:,}.")
    config = config_of_card(model.card, args.run)
    for spec in (*args.opponents, *args.slow):
        make_agent(spec)
    with tempfile.TemporaryDirectory(dir=FOLDER.parent, prefix=".ship-") as place:
        folder = Path(place) / args.name
        folder.mkdir()
        shutil.copyfile(args.run / "model" / WEIGHTS, folder / WEIGHTS)
        write_file(folder / CARD, (json.dumps(model.card, indent=2, ensure_ascii=False) + "\n").encode())
        copy_exploiters(args.exploiter, model, folder)
        write_file(folder / MODEL_CARD, "\n".join(card_lines(args, model, config)).encode())
        replace_folder(folder, FOLDER / args.name)
    print(f"wrote {FOLDER / args.name}")


def card_lines(args: argparse.Namespace, model: NeuralAgent, config: TrainConfig) -> list[str]:
    """The model card, line by line."""
    tables = config.tables
    lines = [f"# {args.name}", "", *training_lines(args.run, config, model.card), "", "## Results", ""]
    lines += results_table(model, tables, args.opponents, args.deals)
    if args.slow:
        lines += ["", *results_table(model, tables[:1], args.slow, args.slow_deals)]
    if config.held_out:
        lines += ["", held_out_line(model, config, args.held_out_tables, 200)]
    lines += ["", "## Known weaknesses", "", *(exploiter_lines(args.exploiter) or ["- no exploiter was trained"])]
    if tables[0][1] == 2:
        lines += endgame_lines(model, tables[0][0], args.endgame_deals)
    lines += [stall_line(model, tables, args.own_deals), *(f"- {note}" for note in args.note)]
    command = " ".join(sys.argv[1:])
    return [*lines, "", f"All numbers: deals of seed 1, by `python -m idiot_train.ship {command}`.", ""]


def main() -> int:
    args = make_parser().parse_args()
    return exit_code(lambda: run(args))


if __name__ == "__main__":
    sys.exit(main())
