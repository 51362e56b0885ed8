"""Named single values of a zone's object: stored in SQL, read from memory.

The object is the only writer of its tables, so the cache is valid for as long as the object lives. A value is in SQL
before `put` returns, so a crash loses none.
"""

import json
from typing import Any

from sluice.core.json_text import encode_json
from sluice.core.ports import Sql
from sluice.core.preload.circuit_breaker import Breaker
from sluice.core.preload.site_agent import SiteAgent
from sluice.core.preload.zone_config import ZoneConfig, config_as_json, parse_config


class ZoneState:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        rows = sql.rows("SELECT name, value FROM state")
        self._values: dict[str, Any] = {str(row["name"]): json.loads(str(row["value"])) for row in rows}
        stored = self._values.get("config")
        self._config = None if stored is None else parse_config(stored)
        self._agent = SiteAgent.from_json(self._values.get("agent"))

    def get(self, name: str, default: Any = None) -> Any:
        return self._values.get(name, default)

    def put(self, **values: Any) -> None:
        """Store the values in one statement."""
        texts = {name: encode_json(value) for name, value in values.items()}
        self._sql.run("INSERT OR REPLACE INTO state SELECT key, value FROM json_each(?)", json.dumps(texts))
        self._values.update(values)

    def delete(self, *names: str) -> None:
        self._sql.run("DELETE FROM state WHERE name IN (SELECT value FROM json_each(?))", json.dumps(names))
        for name in names:
            self._values.pop(name, None)
        if "config" in names:
            self._config = None
        if "agent" in names:
            self._agent = SiteAgent()

    @property
    def config(self) -> ZoneConfig | None:
        """The zone's configuration; None when the zone is not registered."""
        return self._config

    def put_config(self, config: ZoneConfig, **values: Any) -> None:
        """Store a configuration together with the values that depend on it."""
        self.put(config=config_as_json(config), **values)
        self._config = config

    @property
    def breaker(self) -> Breaker:
        return Breaker.from_json(self.get("breaker"))

    def put_breaker(self, breaker: Breaker) -> None:
        """Store the breaker if it has changed."""
        if breaker != self.breaker:
            self.put(breaker=breaker.as_json())

    @property
    def agent(self) -> SiteAgent:
        return self._agent

    def put_agent(self, agent: SiteAgent) -> None:
        self.put(agent=agent.as_json())
        self._agent = agent

    @property
    def is_published(self) -> bool:
        """Whether the current version of the configuration is in KV and D1."""
        return self.config is None or self.get("published", default=0) == self.version

    @property
    def version(self) -> int:
        """The version of the configuration."""
        return int(self.get("version", default=0))

    @property
    def looping_hosts(self) -> list[str]:
        """The hosts whose requests came back to us the last time."""
        return list(self.get("looping_hosts", default=[]))

    @property
    def wants_origin_check(self) -> bool:
        """Whether a check of the way to the origin was asked for and has not begun."""
        return self._origin_check_state == "pending"

    @property
    def is_origin_check_begun(self) -> bool:
        """Whether a check of the way to the origin has begun and has no result."""
        return self._origin_check_state == "begun"

    @property
    def _origin_check_state(self) -> str:
        return str((self.get("origin_check") or {}).get("state"))

    @property
    def is_paused(self) -> bool:
        return bool(self.get("paused", default=False))

    @property
    def is_held(self) -> bool:
        """Whether nothing is warmed now: by the operator's order, or because the site's agent is away."""
        return self.is_paused or self._agent.away_since is not None
