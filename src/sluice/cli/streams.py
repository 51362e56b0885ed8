"""What a command reads and writes, and how it refuses what it was asked for."""

from dataclasses import dataclass
from typing import BinaryIO, TextIO


class UsageError(Exception):
    """The command line asks for something that cannot be done; the process ends with 2."""


@dataclass(frozen=True, slots=True)
class Streams:
    """Data in, data out, and messages for a person."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: TextIO

    def say(self, text: str) -> None:
        self.stderr.write(f"{text}\n")
        self.stderr.flush()
