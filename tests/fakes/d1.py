"""A D1 database: real SQL on real SQLite, with blobs and numbers converted as the network does it."""

from dataclasses import dataclass, replace
from typing import Any

from fakes.binding import Fake
from fakes.sqlite import Engine


class FakeD1(Fake):
    def __init__(self) -> None:
        super().__init__()
        self._engine = Engine("D1_ERROR: ")

    def prepare(self, sql: str) -> "_Statement":
        return _Statement(self, sql)

    async def batch(self, statements: list["_Statement"]) -> list[dict[str, Any]]:
        with self.operation("batch", f"{len(statements)} statements"):
            self._engine.begin()
            try:
                results = [self._run(statement) for statement in statements]
            except BaseException:
                self._engine.rollback()
                raise
            self._engine.commit()
            return results

    def migrate(self, script: str) -> None:
        """Run a migration file; this is not an operation of the binding."""
        self._engine.script(script)

    async def run_one(self, statement: "_Statement") -> dict[str, Any]:
        with self.operation("query", statement.sql):
            return self._run(statement)

    def _run(self, statement: "_Statement") -> dict[str, Any]:
        before = self._engine.total_changes
        rows = self._engine.execute(statement.sql, list(statement.params))
        changes = self._engine.total_changes - before
        meta = {"changes": changes, "last_row_id": self._engine.last_row_id}
        return {"success": True, "meta": meta, "results": [_to_wire(row) for row in rows]}


@dataclass(frozen=True, slots=True)
class _Statement:
    database: FakeD1
    sql: str
    params: tuple[object, ...] = ()

    def bind(self, *params: object) -> "_Statement":
        return replace(self, params=params)

    async def all(self) -> dict[str, Any]:
        return await self.database.run_one(self)


def _to_wire(row: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, bytes) else value for name, value in row.items()}
