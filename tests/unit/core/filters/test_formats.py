"""Formats: what each client makes of a list equals what the list says, up to what the report lists."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid
from sluice.core.filters.formats.table import FORMATS, PASSED_THROUGH
from sluice.core.filters.formats.writer import write_list
from unit.core.filters.brute_matcher import decide

LIST = [
    "! Title: T", "! License: GPL", "||a.com^", "@@||x.a.com^", "|c.com^", "||*.d.com^", "0.0.0.0 e.com f.com", "g.com",
    "127.0.0.1 localhost", "||h.com^$important", "@@||h.com^", "||i.com^$client=x", "/re/", "||j.com^", "||j.com^$badfilter",
    "||k.com^", "@@|k.com^", "##.ad",
]  # fmt: skip
NAMES_ONLY = [name for name, row in FORMATS.items() if row.names_only]


def body(lines: list[str], name: str, **options: int) -> list[str]:
    """Return the written lines without comments and the head of a zone."""
    written = write_list(lines, name, **options).lines
    if FORMATS[name].json_key:
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
    return LONGEST_MATCH[name](lines, host)


def longest_match(exact: str, tree: str, below: str, allow: dict[str, str] | None = None):
    """Build a client in which the longest name that matches decides, the exact one first."""

    def decide_longest(lines: list[str], host: str) -> bool:
        present = set(lines)
        allow_lines = allow or {}
        suffixes = [host, *(host.split(".", count)[count] for count in range(1, host.count(".") + 1))]
        for suffix in suffixes:
            for width, template in (("exact", exact), ("tree", tree), ("below", below)):
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
    "pihole": longest_match("", "||{}^", ""),
    "technitium": longest_match("", "||{}^", "", {"tree": "@@||{}^"}),
    "mihomo": longest_match("{}", "+.{}", ".{}"),
    "surge": longest_match("{}", ".{}", ""),
}

NAME = r"[a-z][a-z.]*\.com"
labels = st.sampled_from(["a", "b", "goodx", "x"])
names = st.lists(labels, min_size=1, max_size=3).map(lambda parts: ".".join([*parts, "com"]))
shapes = st.sampled_from(["||{}^", "|{}^", "||*.{}^", "{}", "0.0.0.0 {}", "@@||{}^", "@@|{}^", "@@||*.{}^", "||{}^$important",
                          "@@||{}^$important", "||{}^$badfilter", "{}^", "||{}^$client=c"])  # fmt: skip
rules = st.builds(lambda shape, name: shape.format(name), shapes, names)


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - set(PASSED_THROUGH)))
@given(st.lists(rules, max_size=6), st.lists(names, max_size=6))
def test_a_format_blocks_what_the_list_blocks(name, lines, hosts):
    """A client of the format blocks the same names as the list; only what is reported may be missing, nothing is added."""
    written = body(lines, name)
    reported = {skipped.line - 1 for skipped in write_list(lines, name).report.skipped}
    expressible = [line for at, line in enumerate(lines) if at not in reported]
    written_names = {name for line in expressible if "$bad" not in line for name in re.findall(NAME, line)}
    for host in {*hosts, *written_names, *(f"a.{host}" for host in written_names)}:
        if name in NAMES_ONLY and host not in written_names:
            continue
        blocked = is_blocked(name, written, host)
        ignoring_exceptions = [line for at, line in enumerate(lines) if at not in reported or line.startswith("@@")]
        assert not blocked or decide(ignoring_exceptions, host) == "blocked", host
        if decide(expressible, host) == "blocked" and decide(lines, host) == "blocked":
            assert blocked, host


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
    assert (report["format"], report["entries"]) == ("hosts", 5)
    assert [line["line"] for line in report["skipped"]] == [3, 6, 12, 13, 16, 18]
    assert report["skipped"][0]["text"] == "||a.com^"
    assert "x.a.com" in report["skipped"][0]["reason"]


def test_headers():
    """The header has the fields of the list, the syntax, the number of entries, and what a name means."""
    lines = write_list(LIST, "domains").lines
    assert lines[:2] == ["# Title: T", "# License: GPL"]
    assert "# Number of entries: 5" in lines
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
