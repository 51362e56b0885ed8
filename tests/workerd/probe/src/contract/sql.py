"""The claims about a Durable Object's own storage; the subject is a `Storage`."""

# ruff: noqa: S608 - the table's name is ours, one for each call

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contract.raises import raises
from sluice.core.errors import Conflict, Invalid
from sluice.platform.durable_objects import Alarm, Sql


@dataclass
class Storage:
    """The adapters over one object's storage."""

    sql: Sql
    alarm: Alarm
    erase: Callable[[], Awaitable[None]]


def _table(sql: Sql, unique: str) -> str:
    name = f"contract_{unique}"
    sql.execute(f"create table {name} (id integer primary key, a text unique, b blob, n integer)")
    return name


async def check_rows_come_back(storage: Storage, unique: str):
    """Rows come as plain dicts, blobs as bytes, None as None."""
    table = _table(storage.sql, unique)
    storage.sql.execute(f"insert into {table} (a, b, n) values (?, ?, ?)", "é", b"\0\xff", None)
    rows = storage.sql.rows(f"select a, b, n from {table}")
    assert rows == [{"a": "é", "b": b"\0\xff", "n": None}]
    assert type(rows[0]) is dict
    assert storage.sql.value(f"select a from {table} where n = 1") is None


async def check_changes_are_counted(storage: Storage, unique: str):
    """A write tells how many rows it changed, not how many index entries."""
    table = _table(storage.sql, unique)
    assert storage.sql.execute(f"insert into {table} (a) values ('x'), ('y'), ('z')") == 3
    assert storage.sql.execute(f"update {table} set n = ? where a <> 'x'", True) == 2
    assert storage.sql.value(f"select sum(n) from {table}") == 2
    assert storage.sql.execute(f"delete from {table} where a = 'none'") == 0


async def check_transaction_undoes_all(storage: Storage, unique: str):
    """What a transaction raises undoes it and arrives unchanged; what it returns arrives too."""
    table = _table(storage.sql, unique)

    def good() -> tuple[int, str]:
        return storage.sql.execute(f"insert into {table} (a) values ('kept')"), "done"

    def bad() -> None:
        storage.sql.execute(f"insert into {table} (a) values ('lost')")
        raise LookupError("stop")

    assert storage.sql.transaction(good) == (1, "done")
    with raises(LookupError, "stop"):
        storage.sql.transaction(bad)
    assert storage.sql.rows(f"select a from {table}") == [{"a": "kept"}]


async def check_conflict_inside_transaction(storage: Storage, unique: str):
    """A taken unique value is a Conflict, inside a transaction too, and undoes it."""
    table = _table(storage.sql, unique)

    def twice() -> None:
        storage.sql.execute(f"insert into {table} (a) values ('x')")
        storage.sql.execute(f"insert into {table} (a) values ('x')")

    with raises(Conflict, "UNIQUE"):
        storage.sql.transaction(twice)
    assert storage.sql.value(f"select count(*) from {table}") == 0


async def check_tables_can_change_after_reading(storage: Storage, unique: str):
    """No read leaves a cursor open that would lock the table."""
    table = _table(storage.sql, unique)
    storage.sql.execute(f"insert into {table} (a) values ('x'), ('y')")
    storage.sql.value(f"select a from {table}")
    storage.sql.execute(f"drop table {table}")


async def check_parameters_are_checked(storage: Storage, unique: str):
    """What SQLite would silently take as text is refused."""
    del unique
    for params, reason in (([0] * 101, "100"), ([[1]], "list"), ([{}], "dict"), ([2**53 - 1], "text")):
        with raises(Invalid, reason):
            storage.sql.rows("select ?", *params)


async def check_alarm_is_kept(storage: Storage, unique: str):
    """The alarm reads as it was set, to the millisecond, and as None when it is deleted."""
    del unique
    at = int(time.time()) + 3600.25
    await storage.alarm.set(at)
    assert await storage.alarm.get() == at
    await storage.alarm.delete()
    assert await storage.alarm.get() is None


async def check_erased_object_is_empty(storage: Storage, unique: str):
    """Nothing is left of an erased object, neither tables nor alarm, and it can be used again."""
    table = _table(storage.sql, unique)
    await storage.alarm.set(time.time() + 3600)
    await storage.erase()
    assert await storage.alarm.get() is None
    assert storage.sql.rows("select name from sqlite_master where name = ?", table) == []
    assert _table(storage.sql, unique) == table
