"""The index answers as the whole list does."""

import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import parse_configuration
from sluice.core.compiler.published.overlap import OverlapCounter
from sluice.core.compiler.published.why_index import ShardDirectory, build_shards, explain
from sluice.core.filters.syntax.punycode import normalise_name
from sluice.core.filters.verdicts import NameVerdicts
from sluice.services.compiler.published.builds.rule_compilation import (
    FileLibrary,
    PackedIndex,
    build_index,
    compile_rules,
)
from sluice.services.compiler.published.sources.bundles import Bundle, FetchedFile

NAMES = [
    "a.com",
    "b.a.com",
    "c.b.a.com",
    "d.c.b.a.com",
    "e.d.c.b.a.com",
    "ads.net",
    "x.ads.net",
    "com",
    "a.co.uk",
    "goodads.net",
    "bücher.de",
    "x.xn--bcher-kva.de",
    "рф",
]
PATTERNS = [
    "||{}^", "@@||{}^", "|{}^", "||*.{}^", "{}", "0.0.0.0 {}", "||{}^$important", "@@||{}^$important", "||{}^$badfilter",
    "||{}^$client=x", "||{}", "{}^", "@@{}", "/{}/", "||{}^$dnstype=A", "://{}^", "/{}/x", "*{}*", "0.0.0.0 {} z.com",
    "@@||{}^$badfilter", ".{}^",
]  # fmt: skip
NAMES_OF_COMPILATION = [
    "ads.example",
    "one.example",
    "x.one.example",
    "inner.example",
    "x.inner.example",
    "none.example",
]
RULES = st.lists(st.builds(str.format, st.sampled_from(PATTERNS), st.sampled_from(NAMES)), max_size=14)


@given(RULES, st.sampled_from([*NAMES, "y.com", "www.a.com"]).map(normalise_name), st.integers(1, 5))
def test_same_decision(rules: list[str], name: str, shards: int):
    """The rules of a name's shards decide as all rules do, by the same line."""
    directory = ShardDirectory(shards, [("S", "s.txt")])
    parts = dict(build_shards(rules, directory, lambda at, _text: [(0, at + 1)]))
    answer = explain(directory, name, [parts[str(at)] for at in directory.shards_of(name)], parts["general"])
    decision = NameVerdicts(rules).decide(name)
    assert answer["verdict"] == decision.verdict
    assert [place["line"] for place in answer["sources"]] == ([] if decision.line is None else [decision.line + 1])


@pytest.mark.parametrize("space", ["", " "])
@pytest.mark.parametrize("shards", [1, 7, 16])
def test_rule_that_is_switched_off(space: str, shards: int):
    """A `$badfilter` rule is found wherever the rule that it switches off stands, and switches off nothing else."""
    directory = ShardDirectory(shards, [("S", "s.txt")])
    rules = ["||a.com^", f"{space}||a.com^$badfilter", "||b.com^", "/x[0-9]/", "/x[0-9]/$badfilter"]
    parts = dict(build_shards(rules, directory, lambda at, _text: [(0, at + 1)]))
    expected = {"a.com": None, "w.a.com": None, "b.com": "||b.com^", "x1.net": None}
    found = {
        name: explain(directory, name, [parts[str(at)] for at in directory.shards_of(name)], parts["general"])["rule"]
        for name in expected
    }
    assert found == expected


@pytest.mark.parametrize(
    "rule", ["||bücher.de^", "|BÜCHER.de^", "0.0.0.0 bücher.de", "bücher.de", "@@||bücher.de^$important", "bücher.de^"]
)
def test_international_names(rule: str):
    """A rule with an international name is found under the name that DNS has."""
    directory = ShardDirectory(7, [("S", "s.txt")])
    rules = [*(f"||a{at}.de^" for at in range(9)), rule]
    parts = dict(build_shards(rules, directory, lambda at, _text: [(0, at + 1)]))
    name = "xn--bcher-kva.de"
    answer = explain(directory, name, [parts[str(at)] for at in directory.shards_of(name)], parts["general"])
    assert (answer["rule"], answer["sources"]) == (rule, [{"source": "S", "file": "s.txt", "line": 10}])


