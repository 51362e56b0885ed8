"""Durable Objects: calls from outside by name, and from inside their own SQLite and alarm."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sluice.core.ports import Row, Scalar
from sluice.platform.failures import translate_errors
from sluice.platform.storage.parameters import check_parameters
from sluice.platform.values import to_plain

Outcome = TypeVar("Outcome")


class DurableObjects:
    """The objects of one class, each found by its name."""

    def __init__(self, namespace: Any) -> None:
        self._namespace = namespace

    def get(self, name: str) -> "ObjectStub":
        return ObjectStub(self._namespace.getByName(name), name)


class ObjectStub:
    """One object: `await stub.method(...)` calls the method there; its SluiceErrors are raised here as they are."""

    def __init__(self, remote: Any, name: str) -> None:
        self._remote = remote
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any) -> Any:
            with translate_errors(f"{method} of object {self._name!r}"):
                return to_plain(await getattr(self._remote, method)(*args))

        return call


class Sql:
    """The object's own database: synchronous, and atomic up to the next await."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def rows(self, sql: str, *params: object) -> list[Row]:
        with translate_errors(f"SQL {' '.join(sql.split())[:60]!r}"):
            # Read to the end at once: a cursor left open locks the table against any later change of it.
            found = self._storage.sql.exec(sql, *check_parameters(params)).toArray()
        return [to_plain(row) for row in found]

    def value(self, sql: str, *params: object) -> Scalar:
        """The first column of the first row, or None when there is none."""
        return next((value for row in self.rows(sql, *params) for value in row.values()), None)

    def execute(self, sql: str, *params: object) -> int:
        """The number of rows changed; the cursor's own rowsWritten would count index entries too."""
        self.rows(sql, *params)
        return int(self.value("select changes()") or 0)

    def transaction(self, work: Callable[[], Outcome]) -> Outcome:
        """Run `work`, which must not await; whatever it raises undoes all of it and is raised here."""
        outcome: list[Outcome] = []
        # Its result stays in Python: the platform would convert what the function returns.
        self._storage.transactionSync(lambda: outcome.append(work()))
        return outcome[0]


class Alarm:
    """The object's one alarm, in epoch seconds."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    async def get(self) -> float | None:
        """When it will ring; None when it is not set, and while it rings."""
        at_ms = await self._storage.getAlarm()
        return None if at_ms is None else at_ms / 1000

    async def set(self, at_s: float) -> None:
        await self._storage.setAlarm(int(at_s * 1000))

    async def delete(self) -> None:
        await self._storage.deleteAlarm()


async def erase_storage(storage: Any) -> None:
    """Leave nothing of the object: an object without storage costs nothing and is not kept."""
    with translate_errors("deleteAll"):
        await storage.deleteAlarm()
        await storage.deleteAll()
