"""Search in the API: forms of words, accents, OR, phrases, and languages without spaces; and what changed since."""

import pytest

from sluice.services.news.serve.search import find_stem, fold
from unit.services.news.test_api import Site, make_stored_article
from unit.web.calls import parsed

TITLES = {
    "id000": "Miners move north for cheap power",
    "id001": "Mining costs fall in Texas",
    "id002": "São Paulo exchange lists futures",
    "id003": "比特币价格上涨",
    "id004": "Bank opens custody service",
}


async def make_titled_site() -> Site:
    site = Site()
    await site.put(
        *(
            make_stored_article(n, title=title, description="", aiSummary="", source_name="")
            for n, title in enumerate(TITLES.values())
        )
    )
    return site


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("mine", {"id000", "id001"}),
        ("miners", {"id000", "id001"}),
        ("Sao", {"id002"}),
        ("SÃO", {"id002"}),
        ("custody OR texas", {"id001", "id004"}),
        ("mining -texas", {"id000"}),
        ('"cheap power"', {"id000"}),
        ('"power cheap"', set()),
        ("价格", {"id003"}),
        ("bank futures", set()),
        ("OR", set()),
        ("-", set(TITLES)),
        ("比特币 OR futures", {"id002", "id003"}),
        ("fell", {"id001"}),
        ("services opening", {"id004"}),
    ],
)
async def test_search(q: str, expected: set[str]):
    """Each query finds these articles and no others."""
    site = await make_titled_site()
    reply = parsed(await site.get(f"/api/v1/articles?duplicates=true&q={q.replace(' ', '+')}"))
    assert {each["id"] for each in reply["articles"]} == expected


async def find(site: Site, query: str) -> list[str]:
    reply = parsed(await site.get(f"/api/v1/articles?duplicates=true&{query}"))
    return [each["id"] for each in reply["articles"]]


async def make_ranked_site() -> Site:
    """The newest article has the word in its text, an older one in its title, and one of last month too."""
    site = Site()
    texts = {
        1: {"title": "Bank opens vault", "description": "It is about custody.", "pubDate": "2027-01-15T08:00:00Z"},
        2: {"title": "Custody rule ends", "description": "A rule.", "pubDate": "2027-01-14T08:00:00Z"},
        3: {"title": "Custody rule begins", "description": "A rule.", "pubDate": "2026-12-14T08:00:00Z"},
        4: {"title": "A custodian was hacked", "description": "SEC looks into it.", "pubDate": "2027-01-15T07:00:00Z"},
    }
    await site.put(
        *(make_stored_article(n, **{"aiSummary": "", "source_name": "", **each}) for n, each in texts.items())
    )
    return site


async def test_ranking():
    """A match in the title counts more than one in the text, and a new article more than an old one."""
    site = await make_ranked_site()
    assert await find(site, "q=custody") == ["id002", "id001", "id003"]
    assert await find(site, "q=custody&sort=newest") == ["id001", "id002", "id003"]
    assert await find(site, "q=custody+OR+rule") == ["id002", "id001", "id003"]
    assert (await site.get("/api/v1/articles?q=custody&sort=oldest")).status == 400


async def test_pages_of_a_search():
    """Every match comes once, whatever the size of a page."""
    site = await make_ranked_site()
    seen, cursor = [], ""
    for _ in range(3):
        reply = parsed(await site.get(f"/api/v1/articles?q=custody&limit=1{cursor}"))
        seen += [each["id"] for each in reply["articles"]]
        cursor = f"&cursor={reply['next']}"
    assert (seen, reply["next"]) == (["id002", "id001", "id003"], None)


async def test_topics():
    """Articles can be chosen by tag, entity and importance, which each reply shows."""
    site = await make_ranked_site()
    assert await find(site, "tag=security") == ["id004"]
    assert await find(site, "entity=sec") == ["id004"]
    assert (await site.get("/api/v1/articles?tag=cooking")).status == 400
    assert (await site.get("/api/v1/articles?min_importance=2")).status == 400
    [shown] = parsed(await site.get("/api/v1/articles?tag=security"))["articles"]
    assert (shown["tags"], shown["entities"]) == (["security", "regulation"], ["SEC"])
    assert 0.4 < shown["importance"] <= 1
    important = await find(site, f"min_importance={shown['importance']}")
    assert "id004" in important
    assert "id001" not in important


def test_folding():
    """Case and accents do not count."""
    assert fold("Éthéréum ＢＴＣ") == "ethereum btc"


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        *(("mining", "min"), ("miners", "min"), ("fees", "fee"), ("gas", "gas"), ("stopped", "stop"), ("fell", "fall")),
        *(("regulators", "regul"), ("regulation", "regul"), ("selling", "sell"), ("approval", "approv")),
    ],
)
def test_stems(word: str, stem: str):
    """Short words stay as they are."""
    assert find_stem(word) == stem


async def test_changed_after():
    """A client that polls gets what has changed since its last request, by the time that the reply named."""
    site = await make_titled_site()
    first = parsed(await site.get("/api/v1/articles"))
    since = first["changedAt"]
    assert parsed(await site.get(f"/api/v1/articles?changed_after={since}"))["articles"] == []
    site.clock.advance(60)
    await site.put(make_stored_article(9, title="A new story"))
    later = parsed(await site.get(f"/api/v1/articles?changed_after={since}"))
    assert [each["id"] for each in later["articles"]] == ["id009"]
    assert later["changedAt"] > since
    assert later["articles"][0]["changedAt"] == later["changedAt"]
    assert (await site.get("/api/v1/articles?changed_after=soon")).status == 400
