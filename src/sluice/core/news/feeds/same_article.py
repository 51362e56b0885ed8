"""Tells an article that is known from a new one, although its feed names or addresses it anew.

The same article has the same id; or the same link but for tracking; or the same title from the same outlet within 48
hours. A feed that gives its links another query each time is known by title and path as long as it lists the article.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from sluice.core.news.article import Article, Marks
from sluice.core.news.dates import parse_time

SAME_TITLE_MS: Final = 48 * 3600 * 1000
# Names of query parameters that say where a reader came from. Others, such as `p`, `id` and `sid`, say which article it is.
_TRACKING: Final = re.compile(
    r"(?:utm|mtm|hsa|vero|oly|itm|piwik)_\w+|pk_(?:campaign|kwd|keyword|source|medium|content|cid)|"
    r"at_(?:medium|campaign|format|link\w*|ptr\w*|bbc\w*)|ns_(?:mchannel|source|campaign|linkname|fee)|wt[._](?:mc|zmc)\w*|"
    r"\w*clk?id|gbraid|wbraid|gclsrc|igsh\w*|li_fat_id|mc_[ce]id|mkt_tok|_hs(?:enc|mi)|hsctatracking|_g[al]|_openstat|"
    r"s_?cid|cmp|cmpid|campaign(?:_?id)?|ocid|ito|spm|smid|smtyp|sr_share|xtor|ref|ref_?(?:src|url)|referr?er|"
    r"guc(?:counter|e_referrer\w*)|source|src|share|via|rss|feed|partner|(?:php)?sess(?:ion)?(?:_?id)?|cache_?bust\w*",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w+")
_DIGEST_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What an article is known by. `time_ms` is that of the article; `seen_ms` when a feed listed it last, 0 if unknown."""

    id: str
    link: str
    title: str
    place: str
    time_ms: int
    seen_ms: int = 0

    @classmethod
    def of(cls, article: Article, *, seen_ms: int = 0) -> Self:
        address = _normalise(article.link)
        host, path, _query = address
        words = " ".join(_WORD.findall(article.title.casefold())) or article.title
        outlet = article.text("source_name") or article.text("source_id")
        return cls(
            id=article.id,
            link=_digest(*address) if host else "",
            title=_digest(outlet, host, words),
            place=_digest(outlet, host, path, words),
            time_ms=published_ms(article) or article.number("queuedAt"),
            seen_ms=seen_ms,
        )

    @classmethod
    def from_json(cls, value: Marks) -> Self:
        members: Sequence[Any] = value
        return cls(*members)

    def with_time_of(self, time_ms: int) -> Self:
        """Return the fingerprint with the time of the known article, so that a daily title is not taken for that of the day before."""
        return replace(self, time_ms=time_ms or self.time_ms)

    def as_json(self) -> Marks:
        return [self.id, self.link, self.title, self.place, self.time_ms, self.seen_ms]


def list_fingerprints(articles: Sequence[Article], now_ms: int) -> list[Fingerprint]:
    """Return the fingerprints of what one source lists. A link that leads from several titles tells no article from another."""
    found = [Fingerprint.of(article, seen_ms=now_ms) for article in articles]
    titles = Counter(link for link, _ in {(each.link, each.title) for each in found})
    return [replace(each, link="") if titles[each.link] > 1 else each for each in found]


class KnownArticles:
    """The articles that must not be added again: some by all of their marks, others by their ids alone.

    `listed` is what the feeds list now.
    """

    def __init__(
        self, known: Iterable[Fingerprint], *, ids: Iterable[str] = (), listed: Iterable[Fingerprint] = (), now_ms: int
    ) -> None:
        self._ids: dict[str, int] = {}
        self._links: dict[str, int] = {}
        self._titles: dict[str, list[int]] = {}
        self._places: dict[str, Fingerprint] = {}
        # What was listed under one link and is not any more may be listed under another.
        self._listed_links = {each.link for each in listed}
        self._since_ms = now_ms - SAME_TITLE_MS
        for fingerprint in known:
            self.add(fingerprint)
        for article_id in ids:
            self._ids.setdefault(article_id, 0)

    def add(self, known: Fingerprint) -> None:
        self._ids.setdefault(known.id, known.time_ms)
        if known.link:
            self._links.setdefault(known.link, known.time_ms)
        self._titles.setdefault(known.title, []).append(known.time_ms)
        if known.seen_ms >= self._since_ms and known.link not in self._listed_links:
            self._places.setdefault(known.place, known)

    def find(self, one: Fingerprint) -> int | None:
        """Return the time of the known article that it is, 0 if that is unknown; None if it is new."""
        if one.id in self._ids:
            return self._ids[one.id]
        if one.link in self._links:
            return self._links[one.link]
        times = [each for each in self._titles.get(one.title, ()) if abs(each - one.time_ms) <= SAME_TITLE_MS]
        if times:
            return times[0]
        moved = self._places.get(one.place)
        return moved.time_ms if moved else None


def published_ms(article: Article) -> int:
    """Return when the article was published; 0 if it does not say."""
    time = parse_time(article.text("pubDate"))
    return int(time.timestamp() * 1000) if time else 0


def _normalise(link: str) -> tuple[str, str, str]:
    """Return host, path and query as far as they tell articles apart."""
    try:
        parts = urlsplit(link.strip())
        host = (parts.hostname or "").removeprefix("www.")
        port = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    except ValueError:
        return "", "", ""
    pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.fullmatch(pair[0])]
    return f"{host}{port}", parts.path.rstrip("/"), urlencode(sorted(pairs))


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]
