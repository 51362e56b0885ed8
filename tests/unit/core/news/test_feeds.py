"""Sources of news: paging, errors, feed parsing, and articles of one shape."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from fakes.transport import FakeTransport, Scripted
from sluice.core.errors import ConfigError, TooManyRequests
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.news.feeds.apitube import ApiTube
from sluice.core.news.feeds.feed_source import FeedSource
from sluice.core.news.feeds.news_source import SourceResult
from sluice.core.news.feeds.newsdata import NewsData
from sluice.core.news.feeds.normalise import canonical_url, iso_time, normalise_article, plain_text, stable_id
from sluice.core.news.feeds.word_filter import WordFilter
from sluice.core.variables import Variables
from sluice.services.news.collect.conditional_feeds import ConditionalFeeds
from sluice.services.news.collect.sources import choose_sources
from sluice.services.news.settings import UpdaterSettings

NEWSDATA = "https://newsdata.example/api"
APITUBE = "https://apitube.example/v1"
FIRST = f"{NEWSDATA}?apikey=k&coin=btc&language=en&removeduplicate=1"
NOW_MS = 1_800_000_000_000
NAMES = ["results", "data", "status", "article_id", "id", "title", "link", "href", "source", "sentiment", "overall"]
FIRST_TUBE = f"{APITUBE}?language=en&topic.id=industry.crypto_news&title=bitcoin"


def script_response(value: Any, status: int = 200, **headers: str) -> Scripted:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Scripted(status, tuple((name.replace("_", "-"), text) for name, text in headers.items()), body)


def item(name: str) -> dict[str, Any]:
    return {
        "article_id": name,
        "title": f"Title {name}",
        "link": f"https://site.example/{name}?utm_source=x",
        "description": "<p>Some &amp; more</p>",
        "pubDate": "2026-11-16 03:00:00",
        "source_id": "site",
        "source_name": "Site",
        "image_url": None,
        "language": "english",
        "country": ["united states"],
        "category": ["business"],
    }


def newsdata(answers: dict[str, Any], max_pages: int = 15) -> tuple[NewsData, FakeTransport]:
    web = FakeTransport(answers)
    return NewsData(fetch=Fetcher(web, AllowedHosts()).fetch, url=NEWSDATA, key="k", max_pages=max_pages), web


def apitube(answers: dict[str, Any]) -> tuple[ApiTube, FakeTransport]:
    web = FakeTransport(answers)
    return ApiTube(fetch=Fetcher(web, AllowedHosts()).fetch, url=APITUBE, key="k", max_pages=15), web


async def test_newsdata_article():
    """The article has the service's names, a canonical link, a time in UTC, and the flags of a new article."""
    source, _ = newsdata({FIRST: script_response({"status": "success", "results": [item("a")], "nextPage": None})})
    [article] = (await source.fetch_articles((), NOW_MS)).articles
    assert article.data == {
        "id": "a",
        "title": "Title a",
        "description": "Some & more",
        "link": "https://site.example/a",
        "pubDate": "2026-11-16T03:00:00Z",
        "source_id": "site",
        "source_name": "Site",
        "language": "english",
        "country": ["united states"],
        "category": ["business"],
        "needsSentiment": True,
        "needsSummary": True,
        "queuedAt": NOW_MS,
    }


async def test_newsdata_pages_until_known():
    """Pages are read by token; the page with a known article is read completely and is the last."""
    source, web = newsdata(
        {
            FIRST: script_response({"results": [item("a")], "nextPage": "t1"}),
            f"{FIRST}&page=t1": script_response({"results": [item("b"), item("known"), item("c")], "nextPage": "t2"}),
        }
    )
    result = await source.fetch_articles({"known"}, 0)
    assert [article.id for article in result.articles] == ["a", "b", "known", "c"]
    assert (result.pages, len(web.requests), result.error) == (2, 2, None)


