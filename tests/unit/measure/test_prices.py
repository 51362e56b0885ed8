"""The bill: operations of a month by unit of work, and what they cost beyond what is included."""

import pytest

from prices import PROFILES, add_up, charge, list_price


def test_operations_of_a_month():
    """Each unit counts as often as it is done."""
    units = {"hit": {"requests": 1.0, "kv_reads": 2.0}, "miss": {"requests": 1.0, "kv_writes": 3.0}}
    assert add_up({"hit": 10, "miss": 2}, units) == {"requests": 12, "kv_reads": 20, "kv_writes": 6}


def test_only_what_is_beyond_is_charged():
    """What is included is free, a further million costs its price, and an operation without a price nothing."""
    assert charge({"kv_reads": 10e6, "fetches": 1e9}) == {}
    assert charge({"kv_reads": 12e6, "kv_writes": 1.5e6}) == {"kv_reads": pytest.approx(1.0), "kv_writes": 2.5}
    assert list_price({"kv_reads": 2e6, "fetches": 1e9}) == pytest.approx(1.0)


def test_profiles_name_units():
    """The three uses are made of the units that are counted."""
    counted = {
        *("list hit", "list miss", "job", "hourly cron", "six-hourly warming", "page warmed", "idle preload minute"),
        *("page served by edge", "page served by R2", "page served by origin"),
        *("hourly news update", "article", "idle news minute", "API request"),
    }
    assert {unit for profile in PROFILES.values() for unit in profile} == counted
