"""D1: SQLite over the network. Numbers are bound as REAL, so an int put into a TEXT column reads "5.0": pass text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sluice.core.ports import Row, Scalar, Statement
from sluice.platform.failures import translate_errors
from sluice.platform.storage.parameters import check_parameters


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
        """The first row, or None when there is none."""
        return next(iter(await self.all(sql, *params)), None)

    async def value(self, sql: str, *params: object) -> Scalar:
        """The first column of the first row, or None when there is none."""
        row = await self.first(sql, *params)
        return next(iter(row.values()), None) if row else None

    async def run(self, sql: str, *params: object) -> D1Result:
        statement = self._prepared(sql, params)
        with translate_errors(_named(sql)):
            return _result(await statement.all())

    async def batch(self, statements: Sequence[Statement]) -> list[D1Result]:
        """All statements in one transaction: every one of them happens, or none does."""
        if not statements:
            return []
        prepared = [self._prepared(sql, params) for sql, params in statements]
        with translate_errors(f"batch of {len(prepared)} from {_named(statements[0][0])}"):
            return [_result(found) for found in await self._database.batch(prepared)]

    def _prepared(self, sql: str, params: Sequence[object]) -> Any:
        values = check_parameters(params)
        with translate_errors(_named(sql)):
            statement = self._database.prepare(sql)
            return statement.bind(*values) if values else statement


def _named(sql: str) -> str:
    return f"D1 {' '.join(sql.split())[:60]!r}"


def _result(found: Any) -> D1Result:
    rows = [{name: _column(value) for name, value in row.items()} for row in found["results"]]
    return D1Result(rows, int(found["meta"]["changes"]), int(found["meta"]["last_row_id"]))


def _column(value: Any) -> Scalar:
    """A blob arrives as a list of numbers."""
    return bytes(value) if isinstance(value, list | memoryview) else value
