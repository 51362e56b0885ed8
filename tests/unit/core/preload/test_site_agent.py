"""A site's agent comes and goes, says so or is missed."""

import pytest

from sluice.core.preload.caching.freshness import Unstorable, judge_response
from sluice.core.preload.caching.proxy_headers import redirects_to_itself
from sluice.core.preload.site_agent import Presence, SiteAgent, judge_presence
from sluice.core.preload.zone_config import parse_config

PATH = "/?agent=1"
URL = "https://www.example.com/a/?b=1"


@pytest.mark.parametrize(
    ("status", "header", "expected"),
    [
        (204, "1.0.0", Presence.PRESENT),
        (500, "1.0.0", Presence.PRESENT),
        (200, "", Presence.ABSENT),
        (301, "", Presence.ABSENT),
        (404, "", Presence.ABSENT),
        (503, "", Presence.UNKNOWN),
        (500, "", Presence.UNKNOWN),
        (403, "", Presence.UNKNOWN),
        (429, "", Presence.UNKNOWN),
    ],
)
def test_what_a_reply_says(status: int, header: str, expected: Presence):
    """A reply without the header says that the agent is gone, unless the site fails, is being updated, or refuses."""
    headers = (("X-Sluice-Agent", header),) if header else ()
    assert judge_presence(status, headers) is expected


def test_an_agent_is_missed_twice():
    """One reply without the agent may come in the middle of an update; a reply with it forgets that, silence does not."""
    agent = SiteAgent().mark_present(PATH, 0.0)
    once = agent.record_presence(Presence.ABSENT, 120.0)
    assert not once.is_away
    assert not once.record_presence(Presence.PRESENT, 180.0).record_presence(Presence.ABSENT, 300.0).is_away
    twice = once.record_presence(Presence.UNKNOWN, 180.0).record_presence(Presence.ABSENT, 240.0)
    assert (twice.is_away, twice.away_since, twice.reason) == (True, 240.0, "missed")
    back = twice.record_presence(Presence.PRESENT, 300.0)
    assert (back.is_away, back.explain(), back.presence_path) == (False, None, PATH)


def test_when_the_site_is_asked():
    """Every two minutes; each minute in doubt, after a miss and while the agent is away; never an agent that cannot be asked."""
    agent = SiteAgent().mark_present(PATH, 1000.0)
    assert [agent.is_due(1000.0 + after_s) for after_s in (60, 120)] == [False, True]
    for eager in (
        agent.request_check(),
        agent.record_presence(Presence.ABSENT, 1000.0),
        agent.mark_away("deactivated", 1000.0),
    ):
        assert [eager.is_due(1000.0 + after_s) for after_s in (30, 60)] == [False, True]
    assert agent.is_due(10.0)  # the clock went back
    assert not SiteAgent().request_check().is_due(9999.0)
    assert not SiteAgent().mark_away("deactivated", 1.0).is_due(9999.0)


def test_the_first_reason_counts():
    """An agent that has gone cannot go again; one that comes back keeps the path at which it is asked."""
    gone = SiteAgent().mark_present(PATH, 0.0).mark_away("failed", 5.0)
    assert gone.mark_away("deactivated", 9.0) == gone
    assert gone.mark_present(None, 10.0) == SiteAgent(presence_path=PATH, looked_at=10.0)
    assert SiteAgent.from_json(gone.as_json()) == gone
    assert SiteAgent.from_json(None) == SiteAgent()


@pytest.mark.parametrize(
    ("status", "location", "more", "expected"),
    [
        (301, URL, (), True),
        (302, "?b=1", (), True),
        (308, f"{URL}#top", (), True),
        (301, "https://www.example.com/a/", (), False),
        (301, "http://www.example.com/a/?b=1", (), False),
        (200, URL, (), False),
        (302, "", (), False),
        (302, URL, (("Set-Cookie", "seen=1"),), False),
        (302, URL, (("Retry-After", "1"),), False),
    ],
)
def test_circles(status: int, location: str, more: tuple[tuple[str, str], ...], expected: bool):
    """A redirect to the same address is a circle, unless something about it may change the next reply. It is never stored."""
    headers = ((("Location", location),) if location else ()) + more
    assert redirects_to_itself(status, headers, URL) is expected
    verdict = judge_response(status, headers, URL, parse_config({"site_url": "https://www.example.com"}))
    assert (isinstance(verdict, Unstorable) and verdict.detail == "circle") is (expected and status in {301, 308})
