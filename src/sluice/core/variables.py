"""The variables of a Worker, read once into typed settings; one error names every mistake."""

from collections.abc import Callable
from typing import Any

from sluice.core.errors import ConfigError


class Variables:
    """Reads variables by name and collects the mistakes; `check()` raises one error for all of them."""

    def __init__(self, get: Callable[[str], Any]) -> None:
        self._get = get
        self._mistakes: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """Return a text; an empty one counts as not set."""
        return self._read(name) or default

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
