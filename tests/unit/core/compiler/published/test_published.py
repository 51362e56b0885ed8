"""What is decided about published lists: names, schedules, sizes, versions, texts and patches."""

import hashlib
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.compiler.published.definition import parse_definition
from sluice.core.compiler.published.list_names import check_name, derive_patch_id
from sluice.core.compiler.published.patches import apply_patch, find_changes, hash_lines, write_patch
from sluice.core.compiler.published.replacement_check import check_is_whole, check_size
from sluice.core.compiler.published.schedule import CronSchedule, own_minute
from sluice.core.compiler.published.text_lines import TextLines, cut_lines
from sluice.core.compiler.published.version_text import SourceNote, VersionText, describe_copy
from sluice.core.compiler.published.versions import (
    ListState,
    VersionStamp,
    is_patch_name,
    name_patch,
    stamp_version,
)
from sluice.core.compiler.sources.source_errors import BadSource
from sluice.core.errors import Invalid

URL = "https://lists.example/a.txt"
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def definition(**more: Any) -> dict[str, Any]:
    return {"configuration": {"name": "L", "sources": [{"source": URL}]}, **more}


@pytest.mark.parametrize("name", ["a", "0", "my-list", "a" * 64, "a--b"])
def test_names(name: str):
    """A name has lower-case letters, digits, and hyphens inside."""
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a.b", "a_b", "ä", "a" * 65, "patches", "a b", "a\n"])
def test_bad_names(name: str):
    """Everything else is refused, and so is the name of the patches' folder."""
    with pytest.raises(Invalid) as caught:
        check_name(name)
    assert caught.value.fields[0].field == "name"


@given(st.from_regex(r"\A[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?\Z"))
def test_patch_ids(name: str):
    """An id has letters only, because a hyphen or a digit before the date breaks a client."""
    assert re.fullmatch("[a-z]{16}", derive_patch_id(name))


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("0 */6 * * *", 360),
        ("* * * * *", 60),
        ("*/5 * * * *", 60),
        ("0 0 * * *", 1440),
        ("30 3 * * mon", 7 * 1440),
        ("0 1,4 * * *", 180),
        ("0 23,1 * * *", 120),
        ("0 0 1 * *", 28 * 1440),
        ("0 0 1 1 sun", 1440),
        ("0 0 29 feb *", 1461 * 1440),
        ("0 8-18/5 * * 1-5", 300),
    ],
)
def test_shortest_gap(text: str, gap: int):
    """The minute is ignored; the gap between hours and days counts."""
    assert CronSchedule.parse(text).shortest_gap_minutes() == gap


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "* * * * * *", "60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 31 2 *", "a * * * *", "0 */0 * * *",
     "0 5-3 * * *", "0 0 * 13 *", "0 0 * * 8", "0 ٣ * * *", "@daily", "* " * 200],
)  # fmt: skip
def test_bad_schedules(text: str):
    """A schedule that cannot be read, or is never due, is refused."""
    with pytest.raises(ValueError, match=r"is |has "):
        CronSchedule.parse(text)


def test_due_hours():
    """Both day fields restricted: either is enough."""
    daily = CronSchedule.parse("59 */6 * * *")
    assert [hour for hour in range(24) if daily.is_due(NOON.replace(hour=hour))] == [0, 6, 12, 18]
    either = CronSchedule.parse("0 12 1 * mon")  # NOON is a Monday
    assert either.is_due(NOON)
    assert not either.is_due(NOON + timedelta(days=1))
    assert either.is_due(NOON.replace(month=12, day=1))


def test_own_minutes_are_spread():
    """Lists do not all begin at the full hour."""
    minutes = {own_minute(f"list-{at}") for at in range(200)}
    assert len(minutes) > 40
    assert all(0 <= minute < 60 for minute in minutes)


