"""From a request to a purge: canonical URLs, an id, and the reply that tells when it holds everywhere."""

from typing import Literal, TypedDict

from sluice.core.preload.members import Amount
from sluice.core.preload.purges import SITE_TAG, Purge
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.http.requests import PurgeTarget
from sluice.services.preload.queue.enqueue import canonicalize_urls


class PurgeAccepted(TypedDict):
    purge_id: str
    status: Literal["accepted"]
    tags_affected: list[str]
    estimated_completion_ms: Amount


def build_purge(
    target: PurgeTarget, config: ZoneConfig, *, purge_id: str, now: float, idempotency_key: str = "", nonce: str = ""
) -> Purge:
    """Return the purge that is asked for; raise Invalid that names every URL that is not a page of the zone."""
    return Purge(
        purge_id=purge_id,
        idempotency_key=idempotency_key or purge_id,
        nonce=nonce,
        tags=tuple(target.tags),
        urls=tuple(canonicalize_urls(target.urls, config)),
        prefixes=tuple(canonicalize_urls(target.prefixes, config, field="prefixes")),
        everything=target.everything or SITE_TAG in target.tags,
        soft=target.soft,
        created_at=now,
    )


def describe_accepted(purge: Purge, target: PurgeTarget, config: ZoneConfig) -> PurgeAccepted:
    return {
        "purge_id": purge.purge_id,
        "status": "accepted",
        "tags_affected": [SITE_TAG] if target.everything else list(purge.tags),
        "estimated_completion_ms": int(config.cache_purge_delay_s * 1000),
    }
