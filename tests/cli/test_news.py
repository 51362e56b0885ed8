"""`sluice news` as a process: JSON lines in the order of the input, and nothing else on standard output."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.sluice_process import sluice
from runtime import PATIENCE_S

HEADLINES = [
    {"id": 7, "title": "Bitcoin climbs past $126K", "publishedAt": "2026-11-10T09:00:00Z", "source": "A"},
    {"id": "b", "title": "Биткоин вырос", "publishedAt": "2026-11-10T08:00:00Z", "source": "B"},
    {"id": "c", "title": "BTC tops $126,000", "publishedAt": "2026-11-10T08:00:00Z", "source": "C"},
]
PAGE = """<html><head><title>Larch opens plant</title></head><body><article><h1>Larch opens plant</h1>
<p>Larch Mining opened a plant with 9,000 machines in Quebec on Monday, said the town.</p>
<p>Subscribe to our newsletter.</p></article></body></html>"""
FEED = "<rss><channel><item><title>A & B</title><link>/a</link><guid>g</guid></item></channel></rss>"


def run_lines(action: str, folder: Path, lines: list[Any]) -> list[Any]:
    stdin = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    done = sluice("news", action, folder=folder, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_judge(tmp_path: Path):
    """Each headline has a sentiment, a score and a confidence; another language is unknown."""
    judged = run_lines("judge", tmp_path, HEADLINES)
    assert [(each["id"], each["sentiment"]) for each in judged] == [
        (7, "positive"),
        ("b", "unknown"),
        ("c", "positive"),
    ]
    assert all(each.keys() == {"id", "sentiment", "score", "confidence"} for each in judged)


def test_group(tmp_path: Path):
    """Articles of one story have the id of the one that was published first."""
    grouped = run_lines("group", tmp_path, HEADLINES)
    assert grouped == [{"id": 7, "story": "c"}, {"id": "b", "story": "b"}, {"id": "c", "story": "c"}]


def test_read(tmp_path: Path):
    """A feed is printed as one object; what is no feed exits with 1 and is printed all the same."""
    (tmp_path / "feed.xml").write_text(FEED)
    (tmp_path / "page.html").write_text(PAGE)
    done = sluice(
        "news", "read", "feed.xml", "--content-type", "text/xml", "--url", "https://s.example/f", folder=tmp_path
    )
    found = json.loads(done.stdout)
    assert (done.returncode, found["error"], found["format"], found["encoding"]) == (0, None, "rss", "utf-8")
    assert found["items"] == [{"title": "A & B", "link": "https://s.example/a", "id": "g"}]
    assert found["warnings"] == ["repaired"]
    done = sluice("news", "read", "page.html", folder=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["items"]) == (1, [])
    assert "a page, not a feed" in json.loads(done.stdout)["error"]


def test_summarise(tmp_path: Path):
    """The page is summarised; when it fails, the feed's text is, with the reason."""
    (tmp_path / "page.html").write_text(PAGE)
    options = ("--title", "Larch opens plant in Quebec", "--description", "Larch has opened its first plant in Canada.")
    found = json.loads(sluice("news", "summarise", "page.html", *options, folder=tmp_path).stdout)
    assert found["summary"] == "Larch Mining opened a plant with 9,000 machines in Quebec on Monday, said the town."
    assert (found["by"], found["language"], found["reason"]) == ("page", "en", None)
    failed = json.loads(sluice("news", "summarise", "page.html", *options, "--status", "503", folder=tmp_path).stdout)
    assert (failed["by"], failed["summary"]) == ("feed", "Larch has opened its first plant in Canada.")
    assert "503" in failed["reason"]


def test_extract(tmp_path: Path):
    """Each file has one line, in the order of the arguments."""
    for name in ("b.html", "a.html"):
        (tmp_path / name).write_text(PAGE)
    done = sluice("news", "extract", "b.html", "a.html", folder=tmp_path)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["file"] for line in lines] == ["b.html", "a.html"]
    assert all(line["title"] == "Larch opens plant" and "9,000 machines" in line["text"] for line in lines)


def test_wrong_input(tmp_path: Path):
    """A line that is no article is named by its number, and a missing file by its name."""
    done = sluice("news", "judge", folder=tmp_path, stdin=b'{"id": 1, "title": "x"}\n{"id": 2}\n')
    assert done.returncode == 1
    assert b"line 2" in done.stderr
    assert sluice("news", "read", "missing.xml", folder=tmp_path).returncode == 1
    assert sluice("news", folder=tmp_path).returncode == 2


@pytest.mark.parametrize("seed", range(4))
def test_order_of_names_at_one_place(seed: int):
    """Names that begin at one place of a headline have one order, whatever the seed of the hashes is."""
    order = """
from sluice.core.news.stories.headline_facts import HeadlineFacts
print(*HeadlineFacts.from_text("Securely: SEC says that Rus sold its coins to Russia").order)
"""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    ran = subprocess.run(
        [sys.executable, "-c", order], env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    assert ran.stdout.split() == ["sec", "securely", "rus", "russia"]
