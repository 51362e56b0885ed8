"""The reply to `GET /health`: the Worker's name and version, and whether each binding answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.web.messages import Reply


@dataclass(frozen=True, slots=True)
class Check:
    """The result of checking one binding; `kind` is its type (`kv`, `d1`, `queue`)."""

    kind: str
    ok: bool
    error: str | None = None
    detail: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the members of the reply that have a value."""
        members = {"kind": self.kind, "ok": self.ok, "error": self.error, "detail": self.detail}
        return {name: value for name, value in members.items() if value is not None}


def build_health_reply(name: str, version: str, checks: Mapping[str, Check]) -> Reply:
    """Return 200 if every check is ok, else 503 with the same body."""
    is_ok = all(check.ok for check in checks.values())
    body = {
        "name": name,
        "version": version,
        "status": "ok" if is_ok else "degraded",
        "bindings": {binding: check.as_json() for binding, check in checks.items()},
    }
    return Reply.json(body, 200 if is_ok else 503)
