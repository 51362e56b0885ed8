"""The claims about D1; the subject is a `D1`."""

# ruff: noqa: S608 - the table's name is ours, one for each call

from contract.raises import raises
from sluice.core.errors import ConfigError, Conflict, Invalid, SluiceError
from sluice.platform.storage.d1 import D1


async def _table(db: D1, unique: str) -> str:
    name = f"contract_{unique}"
    await db.run(f"create table {name} (id integer primary key, a text unique, b blob, n integer, r real)")
    return name


async def check_rows_are_plain_dicts(db: D1, unique: str):
    """Rows come as plain dicts in order, and none as an empty list."""
    table = await _table(db, unique)
    assert await db.all(f"select * from {table}") == []
    await db.run(f"insert into {table} (id, a, r) values (?, ?, ?), (?, ?, ?)", 1, "né😀", 1.5, 2, None, None)
    rows = await db.all(f"select id, a, r from {table} order by id")
    assert rows == [{"id": 1, "a": "né😀", "r": 1.5}, {"id": 2, "a": None, "r": None}]
    assert type(rows[0]) is dict


async def check_first_and_value(db: D1, unique: str):
    """`first` is the first row and `value` its first column; both are None when there is no row."""
    del unique
    assert await db.first("select 1 as a, 2 as b") == {"a": 1, "b": 2}
    assert await db.value("select 'x' as a, 2 as b") == "x"
    assert await db.first("select 1 as a where 0") is None
    assert await db.value("select 1 as a where 0") is None


async def check_changes_are_counted(db: D1, unique: str):
    """A write tells how many rows it changed and the last id it made."""
    table = await _table(db, unique)
    made = await db.run(f"insert into {table} (a) values ('x'), ('y'), ('z')")
    assert (made.changes, made.last_row_id) == (3, 3)
    assert (await db.run(f"update {table} set n = 1 where a <> ?", "x")).changes == 2
    assert (await db.run(f"delete from {table} where a = 'none'")).changes == 0
    assert (await db.run(f"select * from {table}")).changes == 0


async def check_bytes_come_back(db: D1, unique: str):
    """Bytes are stored as a blob and come back as bytes, the empty ones too."""
    table = await _table(db, unique)
    await db.run(f"insert into {table} (id, b) values (1, ?), (2, ?)", bytes(range(256)), b"")
    assert await db.value(f"select b from {table} where id = 1") == bytes(range(256))
    assert await db.value(f"select b from {table} where id = 2") == b""


async def check_numbers_keep_their_worth(db: D1, unique: str):
    """A bool is stored as 1 or 0, a large int whole; a number in a text column reads as a real one."""
    table = await _table(db, unique)
    await db.run(f"insert into {table} (id, n, a) values (?, ?, ?)", 2**53 - 2, True, 5)
    assert await db.first(f"select id, n, a from {table}") == {"id": 2**53 - 2, "n": 1, "a": "5.0"}


async def check_batch_is_atomic(db: D1, unique: str):
    """A batch is atomic: one failing statement rolls back the ones before it."""
    table = await _table(db, unique)
    insert = f"insert into {table} (a) values (?)"
    made = await db.batch([(insert, ["x"]), (f"select count(*) as n from {table}", [])])
    assert made[0].changes == 1
    assert made[1].rows == [{"n": 1}]
    with raises(Conflict):
        await db.batch([(insert, ["y"]), (insert, ["x"])])
    assert await db.value(f"select count(*) from {table}") == 1
    assert await db.batch([]) == []


async def check_constraints_are_told_apart(db: D1, unique: str):
    """A taken unique value is a Conflict; another broken constraint is Invalid."""
    table = await _table(db, unique)
    await db.run(f"insert into {table} (id, a) values (1, 'x')")
    with raises(Conflict):
        await db.run(f"insert into {table} (a) values ('x')")
    with raises(Conflict):
        await db.run(f"insert into {table} (id) values (1)")
    await db.run(f"create table {table}_strict (a text not null)")
    with raises(Invalid):
        await db.run(f"insert into {table}_strict values (?)", None)


async def check_foreign_keys_hold(db: D1, unique: str):
    """A row cannot point to one that is not there."""
    table = await _table(db, unique)
    await db.run(f"create table {table}_child (parent integer references {table} (id))")
    with raises(Invalid, "FOREIGN KEY"):
        await db.run(f"insert into {table}_child values (99)")


async def check_mistakes_are_no_outage(db: D1, unique: str):
    """A missing table is a ConfigError, wrong SQL a plain error; neither is retryable."""
    with raises(ConfigError, "no such table"):
        await db.all(f"select * from missing_{unique}")
    for sql, params in (("selec", []), ("select ?, ?", [1]), ("select 1", [1])):
        try:
            await db.all(sql, *params)
        except SluiceError as error:
            assert not error.retryable  # noqa: PT017 - pytest is not here
        else:
            raise AssertionError(f"{sql!r} was taken")


async def check_parameters_are_checked(db: D1, unique: str):
    """More than 100 parameters, a value that is no scalar and a number too large are refused with the reason."""
    del unique
    assert await db.value(f"select {'+'.join('?' * 100)} as s", *range(100)) == 4950
    for params, reason in (([0] * 101, "100"), ([[1]], "list"), ([(1,)], "tuple"), ([{}], "dict"), ([2**53], "text")):
        with raises(Invalid, reason):
            await db.all("select ?", *params)
