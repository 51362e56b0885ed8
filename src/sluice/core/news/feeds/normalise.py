"""Brings articles of all sources into one shape: clean text, a canonical link, a time in UTC and a stable id."""

import re
from datetime import UTC, datetime
from hashlib import sha256
from html import unescape
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sluice.core.news.article import Article
from sluice.core.news.dates import parse_time

MAX_TITLE_CHARS: Final = 500
MAX_DESCRIPTION_CHARS: Final = 2_000
MAX_LINK_CHARS: Final = 2_000
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9._~-]{1,100}")
_TRACKING: Final = re.compile(r"utm_\w+|fbclid|gclid|igshid|mc_[ce]id|ref|ref_src|cmpid|ocid|guccounter", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]{0,2000}>")


def normalise_article(
    *, native_id: object, title: object, link: object, published: object, queued_at_ms: int, **others: object
) -> Article | None:
    """Return an article with the common members; None without title or link."""
    address = canonical_url(link)
    heading = plain_text(title, MAX_TITLE_CHARS)
    if not address or not heading:
        return None
    sentiment = others.pop("sentiment", None)
    data: dict[str, Any] = {
        "id": stable_id(native_id, address),
        "title": heading,
        "description": plain_text(others.pop("description", None), MAX_DESCRIPTION_CHARS),
        "link": address,
        "pubDate": iso_time(published, latest_ms=queued_at_ms),
        **{name: value for name, value in others.items() if value not in (None, "", [])},
        "needsSentiment": sentiment is None,
        "needsSummary": True,
        "queuedAt": queued_at_ms,
    }
    if sentiment is not None:
        data |= {"sentiment": sentiment, "sentimentBy": "provider", "sentimentAt": queued_at_ms}
    return Article(data)


def stable_id(native_id: object, link: str) -> str:
    """Return the source's own id if it fits into a KV key and a URL path, else a digest of it or of the link."""
    own_id = str(native_id) if isinstance(native_id, str | int) and not isinstance(native_id, bool) else ""
    if _PLAIN_ID.fullmatch(own_id) and own_id not in {".", ".."}:
        return own_id
    return sha256((own_id if own_id and not own_id.startswith("http") else link).encode()).hexdigest()[:32]


def canonical_url(link: object) -> str:
    """Remove the fragment and tracking parameters; return "" for anything but an HTTP address."""
    if not isinstance(link, str) or len(link) > MAX_LINK_CHARS:
        return ""
    try:
        parts = urlsplit(link.strip())
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not host:
        return ""
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    clean = [(name, value) for name, value in pairs if not _TRACKING.fullmatch(name)]
    # A query without tracking stays as it is written.
    query = parts.query if len(clean) == len(pairs) else urlencode(clean)
    name = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, f"{name}{port}", parts.path or "/", query, ""))


def plain_text(value: object, max_chars: int) -> str:
    """Return the text without markup and entities, on one line, at most `max_chars` long."""
    if not isinstance(value, str):
        return ""
    # Twice, because feeds escape their markup.
    text = unescape(_TAG.sub(" ", unescape(value[: 8 * max_chars])))
    folded = " ".join(_TAG.sub(" ", text).split()).encode("utf-8", "replace").decode()
    return folded if len(folded) <= max_chars else folded[: max_chars - 1].rstrip() + "…"


def iso_time(value: object, *, latest_ms: int = 0) -> str:
    """Format a time as RFC 3339 in UTC, not later than `latest_ms` if that is given; "" if it cannot be parsed."""
    time = parse_time(value)
    if time and latest_ms:
        time = min(time, datetime.fromtimestamp(latest_ms / 1000, UTC))
    return time.strftime("%Y-%m-%dT%H:%M:%SZ") if time else ""


def list_texts(value: object) -> list[str]:
    """Return texts from a list of texts, from a list of objects with a name, or from one text."""
    items = value if isinstance(value, list) else [value]
    names = (item.get("name") if isinstance(item, dict) else item for item in items[:20])
    return [plain_text(name, 100) for name in names if isinstance(name, str) and name.strip()]
