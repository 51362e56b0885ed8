"""Domains that a list excludes, protects and never blocks, and rules that contradict each other."""

from typing import Any

import pytest

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.compiler.report import DropReport
from sluice.core.errors import Invalid
from sluice.core.filters.syntax.punycode import normalise_name
from unit.core.compiler.scripted import body, compiler, configuration


async def compile_with(files: dict[str, str], *, detailed: bool = False, **fields: Any) -> tuple[list[str], DropReport]:
    value = configuration(*files, **fields)
    result = await compiler(files).compile(value, detailed=detailed)
    return body(result), result.report.as_json()


async def test_a_wider_rule_still_blocks():
    """What a wider rule still blocks is at the top of the report, with that rule; nothing is added unasked."""
    rules, report = await compile_with({"a": "||org^\n||b.org^\n||c.org^"}, domainExclusions=["b.org"])
    assert rules == ["||org^", "||c.org^"]
    assert next(iter(report)) == "stillBlocked"
    assert report["stillBlocked"] == [{"domain": "b.org", "rule": "||org^"}]


@pytest.mark.parametrize(
    ("wider", "domain", "exception"),
    [
        ("||org^", "b.org", "@@|b.org^"),
        ("||org^$important", "b.org", "@@|b.org^$important"),
        ("||org^$client=kid", "b.org", "@@|b.org^"),
        ("||org^$denyallow=x.org", "b.org", "@@|b.org^"),
        ("b.org^", "b.org", "@@|b.org^"),
        ("/^b\\./", "b.org", "@@|b.org^"),
        ("||b.org^", "*.b.org", "@@||*.b.org^"),
        ("b.org^$important", "*.b.org", "@@||*.b.org^$important"),
        ("||рф^", "бюро.рф", "@@|xn--90a0af9c.xn--p1ai^"),
        ("||бюро.рф^", "*.xn--90a0af9c.xn--p1ai", "@@||*.xn--90a0af9c.xn--p1ai^"),
    ],
)
async def test_protect(wider, domain, exception):
    """With `protect`, an exception keeps an excluded domain open where something blocks it."""
    rules, report = await compile_with({"a": f"{wider}\n||z.net^"}, domainExclusions=[domain, "free.com"], protect=True)
    assert rules == [wider, "||z.net^", exception]
    assert report["stillBlocked"] == []
    assert report["protected"] == [{"domain": normalise_name(domain), "rule": wider}]


async def test_protect_adds_nothing_that_is_not_needed():
    """Where nothing blocks, or the list allows the name already, nothing is added."""
    files = {"a": "||b.org^\n||net^\n@@||c.net^\n||com^$denyallow=d.com"}
    rules, report = await compile_with(files, domainExclusions=["b.org", "c.net", "d.com"], protect=True)
    assert rules == ["||net^", "@@||c.net^", "||com^$denyallow=d.com"]
    assert (report["stillBlocked"], report["protected"]) == ([], [])


async def test_the_exception_stands_before_the_final_line_feed():
    """The list still ends with a line feed, and the origins of its lines are right."""
    value = configuration("a", domainExclusions=["b.org"], protect=True, transformations=["InsertFinalNewLine"])
    result = await compiler({"a": "||x.com^\n||org^"}).compile(value, detailed=True)
    assert result.rules[-3:] == ["||org^", "@@|b.org^", ""]
    assert result.provenance is not None
    at = result.rules.index("||org^")
    assert [place.line for place in result.provenance.find_places(at, "||org^")] == [2]
    assert result.provenance.find_places(at + 1, "@@|b.org^") == []


async def test_exclusions_of_one_source():
    """A source's own domains concern that source; what another one blocks is reported, and protected on request."""
    files = {"a": "||b.org^\n||x.com^", "b": "0.0.0.0 b.org\n||y.com^"}
    sources = [{"source": "a", "domainExclusions": ["b.org"]}, {"source": "b", "domainInclusions": ["b.org"]}]
    result = await compiler(files).compile(configuration(*sources))
    assert body(result) == ["||x.com^", "0.0.0.0 b.org"]
    assert result.report.as_json()["stillBlocked"] == [{"domain": "b.org", "rule": "0.0.0.0 b.org"}]
    result = await compiler(files).compile(configuration(*sources, protect=True))
    assert body(result)[-1] == "@@|b.org^"


async def test_domains_from_files():
    """Files of domains have comments and one domain a line; a bad line fails the compilation and is quoted."""
    files = {"a": "||b.org^\n||c.org^\n||d.org^", "no.txt": "! note\nb.org\n\n*.c.org\n", "yes.txt": "b.org\nc.org"}
    value = configuration("a", domainExclusionsSources=["no.txt"], domainInclusionsSources=["yes.txt"])
    assert body(await compiler(files).compile(value)) == ["||c.org^"]
    with pytest.raises(Exception, match=r"Source no\.txt: \|\|b\.org\^ is no domain"):
        await compiler({**files, "no.txt": "||b.org^"}).compile(value)


