"""Variables of a Worker, read once into typed settings; every mistake is told at once."""

from collections.abc import Callable
from typing import Any

from sluice.core.errors import ConfigError


class Variables:
    """Reads by name and notes what does not fit; `check()` raises for all of it together."""

    def __init__(self, get: Callable[[str], Any]) -> None:
        self._get = get
        self._mistakes: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """A text; one that is empty counts as not set."""
        return self._raw(name) or default

    def integer(self, name: str, default: int, *, minimum: int, maximum: int = 2**31) -> int:
        """A whole number within limits."""
        raw = self._raw(name)
        if not raw:
            return default
        if raw.isascii() and raw.isdigit() and minimum <= int(raw) <= maximum:
            return int(raw)
        self._mistakes.append(f"{name} must be a whole number from {minimum} to {maximum}, not {raw!r}")
        return default

    def url(self, name: str) -> str:
        """An http or https address, or "" when it is not set."""
        raw = self._raw(name)
        if raw and not raw.startswith(("http://", "https://")):
            self._mistakes.append(f"{name} must start with http:// or https://")
        return raw

    def check(self) -> None:
        """Raise when anything read so far does not fit."""
        if self._mistakes:
            raise ConfigError("; ".join(self._mistakes))

    def _raw(self, name: str) -> str:
        value = self._get(name)
        return "" if value is None else str(value).strip()
