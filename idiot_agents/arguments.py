"""Arguments that several subcommands share, and what becomes of them.

==========================  =====================================================
function                    arguments
==========================  =====================================================
``add_table_arguments``     ``--rules``, ``--set``
``add_rules_arguments``     these and ``--players``
``add_language_argument``   ``--lang``
==========================  =====================================================
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping

from idiot_agents.errors import InputError
from idiot_env.rules import MAX_PLAYERS, MIN_PLAYERS, PRESETS, Rules, parse_changes
from idiot_env.words import LANGUAGES

LARGEST = 2**31 - 1
"""Counts beyond it could not be played in a lifetime, and do not fit the engine's numbers."""
TRAINING_SEEDS = 2**32
"""How many seeds training knows."""


def exit_code(run: Callable[[], None]) -> int:
    """What a tool beside ``idiot`` returns: 0; 2 and one sentence for input that it cannot use; 130 after Ctrl-C."""
    try:
        run()
    except InputError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def positive_int(text: str) -> int:
    """A whole number from 1 on."""
    number = _whole(text, 1)
    if number > LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not possible: give a whole number from 1 to {LARGEST}.")
    return number


def natural_int(text: str) -> int:
    """A whole number from 0 on."""
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not possible: give a whole number from {least} on.")
    return number


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not possible: give a whole number.") from None


def seed_number(text: str) -> int:
    """Any whole number."""
    return _whole_number(text)


def training_seed(text: str) -> int:
    """A seed as a training configuration takes it."""
    number = _whole_number(text)
    if not 0 <= number < TRAINING_SEEDS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not possible: give a whole number from 0 to {TRAINING_SEEDS - 1}."
        )
    return number


def players_number(text: str) -> int:
    """A number of players; whether the table seats them is for the rules to say."""
    number = _whole_number(text)
    if not MIN_PLAYERS <= number <= MAX_PLAYERS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not possible: Idiot is played by {MIN_PLAYERS} to {MAX_PLAYERS}."
        )
    return number


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """``--rules`` and ``--set``."""
    parser.add_argument(
        "--rules",
        default="standard",
        metavar="NAME",
        help=f"the table: {', '.join(PRESETS)} (default: %(default)s)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="change a house rule, such as chance=yes; several at once, or repeated (all: idiot rules --options)",
    )


def add_rules_arguments(parser: argparse.ArgumentParser, players: int) -> None:
    """``--rules``, ``--set`` and ``--players``."""
    add_table_arguments(parser)
    parser.add_argument(
        "--players",
        type=players_number,
        default=players,
        metavar="N",
        help=f"players at the table, {MIN_PLAYERS} to {MAX_PLAYERS} (default: %(default)s)",
    )


def add_language_argument(parser: argparse.ArgumentParser) -> None:
    """``--lang``, by default the language of the environment."""
    parser.add_argument(
        "--lang",
        choices=LANGUAGES,
        default=language_of(os.environ),
        help="Norwegian or English (default: by LANG, here %(default)s)",
    )


def language_of(environment: Mapping[str, str]) -> str:
    """Norwegian for a Norwegian locale, else English.  A plain C locale says nothing about the language."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value and value.partition(".")[0] not in ("C", "POSIX"):
            return "no" if value[:2].lower() in ("nb", "nn", "no") else "en"
    return "en"


def table_from(args: argparse.Namespace) -> Rules:
    """The rules that ``--rules`` and ``--set`` describe.

    Raises:
        InputError: for an unknown table, option or value.
    """
    try:
        base = Rules.parse(args.rules)
        return Rules.preset(base.base, **{**base.changes, **parse_changes(args.set)})
    except ValueError as error:
        raise InputError(str(error)) from None


def rules_from(args: argparse.Namespace) -> tuple[Rules, int]:
    """Rules and number of players.

    Raises:
        InputError: for rules that do not exist or a table that does not seat so many.
    """
    rules = table_from(args)
    return rules, seated(rules, args.players)


def seated(rules: Rules, players: int) -> int:
    """``players`` if the table seats them.

    Raises:
        InputError: with the reason.
    """
    try:
        return rules.check_players(players)
    except ValueError as error:
        raise InputError(str(error)) from None
