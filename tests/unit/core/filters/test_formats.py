"""Formats: what each client makes of a list equals what the list says, up to what the report lists."""

import json
import re
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid
from sluice.core.filters.formats.entries import Width
from sluice.core.filters.formats.table import FORMATS, PASSED_THROUGH
from sluice.core.filters.formats.writer import write_list
from unit.core.filters.brute_matcher import cancel, decide

LIST = [
    "! Title: T", "! License: GPL", "||a.com^", "@@||x.a.com^", "|c.com^", "||*.d.com^", "0.0.0.0 e.com f.com", "g.com",
    "127.0.0.1 localhost", "||h.com^$important", "@@||h.com^", "||i.com^$client=x", "/re/", "||j.com^", "||j.com^$badfilter",
    "||k.com^", "@@|k.com^", "##.ad",
]  # fmt: skip
NAMES_ONLY = [name for name, row in FORMATS.items() if row.names_only]


def body(lines: list[str], name: str, **options: int) -> list[str]:
    """Return the written lines without comments and the head of a zone."""
    written = write_list(lines, name, **options).lines
    if FORMATS[name].is_json:
        return written
    return [line for line in written if line and line[0] not in "#!;$ " and not line.startswith("@ ")]


def is_blocked(name: str, lines: list[str], host: str) -> object:
    """Return what the client of a format makes of its lines, read as its documents say."""
    if name in {"hosts", "hosts-compressed", "routeros"}:
        return host in [word for line in lines for word in line.split()[1:]]
    if name == "domains":
        return host in lines
    if name == "pihole-regex":
        return any(re.search(line, host) for line in lines)
    if name == "sing-box":
        rule = (json.loads("\n".join(lines))["rules"] or [{}])[0]
        suffixes = rule.get("domain_suffix", [])
        return host in rule.get("domain", []) or any(
            host.endswith(suffix if suffix.startswith(".") else f".{suffix}") or host == suffix for suffix in suffixes
        )
    if name == "little-snitch":
        rules = json.loads("\n".join(lines))
        return host in rules["denied-remote-hosts"] or any(
            f".{host}".endswith(f".{domain}") for domain in rules["denied-remote-domains"]
        )
    longest = LONGEST_MATCH[name](lines, host)
    if name == "rpz":
        assert longest == is_blocked_in_zone(lines, host), host
    return longest


def is_blocked_in_zone(lines: list[str], host: str) -> bool:
    """Return what BIND makes of a policy zone: a wildcard stands only for names below the nearest one that exists."""
    records = dict(line.split(" CNAME ") for line in lines)
    existing = {name.split(".", count)[count] for name in records for count in range(name.count(".") + 1)}
    if host in existing:
        return records.get(host) == "."
    above = (host.split(".", count)[count] for count in range(1, host.count(".") + 1))
    nearest = next((name for name in above if name in existing), "")
    return records.get(f"*.{nearest}") == "."


def longest_match(exact: str, tree: str, below: str, allow: dict[str, str] | None = None):
    """Build a client in which the longest name that matches decides, the exact one first."""

    def decide_longest(lines: list[str], host: str) -> bool:
        present = set(lines)
        allow_lines = allow or {}
        suffixes = [host, *(host.split(".", count)[count] for count in range(1, host.count(".") + 1))]
        for suffix in suffixes:
            for width, template in (("exact", exact), ("below", below), ("tree", tree)):
                if (width == "exact") > (suffix == host) or (width == "below" and suffix == host):
                    continue
                if width in allow_lines and allow_lines[width].format(suffix) in present:
                    return False
                if template and template.format(suffix) in present:
                    return True
        return False

    return decide_longest


LONGEST_MATCH = {
    "wildcard": longest_match("", "*.{}", ""),
    "dnsmasq": longest_match(
        "host-record={},0.0.0.0,::", "local=/{}/", "local=/*.{}/", {"tree": "server=/{}/#", "below": "server=/*.{}/#"}
    ),
    "unbound": longest_match(
        'local-data: "{}. A 0.0.0.0"',
        'local-zone: "{}." always_nxdomain',
        "",
        {"tree": 'local-zone: "{}." transparent'},
    ),
    "rpz": longest_match(
        "{} CNAME .", "", "*.{} CNAME .", {"exact": "{} CNAME rpz-passthru.", "below": "*.{} CNAME rpz-passthru."}
    ),
    "dnscrypt": longest_match("={}", "{}", ""),
    "pihole": longest_match("{}", "||{}^", ""),
    "technitium": longest_match("", "||{}^", "", {"tree": "@@||{}^"}),
    "mihomo": longest_match("{}", "+.{}", ".{}"),
    "surge": longest_match("{}", ".{}", ""),
}

