"""Durable Objects: calls to an object by its name, and the SQLite database and alarm inside it."""

from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any, TypeVar

from sluice.core.ports import Row, Scalar
from sluice.core.remote import Message, Send
from sluice.platform.failures import translate_errors
from sluice.platform.values import check_parameters, to_plain

Outcome = TypeVar("Outcome")


class DurableObjects:
    """The objects of one class."""

    def __init__(self, namespace: Any) -> None:
        self._namespace = namespace

    def get(self, name: str) -> "ObjectStub":
        """Return the stub of the object with this name."""
        return ObjectStub(lambda: self._namespace.getByName(name), name)

    def send_to(self, name: str) -> Send:
        """Return what carries calls to the object with this name, which answers them in its method `call`."""
        stub = self.get(name)

        async def send(call: str, message: Message) -> Message:
            answer: Message = await stub.call(call, message)
            return answer

        return send


class ObjectStub:
    """One object or Worker: `await stub.method(...)` calls its method and raises the SluiceError that the method raised."""

    def __init__(self, connect: Callable[[], Any], name: str) -> None:
        # Connected anew for each call, because a connection belongs to the invocation that made it.
        self._connect = connect
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any) -> Any:
            with translate_errors(f"{method} of object {self._name!r}"):
                return to_plain(await getattr(self._connect(), method)(*args))

        return call


class Sql:
    """The object's own database: synchronous, and atomic until the next await."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def rows(self, sql: str, *params: object) -> list[Row]:
        with translate_errors(_describe(sql)):
            # All rows are read at once, because an open cursor locks the table against changes of its schema.
            rows = self._storage.sql.exec(sql, *check_parameters(params)).toArray()
        return [to_plain(row) for row in rows]

    def value(self, sql: str, *params: object) -> Scalar:
        """Return the first column of the first row, or None."""
        return next((value for row in self.rows(sql, *params) for value in row.values()), None)

    def run(self, sql: str, *params: object) -> None:
        """Run a statement whose result nobody needs."""
        self.rows(sql, *params)

    def execute(self, sql: str, *params: object) -> int:
        """Return the number of changed rows; the cursor's own rowsWritten also counts index entries."""
        self.rows(sql, *params)
        return int(self.value("select changes()") or 0)

    def transaction(self, work: Callable[[], Outcome]) -> Outcome:
        """Run `work`, which must not await; an error rolls everything back and is raised."""
        outcome: list[Outcome] = []
        # The result stays in Python, because the platform converts what the function returns.
        self._storage.transactionSync(lambda: outcome.append(work()))
        return outcome[0]


@lru_cache(maxsize=256)
def _describe(sql: str) -> str:
    return f"SQL {' '.join(sql.split())[:60]!r}"


class Alarm:
    """The object's one alarm, in epoch seconds."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    async def get(self) -> float | None:
        """Return the time of the alarm; None if it is not set, and while its handler runs."""
        at_ms = await self._storage.getAlarm()
        return None if at_ms is None else at_ms / 1000

    async def set(self, at_s: float) -> None:
        await self._storage.setAlarm(int(at_s * 1000))

    async def delete(self) -> None:
        await self._storage.deleteAlarm()


async def erase_storage(storage: Any) -> None:
    """Delete everything the object stores; the platform then forgets the object."""
    with translate_errors("deleteAll"):
        await storage.deleteAlarm()
        await storage.deleteAll()
