"""The standard streams of a command, and its error for wrong arguments."""

from typing import BinaryIO, NamedTuple, TextIO


class UsageError(Exception):
    """The arguments do not make sense; the process exits with 2."""


class Streams(NamedTuple):
    """Data in, data out, and messages for people."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: TextIO

    def print_message(self, text: str) -> None:
        """Write one line to standard error."""
        self.stderr.write(f"{text}\n")
        self.stderr.flush()
