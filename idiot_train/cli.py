"""The ``idiot`` command line: finds the subcommand, runs it, and turns whatever ends it into an exit code.

==========  ======================================================
exit code   meaning
==========  ======================================================
0           done
2           input that cannot be used; one sentence on stderr says why
130         interrupted with Ctrl-C
==========  ======================================================

Only the module of the subcommand that was asked for is imported: help is quick, and playing needs no torch.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from idiot_agents.errors import InputError
from idiot_train.completion import answer, asked

COMMANDS: dict[str, tuple[str, str]] = {
    "play": ("idiot_agents.play", "play against agents, at the terminal or on a page"),
    "rules": ("idiot_agents.rules_command", "print the rules of a table"),
    "replay": ("idiot_agents.replay", "step through the record of a game"),
    "bench": ("idiot_agents.bench", "let agents play matches against each other"),
    "agents": ("idiot_agents.agents_command", "list the agents by name"),
    "study": ("idiot_agents.study_command", "find out what the rules do"),
    "train": ("idiot_train.train_command", "train a model by self-play"),
    "exploit": ("idiot_train.exploiter", "train a best response to an agent: what does it give away?"),
    "doctor": ("idiot_train.doctor", "look at this installation: versions, cache, extras"),
    "completion": ("idiot_train.completion", "make the shell complete the words of idiot"),
}
"""Each subcommand's module, which offers ``add_arguments(parser)`` and ``run(args) -> int``, and a line about it."""

EXAMPLES = """\
examples:
  idiot play                              a game against one opponent
  idiot play ppo:generalist               against the shipped model
  idiot play --web                        on a page in the browser
  idiot play --rules norsk --players 4    the table norsk, four players
  idiot rules --lang no                   the rules, in Norwegian
  idiot replay game.json                  look at a saved game again
  idiot bench greedy careful              who is better?
  idiot agents                            who else is there?
  idiot study --tables norsk              what do its rules do?
  idiot train --config quick              train a model in three minutes
  idiot exploit ppo:generalist            train somebody who meets only that model
  idiot doctor                            is all there, and will it be quick?
  eval "$(idiot completion bash)"         complete with the Tab key
"""


class _Parser(argparse.ArgumentParser):
    """Reports an error as one sentence instead of printing the usage and leaving the interpreter."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message.rstrip('.')} (see {self.prog} --help).")


class _Formatter(argparse.HelpFormatter):
    """Keeps the lines of an example and of a text that has several, and wraps what has one."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" not in text and not text.startswith("example:"):
            return super()._fill_text(text, width, indent)
        return "".join(indent + line for line in text.splitlines(keepends=True))

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            # argparse measures a command's name without its indent, and would break the line after the longest.
            self._action_max_length += self._indent_increment


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *args: Any, **kwargs: Any) -> NoReturn:
        from idiot_env.version import __version__

        print(f"idiot {__version__}")
        parser.exit()


def chosen_command(words: Sequence[str]) -> str | None:
    """The first word that is no option."""
    return next((word for word in words if not word.startswith("-")), None)


def make_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser of all subcommands, with the arguments of the one that is asked for."""
    parser = _Parser(
        prog="idiot",
        description="Idiot, the card game: play it, train agents for it, and see which of them is better.",
        epilog=EXAMPLES,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, (module_name, line) in COMMANDS.items():
        sub = commands.add_parser(name, help=line, allow_abbrev=False, formatter_class=_Formatter)
        if name == command:
            module = importlib.import_module(module_name)
            module.add_arguments(sub)
            sub.set_defaults(run=module.run)
    return parser


def split_changes(words: Sequence[str]) -> list[str]:
    """Write ``--set a=1 b=2`` as ``--set a=1 --set b=2``: then an agent's name may follow without being swallowed."""
    out: list[str] = []
    in_set = False
    for word in words:
        if word == "--set":
            in_set = True
        elif in_set and re.match(r"[\w.]+=", word):
            if out[-1] != "--set":
                out.append("--set")
        else:
            in_set = False
        out.append(word)
    return out


def one_thread() -> None:
    """One thread for matrix products, unless the environment says otherwise.

    Two collapse on a busy machine; and a sum over several may differ in its last digits, where a benchmark promises the
    same numbers from one process and from many.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def patient_streams() -> None:
    """No character that a terminal or a file cannot show, or that is no text at all, may end a game."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def run(words: Sequence[str]) -> int:
    """Parse and run one command line."""
    parser = make_parser(chosen_command(words))
    args, rest = parser.parse_known_args(split_changes(words))
    # argparse takes a list of words only in one piece; agents may be named before and after options.
    if rest and hasattr(args, "agents") and not any(word.startswith("-") for word in rest):
        args.agents += rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if args.command is None:
        parser.print_help()
        return 0
    return int(args.run(args))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` and return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    one_thread()
    patient_streams()
    if (typed := asked(os.environ)) is not None:
        answer(make_parser(chosen_command(typed)))
    try:
        try:
            return run(words)
        finally:
            if sys.stdout is not None:  # closed before the program began
                sys.stdout.flush()
    except SystemExit as leaving:  # argparse leaves in this way after --help
        return leaving.code if isinstance(leaving.code, int) else 0
    except InputError as error:
        command = chosen_command(words)
        name = f"idiot {command}" if command in COMMANDS else "idiot"
        print(f"{name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # the shell's prompt begins a line of its own
        return 130
    except BrokenPipeError:
        # Whoever read our output has left.  What is still buffered must not be written when Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print(f"idiot: the output cannot be written ({error.strerror}).", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2


if __name__ == "__main__":
    sys.exit(main())
