"""Items of a batch: three at once, each outcome stored as soon as it is known, nothing compiled twice."""

import pytest

from fakes.binding import Crash
from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import Unavailable
from sluice.services.compiler.workflows.batch_items import MAX_ERROR_CHARS, RETENTION_S, Item, ItemOutcome
from unit.services.compiler.workflow_bench import Bench, FakeCompiler, configuration
from unit.services.compiler.world import order

NAMES = ("a", "b", "c", "d", "e")


def items(*names: str) -> list[Item]:
    return [Item(name, order(Configuration.model_validate(configuration(name)), ttl_s=60)) for name in names]


async def run(bench: Bench, *names: str) -> list[ItemOutcome]:
    return await bench.items.run("owner", items(*names))


async def test_outcomes_come_in_order():
    """Every item is compiled with the options of the caller, and outcomes come in the order of the items."""
    bench = Bench()
    outcomes = await run(bench, *NAMES)
    assert [(outcome.id, outcome.success, outcome.cache_key, outcome.rule_count) for outcome in outcomes] == [
        (name, True, f"cache:{name}", 7) for name in NAMES
    ]
    assert {(order.ttl_s, order.trigger) for order in bench.compiler.orders} == {(60, "sync")}


async def test_three_at_once():
    """No more than three compilations run at the same time."""
    bench = Bench()
    await run(bench, *NAMES)
    assert bench.compiler.most_at_once == 3


async def test_failure_affects_one_item():
    """A failed item has a reason; the other items succeed."""
    bench = Bench(FakeCompiler({"b": Unavailable("x" * 9999)}))
    outcomes = await run(bench, "a", "b", "c")
    assert [outcome.success for outcome in outcomes] == [True, False, True]
    assert outcomes[1].error == "x" * MAX_ERROR_CHARS


async def test_second_run_compiles_only_failed_items():
    """Items that succeeded are not compiled again; failed ones are, and their new outcomes are stored."""
    bench = Bench(FakeCompiler({"b": Unavailable("down")}))
    first = await run(bench, "a", "b")
    bench.compiler.failures.clear()
    second = await run(bench, "a", "b")
    assert second[0] == first[0]
    assert second[1].success
    assert bench.compiler.compilations == {"a": 1, "b": 1}
    assert (await bench.items.load_outcomes("owner"))["b"].error is None


async def test_failure_does_not_undo_a_success():
    """If two runs overlap, the successful one counts."""
    bench = Bench()
    await run(bench, "a")
    await bench.items._record("owner", ItemOutcome.rejection("a", "too late"))
    assert (await bench.items.load_outcomes("owner"))["a"].success


async def test_owners_do_not_mix():
    """The same id belongs to each owner separately."""
    bench = Bench()
    await run(bench, "a")
    await bench.items.run("other", items("a"))
    assert bench.compiler.compilations == {"a": 2}


async def test_rejection():
    """An item that cannot run is recorded with its reason."""
    bench = Bench()
    await bench.items.record_rejection("owner", "z", "no sources")
    assert (await bench.items.load_outcomes("owner"))["z"].as_json() == {
        "id": "z",
        "success": False,
        "durationMs": 0,
        "error": "no sources",
    }


async def test_other_errors_end_the_run():
    """Only a SluiceError is the failure of an item: a pause of the engine must get through."""
    bench = Bench()
    bench.compiler.failures["a"] = RuntimeError("paused")  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="paused"):
        await run(bench, "a")
    assert await bench.items.load_outcomes("owner") == {}


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("number", range(1, 7))
async def test_crash_at_any_operation(number: int, *, before: bool):
    """Outcomes stored before the crash are not compiled again, and in the end every item is compiled."""
    bench = Bench()
    bench.d1.fail_at(number, before=before)
    recorded: set[str] = set()
    try:
        await run(bench, *NAMES)
    except Crash:
        recorded = set(await bench.items.load_outcomes("owner"))
    before_again = bench.compiler.compilations.copy()
    outcomes = await run(bench, *NAMES)
    assert all(outcome.success for outcome in outcomes)
    assert all(bench.compiler.compilations[name] == before_again[name] for name in recorded)
    assert set(bench.compiler.compilations) == set(NAMES)


async def test_expiry():
    """Outcomes are deleted after a week."""
    bench = Bench()
    await run(bench, "a")
    bench.clock.advance(RETENTION_S - 1)
    await bench.items.delete_expired()
    assert await bench.items.load_outcomes("owner")
    bench.clock.advance(2)
    await bench.items.delete_expired()
    assert await bench.items.load_outcomes("owner") == {}
