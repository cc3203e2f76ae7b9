"""``idiot rules``: the rule card of one table, or the list of all options."""

from __future__ import annotations

import argparse

from idiot_agents.arguments import add_language_argument, add_table_arguments, table_from
from idiot_env.rule_card import rule_card
from idiot_env.rules import OPTIONS, PRESETS, value_text
from idiot_env.words import option_line

_TABLES = {"no": "Bordene", "en": "The tables"}
_OPTIONS = {"no": "Husreglene, standardverdien først", "en": "The house rules, default first"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print the complete rules of one table."
    parser.epilog = """\
examples:
  idiot rules --rules norsk --set chance=yes jokers=2 --lang no
  idiot rules --options                            which house rules there are
"""
    add_table_arguments(parser)
    parser.add_argument("--options", action="store_true", help="list all tables and options instead")
    add_language_argument(parser)


def option_list(lang: str) -> str:
    """All tables as changes from the defaults, and every value of every option with its meaning."""
    lines = [f"{_TABLES[lang]}:"]
    for name, changes in PRESETS.items():
        text = " ".join(f"{option}={value_text(value)}" for option, value in changes.items())
        lines.append(f"  {name:<9} {text}".rstrip())
    lines += ["", f"{_OPTIONS[lang]}:"]
    for option, values in OPTIONS.items():
        for value in values:
            lines.append(f"  {option + '=' + value_text(value):<26} {option_line(option, value, lang)}")
    return "\n".join(lines)


def run(args: argparse.Namespace) -> int:
    rules = table_from(args)
    print(option_list(args.lang) if args.options else rule_card(rules, args.lang))
    return 0
