"""``idiot completion SHELL``, and what the Tab key offers after it: argcomplete asks the parser, word by word.

==============  ===============================================================
argument        candidates
==============  ===============================================================
``AGENT``       the agents; after ``ppo:`` folders, and which of them are models
``--rules``     the tables
``--set``       house rules with their values, or the keys of a configuration
``--config``    the shipped configurations, and YAML files
``--players``   how many can play
==============  ===============================================================
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

SHELLS = ("bash", "zsh", "fish")
Completer = Callable[..., Iterable[str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print what makes a shell complete the words of idiot when Tab is pressed."
    parser.epilog = """\
examples, for this shell or, in its startup file, for every one:
  eval "$(idiot completion bash)"
  eval "$(idiot completion zsh)"      after autoload -U compinit && compinit
  idiot completion fish | source
(default: none, a shell must be named)
"""
    parser.add_argument("shell", choices=SHELLS, help="which shell to print it for")


def run(args: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    print(shellcode(["idiot"], shell=args.shell))
    return 0


def asked(environment: Mapping[str, str]) -> list[str] | None:
    """The words typed so far where a shell asks for completions, else nothing."""
    if "_ARGCOMPLETE" not in environment:
        return None
    line = environment.get("COMP_LINE", "")
    return line[: int(environment.get("COMP_POINT", len(line)))].split()[1:]


def answer(parser: argparse.ArgumentParser) -> None:
    """Write the candidates for the shell, and leave."""
    import argcomplete

    give_completers(parser)
    argcomplete.autocomplete(parser, always_complete_options="long")


def give_completers(parser: argparse.ArgumentParser) -> None:
    """Attach to each argument, by its name, the function that knows its candidates."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                give_completers(sub)
        elif action.dest in COMPLETERS:
            # argcomplete looks for an attribute of this name, which argparse does not declare.
            vars(action)["completer"] = COMPLETERS[action.dest]


def agent_specs(prefix: str, **_: Any) -> list[str]:
    """Agents; after a colon, shipped models and folders below which a model may be."""
    from idiot_agents.network import CARD
    from idiot_agents.registry import SPECS
    from idiot_agents.shipped import shipped_models

    kind, colon, typed = prefix.partition(":")
    if not colon:
        return [spec.removesuffix("PATH") for spec in SPECS]
    if f"{kind}:PATH" not in SPECS:
        return [spec for spec in SPECS if spec.startswith(prefix)]
    folder = Path(typed or ".") if typed.endswith("/") or not typed else Path(typed).parent
    inside = sorted(path for path in folder.glob("*") if path.is_dir() and not path.name.startswith("."))
    found = [f"{kind}:{path}" if (path / CARD).is_file() else f"{kind}:{path}/" for path in inside]
    return [*(f"{kind}:{name}" for name in shipped_models()), *found]


def changes(parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """``option=value`` of the house rules; for training, ``key=``."""
    if parsed_args.command == "train":
        return keys()
    from idiot_env.rules import OPTIONS, value_text

    return [f"{name}={value_text(value)}" for name, values in OPTIONS.items() for value in values]


def keys(**_: Any) -> list[str]:
    """``key=`` of a training configuration."""
    from idiot_train.config import TrainConfig

    return [f"{key}=" for key in TrainConfig.model_fields]


def configurations(prefix: str, **_: Any) -> list[str]:
    """Names of shipped configurations, and YAML files."""
    from argcomplete.completers import FilesCompleter

    from idiot_train.config import shipped_configs

    return [*shipped_configs(), *FilesCompleter(("yaml", "yml"))(prefix)]


def tables(**_: Any) -> list[str]:
    """The tables of the rules."""
    from idiot_env.rules import PRESETS

    return list(PRESETS)


def player_counts(**_: Any) -> list[str]:
    """How many can play."""
    from idiot_env.rules import MAX_PLAYERS, MIN_PLAYERS

    return [str(number) for number in range(MIN_PLAYERS, MAX_PLAYERS + 1)]


COMPLETERS: dict[str, Completer] = {
    "agents": agent_specs,
    "agent": agent_specs,
    "strong": agent_specs,
    "train": keys,
    "rules": tables,
    "set": changes,
    "config": configurations,
    "players": player_counts,
}
"""By the name under which argparse keeps the argument."""
