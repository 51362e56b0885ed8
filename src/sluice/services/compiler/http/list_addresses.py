"""The addresses that people subscribe to: stored bytes from one object in R2, and nothing else.

It is R2 and not KV, because KV may answer with an old value for a minute, and a cache that was just purged would keep
that. The object is stored compressed and sent as it is. For the few clients that do not take gzip the runtime inflates
it as a stream.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from sluice.core.http_dates import format_http_date
from sluice.core.ports import Bucket, FileStream
from sluice.web import CachePolicy, ETag, Native, Reply, Request, apply_conditions, share_reply
from sluice.web.negotiate import accepts_gzip
from sluice.web.problems import build_problem

PREFIX: Final = "published/at/"
RETRY_AFTER_S: Final = 120
_FRESH_S: Final = 300
_STALE_S: Final = 24 * 3600
_GZIP_MARK: Final = "-gzip"
_KNOWN: Final = re.compile(rf'(?:W/)?"([0-9a-f]{{32}})(?:{_GZIP_MARK})?"')
_CONDITIONS: Final = ("if-none-match", "if-modified-since", "if-match", "if-unmodified-since")
# Gives up a stream that nobody reads; None is no stream.
Discard = Callable[[Any], None]
# Returns the stream, which is compressed, as one of its plain content of this length.
Inflate = Callable[[Any, int], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAddresses:
    bucket: Bucket
    inflate: Inflate
    discard: Discard

    async def serve(self, request: Request, name: str, extension: str) -> Reply | None:
        """Return the list at an address; 503 if it was never built, None if there is none. The query does not count."""
        key = f"{PREFIX}{name}.{'txt' if extension == 'adblock' else extension}"
        if request.method == "HEAD":
            info = await self.bucket.head(key)
            file = FileStream(info.size, info.custom_metadata, None) if info else None
        else:
            file = await self._open_file(key, _find_known_etag(request))
        if file is None:
            return None
        if "etag" not in file.custom_metadata:
            return build_unbuilt_reply(request)
        return self._build_reply(request, name, file)

    async def _open_file(self, key: str, known_etag: str | None) -> FileStream | None:
        file = await self.bucket.open_file(key, unless_etag=known_etag)
        if file and file.stream is None and file.custom_metadata.get("etag") != known_etag:
            return await self.bucket.open_file(key)  # an object from before the ETags of R2 were sent
        return file

    def _build_reply(self, request: Request, name: str, file: FileStream) -> Reply:
        facts, stream = file.custom_metadata, file.stream
        is_gzip = accepts_gzip(request.headers.get("accept-encoding"))
        sharing = CachePolicy(max_age_s=_FRESH_S, stale_s=_STALE_S, tags=(f"list-{name}",))
        reply = share_reply(Reply(200, _build_headers(facts, gzip=is_gzip)), sharing)
        if unchanged := _find_unchanged(request, reply, facts["etag"]):
            self.discard(stream)
            return unchanged
        length = file.size if is_gzip else int(facts["size"])
        reply = reply.with_header("Content-Length", str(length))
        if stream is None:
            return reply
        return replace(reply, body=Native(stream, is_encoded=True) if is_gzip else Native(self.inflate(stream, length)))


def _find_known_etag(request: Request) -> str | None:
    """Return the ETag of the only version that the client has; None if it names another number of them, or conditions."""
    if "if-match" in request.headers:
        return None
    known = _KNOWN.fullmatch(request.headers.get("if-none-match", ""))
    return known[1] if known else None


def _build_headers(facts: Mapping[str, str], *, gzip: bool) -> tuple[tuple[str, str], ...]:
    modified = format_http_date(datetime.fromtimestamp(int(facts["modified"]), UTC))
    headers = (
        ("Content-Type", facts["type"]),
        ("ETag", f'"{facts["etag"]}{_GZIP_MARK if gzip else ""}"'),
        ("Last-Modified", modified),
        ("Vary", "Accept-Encoding"),
    )
    return (*headers, ("Content-Encoding", "gzip")) if gzip else headers


def _find_unchanged(request: Request, reply: Reply, tag: str) -> Reply | None:
    """Return a 304 if the caller has this version; a copy in the other encoding is the same version."""
    headers = request.headers
    if not any(name in headers for name in _CONDITIONS):
        return None
    listed = f"{headers.get('if-none-match', '')},{headers.get('if-match', '')}"
    known = next((each for each in (tag, f"{tag}{_GZIP_MARK}") if f'"{each}"' in listed), None)
    judged = apply_conditions(request, reply if known is None else reply.with_header("ETag", str(ETag(known))))
    return judged.with_header("ETag", reply.header("ETag") or "") if judged.status == 304 else None


def build_unbuilt_reply(request: Request) -> Reply:
    return build_problem(
        503,
        "Not built yet",
        "the list has no version yet: ask again in a few minutes",
        instance=request.path,
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )
