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
    prefixes: tuple[str, ...] = ()
    soft: bool = False
    seq: int = 0  # its number in the zone

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        lists = {name: tuple(value.get(name, ())) for name in ("tags", "urls", "prefixes")}
        return cls(**{**value, **lists})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def scope(self) -> "PurgeScope":
        return PurgeScope(
            frozenset(self.tags), frozenset(self.urls), everything=self.everything, prefixes=self.prefixes
        )


def purge_for_removed_zone(purge_id: str, now: float) -> Purge:
    """Build the purge of everything for a zone that was removed."""
    return Purge(
        purge_id=purge_id,
        idempotency_key=purge_id,
        nonce="",
        tags=(SITE_TAG,),
        urls=(),
        everything=True,
        created_at=now,
    )


@dataclass(frozen=True, slots=True)
class PurgeScope:
    """What a purge asks for."""

    tags: frozenset[str]
    urls: frozenset[str]
    everything: bool
    prefixes: tuple[str, ...] = ()

    def covers(self, url: str, tags: Collection[str]) -> bool:
        """Return whether it covers the copies of a page: by its URL in every variant, by one of its tags, or because of `everything`."""
        is_named = self.everything or url in self.urls or not self.tags.isdisjoint(tags)
        return is_named or any(is_below(url, prefix) for prefix in self.prefixes)


def is_below(url: str, prefix: str) -> bool:
    """Return whether a page is the one at a URL or lies below it: /blog covers /blog/post and /blog?page=2, but not /blogroll."""
    return url == prefix or url.startswith(list_url_prefixes(prefix))


def list_url_prefixes(prefix: str) -> tuple[str, ...]:
    """Return how the URLs of all pages below a URL begin."""
    return (prefix,) if prefix.endswith("/") else (f"{prefix}/", f"{prefix}?")