labels = st.sampled_from(["a", "b", "goodx", "x"])
names = st.lists(labels, min_size=1, max_size=3).map(lambda parts: ".".join([*parts, "com"]))
shapes = st.sampled_from(["@@|{}^|", "@@||a*.{}^", "@@||*b.{}^|", "@@{}^", "@@||x*{}^$important", "||{}^$important", "||{}^",
                           "||{}^", "|{}^", "||*.{}^", "{}", "0.0.0.0 {}", "@@||{}^", "@@|{}^", "@@||*.{}^",
                          "||*.{}^$important", "|{}^$important", "@@||{}^$important", "@@|{}^$important", "@@||*.{}^$important",
                          "||{}^$badfilter", "@@||{}^$badfilter", "{}^", "||{}^$client=c"])  # fmt: skip
rules = st.builds(lambda shape, name: shape.format(name), shapes, names)
UNIVERSE = [".".join([*parts, "com"]) for size in range(1, 5) for parts in product("abx", repeat=size)] + ["goodx.com"]


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - set(PASSED_THROUGH)))
@given(st.lists(rules, max_size=7))
def test_a_format_blocks_what_the_list_blocks(name, lines):
    """A client of the format blocks no name that the list opens, and every name that it blocks, except what is reported."""
    written = body(lines, name)
    reported = {skipped.line - 1 for skipped in write_list(lines, name).report.skipped}
    # What is not reported is blocked, whatever the reported lines do: they may only open names.
    expressible = [line for at, line in enumerate(lines) if at not in reported or line.startswith("@@")]
    ineffective = {line for line in lines if "badfilter" in line}
    ineffective |= set(map(cancel, ineffective))
    effective = [line for at, line in enumerate(lines) if at not in reported and line not in ineffective]
    named = {word for line in effective for word in re.findall(r"[a-z.]*\.com", line)}
    for host in UNIVERSE:
        blocked = is_blocked(name, written, host)
        should = decide(lines, host) == "blocked"
        assert should or not blocked, host
        if should and decide(expressible, host) == "blocked" and (name not in NAMES_ONLY or host in named):
            assert blocked, host


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - set(PASSED_THROUGH) - {"wildcard"}))
@pytest.mark.parametrize(
    "exception", ["@@||ok.ads.x.com^", "@@|ok.ads.x.com^", "@@||*.ok.ads.x.com^", "@@||deep.ok.ads.x.com^$important"]
)
def test_an_exception_below_opens_nothing_else(name, exception):
    """A name stays blocked when the list opens one below it, in every format that has a line for one name, or for the exception."""
    written = body(["||ads.x.com^", exception, "||other.com^"], name)
    if name != "technitium" or exception.startswith(("@@||ok", "@@||deep")):
        assert is_blocked(name, written, "ads.x.com")
    assert is_blocked(name, written, "other.com")
    opened = {"@@|ok.": ["ok.ads.x.com"], "@@||*.": ["a.ok.ads.x.com"]}.get(
        exception[:6], [exception[4:].partition("^")[0]]
    )
    assert not any(is_blocked(name, written, host) for host in opened)


def test_exact_lines_and_exceptions():
    """A line that means one name is written whatever the list opens below that name, and nothing is reported."""
    lines = [
        "||ads.example.com^",
        "@@||ok.ads.example.com^",
        "||b.com^",
        "@@||*.b.com^",
        "||c.com^",
        "@@|x.c.com^",
        "@@||y.x.c.com^$important",
    ]
    for name in ("hosts", "routeros"):
        assert body(lines, name) == ["0.0.0.0 ads.example.com", "0.0.0.0 b.com", "0.0.0.0 c.com"]
        assert write_list(lines, name).report.skipped == ()
    assert body([*lines, "||ads.example.com^$badfilter"], "domains") == ["b.com", "c.com"]
    assert body([*lines, "@@||com^"], "domains") == []
    assert body([*lines, "@@|b.com^"], "domains") == ["ads.example.com", "c.com"]


