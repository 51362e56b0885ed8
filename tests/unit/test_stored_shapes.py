"""What is stored is written and read as it was: the files in tests/data/stored are of the version that first wrote them so."""

import json
from typing import Any

import pytest

from sluice.core.news.checkpoint import Checkpoint
from sluice.core.news.feeds.same_article import Fingerprint
from sluice.core.news.pending_list import parse_pending_list
from sluice.core.ports import NO_CONTENT
from sluice.core.preload.circuit_breaker import Breaker
from sluice.core.preload.purge_list import PurgeList
from sluice.core.preload.purges import Purge
from sluice.core.preload.site_agent import SiteAgent
from sluice.core.preload.zone_config import config_as_json, parse_config
from sluice.services.compiler.jobs.queue_messages import BatchMessage, CompileMessage, WarmMessage, parse_message
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.storage.article_index import ArticleIndex
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.serving.copies import (
    COPY,
    build_edge_headers,
    build_metadata,
    parse_edge_response,
    parse_metadata,
)
from unit.services.preload.world import SITE, ZONE
from unit.stored_shapes import FOLDER, SHAPES, build_now, load_stored

WHAT_TO_DO = """
{name} is stored in another form than tests/data/stored/{name}.json has it: {paths}.
The next version meets what this one has stored. Raise the version of the shape, or read the former form too, and keep a
test that reads it. Then write the file anew: PYTHONPATH=src:tests .venv/bin/python -m unit.stored_shapes {name}"""


def list_differences(before: Any, now: Any, path: str = "") -> list[str]:
    """Return the paths at which two values differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        names = sorted({*before, *now})
        return [each for name in names for each in list_differences(before.get(name), now.get(name), f"{path}/{name}")]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [each for at, (one, other) in pairs for each in list_differences(one, other, f"{path}/{at}")]
    return [] if before == now else [path or "/"]


@pytest.mark.parametrize("name", sorted(SHAPES))
async def test_written_as_before(name: str):
    """The code writes what the file holds."""
    if differing := list_differences(load_stored(name), await build_now(name)):
        pytest.fail(WHAT_TO_DO.format(name=name, paths=", ".join(differing[:10])), pytrace=False)


def test_every_file_is_compared():
    """No file is left over, and none is missing."""
    assert {path.stem for path in FOLDER.glob("*.json")} == SHAPES.keys()


def test_differences_are_named():
    """A changed, a new and a missing member, and a shorter list are each named by their path."""
    before = {"a": 1, "b": {"c": [1, {"d": 2}]}, "e": [1]}
    now = {"b": {"c": [1, {"d": 3}]}, "e": [], "f": 0}
    assert list_differences(before, now) == ["/a", "/b/c/1/d", "/e", "/f"]
    assert list_differences(before, before) == []


def test_copies_are_read():
    """A copy in R2 and one at the edge are read, and are the same copy."""
    stored = load_stored("preload-copy")
    [metadata] = stored["r2"].values()
    page = Page(f"{SITE}/a", "")
    copy = parse_metadata(page, metadata, NO_CONTENT)
    assert copy is not None
    assert build_metadata(copy) == metadata

    class AtEdge:
        status = 200
        headers = tuple((name, json.dumps(value) if name == COPY else value) for name, value in stored["edge"].items())
        content = NO_CONTENT

    at_edge = parse_edge_response(page, ZONE, AtEdge())
    assert at_edge is not None
    assert dict(build_edge_headers(at_edge, ZONE, max_age_s=300)).keys() == stored["edge"].keys()
    assert (at_edge.tags, at_edge.seq, at_edge.freshness) == (copy.tags, copy.seq, copy.freshness)
    assert sorted(at_edge.headers) == sorted(copy.headers)


def test_zone_is_read():
    """The values of a zone, an accepted purge, the list of purges and the configuration are read."""
    stored = load_stored("preload-zone")
    state = stored["state"]
    assert SiteAgent.from_json(state["agent"]).as_json() == state["agent"]
    breaker = Breaker.from_json(state["breaker"])
    assert json.loads(json.dumps(breaker.as_json())) == state["breaker"]
    assert json.loads(json.dumps(Purge.from_json(stored["purge"]).as_json())) == stored["purge"]
    assert json.loads(json.dumps(PurgeList.from_json(stored["purges"]).as_json())) == stored["purges"]
    config, _ = stored["kv"][f"config:{ZONE}"]
    assert config_as_json(parse_config(config)) == config


def test_news_are_read():
    """Checkpoint, index, pending list, snapshot and marks are read."""
    stored = load_stored("news-kv")
    checkpoint, _ = stored["kv"]["BTC_CHECKPOINT"]
    assert Checkpoint.from_json(checkpoint).as_json() == checkpoint
    ids, metadata = stored["kv"]["BTC_ID_INDEX"]
    assert ArticleIndex.parse(json.dumps(ids), metadata["version"]) == ArticleIndex(tuple(ids), metadata["version"])
    pending, _ = stored["kv"]["BTC_PENDING_LIST"]
    assert [entry.as_json() for entry in parse_pending_list(pending)] == pending
    snapshot, _ = stored["snapshot"]["snapshot"]
    assert json.loads(Snapshot.parse(json.dumps(snapshot)).encode()) == snapshot
    marks = load_stored("news-ids")["marks"]
    assert Fingerprint.from_json(marks).as_json() == marks


def test_jobs_are_read():
    """The message of each kind of job is read."""
    messages = [parse_message(row["message"]) for row in load_stored("compiler-jobs")["rows"]]
    assert [type(each) for each in messages] == [CompileMessage, BatchMessage, WarmMessage]