async def test_newsdata_page_limit():
    """MAX_PAGES ends the paging, and so does a repeated token."""
    source, web = newsdata({FIRST: script_response({"results": [item("a")], "nextPage": "t"})}, max_pages=1)
    await source.fetch_articles((), 0)
    assert len(web.requests) == 1
    again = {url: script_response({"results": [item("a")], "nextPage": "t"}) for url in (FIRST, f"{FIRST}&page=t")}
    source, web = newsdata(again)
    await source.fetch_articles((), 0)
    assert len(web.requests) == 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            script_response(
                {"status": "error", "results": {"message": "API key invalid", "code": "Unauthorized"}}, 401
            ),
            "401: API key",
        ),
        (
            script_response({"status": "error", "results": {"code": "RateLimitExceeded"}}, 429, retry_after="30"),
            "no more requests",
        ),
        (script_response(b"<html>oops", 502), "answered 502"),
        (script_response(b'{"results": [', 200), "no JSON"),
        (script_response({"results": None}), "without results"),
        (script_response([]), "without results"),
        (script_response({"status": "error", "results": {"message": "odd"}}), "with an error: odd"),
    ],
)
async def test_newsdata_errors(answer: Scripted, message: str):
    """An error on a later page is reported, and the articles read before it are kept."""
    source, _ = newsdata({FIRST: script_response({"results": [item("a")], "nextPage": "t"}), f"{FIRST}&page=t": answer})
    result = await source.fetch_articles((), 0)
    assert [article.id for article in result.articles] == ["a"]
    assert message in str(result.error)
    if answer.status == 429:
        assert isinstance(result.error, TooManyRequests)
        assert result.error.retry_after_s == 30


@pytest.mark.parametrize(
    ("overall", "expected"),
    [
        ({"score": 0.9, "polarity": "negative"}, "negative"),
        ({"score": 0.11}, "positive"),
        ({"score": -0.11, "polarity": "?"}, "negative"),
        ({"score": 0.1}, "neutral"),
        ({}, None),
        (None, None),
    ],
)
async def test_apitube_sentiment(overall: Any, expected: str | None):
    """The polarity counts before the score; without either the article needs a sentiment."""
    item_json = {
        "id": 5,
        "href": "https://s.example/5",
        "title": "T",
        "sentiment": {"overall": overall},
        "source": {"id": 3},
    }
    source, web = apitube({FIRST_TUBE: script_response({"status": "ok", "data": [item_json]})})
    [article] = (await source.fetch_articles((), 0)).articles
    assert (article.id, article.sentiment, article.data["needsSentiment"]) == ("5", expected, expected is None)
    assert ("x-api-key", "k") in web.requests[0].headers


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "http://apitube.example/v1?page=3"])
async def test_apitube_pages(elsewhere: str):
    """Each page links the next; a link to another host or without encryption is not followed, because the key is sent along."""
    second = f"{APITUBE}?page=2"
    item_json = {"href": "https://s.example/5", "title": "T"}
    source, web = apitube(
        {
            FIRST_TUBE: script_response({"data": [item_json], "links": {"next_page": second}}),
            second: script_response({"articles": [item_json], "next_page": elsewhere}),
        }
    )
    result = await source.fetch_articles((), 0)
    assert (result.pages, len(web.requests), result.error) == (2, 2, None)


async def test_apitube_error():
    """The error contains the message of the service."""
    answer = {"status": "not_ok", "errors": [{"status": 401, "code": "ER0202", "message": "Bad key"}]}
    source, _ = apitube({FIRST_TUBE: script_response(answer, 401)})
    assert "401: Bad key" in str((await source.fetch_articles((), 0)).error)


RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>The Feed</title><language>en-us</language>
<image><title>Not this</title><url>x</url></image>
<item><title>First &amp; &lt;b&gt;bold&lt;/b&gt;</title><link>https://s.example/1#top</link><guid>g1</guid>
<pubDate>Mon, 16 Nov 2026 03:00:00 +0100</pubDate><description><![CDATA[<p>Hello</p>]]></description>
<media:thumbnail url="https://s.example/1.png"/><author>Someone</author></item>
<item><title>Second</title><guid>https://s.example/2</guid><pubDate>Mon, 16 Nov 2026 05:00:00 GMT</pubDate>
<content:encoded>Text</content:encoded></item><item><title>No link</title></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>The Feed</title><link rel="self" href="https://s.example/feed"/>
<entry><title type="html">First</title><link rel="replies" href="https://s.example/no"/><link href="/1"/><id>x</id>
<published>2026-11-16T02:00:00Z</published><updated>2026-11-17T02:00:00Z</updated><summary>Hello</summary>
<author><name>Someone</name></author></entry></feed>"""


async def test_rss():
    """Articles come newest first with image and source; an item without a link is left out."""
    web = FakeTransport({"https://www.s.example/feed": script_response(RSS)})
    second, first = (
        await FeedSource(Fetcher(web, AllowedHosts()).fetch, "https://www.s.example/feed").fetch_articles((), 0)
    ).articles
    expected = {"title": "First & bold", "link": "https://s.example/1", "pubDate": "2026-11-16T02:00:00Z"}
    expected |= {"description": "Hello", "image_url": "https://s.example/1.png", "source_name": "The Feed"}
    expected |= {"source_id": "s.example", "language": "en"}
    assert expected.items() <= first.data.items()
    assert (second.link, second.description) == ("https://s.example/2", "Text")
    assert len({first.id, second.id}) == 2


async def test_atom():
    """The alternate link counts, relative or not, and the time of publication comes before that of a change."""
    web = FakeTransport({"https://s.example/feed": script_response(ATOM)})
    [entry] = (
        await FeedSource(Fetcher(web, AllowedHosts()).fetch, "https://s.example/feed").fetch_articles((), 0)
    ).articles
    assert (entry.link, entry.text("pubDate")) == ("https://s.example/1", "2026-11-16T02:00:00Z")


async def test_feed_failure_is_reported():
    """A feed that cannot be fetched is an error in the result, not an exception."""
    web = FakeTransport({"https://s.example/feed": Scripted(503)})
    result = await FeedSource(Fetcher(web, AllowedHosts()).fetch, "https://s.example/feed").fetch_articles((), 0)
    assert "503" in str(result.error)


@pytest.mark.parametrize(
    ("native", "link", "expected"),
    [
        ("abc-1", "https://s.example/", "abc-1"),
        (17, "https://s.example/", "17"),
        ("x" * 600, "https://s.example/", None),
        ("../../etc", "https://s.example/", None),
        ("..", "https://s.example/", None),
        (None, "https://s.example/" + "x" * 900, None),
        (True, "https://s.example/", None),
    ],
)
def test_ids(native: Any, link: str, expected: str | None):
    """The source's own id is used if it fits into a key and a path; otherwise a stable digest."""
    article_id = stable_id(native, link)
    assert article_id == stable_id(native, link)
    assert article_id == expected if expected else len(article_id) == 32


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("HTTPS://S.example/a?utm_source=x&id=1&fbclid=2#top", "https://s.example/a?id=1"),
        ("https://s.example", "https://s.example/"),
        ("https://s.example/a?b=%20c", "https://s.example/a?b=%20c"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("javascript:alert(1)", ""),
        ("https://", ""),
        ("https://s.example:99999/", ""),
        (None, ""),
    ],
)
def test_canonical_url(link: Any, expected: str):
    """Fragment and tracking are removed; anything but an HTTP address becomes an empty text."""
    assert canonical_url(link) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-16 03:00:00", "2026-11-16T03:00:00Z"),
        ("2026-11-16T03:00:00+02:00", "2026-11-16T01:00:00Z"),
        ("Mon, 16 Nov 2026 03:00:00 GMT", "2026-11-16T03:00:00Z"),
        ("1970-01-01T00:00:00Z", ""),
        ("yesterday", ""),
        (5, ""),
    ],
)
def test_times(text: Any, expected: str):
    """Times of any format become UTC; a text that is not a time becomes ""."""
    assert iso_time(text) == expected


