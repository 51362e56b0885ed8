"""OPML as feed readers export it."""

import pytest

from sluice.core.errors import Invalid
from sluice.core.news.feeds.opml import parse_opml

EXPORT = b"""<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0"><head><title>Mine</title></head><body>
<outline text="Bitcoin"><outline text="A" type="rss" xmlUrl="https://a.example/feed"/>
<outline text="B" xmlurl=" https://b.example/rss?x=1&amp;y=2 "/></outline>
<outline text="A again" type="rss" XMLURL="https://a.example/feed"/>
<outline text="Another list" type="include" url="https://c.example/list.opml"/>
<outline text="A file" type="rss" xmlUrl="file:///etc/passwd"/>
</body></opml>"""


def test_export():
    """Every feed counts once, in nested folders too, without a type and in any spelling; other lists are not fetched."""
    assert parse_opml(EXPORT) == ["https://a.example/feed", "https://b.example/rss?x=1&y=2"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read"),
        (b"<opml><body>", "cannot be read"),
        (b"<rss/>", "not OPML"),
        (b"<!DOCTYPE opml [<!ENTITY a 'b'>]><opml><body>&a;</body></opml>", "entities of its own"),
        (b"<opml>" + b"<outline>" * 200 + b"</outline>" * 200 + b"</opml>", "nested"),
    ],
)
def test_wrong_files(content: bytes, reason: str):
    """What is no OPML is refused with the reason."""
    with pytest.raises(Invalid, match=reason):
        parse_opml(content)
