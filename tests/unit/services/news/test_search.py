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
    ],
)
async def test_search(q: str, expected: set[str]):
    """Each query finds these articles and no others."""
    site = await make_titled_site()
    reply = parsed(await site.get(f"/api/v1/articles?duplicates=true&q={q.replace(' ', '+')}"))
    assert {each["id"] for each in reply["articles"]} == expected


def test_folding():
    """Case and accents do not count."""
    assert fold("Éthéréum ＢＴＣ") == "ethereum btc"


@pytest.mark.parametrize(("word", "stem"), [("mining", "min"), ("miners", "min"), ("fees", "fee"), ("gas", "gas")])
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
