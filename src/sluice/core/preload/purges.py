"""A purge, and which stored copies it covers."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

SITE_TAG: Final = "site"  # a purge of this tag purges everything


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """One accepted purge, of canonical URLs."""

    purge_id: str
    idempotency_key: str
    nonce: str
    tags: tuple[str, ...]
    urls: tuple[str, ...]
    everything: bool
    created_at: float

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(**{**value, "tags": tuple(value["tags"]), "urls": tuple(value["urls"])})

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "tags": list(self.tags), "urls": list(self.urls)}

    @property
    def scope(self) -> "PurgeScope":
        return PurgeScope(frozenset(self.tags), frozenset(self.urls), everything=self.everything)


@dataclass(frozen=True, slots=True)
class PurgeScope:
    """What a purge asks for."""

    tags: frozenset[str]
    urls: frozenset[str]
    everything: bool

    def covers(self, url: str, tags: Collection[str]) -> bool:
        """Whether it covers the copies of a page: by its URL in every variant, by one of its tags, or because of `everything`."""
        return self.everything or url in self.urls or not self.tags.isdisjoint(tags)
