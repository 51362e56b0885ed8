"""The few single values of a zone's object, as JSON under a name."""

import json
from dataclasses import dataclass
from typing import Any

from sluice.core.json_text import encode_json
from sluice.core.ports import Sql
from sluice.core.preload.circuit_breaker import Breaker
from sluice.core.preload.zone_config import ZoneConfig, parse_config, config_as_json


@dataclass(frozen=True, slots=True)
class State:
    sql: Sql

    def get(self, name: str, default: Any = None) -> Any:
        text = self.sql.value("SELECT value FROM state WHERE name = ?", name)
        return default if text is None else json.loads(str(text))

    def put(self, name: str, value: object) -> None:
        self.sql.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", name, encode_json(value))

    def tally(self, name: str) -> int:
        return int(self.sql.value("SELECT n FROM tally WHERE name = ?", name) or 0)

    @property
    def zone(self) -> ZoneConfig | None:
        """The configuration; None for a zone that was never registered."""
        raw = self.get("config")
        return None if raw is None else parse_config(raw)

    def configure(self, zone: ZoneConfig) -> None:
        self.put("config", config_as_json(zone))

    @property
    def breaker(self) -> Breaker:
        return Breaker.from_json(self.get("breaker"))

    def keep_breaker(self, breaker: Breaker) -> None:
        self.put("breaker", breaker.as_json())
