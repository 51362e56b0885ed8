"""What a site or its operator tells about pages and sitemaps, checked against the zone's hosts."""

from typing import Literal, TypedDict

from sluice.core.errors import BadField, Invalid
from sluice.core.preload.caching.cache_keys import canonical_url
from sluice.core.preload.members import Amount
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.page_index import KnownFacts
from sluice.services.preload.http.requests import PagesBody, SitemapBody


class CrawlAccepted(TypedDict):
    preload_batch_id: str
    status: Literal["accepted"]
    sitemap: str


class LearnedReply(TypedDict):
    learned: Amount


def read_page_facts(body: PagesBody, config: ZoneConfig) -> list[KnownFacts]:
    """Return the facts of each page; raise Invalid that names every URL that is not a page of the zone."""
    facts = []
    mistakes = []
    for position, page in enumerate(body.pages):
        try:
            url = canonical_url(page.url, config)
            facts.append(KnownFacts(url, page.monthly_pageviews, page.published_at, page.post_id))
        except Invalid as error:
            mistakes.append(BadField(f"pages[{position}].url", str(error)))
    if mistakes:
        raise Invalid.from_fields(mistakes)
    return facts


def read_sitemap_url(body: SitemapBody, config: ZoneConfig) -> str:
    """Return the sitemap that is wanted, else the zone's own; raise Invalid when it is on another host."""
    url = body.url or config.sitemap_url
    if not config.covers_url(url):
        raise Invalid.from_fields([BadField("url", "is not on one of the zone's hosts")])
    return url