def test_article_needs_title_and_link():
    """Without title or link there is no article."""
    assert normalise_article(native_id="a", title="", link="https://s.example/", published="", queued_at_ms=0) is None
    assert normalise_article(native_id="a", title="T", link="ftp://s.example/", published="", queued_at_ms=0) is None


def test_text_is_bounded():
    """Markup and entities are removed, and the length is limited."""
    assert plain_text("&lt;p&gt;a&amp;b&lt;/p&gt;<br>c", 100) == "a&b c"
    assert len(plain_text("word " * 1000, 100)) <= 100


def test_sources():
    """The chosen service is used if its key is set, and every feed; a wrong variable is named."""
    variables = {
        "NEWS_PROVIDER": "apitube",
        "APITUBE_API_KEY": "k",
        "NEWS_FEEDS": "https://a.example/",
        "NEWS_FEEDS_2": "https://b.example/, ",
        "NEWS_FEEDS_10": "https://c.example/",
    }
    settings = UpdaterSettings.read(Variables(variables.get))
    fetch = Fetcher(FakeTransport({}), AllowedHosts()).fetch
    assert [source.name for source in choose_sources(settings, ConditionalFeeds(fetch, ManualClock()))] == [
        "apitube",
        "feed:a.example/",
        "feed:b.example/",
        "feed:c.example/",
    ]
    for wrong in ({"NEWS_PROVIDER": "other"}, {"NEWS_FEEDS": "a.example"}, {"MAX_PAGES": "none"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            UpdaterSettings.read(Variables(wrong.get))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just("https://s.example/x"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)


@given(VALUES)
def test_any_answer(value: Any):
    """Any response of a service results in articles or an error, never in an exception."""
    for source in (newsdata({FIRST: script_response(value)}, 1)[0], apitube({FIRST_TUBE: script_response(value)})[0]):
        result = asyncio.run(source.fetch_articles((), 0))
        assert result.error is not None or isinstance(result.articles, tuple)


def test_feeds_of_one_host():
    """Each feed of a host has its own short name, without the query, which may hold a key."""
    names = [
        FeedSource(Fetcher(FakeTransport({}), AllowedHosts()).fetch, f"https://s.example/{path}?key=1").name
        for path in "ab"
    ]
    assert names == ["feed:s.example/a", "feed:s.example/b"]


async def read_source(body: bytes | str, rules: WordFilter | None = None, **pages: bytes) -> SourceResult:
    answers = {"https://s.example/feed": body.encode() if isinstance(body, str) else body}
    answers |= {f"https://s.example/{name}": page for name, page in pages.items()}
    web = FakeTransport({url: script_response(page) for url, page in answers.items()})
    source = FeedSource(Fetcher(web, AllowedHosts()).fetch, "https://s.example/feed", rules or WordFilter())
    return await source.fetch_articles((), NOW_MS)


def rss_items(*items: str) -> str:
    return "<rss><channel>" + "".join(f"<item>{each}</item>" for each in items) + "</channel></rss>"


async def test_request_names_the_service():
    """A site can see who asks."""
    web = FakeTransport({"https://s.example/feed": script_response(RSS)})
    await FeedSource(Fetcher(web, AllowedHosts()).fetch, "https://s.example/feed").fetch_articles((), 0)
    assert dict(web.requests[0].headers)["user-agent"].startswith("sluice-news/")


async def test_page_with_a_feed():
    """The address of a page leads to the first feed that it names; a challenge is an error that says so."""
    page = '<!doctype html><link rel="alternate" type="application/rss+xml" href="/real">'
    found = await read_source(page, real=RSS)
    assert (len(found.articles), found.error) == (2, None)
    challenge = await read_source("<html><title>Just a moment...</title></html>")
    assert "asks for a browser" in str(challenge.error)


async def test_identity_of_items():
    """The feed's own id is the identity: another link is the same article, and a repeated id is told apart by the link."""
    one = "<title>One</title><guid isPermaLink='false'>g</guid><link>https://s.example/1</link>"
    moved = one.replace("/1<", "/1-renamed<")
    other = one.replace("One", "Two").replace("/1<", "/2<")
    first, renamed = [(await read_source(rss_items(each))).articles[0].id for each in (one, moved)]
    assert first == renamed
    ids = {article.title: article.id for article in (await read_source(rss_items(one, other))).articles}
    assert ids["One"] == first != ids["Two"]


async def test_same_atom_entry():
    """Of two entries with one id the one that was updated last counts."""
    entry = "<entry><id>u</id><title>{}</title><link href='/{}'/><updated>2026-11-{}T00:00:00Z</updated></entry>"
    body = f"<feed xmlns='http://www.w3.org/2005/Atom'>{entry.format('New', 1, 12)}{entry.format('Old', 1, 10)}</feed>"
    articles = (await read_source(body)).articles
    assert [article.title for article in articles if "2026-11-12" in article.text("pubDate")] == ["New"]


async def test_future_dates_are_clamped():
    """An article is not newer than the run that found it."""
    body = rss_items("<title>T</title><link>/1</link><pubDate>Fri, 10 Jan 2042 08:00:00 GMT</pubDate>")
    result = await read_source(body)
    assert (result.articles[0].text("pubDate"), result.warnings) == (iso_time("2027-01-15T08:00:00Z"), ("date",))


async def test_author_and_categories():
    """They are stored with the article."""
    [article] = (
        await read_source(rss_items("<title>T</title><link>/1</link><author>Ana</author><category>X</category>"))
    ).articles
    assert (article.data["author"], article.data["category"]) == ("Ana", ["X"])


TITLES = ("Bitcoin rises", "Ether falls", "ビットコインが上昇", "Sponsored: buy BTC", "Биткоин вырос", "Unbitcoined")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, {*TITLES}),
        ({"relevant": True}, {"Bitcoin rises", "ビットコインが上昇", "Sponsored: buy BTC", "Биткоин вырос"}),
        ({"block": ["sponsored", "ether"]}, {*TITLES} - {"Ether falls", "Sponsored: buy BTC"}),
        ({"keep": ["bitcoin", "ETHER"]}, {"Bitcoin rises", "Ether falls"}),
        ({"keep": ["b"], "block": ["bitcoin"], "relevant": True}, {"Sponsored: buy BTC"}),
    ],
)
async def test_rules_of_a_source(rules: Any, expected: set[str]):
    """Blocked words go, only kept words stay, and relevance knows Bitcoin's names in other scripts."""
    items = [f"<title>{title}</title><link>/{number}</link>" for number, title in enumerate(TITLES)]
    found = await read_source(rss_items(*items), WordFilter.from_json(rules, "rules"))
    assert {article.title for article in found.articles} == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "not JSON"),
        ("[]", "must be an object"),
        ('{"https://a.example/": {"kep": []}}', "nothing else"),
        ('{"https://a.example/": {"keep": "x"}}', "keep must be a list"),
        ('{"https://a.example/": {"relevant": 1}}', "relevant must be"),
        ('{"https://b.example/": {}}', "not in NEWS_FEEDS"),
    ],
)
def test_bad_rules_are_named(text: str, part: str):
    """A mistake in NEWS_SOURCE_RULES names the part and what belongs there."""
    variables = {"NEWS_FEEDS": "https://a.example/", "NEWS_SOURCE_RULES": text}
    with pytest.raises(ConfigError, match=part):
        UpdaterSettings.read(Variables(variables.get))
