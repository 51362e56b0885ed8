"""HTTP dates: three forms are parsed, one is formatted."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.web import format_http_date, parse_http_date

TIME = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
)
def test_all_three_forms_are_read(text):
    """The current form and the two obsolete ones name the same time."""
    assert parse_http_date(text) == TIME


@pytest.mark.parametrize(("year", "full"), [("70", 1970), ("99", 1999), ("00", 2000), ("69", 2069)])
def test_two_digits_of_a_year_need_no_clock(year, full):
    """A two-digit year lies between 1970 and 2069."""
    time = parse_http_date(f"Sunday, 06-Nov-{year} 08:49:37 GMT")
    assert time
    assert time.year == full


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "yesterday",
        "1994-11-06T08:49:37Z",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT\n",
    ],
)
def test_an_unreadable_date_is_none(text):
    """Text that is not an HTTP date is None."""
    assert parse_http_date(text) is None


def test_other_zones_are_written_in_gmt():
    """A time in another zone is formatted in GMT."""
    assert format_http_date(TIME.astimezone(timezone(timedelta(hours=9)))) == "Sun, 06 Nov 1994 08:49:37 GMT"


def test_a_time_without_zone_is_refused():
    """A time without a zone is ambiguous and refused."""
    with pytest.raises(ValueError):
        format_http_date(TIME.replace(tzinfo=None))


@given(st.datetimes(timezones=st.just(UTC)))
def test_dates_survive_to_the_second(time):
    """Any formatted time is parsed to the same second."""
    assert parse_http_date(format_http_date(time)) == time.replace(microsecond=0)