@pytest.mark.parametrize(
    "names", [["Compress"], ["Deduplicate", "Optimise"], ["Compress", "Validate", "InvertAllow", "Deduplicate"], []]
)
async def test_places_of_a_compilation(names: list[str]):
    """The places are those of the command line: of the rule itself, and of equal rules that were dropped for it."""
    texts = {
        "https://x.example/a.txt": "! A\n||ads.example^\n||one.example^\n!#include more.txt\n",
        "https://x.example/b.txt": "0.0.0.0 ads.example x.one.example\n||ads.example^\n||unwanted.example^\n  ||ads.example^\n",
    }
    included = {"https://x.example/more.txt": FetchedFile(b"||inner.example^\n")}
    bundles = {
        url: Bundle({url: FetchedFile(text.encode()), **(included if "include" in text else {})})
        for url, text in texts.items()
    }
    sources: list[dict[str, Any]] = [{"source": url, "name": url[-5]} for url in texts]
    sources[1] |= {"transformations": ["Compress", "TrimLines"], "exclusions": ["unwanted"]}
    configuration = parse_configuration({"name": "L", "sources": sources, "transformations": names})

    async def load(source: str) -> Bundle:
        return bundles[source]

    library = FileLibrary(bundles, load)
    lines = await compile_rules(configuration, library, ManualClock())
    index = await build_index(configuration, library, lines, len(lines))
    compiler = FilterCompiler(download=library.download, clock=ManualClock(), draw=lambda: 0.0)
    whole = await compiler.compile(configuration, recorded=True)
    directory = ShardDirectory.from_json(index.directory)
    for name in NAMES_OF_COMPILATION:
        shards = [read_part(index, str(at)) for at in directory.shards_of(name)]
        answer = explain(directory, name, shards, read_part(index, "general"))
        decision = NameVerdicts(whole.rules).decide(name)
        assert answer["verdict"] == decision.verdict
        if decision.line is not None:
            assert whole.recorded is not None
            assert answer["rule"] == whole.rules[decision.line]
            places = whole.recorded.find_places(whole.rules[decision.line])
            assert places
            assert [(at["source"], at["file"], at["line"]) for at in answer["sources"]] == [
                (place.source, place.file, place.line) for place in places
            ]


def read_part(index: PackedIndex, part: str) -> bytes:
    start, length = index.directory["parts"][part]
    content = zlib.decompress(index.content[start : start + length])
    assert isinstance(json.loads(content), list)
    return content


@given(st.lists(st.lists(st.sampled_from("abcdefgh!"), max_size=8), min_size=1, max_size=4))
def test_overlap_equals_brute_force(sources: list[list[str]]):
    """Counts by sets of rules."""
    counter = OverlapCounter()
    for at, lines in enumerate(sources):
        counter.add_source(str(at), lines)
    sets = [{line for line in lines if line != "!"} for lines in sources]
    counts = counter.count()
    for at, row in enumerate(counts["sources"]):
        others = set().union(*(rules for other, rules in enumerate(sets) if other != at))
        assert (row["rules"], row["unique"]) == (len(sets[at]), len(sets[at] - others))
    for pair in counts["pairs"]:
        assert pair["shared"] == len(sets[int(pair["a"])] & sets[int(pair["b"])])


@pytest.mark.parametrize("name", ["a.example", "b.a.example", "c.b.a.example", "d.c.b.a.example", "e.d.c.b.a.example"])
def test_rule_is_where_it_is_looked_for(name: str):
    """The rules about a name are in one of the shards that are read for it, and for every name below it."""
    directory = ShardDirectory(1009, [])
    for asked in (name, f"x.{name}", f"y.x.{name}", f"z.y.x.{name}"):
        assert directory.shard_of(name) in directory.shards_of(asked)
