"""Summaries: sentences that stand on their own, nothing of the site, one language, and the feed's text as the fallback."""

import pytest

from sluice.core.news.language import detect_language
from sluice.core.news.sentences import split_sentences
from sluice.core.news.summaries import summarise
from sluice.core.news.summaries.page_summary import PageSummary, summarise_page

TITLE = "Larch Mining opens plant in Quebec"
LEAD = "Larch Mining opened a plant with 9,000 machines in Quebec on Monday."
FACT = "Hydropower in Quebec costs about 4.2 cents for each kilowatt hour, the provider says."


@pytest.mark.parametrize(
    "sentence",
    [
        "It will employ 40 people from the region around the town.",
        "However, the grid operator has not yet agreed to the connection.",
        "The company did not say how much the construction had cost.",
        "This makes it the largest plant of its kind in the province.",
        "Subscribe to our newsletter to receive the news every morning.",
        "Disclaimer: this text is no investment advice of any kind at all.",
        "What does the plant mean for the price of the coins on the market?",
        "Jane Roe is a reporter who covers energy and mining for this site.",
        "I have always liked the town and its people, said nobody ever.",
        "Photo by Jane Roe shows the plant before the opening on Monday.",
        "Das Werk wurde am Montag von der Ministerin des Landes eröffnet.",
        "19:42 Stay here for more about the opening of the new plant.",
        "“We are thrilled to open the plant,” said Ada Larch, the chief executive.",
        "Larch Mining is a leading provider of infrastructure for digital assets.",
        "This release contains forward-looking statements about the new plant.",
        "A spokesman for the province could not be reached for comment.",
    ],
)
def test_sentences_that_are_never_quoted(sentence: str):
    """A sentence that points elsewhere, belongs to the site or is in another language is left out."""
    for text in (f"{sentence}\n{LEAD}\n{FACT}", f"{LEAD}\n{sentence}\n{FACT}", f"{LEAD}\n{FACT}\n{sentence}"):
        summary = summarise(TITLE, text)
        assert sentence not in summary
        assert LEAD in summary
        assert FACT in summary


def test_definite_subject_needs_its_noun():
    """ "The plant" may be quoted after a sentence with a plant, and not otherwise."""
    about_plant = "The plant draws 120 megawatts, twice as much as the town of 30,000 people."
    assert about_plant in summarise(TITLE, f"{LEAD}\n{about_plant}")
    assert about_plant not in summarise(
        TITLE, f"{FACT}\nNothing else was said in Quebec on that Monday.\n{about_plant}"
    )


def test_repeated_lead():
    """The same statement is quoted once."""
    again = "Larch Mining has opened a plant with 9,000 machines in Quebec."
    assert again not in summarise(TITLE, f"{LEAD}\n{again}\n{FACT}")


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "zh",
            "香港证监会周四批准三只比特币现货基金。点击查看更多。现有基金的总资产为5.4亿美元。",
            "香港证监会周四批准三只比特币现货基金。",
        ),
        (
            "ja",
            "ビットコインは13日、初めて1900万円を突破した。これは驚くべき数字だ。",
            "ビットコインは13日、初めて1900万円を突破した。",
        ),
        (
            "ko",
            "금융위원회는 17일 기관의 계좌 개설을 다시 허용한다고 밝혔다. 그는 언급을 피했다.",
            "금융위원회는 17일 기관의 계좌 개설을 다시 허용한다고 밝혔다.",
        ),
    ],
)
def test_other_scripts(language: str, text: str, expected: str):
    """Languages without spaces or Latin full stops have summaries too."""
    assert detect_language(text) == language
    assert summarise("", text).startswith(expected)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The U.S. Court of the D.C. Circuit ruled for Birch Inc. in May. It was 3-0.", 2),
        ("It costs approx. 14,200 bitcoin, or $1.5 bn. at the price. Then it ended.", 2),
        ("They waited at 9 a.m. in London. Nobody came.", 2),
        ("「もう無理だ。」と話した。終わり。", 2),
        ("Es kostete 270 Mio. Euro im Jahr. Das war viel.", 2),
    ],
)
def test_sentence_ends(text: str, count: int):
    """Abbreviations, times and closing quotes do not end a sentence in the wrong place."""
    assert len(split_sentences(text)) == count


def page(*paragraphs: str, head: str = "") -> bytes:
    body = "".join(f"<p>{each}</p>" for each in paragraphs)
    return f"<html><head><title>{TITLE}</title>{head}</head><body><article>{body}</article></body></html>".encode()


def summarise_html(body: bytes, status: int = 200, content_type: str = "text/html") -> PageSummary:
    description = "Larch Mining has opened a plant in Quebec, its first in Canada."
    return summarise_page(body, content_type=content_type, status=status, title=TITLE, description=description)


def test_page_in_chinese():
    """Paragraphs of a few ideographs are an article."""
    title = "魁北克新矿场开业"
    lead, fact = "一家矿业公司周一在魁北克开设了拥有九千台机器的新矿场。", "当地水电的价格约为每千瓦时四点二美分。"
    body = f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1><p>{lead}</p><p>{fact}</p></article></body></html>"
    found = summarise_page(
        body.encode(), content_type="text/html; charset=utf-8", status=200, title=title, description=""
    )
    assert (found.summary, found.by) == (lead + fact, "page")


def test_page():
    """The sentences of the page are the summary."""
    found = summarise_html(page(LEAD, FACT, "Sign up for our newsletter."))
    assert found == PageSummary(f"{LEAD} {FACT}", "page", "en")


@pytest.mark.parametrize(
    ("body", "status", "content_type", "reason"),
    [
        (page(LEAD), 404, "text/html", "answered 404"),
        (b"%PDF", 200, "application/pdf", "not HTML"),
        (page("Join today to read all about Larch Mining.", "Members get charts and our weekly call."), 200, "text/html", "no sentence"),
        (page("Weather tomorrow: light wind and rain over all of the coast."), 200, "text/html", "something other"),
        (page(LEAD, head='<script type="application/ld+json">{"isAccessibleForFree": "False"}</script>'), 200, "text/html", "beginning"),
    ],
)  # fmt: skip
def test_feed_text_as_fallback(body: bytes, status: int, content_type: str, reason: str):
    """When the page fails, is locked or has no article, the feed's own text is used, and the reason is told."""
    found = summarise_html(body, status, content_type)
    assert (found.summary, found.by) == ("Larch Mining has opened a plant in Quebec, its first in Canada.", "feed")
    assert reason in found.reason