def test_a_narrowed_block_is_reported():
    """Where an exception below cannot be written, the name alone is blocked, and the report says so."""
    written = write_list(["||a.com^", "@@||x.a.com^"], "mihomo")
    assert written.lines[-2:] == ["a.com", ""]
    assert [line.reason for line in written.report.skipped] == [
        "the list allows x.a.com inside of it, which cannot be expressed: a.com is blocked without the names below it"
    ]


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - set(PASSED_THROUGH)))
def test_exceptions_that_are_patterns(name):
    """No name is blocked that a wildcard exception opens; what is lost for it is reported, and nothing else is lost."""
    lines = [
        "||cdn1.a.com^",
        "||a.com^",
        "@@||cdn*.a.com^",
        "||b.com^",
        "||x.c.com^",
        "@@|x.c.com^|",
        "||d.com^$important",
        "@@||x*.d.com^",
    ]
    written = body(lines, name)
    assert not any(is_blocked(name, written, host) for host in ("cdn1.a.com", "cdn2.a.com", "x.c.com"))
    assert is_blocked(name, written, "a.com") == (Width.EXACT in FORMATS[name].blocks)
    assert all(is_blocked(name, written, host) for host in ("b.com", "d.com"))
    reported = {skipped.text for skipped in write_list(lines, name).report.skipped}
    assert {"||cdn1.a.com^", "@@||cdn*.a.com^"} <= reported
    assert ("||a.com^" in reported) != (name in NAMES_ONLY)


INTERNATIONAL = ["||bücher.de^", "0.0.0.0 МОСКВА.рф", "|faß.de^", "@@||x.bücher.de^", "||Ｗ.de^", "||xn--bcher-kva.de^", "||אa.com^", "||ok.de^", "||ök.de^",
                 "||xn--k-1ga.de^$badfilter"]  # fmt: skip


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - set(PASSED_THROUGH)))
def test_international_names(name):
    """Names are written in Punycode, once, and a name without such a form is reported."""
    written = write_list(INTERNATIONAL, name)
    assert "\n".join(written.lines).isascii()
    lines = body(INTERNATIONAL, name)
    assert is_blocked(name, lines, "ok.de")
    assert is_blocked(name, lines, "w.de")
    assert not is_blocked(name, lines, "x.xn--bcher-kva.de")
    assert not is_blocked(name, lines, "xn--k-1ga.de")
    assert name == "wildcard" or is_blocked(name, lines, "xn--bcher-kva.de")
    for host in ("xn--80adxhks.xn--p1ai", "xn--fa-hia.de"):
        assert is_blocked(name, lines, host) != (Width.EXACT not in FORMATS[name].blocks)
    reasons = {line.text: line.reason for line in written.report.skipped}
    assert reasons["||אa.com^"] == "an international name without an ASCII form"


def test_passed_through():
    """The formats of the list itself keep each name as it is: ConvertToAscii changes it where a client needs that."""
    for name in PASSED_THROUGH:
        assert write_list(INTERNATIONAL, name).lines == INTERNATIONAL


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_no_loopback_and_no_repetition(name):
    """No format writes loopback lines or an entry twice, and text formats end with a line feed."""
    if name not in PASSED_THROUGH:
        assert write_list(LIST, name).lines[-1] == ""
        assert "localhost" not in "".join(body(LIST, name))
        written = body([*LIST, *LIST], name)
        assert name in {"sing-box", "little-snitch"} or len(written) == len(set(written))


def test_report():
    """The report is complete: every line that was left out, with its number, text and reason."""
    report = write_list(LIST, "hosts").report.as_json()
    assert (report["format"], report["entries"]) == ("hosts", 6)
    assert [line["line"] for line in report["skipped"]] == [6, 12, 13, 16, 18]
    assert report["skipped"][0]["text"] == "||*.d.com^"
    assert "the names below a name" in report["skipped"][0]["reason"]


def test_headers():
    """The header has the fields of the list, the syntax, the number of entries, and what a name means."""
    lines = write_list(LIST, "domains").lines
    assert lines[:2] == ["# Title: T", "# License: GPL"]
    assert "# Number of entries: 6" in lines
    assert any("not the names below" in line for line in lines)
    assert write_list(LIST, "rpz", serial=7).lines[1].split()[4] == "7"


def test_limits():
    """Entries beyond the limit of a format are left out and reported."""
    lines = [f"||a{number}.com^" for number in range(5)]
    assert body(lines, "routeros", max_entries=3) == ["0.0.0.0 a0.com", "0.0.0.0 a1.com", "0.0.0.0 a2.com"]
    assert len(write_list(lines, "routeros", max_entries=3).report.skipped) == 2
    assert FORMATS["routeros"].max_entries == 100_000


def test_compressed_hosts():
    """Nine names stand on a line."""
    lines = body([f"||a{number}.com^" for number in range(20)], "hosts-compressed")
    assert [len(line.split()) - 1 for line in lines] == [9, 9, 2]
    assert all(first != second for first, second in pairwise(lines))


def test_unknown_format():
    """An unknown format is refused with the list of formats."""
    with pytest.raises(Invalid, match="sing-box"):
        write_list([], "bind")
