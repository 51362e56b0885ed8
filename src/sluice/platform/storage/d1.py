"""D1: SQLite over the network. Numbers are bound as REAL: an int in a TEXT column reads "5.0", so pass text there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sluice.core.ports import Row, Scalar, Statement
from sluice.platform.failures import translate_errors
from sluice.platform.values import check_parameters


@dataclass(frozen=True, slots=True)
class D1Result:
    """What a statement did, and the rows it returned."""

    rows: list[Row]
    changes: int
    last_row_id: int


class D1:
    """One database."""

    def __init__(self, database: Any) -> None:
        self._database = database

    async def all(self, sql: str, *params: object) -> list[Row]:
        return (await self.run(sql, *params)).rows

    async def first(self, sql: str, *params: object) -> Row | None:
        """Return the first row, or None."""
        return next(iter(await self.all(sql, *params)), None)

    async def value(self, sql: str, *params: object) -> Scalar:
        """Return the first column of the first row, or None."""
        row = await self.first(sql, *params)
        return next(iter(row.values()), None) if row else None

    async def run(self, sql: str, *params: object) -> D1Result:
        statement = self._prepare(sql, params)
        with translate_errors(_describe(sql)):
            return _to_result(await statement.all())

    async def batch(self, statements: Sequence[Statement]) -> list[D1Result]:
        """Run all statements in one transaction."""
        if not statements:
            return []
        prepared = [self._prepare(sql, params) for sql, params in statements]
        with translate_errors(f"batch of {len(prepared)} from {_describe(statements[0][0])}"):
            return [_to_result(raw) for raw in await self._database.batch(prepared)]

    def _prepare(self, sql: str, params: Sequence[object]) -> Any:
        values = check_parameters(params)
        with translate_errors(_describe(sql)):
            statement = self._database.prepare(sql)
            return statement.bind(*values) if values else statement


def _describe(sql: str) -> str:
    return f"D1 {' '.join(sql.split())[:60]!r}"


def _to_result(raw: Any) -> D1Result:
    rows = [{name: _to_scalar(value) for name, value in row.items()} for row in raw["results"]]
    return D1Result(rows, int(raw["meta"]["changes"]), int(raw["meta"]["last_row_id"]))


def _to_scalar(value: Any) -> Scalar:
    """Return the value of a column; a blob arrives as a list of numbers."""
    return bytes(value) if isinstance(value, list | memoryview) else value
