"""The fake databases have the limits and conversions of the real ones."""

import pytest

from fakes.binding import JsError
from fakes.d1 import FakeD1
from fakes.objects import FakeStorage


@pytest.mark.parametrize(
    ("sql", "params", "reason"),
    [
        ("select " + ",".join("?" * 101), [0] * 101, "too many SQL variables"),
        ("select '" + "x" * 100_000 + "'", [], "SQLITE_TOOBIG"),
        ("select length(?)", ["x" * 2_000_001], "SQLITE_TOOBIG"),
        ("select 1 where 'a' like ?", ["x" * 51], "pattern too complex"),
        ("select ?", [True], "not supported"),
        ("select ?", [2**53 - 1], "BigInt"),
        ("begin", [], "transaction"),
        ("select ?", [], "Wrong number of parameter bindings"),
    ],
    ids=["params", "statement", "value", "like", "bool", "bigint", "begin", "bindings"],
)
async def test_sqlite_has_the_limits_of_the_platform(sql, params, reason):
    """Statements, values and parameters beyond the limits are refused by D1 and by a Durable Object."""
    with pytest.raises(JsError, match=reason):
        await FakeD1().prepare(sql).bind(*params).all()
    with pytest.raises(JsError, match=reason):
        FakeStorage().sql.exec(sql, *params)


async def test_d1_numbers_are_real():
    """A whole number is bound as REAL, so that code which relies on anything else fails here first."""
    found = await FakeD1().prepare("select typeof(?) as t, ? || '' as s").bind(5, 5).all()
    assert found["results"] == [{"t": "real", "s": "5.0"}]


async def test_d1_runs_migrations():
    """A migration file runs as a whole, triggers included, and is not counted as an operation."""
    d1 = FakeD1()
    d1.migrate("create table a (n integer);\ncreate trigger t after insert on a begin delete from a; end;")
    await d1.prepare("insert into a values (1)").all()
    assert (await d1.prepare("select * from a").all())["results"] == []
    assert len(d1.operations) == 2
