"""One source that is watched, what a check of it finds, and the check itself."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.errors import SluiceError, TimedOut
from sluice.core.ports import Clock, Fetch, FetchResponse
from sluice.services.compiler.workflows.events import short

TIMEOUT_S: Final = 30.0
MAX_BYTES: Final = 20_000_000
DEFAULT_MIN_RULES: Final = 100
_MAX_NAME_CHARS: Final = 128
_MAX_URL_CHARS: Final = 1_024  # fifty of them go into the parameters of a workflow, which hold 1 MiB
_USER_AGENT: Final = (("User-Agent", "AdblockCompiler-HealthCheck/1.0"),)
_COMMENTS: Final = (b"!", b"#")


class HealthSource(BaseModel):
    """A source by its address, and how many rules it has at least when it is well."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=_MAX_NAME_CHARS)]
    url: Annotated[str, Field(pattern=r"^https?://", max_length=_MAX_URL_CHARS)]
    expectedMinRules: Annotated[int, Field(ge=0, le=100_000_000)] = DEFAULT_MIN_RULES  # noqa: N815 - as it is sent


def check_distinct(sources: Sequence[HealthSource]) -> None:
    """Results are told by name and kept by address: neither may stand for two sources."""
    for what, values in (("name", [s.name for s in sources]), ("url", [s.url for s in sources])):
        twice = [value for value, times in Counter(values).items() if times > 1]
        if twice:
            raise ValueError(f"two sources have the {what} {twice[0][:80]!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """How a source can be seen to be unchanged, and what it held then."""

    etag: str | None
    last_modified: str | None
    rule_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHealth:
    """What one check found; a status of 0 means that there was no answer."""

    name: str
    url: str
    healthy: bool
    status_code: int
    response_ms: int
    rule_count: int
    error: str | None = None
    etag: str | None = None
    last_modified: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The documented members."""
        told: dict[str, Any] = {
            "name": self.name,
            "url": self.url,
            "healthy": self.healthy,
            "statusCode": self.status_code,
            "responseTimeMs": self.response_ms,
            "ruleCount": self.rule_count,
        }
        return told | ({} if self.error is None else {"error": self.error})


def summary(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the results come to."""
    healthy = sum(result["healthy"] for result in results)
    took_ms = sum(result["responseTimeMs"] for result in results)
    return {
        "total": len(results),
        "healthy": healthy,
        "unhealthy": len(results) - healthy,
        "avgResponseTimeMs": round(took_ms / len(results)) if results else 0,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCheck:
    fetch: Fetch
    clock: Clock

    async def __call__(self, source: HealthSource, known: Validators | None) -> SourceHealth:
        """Ask for the head first: where it shows that nothing changed since a good check, the body is spared."""
        comparable = known and (known.etag or known.last_modified)
        if known and comparable and (unchanged := await self._unchanged(source, known)):
            return unchanged
        began_s = self.clock.now()
        try:
            answer = await self._asked(source, "GET")
        except SluiceError as error:
            reason = f"Too slow: no answer within {TIMEOUT_S:g} s" if isinstance(error, TimedOut) else short(str(error))
            return _found(source, 0, self._since_ms(began_s), error=reason)
        return _judged(source, answer, self._since_ms(began_s), rule_count(answer.body))

    async def _unchanged(self, source: HealthSource, known: Validators) -> SourceHealth | None:
        """A server that does not answer HEAD well is asked again by GET, which decides."""
        began_s = self.clock.now()
        try:
            answer = await self._asked(source, "HEAD")
        except SluiceError:
            return None
        same = _same(known.etag, answer.header("etag"))
        if same is None:
            same = _same(known.last_modified, answer.header("last-modified"))
        if answer.status != 200 or not same:
            return None
        return _judged(source, answer, self._since_ms(began_s), known.rule_count)

    async def _asked(self, source: HealthSource, method: str) -> FetchResponse:
        return await self.fetch(
            source.url, method=method, headers=_USER_AGENT, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S
        )

    def _since_ms(self, began_s: float) -> int:
        return round((self.clock.now() - began_s) * 1000)


def rule_count(body: bytes) -> int:
    """Lines that are neither empty nor comments."""
    lines = (line.strip() for line in BytesIO(body))
    return sum(1 for line in lines if line and not line.startswith(_COMMENTS))


def _same(known: str | None, now: str | None) -> bool | None:
    """None when the two cannot be compared."""
    return known == now if known and now else None


def _judged(source: HealthSource, answer: FetchResponse, took_ms: int, rules: int) -> SourceHealth:
    error = None
    if answer.status != 200:
        error, rules = f"Status {answer.status} instead of 200", 0
    elif took_ms >= TIMEOUT_S * 1000:
        error = f"Too slow: {took_ms} ms"
    elif rules < source.expectedMinRules:
        error = f"Low rule count: {rules} of at least {source.expectedMinRules}"
    return _found(source, answer.status, took_ms, rules=rules, error=error, answer=answer)


def _found(
    source: HealthSource,
    status: int,
    took_ms: int,
    *,
    rules: int = 0,
    error: str | None = None,
    answer: FetchResponse | None = None,
) -> SourceHealth:
    return SourceHealth(
        name=source.name,
        url=source.url,
        healthy=error is None,
        status_code=status,
        response_ms=took_ms,
        rule_count=rules,
        error=error,
        etag=answer.header("etag") if answer else None,
        last_modified=answer.header("last-modified") if answer else None,
    )
