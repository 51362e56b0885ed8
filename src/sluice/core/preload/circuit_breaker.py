"""The circuit breaker that protects an origin in trouble: closed, open, half-open, as one frozen value."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, Self

FIRST_BACKOFF_S: Final = 30.0

State = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """`era` grows with each change, so that an answer asked for in an earlier era is known to be old news."""

    state: State = "closed"
    failures: int = 0
    backoff_s: float = 0.0
    open_until: float = 0.0
    era: int = 0

    @classmethod
    def from_json(cls, value: dict[str, Any] | None) -> Self:
        return cls(**value) if value else cls()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def at(self, now: float) -> Self:
        """The breaker as time has made it: one whose pause is over lets a single probe through."""
        if self.state == "open" and now >= self.open_until:
            return replace(self, state="half-open", era=self.era + 1)
        return self

    def may_fetch(self, in_flight: int) -> bool:
        """Whether one more page may be asked for while others are under way."""
        return self.state == "closed" or (self.state == "half-open" and in_flight == 0)

    def answered(self) -> Self:
        """After a page that came, or had not changed."""
        if self.state == "half-open":
            return type(self)(era=self.era + 1)
        return replace(self, failures=0) if self.state == "closed" else self

    def refused(self) -> Self:
        """After an answer that is neither good nor trouble, such as 404: it ends a row of failures, and proves nothing."""
        return replace(self, failures=0) if self.state == "closed" else self

    def failed(self, now: float, *, threshold: int, max_backoff_s: float) -> Self:
        """After a 5xx or no answer at all."""
        if self.state == "half-open":
            return self._opened(now, min(max(self.backoff_s, FIRST_BACKOFF_S) * 2, max_backoff_s))
        if self.state == "open":
            return self
        failures = self.failures + 1
        if failures < threshold:
            return replace(self, failures=failures)
        return replace(self._opened(now, min(FIRST_BACKOFF_S, max_backoff_s)), failures=failures)

    def _opened(self, now: float, backoff_s: float) -> Self:
        return replace(self, state="open", backoff_s=backoff_s, open_until=now + backoff_s, era=self.era + 1)
