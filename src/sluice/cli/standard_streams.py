"""The standard streams of a command, and its error for wrong arguments."""

from typing import BinaryIO, Final, NamedTuple, TextIO

from sluice.core.json_text import escape_controls

_LINES: Final = "\n"


class UsageError(Exception):
    """The arguments do not make sense; the process exits with 2."""


class Streams(NamedTuple):
    """Data in, data out, and messages for people."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: TextIO

    def print_message(self, text: str) -> None:
        """Write a message to standard error; what others named cannot steer the terminal."""
        self.stderr.write(f"{escape_controls(text, keep=_LINES)}\n")
        self.stderr.flush()

    def print_answer(self, text: str) -> None:
        """Write an answer for people to standard output, in the same way."""
        self.stdout.write(f"{escape_controls(text, keep=_LINES)}\n".encode())
        self.stdout.flush()