def test_defaults():
    """No further formats, one rule, half of a source, every six hours."""
    parsed = parse_definition(definition())
    assert (parsed.formats, parsed.min_rules, parsed.max_shrink, parsed.schedule) == ([], 1, 0.5, "0 */6 * * *")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "configuration"),
        (definition(extra=1), "extra"),
        (definition(schedule="often"), "schedule"),
        (definition(formats=["nope"]), "formats[0]"),
        (definition(minRules=0), "minRules"),
        (definition(maxShrink=1.1), "maxShrink"),
        (definition(maxShrink=-0.1), "maxShrink"),
        (definition(maxShrink="1"), "maxShrink"),
        (definition(mirrors={"https://other.example/": []}), 'mirrors["https://other.example/"]'),
        (definition(mirrors={URL: ["ftp://x"]}), f'mirrors["{URL}"][0]'),
        (definition(mirrors={URL: [{"address": "https://m.example/", "sha256": "12"}]}), f'mirrors["{URL}"][0].sha256'),
        (definition(mirrors={URL: ["https://m.example/#sha256=12"]}), f'mirrors["{URL}"][0]'),
        ({"configuration": {"name": "L", "sources": [{"source": "a.txt"}]}}, "configuration.sources[0].source"),
        (
            {"configuration": {"name": "L", "homepage": "h" * 401, "sources": [{"source": URL}]}},
            "configuration.homepage",
        ),
    ],
)
def test_bad_definitions(body: dict[str, Any], field: str):
    """The error names the field."""
    with pytest.raises(Invalid) as caught:
        parse_definition(body)
    assert field in [bad.field for bad in caught.value.fields]


def test_mirrors():
    """A mirror is an address, one with a pin in its fragment, or an object."""
    pin = "Ab" * 32
    mirrors = [
        "https://m.example/1",
        f"https://m.example/2#sha256={pin}",
        {"address": "https://m.example/3", "sha256": pin},
    ]
    found = parse_definition(definition(mirrors={URL: mirrors})).mirrors_of(URL)
    assert [mirror.address for mirror in found] == [f"https://m.example/{at}" for at in (1, 2, 3)]
    assert [mirror.sha256 for mirror in found] == ["", pin.lower(), pin.lower()]


def test_shrinking():
    """A source may lose the share that maxShrink allows, and not a rule more."""
    check_size(50, 100, 0.5)
    check_size(1, None, 0)
    check_size(1, 100, 1)
    for rules, share in ((49, 0.5), (99, 0), (0, 0.9)):
        with pytest.raises(BadSource, match="maxShrink"):
            check_size(rules, 100, share)


def test_truncation():
    """A shorter text that stops within a line is incomplete; a longer one, or one that never ended so, is not."""
    check_is_whole(b"a\nb", good_text_ends=False, good_bytes=100)
    check_is_whole(b"a\nb", good_text_ends=True, good_bytes=2)
    check_is_whole(b"a\n", good_text_ends=True, good_bytes=100)
    with pytest.raises(BadSource, match="incomplete"):
        check_is_whole(b"a\nb", good_text_ends=True, good_bytes=100)


@given(st.lists(st.floats(0, 4e9), min_size=2, max_size=20))
def test_versions_only_grow(times: list[float]):
    """Numbers, times and minutes grow whatever the clock does, and so no two patches have the same name."""
    stamps: list[VersionStamp] = []
    for now in times:
        stamps.append(stamp_version(stamps[-1] if stamps else None, now))
    assert [stamp.version for stamp in stamps] == list(range(1, len(times) + 1))
    for earlier, later in pairwise(stamps):
        assert later.created_s > earlier.created_s
        assert later.minute > earlier.minute
    names = [name_patch(stamp, 360) for stamp in stamps]
    assert len(set(names)) == len(names)
    assert all(map(is_patch_name, names))


