"""The reply of `GET /health`: what the Worker is, and whether each of its bindings answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.web.messages import Reply


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of trying one binding; `kind` says what it is (`kv`, `d1`, `queue`)."""

    kind: str
    ok: bool
    error: str | None = None
    detail: str | None = None

    def as_json(self) -> dict[str, object]:
        """The check as it stands in the reply, without the members that say nothing."""
        known = {"kind": self.kind, "ok": self.ok, "error": self.error, "detail": self.detail}
        return {name: value for name, value in known.items() if value is not None}


def build_health_reply(name: str, version: str, checks: Mapping[str, Check]) -> Reply:
    """200 when every check is well, else 503 with the same body; never cached."""
    well = all(check.ok for check in checks.values())
    body = {
        "name": name,
        "version": version,
        "status": "ok" if well else "degraded",
        "bindings": {binding: check.as_json() for binding, check in checks.items()},
    }
    return Reply.json(body, 200 if well else 503, {"Cache-Control": "no-store"})
