"""The health check of one source, and its result."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.compiler.stage_metrics import Amount
from sluice.core.errors import SluiceError, TimedOut
from sluice.core.ports import Clock, Fetch, FetchResponse, Sink
from sluice.core.timestamps import elapsed_ms
from sluice.services.compiler.workflows.run_events import shorten

TIMEOUT_S: Final = 30.0
MAX_BYTES: Final = 20_000_000
DEFAULT_MIN_RULES: Final = 100
_MAX_NAME_CHARS: Final = 128
_MAX_URL_CHARS: Final = 1_024  # fifty of them go into the parameters of a workflow, which hold 1 MiB
_USER_AGENT: Final = (("User-Agent", "AdblockCompiler-HealthCheck/1.0"),)
_COMMENTS: Final = (b"!", b"#")
_PAGE_START: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<(?:!doctype|html|head|body|\?xml)\b|\{\s*\")", re.IGNORECASE)
_TAG: Final = re.compile(rb"</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
_JUDGED_BYTES: Final = 100_000


class HealthSource(BaseModel):
    """A source by its URL, and the number of rules that it must have to be healthy."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=_MAX_NAME_CHARS)]
    url: Annotated[str, Field(pattern=r"^https?://", max_length=_MAX_URL_CHARS)]
    expectedMinRules: Annotated[int, Field(ge=0, le=100_000_000)] = DEFAULT_MIN_RULES  # noqa: N815 - as it is sent


def check_distinct(sources: Sequence[HealthSource]) -> None:
    """Raise ValueError if two sources share a name or a URL: results are reported by name and stored by URL."""
    for what, values in (("name", [s.name for s in sources]), ("url", [s.url for s in sources])):
        repeated = [value for value, times in Counter(values).items() if times > 1]
        if repeated:
            raise ValueError(f"two sources have the {what} {repeated[0][:80]!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceValidators:
    """The ETag and Last-Modified of a source, and its rule count at that time."""

    etag: str | None
    last_modified: str | None
    rule_count: int


class SourceHealth(TypedDict):
    """The result of one check; a status of 0 means that there was no response."""

    name: str
    url: str
    healthy: bool
    statusCode: Amount
    responseTimeMs: Amount
    ruleCount: Amount
    error: NotRequired[str]


class SourcesSummary(TypedDict):
    total: Amount
    healthy: Amount
    unhealthy: Amount
    avgResponseTimeMs: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSource:
    """The result of one check; a status of 0 means that there was no response."""

    name: str
    url: str
    healthy: bool
    status_code: int
    response_ms: int
    rule_count: int
    error: str | None = None
    etag: str | None = None
    last_modified: str | None = None

    def as_json(self) -> SourceHealth:
        values: SourceHealth = {
            "name": self.name,
            "url": self.url,
            "healthy": self.healthy,
            "statusCode": self.status_code,
            "responseTimeMs": self.response_ms,
            "ruleCount": self.rule_count,
        }
        if self.error is not None:
            values["error"] = self.error
        return values


def summarize(results: Sequence[SourceHealth]) -> SourcesSummary:
    """Count the healthy sources, and average the response times."""
    healthy = sum(result["healthy"] for result in results)
    total_ms = sum(result["responseTimeMs"] for result in results)
    return {
        "total": len(results),
        "healthy": healthy,
        "unhealthy": len(results) - healthy,
        "avgResponseTimeMs": round(total_ms / len(results)) if results else 0,
    }


class ListReader:
    """Counts the lines that are neither empty nor comments as they arrive; of the text it keeps only the beginning."""

    def __init__(self) -> None:
        self.rules = 0
        self.head = b""
        self._line = b""  # the beginning of a line whose end has not arrived

    def read(self, chunk: bytes) -> None:
        self.head += chunk[: _JUDGED_BYTES - len(self.head)]
        *lines, rest = (self._line + chunk).split(b"\n")
        is_counted = _is_rule(self._line)  # when its beginning arrived
        self.rules += sum(map(_is_rule, lines)) + _is_rule(rest) - is_counted
        self._line = rest.lstrip()[:1]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCheck:
    fetch: Fetch
    clock: Clock

    async def __call__(self, source: HealthSource, known: SourceValidators | None = None) -> CheckedSource:
        """Send HEAD first: if nothing changed since a healthy check, the body is not downloaded."""
        comparable = known and (known.etag or known.last_modified)
        if known and comparable and (unchanged := await self._check_unchanged(source, known)):
            return unchanged
        began_s = self.clock.now()
        reader = ListReader()
        try:
            response = await self._fetch(source, "GET", reader.read)
        except SluiceError as error:
            reason = (
                f"Too slow: no answer within {TIMEOUT_S:g} s" if isinstance(error, TimedOut) else shorten(str(error))
            )
            return _build_health(source, 0, self._since_ms(began_s), error=reason)
        return _assess_response(source, response, self._since_ms(began_s), reader.rules, reader.head)

    async def _check_unchanged(self, source: HealthSource, known: SourceValidators) -> CheckedSource | None:
        """Return None if HEAD fails or the source changed; GET decides then."""
        began_s = self.clock.now()
        try:
            response = await self._fetch(source, "HEAD")
        except SluiceError:
            return None
        same = _is_same(known.etag, response.header("etag"))
        if same is None:
            same = _is_same(known.last_modified, response.header("last-modified"))
        if response.status != 200 or not same:
            return None
        return _assess_response(source, response, self._since_ms(began_s), known.rule_count)

    async def _fetch(self, source: HealthSource, method: str, sink: Sink | None = None) -> FetchResponse:
        return await self.fetch(
            source.url, method=method, headers=_USER_AGENT, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, sink=sink
        )

    def _since_ms(self, began_s: float) -> int:
        return round(elapsed_ms(began_s, self.clock.now()))


def _is_rule(line: bytes) -> bool:
    text = line.lstrip()
    return bool(text) and not text.startswith(_COMMENTS)


def is_page_or_json(body: bytes) -> bool:
    """Return whether a body is a web page or JSON: hosts often send one in place of a missing list."""
    if _PAGE_START.match(body):
        return True
    lines = [line for line in body[:_JUDGED_BYTES].splitlines() if line.strip()]
    return len(lines) > 0 and 3 * sum(1 for line in lines if _TAG.search(line)) > len(lines)


def _is_same(known: str | None, now: str | None) -> bool | None:
    """Return None if the two cannot be compared."""
    return known == now if known and now else None


def _assess_response(
    source: HealthSource, response: FetchResponse, took_ms: int, rules: int, head: bytes = b""
) -> CheckedSource:
    error = None
    if response.status != 200:
        error, rules = f"Status {response.status} instead of 200", 0
    elif is_page_or_json(head):
        error, rules = "A page in place of a list", 0
    elif took_ms >= TIMEOUT_S * 1000:
        error = f"Too slow: {took_ms} ms"
    elif rules < source.expectedMinRules:
        error = f"Low rule count: {rules} of at least {source.expectedMinRules}"
    return _build_health(source, response.status, took_ms, rules=rules, error=error, response=response)


def _build_health(
    source: HealthSource,
    status: int,
    took_ms: int,
    *,
    rules: int = 0,
    error: str | None = None,
    response: FetchResponse | None = None,
) -> CheckedSource:
    return CheckedSource(
        name=source.name,
        url=source.url,
        healthy=error is None,
        status_code=status,
        response_ms=took_ms,
        rule_count=rules,
        error=error,
        etag=response.header("etag") if response else None,
        last_modified=response.header("last-modified") if response else None,
    )
