"""Articles of any source in one shape, with an id that stays the same and fits into a key."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from html import unescape
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sluice.core.news.article import Article

MAX_TITLE_CHARS: Final = 500
MAX_DESCRIPTION_CHARS: Final = 2_000
MAX_LINK_CHARS: Final = 2_000
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9._~-]{1,100}")
_TRACKING: Final = re.compile(r"utm_\w+|fbclid|gclid|igshid|mc_[ce]id|ref|ref_src|cmpid|ocid|guccounter", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]{0,2000}>")
# Times before Bitcoin was known, or from a clock that is wrong, say nothing.
_EARLIEST: Final = datetime(2009, 1, 3, tzinfo=UTC)


def normalised(
    *, native_id: object, title: object, link: object, published: object, queued_at_ms: int, **others: object
) -> Article | None:
    """An article with the members every one has; None for one without title or link."""
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
        "pubDate": iso_time(published),
        **{name: value for name, value in others.items() if value not in (None, "", [])},
        "needsSentiment": sentiment is None,
        "needsSummary": True,
        "queuedAt": queued_at_ms,
    }
    if sentiment is not None:
        data |= {"sentiment": sentiment, "sentimentBy": "provider", "sentimentAt": queued_at_ms}
    return Article(data)


def stable_id(native_id: object, link: str) -> str:
    """The source's own id where it fits into a key and a path, else a digest of the link: the same link, the same id."""
    given = str(native_id) if isinstance(native_id, str | int) and not isinstance(native_id, bool) else ""
    if _PLAIN_ID.fullmatch(given) and given not in {".", ".."}:
        return given
    return sha256((given if given and not given.startswith("http") else link).encode()).hexdigest()[:32]


def canonical_url(link: object) -> str:
    """Without fragment and tracking; "" for what is no address of a page."""
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
    query = [
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.fullmatch(name)
    ]
    kept = parts.query if len(query) == len(parse_qsl(parts.query, keep_blank_values=True)) else urlencode(query)
    name = f"[{host}]" if ":" in host else host
    return urlunsplit((parts.scheme, f"{name}{port}", parts.path or "/", kept, ""))


def plain_text(value: object, max_chars: int) -> str:
    """Without markup and entities, on one line, of bounded length."""
    if not isinstance(value, str):
        return ""
    # Twice, because feeds escape their markup.
    text = unescape(_TAG.sub(" ", unescape(value[: 8 * max_chars])))
    folded = " ".join(_TAG.sub(" ", text).split()).encode("utf-8", "replace").decode()
    return folded if len(folded) <= max_chars else folded[: max_chars - 1].rstrip() + "…"


def iso_time(value: object) -> str:
    """RFC 3339 in UTC, from that or from RFC 2822; "" if nobody can read it."""
    moment = parsed_time(value)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""


def parsed_time(value: object) -> datetime | None:
    """The moment a text names; one without a zone is in UTC, as the services say."""
    if not isinstance(value, str) or not value.strip():
        return None
    text = value.strip()
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        try:
            moment = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except OverflowError:
            return None
        return moment if moment >= _EARLIEST else None
    return None


def text_list(value: object) -> list[str]:
    """A list of texts, from a list of them, of objects with a name, or from one text."""
    items = value if isinstance(value, list) else [value]
    names = (item.get("name") if isinstance(item, dict) else item for item in items[:20])
    return [plain_text(name, 100) for name in names if isinstance(name, str) and name.strip()]
