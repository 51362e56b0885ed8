"""The storage of a SQLite Durable Object, and a namespace whose objects live in this process."""

import traceback
from collections.abc import Callable
from typing import Any

from fakes.binding import Fake, JsError, check_sendable
from fakes.sqlite import Engine


class FakeStorage(Fake):
    def __init__(self) -> None:
        super().__init__()
        self.sql = _Sql(self)
        self.alarm_ms: int | None = None
        self.engine = Engine()
        self._inside = False

    def transactionSync(self, work: Callable[[], object]) -> None:  # noqa: N802 - as bound
        if self._inside:
            raise NotImplementedError("nested transactions")
        self._inside = True
        self.engine.begin()
        try:
            work()
        except BaseException:
            self.engine.rollback()
            raise
        else:
            self.engine.commit()
        finally:
            self._inside = False

    async def getAlarm(self) -> int | None:  # noqa: N802 - as bound
        return self.alarm_ms

    async def setAlarm(self, at_ms: int) -> None:  # noqa: N802 - as bound
        with self.operation("alarm", "set"):
            self.alarm_ms = at_ms

    async def deleteAlarm(self) -> None:  # noqa: N802 - as bound
        with self.operation("alarm", "delete"):
            self.alarm_ms = None

    async def deleteAll(self) -> None:  # noqa: N802 - as bound
        with self.operation("delete all"):
            self.engine = Engine()


class _Sql:
    def __init__(self, storage: FakeStorage) -> None:
        self._storage = storage

    def exec(self, sql: str, *params: object) -> "_Cursor":
        with self._storage.operation("sql", sql):
            return _Cursor(self._storage.engine.execute(sql, list(params)))


class _Cursor:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def toArray(self) -> list[dict[str, Any]]:  # noqa: N802 - as bound
        return [{name: _to_wire(value) for name, value in row.items()} for row in self._rows]


class FakeObjects:
    """`make` builds the object of a name once."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        self._make = make
        self.objects: dict[str, Any] = {}

    def getByName(self, name: str) -> "_Remote":  # noqa: N802 - as bound
        if name not in self.objects:
            self.objects[name] = self._make(name)
        return _Remote(self.objects[name])


class _Remote:
    """Checks values in both directions and turns errors into text, as the RPC boundary does."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, method: str) -> Any:
        async def call(*args: object) -> Any:
            check_sendable(list(args))
            if not hasattr(self._target, method):
                raise JsError(f'The RPC receiver does not implement the method "{method}".', "TypeError")
            try:
                result = await getattr(self._target, method)(*args)
            except Exception as error:
                text = "".join(traceback.format_exception(error))
                raise JsError(f"PythonError: {text}", "PythonError") from error
            check_sendable(result)
            return result

        return call


def _to_wire(value: Any) -> Any:
    return memoryview(value) if isinstance(value, bytes) else value
