"""The variables of a Worker, read once into typed settings; one error names every mistake."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sluice.core.errors import ConfigError

MIN_SECRET_CHARS: Final = 16
# The secrets that the operator makes up; those of others are as long as they are given.
CHOSEN_SECRETS: Final = ("ADMIN_TOKEN", "SIGNING_KEY", "SIGNING_KEY_PREVIOUS")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret that the operator made up; its value is empty while it counts as not set, and `problem` is the reason for people."""

    value: str = field(default="", repr=False)
    problem: str = ""


NO_SECRET: Final = Secret()


class Variables:
    """Reads variables by name and collects the mistakes; `check()` raises one error for all of them."""

    def __init__(self, get: Callable[[str], Any]) -> None:
        self._get = get
        self._mistakes: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """Return a text; an empty one counts as not set."""
        return self._read(name) or default

    def secret(self, name: str) -> Secret:
        """Return a secret; one that is short enough to be guessed counts as not set."""
        value = self._read(name)
        if 0 < len(value) < MIN_SECRET_CHARS:
            return Secret(
                problem=f"{name} has fewer than {MIN_SECRET_CHARS} characters, so it counts as not set: choose a longer one"
            )
        return Secret(value)

    def integer(self, name: str, default: int, *, minimum: int, maximum: int = 2**31) -> int:
        """Return a whole number within the limits."""
        raw = self._read(name)
        if not raw:
            return default
        if raw.isascii() and raw.isdigit() and minimum <= int(raw) <= maximum:
            return int(raw)
        self._mistakes.append(f"{name} must be a whole number from {minimum} to {maximum}, not {raw!r}")
        return default

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices; the first is the default."""
        raw = self._read(name) or choices[0]
        if raw not in choices:
            self._mistakes.append(f"{name} must be {' or '.join(choices)}, not {raw!r}")
        return raw

    def url(self, name: str) -> str:
        """Return an http or https address, or "" if it is not set."""
        raw = self._read(name)
        if raw and not raw.startswith(("http://", "https://")):
            self._mistakes.append(f"{name} must start with http:// or https://")
        return raw

    def check(self) -> None:
        """Raise ConfigError if anything read so far is wrong."""
        if self._mistakes:
            raise ConfigError("; ".join(self._mistakes))

    def _read(self, name: str) -> str:
        value = self._get(name)
        return "" if value is None else str(value).strip()