async def test_never_block():
    """With the field, even empty, its names and the sources' hosts are kept open; without, a hit is only reported."""
    address = "https://Lists.example.org:8443/a.txt?token=1"
    files = {address: "||lists.example.org^\n||google.com^\n||org^$important\n||x.com^"}
    rules, report = await compile_with(files)
    assert rules == files[address].split("\n")
    assert report["stillBlocked"] == []
    rules, report = await compile_with(files, detailed=True)
    assert rules == files[address].split("\n")
    assert report["stillBlocked"] == [{"domain": "lists.example.org", "rule": "||org^$important"}]
    rules, report = await compile_with(files, neverBlock=[])
    assert rules == ["||google.com^", "||org^$important", "||x.com^", "@@|lists.example.org^$important"]
    assert (report["stillBlocked"], len(report["protected"])) == ([], 1)
    rules, _ = await compile_with(files, neverBlock=["google.com", "*.x.com"])
    assert rules == ["||org^$important", "||x.com^", "@@||*.x.com^", "@@|lists.example.org^$important"]


async def test_hosts_that_are_no_names():
    """A source on an IP address or a single label has no name to keep open."""
    files = {"http://127.0.0.1:8080/a": "||x.com^", "http://localhost/b": "||y.com^", "http://[::1]/c": "||z.com^"}
    rules, report = await compile_with(files, neverBlock=[])
    assert rules == ["||x.com^", "||y.com^", "||z.com^"]
    assert report["protected"] == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"domainExclusions": ["||b.org^"]}, "domainExclusions[0]"),
        ({"neverBlock": ["org"]}, "neverBlock[0]"),
        ({"sources": [{"source": "a", "domainInclusions": ["b c"]}]}, "sources[0].domainInclusions[0]"),
        ({"sources": [{"source": "a", "protect": True}]}, "sources[0].protect"),
        ({"domain_exclusions": ["b.org"]}, "domain_exclusions"),
        ({"protect": "yes"}, "protect"),
    ],
)
def test_bad_fields(fields, field):
    """Errors name the field as the configuration writes it."""
    with pytest.raises(Invalid) as error:
        parse_configuration({"name": "Test", "sources": [{"source": "a"}], **fields})
    assert [bad.field for bad in error.value.fields] == [field]


def test_the_identity_of_a_list():
    """Unused extensions do not change what a list is known by; an empty `neverBlock` is no unused one."""
    value = configuration("a")
    plain = parse_configuration(value).identity
    assert not any("omain" in name for name in plain)
    assert parse_configuration({**value, "protect": False, "domainExclusions": []}).identity == plain
    assert parse_configuration({**value, "neverBlock": []}).identity != plain
    stored = parse_configuration({**value, "domainExclusions": ["b.org"]}).model_dump(exclude_unset=True)
    assert parse_configuration(stored).domain_exclusions == ["b.org"]


async def test_a_conflict_with_a_whole_suffix():
    """An exception for all names of a top-level domain conflicts with each block there."""
    files = {"a": "||ads.example^\n0.0.0.0 b.example", "b": "@@||example^"}
    report = (await compiler(files).compile(configuration(*files), detailed=True)).report
    assert [found.rule for found in report.conflicts] == ["||ads.example^", "0.0.0.0 b.example"]


async def test_conflicts():
    """A rule and its exception are listed if they come from two sources."""
    files = {
        "a": "||b.org^\n||c.org^\n@@||c.org^\n||x.net^\n0.0.0.0 a.d.org\n||e.org^",
        "b": "@@||b.org^$important\n@@||good.x.net^\n@@||d.org^\n@@|a.e.org^\n@@/re/\n@@||free.com^",
    }
    _, report = await compile_with(files, detailed=True, transformations=["Compress", "Optimise"])
    assert [(found["rule"], found["exception"]) for found in report["conflicts"]] == [
        ("||b.org^", "@@||b.org^$important"),
        ("||x.net^", "@@||good.x.net^"),
        ("0.0.0.0 a.d.org", "@@||d.org^"),
        ("||e.org^", "@@|a.e.org^"),
    ]
    assert report["conflicts"][0] == {
        "rule": "||b.org^", "source": "a", "exception": "@@||b.org^$important", "exceptionSource": "b",
    }  # fmt: skip


async def test_credits():
    """The homepage and the licence of each source stand in the list's header, whatever happens to the comments."""
    files = {
        "a": "[Adblock Plus 2.0]\n! Title: A\n! Homepage: https://a.example/?key=1\n! Licence: CC BY-SA\n||a.com^",
        "b": "# Project home page: https://b.example\n# License : MIT\n0.0.0.0 b.com\n# License: GPL",
        "c": "||c.com^\n! License: below the first rule",
    }
    value = configuration({"source": "a", "name": "List\nA"}, "b", "c", transformations=["RemoveComments"])
    result = await compiler(files).compile(value)
    assert [line for line in result.rules if "Credits" in line] == [
        "! Credits: List A (homepage https://a.example/, license CC BY-SA)",
        "! Credits: b (homepage https://b.example, license MIT)",
    ]