def test_patch_names():
    """The date and the minute of the day, then minutes since 1970 and the period."""
    stamp = stamp_version(None, datetime(2026, 11, 16, 21, 10, 59, tzinfo=UTC).timestamp())
    assert name_patch(stamp, 360) == f"2026.11.16.1270-m-{stamp.created_s // 60}-360.patch"
    for name in ("../x.patch", "2026.11.16.1270-m-1-1.patch/..", "2026.11.16.1270-h-1-1.patch", ""):
        assert not is_patch_name(name)


def build_text(**more: Any) -> list[str]:
    values: dict[str, Any] = {
        "definition": parse_definition(definition()),
        "stamp": VersionStamp(7, 1_800_000_000, 30_000_000),
        "state": ListState.FRESH,
        "notes": (),
        "rules": b"||a.example^\n||b.example^",
        "rule_count": 2,
        "patch_id": "abcdefgh",
        "homepage": "https://lists.example/lists/l",
    }
    return VersionText(**(values | more)).write().decode().split("\n")


def test_header():
    """What clients read stands within the first 1,024 characters, even with the longest title and homepage."""
    long = {"name": "T" * 256, "homepage": "h" * 400, "description": "d" * 4096, "sources": [{"source": URL}]}
    text = "\n".join(build_text(definition=parse_definition({"configuration": long})))
    head = text[:1024]
    for name in ("Title", "Homepage", "Version", "Last modified", "Expires", "Diff-Path", "Diff-Expires"):
        assert re.search(rf"^! {name}: .+$\n", head, re.MULTILINE), name
    assert text.endswith("||b.example^\n")
    assert re.search(r"^! Expires: \d+ days$", head, re.MULTILINE)
    assert "! Diff-Expires: 6 hours\n" in head
    assert "! Diff-Path: patches/abcdefgh/" in head


def test_degraded_header():
    """The header says what was taken in the place of a source, by time, and shows no query string."""
    note = SourceNote(f"{URL}?key=secret", describe_copy(1_800_000_000), "the host answered with status 404")
    lines = build_text(state=ListState.DEGRADED, notes=[note])
    assert "! State: degraded" in lines
    reason = "(the host answered with status 404)"
    assert f"! Source: {URL}: last good copy of 2027-01-15T08:00:00.000Z {reason}" in lines


LINES = st.lists(st.sampled_from(["", "!", "||a^", "||b^", "||c^", "d", "é", "a1 1"]), max_size=12)


@given(LINES, LINES, st.booleans())
def test_patches(old: list[str], new: list[str], ends: bool):
    """A patch makes the old text the new one, byte for byte."""
    tail = "\n" if ends else ""
    before, after = ("\n".join(lines).encode() + tail.encode() for lines in (old, new))
    patch = write_patch([before[:5], before[5:]], after, "list")
    assert apply_patch(before, patch) == after
    directive, _, body = patch.partition(b"\n")
    digest = hashlib.sha1(after, usedforsecurity=False).hexdigest()
    count = body.count(b"\n")
    assert directive.decode() == f"diff name:list checksum:{digest} lines:{count}"


def test_patches_are_small():
    """Lines that stay are not written, also when others move."""
    old = "\n".join(f"||{at}.example^" for at in range(5000)).encode() + b"\n"
    new = old.replace(b"||77.example^\n", b"").replace(b"||9.example^\n", b"||9.example^\n||new.example^\n")
    assert write_patch([old], new, "list").count(b"\n") == 4
    assert find_changes(hash_lines([old]), hash_lines([old])) == []


@given(
    st.lists(st.sampled_from(["", "a", "bc", "é", "||x.example^"]), max_size=9), st.integers(0, 9), st.integers(0, 9)
)
def test_text_lines(lines: list[str], start: int, end: int):
    """The lines of a text in bytes are those of the text, one by one, in slices, and in a row."""
    text = "\n".join(lines).encode()
    expected = "\n".join(lines).split("\n")
    found = TextLines(text)
    assert (len(found), list(found), [found[at] for at in range(len(found))]) == (len(expected), expected, expected)
    assert found[start:end] == expected[start:end]
    assert cut_lines(text, len(expected) - 1).decode() == expected[-1]
