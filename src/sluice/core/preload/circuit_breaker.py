"""The circuit breaker that protects a failing origin: closed, open or half-open, as one frozen value.

`threshold` different pages that fail in a row open it; a page that failed before says nothing about the site. While it is open, no page is fetched. After the backoff it is half-open: one page is
fetched as a probe. A good response closes it, another failure doubles the backoff.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, Self

FIRST_BACKOFF_S: Final = 30.0

State = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """The state of a circuit breaker. `era` grows with each change of state, so that a response to a request from an earlier era is ignored."""

    state: State = "closed"
    failing: tuple[str, ...] = ()  # the pages that have failed since the last good response
    backoff_s: float = 0.0
    open_until: float = 0.0
    era: int = 0

    @classmethod
    def from_json(cls, value: dict[str, Any] | None) -> Self:
        """Read a stored breaker; one of an earlier version counted failures instead of pages."""
        fields = {name: each for name, each in (value or {}).items() if name != "failures"}
        return cls(**{**fields, "failing": tuple(fields.get("failing", ()))})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def at(self, now: float) -> Self:
        """Return the breaker at this time: an open one becomes half-open when its backoff has passed."""
        if self.state == "open" and now >= self.open_until:
            return replace(self, state="half-open", era=self.era + 1)
        return self

    def may_fetch(self, in_flight: int) -> bool:
        """Return whether one more page may be fetched while `in_flight` requests are under way."""
        return self.state == "closed" or (self.state == "half-open" and in_flight == 0)

    def after_success(self) -> Self:
        """Return the breaker after a response with content, or 304."""
        if self.state == "half-open":
            return type(self)(era=self.era + 1)
        return replace(self, failing=()) if self.state == "closed" else self

    def after_refusal(self) -> Self:
        """Return the breaker after a response such as 404, which ends a row of failures, but does not prove that the origin is well."""
        return replace(self, failing=()) if self.state == "closed" else self

    def after_failure(self, now: float, page: str, *, threshold: int, max_backoff_s: float) -> Self:
        """Return the breaker after a 5xx response or none at all, for a page that has not failed before."""
        if self.state == "half-open":
            return self._open(now, min(max(self.backoff_s, FIRST_BACKOFF_S) * 2, max_backoff_s))
        if self.state == "open":
            return self
        failing = self.failing if page in self.failing else (*self.failing, page)
        if len(failing) < threshold:
            return replace(self, failing=failing)
        return replace(self._open(now, min(FIRST_BACKOFF_S, max_backoff_s)), failing=failing)

    def _open(self, now: float, backoff_s: float) -> Self:
        return replace(self, state="open", backoff_s=backoff_s, open_until=now + backoff_s, era=self.era + 1)
