"""The cache in front of a Worker: copies by address, purged by tag, with the platform's limits on a purge."""

from dataclasses import dataclass
from typing import Any

from fakes.binding import Fake, JsError, check_sendable


@dataclass(frozen=True, slots=True)
class _Error:
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class _Result:
    success: bool
    errors: tuple[_Error, ...] = ()


class FakePublicCache(Fake):
    """`purges` is how many purges are still allowed."""

    def __init__(self, *, purges: int = 25) -> None:
        super().__init__()
        self.copies: dict[str, frozenset[str]] = {}
        self._purges = purges

    def keep(self, address: str, *tags: str) -> None:
        self.copies[address] = frozenset(tag.lower() for tag in tags)

    async def purge(self, options: dict[str, Any]) -> _Result:
        check_sendable(options)
        tags = options["tags"]
        if not 1 <= len(tags) <= 100:
            raise JsError("purge() takes 1 to 100 tags", "TypeError")
        self._purges -= 1
        if self._purges < 0:
            return _Result(success=False, errors=(_Error(1073, "rate limit exceeded"),))
        with self.operation("purge", ",".join(tags)):
            gone = {tag.lower() for tag in tags}
            self.copies = {address: kept for address, kept in self.copies.items() if not kept & gone}
        return _Result(success=True)
