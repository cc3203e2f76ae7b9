"""The terminal: asking, saying, and the few styles that a terminal shows and a file does not need."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import textwrap

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_LONGEST = 60


def clean(text: str, longest: int = _LONGEST) -> str:
    """A text of unknown origin made harmless: printable, on one line, and short."""
    shown = "".join(char if char.isprintable() else "�" for char in text[: longest + 1])
    return shown if len(shown) <= longest else shown[:longest] + "…"


class Terminal:
    """Standard input and output; plain where the output is no terminal."""

    def __init__(self) -> None:
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        # Some terminals are dumb, and https://no-color.org asks programs to keep quiet on request.
        self.edited = False
        """Whether the readline library reads the answers."""
        self.styled = sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
        if self.interactive and sys.stdout.isatty():
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (gives input() line editing and a history)

                self.edited = True

    def style(self, text: str, *names: str) -> str:
        """The text in bold, dim, red, …"""
        if not self.styled or not text:
            return text
        return f"\x1b[{';'.join(_STYLES[name] for name in names)}m{text}\x1b[0m"

    def say(self, text: str = "") -> None:
        print(text, flush=True)

    def tell(self, text: str) -> None:
        """Say a long sentence, broken between words where a terminal would break it anywhere."""
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        self.say(textwrap.fill(text, width - 1, subsequent_indent="  ") if width > 20 else text)

    def ask(self, prompt: str, *styles: str) -> str | None:
        """A line of input without its blanks around; ``None`` at the end of the input."""
        shown = self.style(prompt, *styles) if styles else prompt
        if self.edited:  # readline counts the prompt's columns, and has to be told which characters take none
            shown = re.sub(r"(\x1b\[[0-9;]*m)", "\x01\\1\x02", shown)
        try:
            if sys.stdin is None:  # closed before the program began: nobody is there to answer
                raise EOFError
            line = input(shown)
        except EOFError:
            self.say()
            return None
        except UnicodeDecodeError:
            return "�"
        if not self.interactive:
            self.say()  # nobody has pressed Enter, so the prompt's line has to be ended
        return line.strip()
