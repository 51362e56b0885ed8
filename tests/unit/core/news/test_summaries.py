"""Summaries: sentences that stand on their own, nothing of the site, one language, and the feed's text as the fallback."""

import pytest

from sluice.core.news.language import detect_language
from sluice.core.news.sentences import split_sentences
from sluice.core.news.summaries import summarise
from sluice.core.news.summaries.address import addresses_reader
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


BANK = "Talis Bank buys 4,000 bitcoin for its reserve"
STORY = (
    "Talis Bank has bought 4,000 bitcoin for $380 million as part of its reserve, the lender said on Tuesday.",
    "Finance chief Ola Brandt told investors that the bank paid an average of $95,100 per coin.",
    "Talis shares rose 5.2% in Stockholm, while Bitcoin was little changed at $95,800.",
)


@pytest.mark.parametrize(
    "sentence",
    [
        # To the reader or in the name of the site
        "Over lunch I counted the 4,000 coins of Talis twice.",
        "Get the day's top Bitcoin stories before 8 a.m.",
        "Unlock 12 charts about Talis and its Bitcoin reserve.",
        "Talis fans know what Bitcoin did next, and so will you.",
        "🔥 Kestrel gives away 500 coins to fans of Talis this week.",
        "Bitcoin has no plans to stop at Talis!",
        "Editor’s remark, 3 May: The number of coins was corrected.",
        "11.25am Talis is back on the floor with 4,000 coins in hand.",
        "A previous headline said that Talis had bought 40,000 bitcoin.",
        # A picture, an author, no statement
        "A customer walks past a Talis Bank branch in Stockholm on Monday.",
        "Talis Bank's headquarters in Stockholm, May 2024.",
        "Ola Nord has written about Bitcoin and Talis since 2015 and lives in Malmo.",
        "Rated 4.8 out of 5 by 12,000 traders at Talis.",
        "The 4,000 coins of Talis are safe with the bank for years,” said Ola Brandt.",
        # Needs another sentence
        "Speaking later, she said 300 coins were still to be bought.",
        "A trader who saw 40 of them at Talis wanted more.",
        "Nordea Bank is the second buyer: its 12 coins came from Talis.",
        "Under the agreement, 300 coins will go to Oslo in April.",
        "For context, Bitcoin was worth $4 in 2011.",
        "“The 4,000 coins are a start,” they wrote in a note on Talis.",
        "Critics say it costs Talis 300 million kronor.",
        "Talis and its 4,000 coins, the story so far ...",
        "In Norway, meanwhile, Talis owns 12 bitcoin.",
        "After leaving Talis Bank in 2019 she bought 12 bitcoin.",
        "At Talis Bank, he oversees 300 people and 4,000 coins.",
        "Nor has Talis Bank said who sold it the 4,000 coins.",
        "Two weeks later, Talis Bank bought 300 coins from Nordea.",
        "Like other banks, Talis bought 12 bitcoin in 2021.",
        # Nothing is reported
        "Opening hours of Talis branches differ from town to town.",
        "Friends of Talis Bank find 40 vacancies on the notice wall.",
        "Outcomes could vary, and Talis Bank assumes no duty to revise them.",
        # Where the text comes from, and what it is not
        "The talk with Talis Bank was condensed for length.",
        "Figures on Talis Bank are supplied by Kestrel and may be inaccurate.",
        "People at Talis Bank asked to remain anonymous.",
        "Talis Bank was misnamed in the first edition.",
        "Talis Bank saw the text before 12 others did.",
        "Mia Holm contributed data on the 4,000 coins of Talis.",
        "Photographs of the 4,000 coins of Talis were sold in May.",
        "A recording of the Talis Bank webcast is open until 30 May.",
        "Grants from Talis Bank pay for 12 posts in the newsroom.",
        "With reporting on Talis Bank from Ola Nord in Oslo.",
        "The text about Talis and its 4,000 coins was compiled from news agencies.",
        "Further details about the 4,000 coins of Talis will follow soon.",
        "Prices of Talis shares shown here are delayed by 20 minutes.",
        "Bitcoin is highly speculative, and buyers of 4,000 coins can lose everything.",
        "The Talis interview is in the print edition of 19 May.",
        "Founded in 1890, Talis Bank is headquartered in Stockholm.",
        "Swedish quotes of Talis were translated by software.",
    ],
)
def test_sentences_of_the_site(sentence: str):
    """Wherever they stand, the lead is the sentence that tells what the title tells."""
    for place in range(len(STORY) + 1):
        text = "\n".join((BANK, *STORY[:place], sentence, *STORY[place:]))
        assert sentence not in summarise(BANK, text)
        assert summarise(BANK, text).startswith(STORY[0])


@pytest.mark.parametrize(
    ("language", "title", "lead", "sentences"),
    [
        ("de", "Talis Bank kauft 4.000 Bitcoin", "Die Talis Bank hat am Montag 4.000 Bitcoin für die Reserve gekauft.",
         ("Abonnieren Sie den Kanal der Talis Bank mit 300 Bitcoin-Tipps.", "Mit 212 Partnern verbessern wir die Talis Bank.",
          "In dieser Reserve der Talis Bank liegen 300 Bitcoin.",
          "„Diese 300 Bitcoin bleiben bei der Talis Bank“, sagte Vorstand Ola Brandt.",
          "Die Angaben zur Talis Bank stellen keine Kaufempfehlung für Bitcoin dar.",
          "Ein Mitschnitt zur Talis Bank mit 30 Fragen ist in der Mediathek zu sehen.",
          "Das Gespräch mit der Talis Bank steht in der Printausgabe vom 19. Mai.")),
        ("es", "Talis compra 4.000 bitcoins", "El banco sueco Talis compró el martes 4.000 bitcoins para la reserva.",
         ("Llévate un libro de Talis con tu compra de 30 bitcoins.", "Dicha compra fue la mayor de Talis en 12 meses.",
          "Con esta compra Talis supera a 12 bancos.",
          "«Esta compra de 300 bitcoins es un comienzo», dijo Ola Brandt, de Talis.",
          "Los datos de Talis no constituyen una recomendación de inversión en bitcoins.",
          "Con información de la agencia Norte sobre Talis y los 4.000 bitcoins.")),
        ("ja", "タリス銀行、4000ビットコインを購入", "タリス銀行は18日、4000ビットコインを購入したと発表した。",
         ("タリス銀行の口座は5分で開設できます。", "果たしてタリス銀行の4000枚は上がるのか。")),
        ("zh", "塔利斯银行买入4000枚比特币", "塔利斯银行周二宣布，已买入4000枚比特币。",
         ("下载塔利斯银行客户端领取4000元。", "对此，塔利斯银行的300名客户表示欢迎。")),
        ("ko", "탈리스은행, 비트코인 4000개 매입", "탈리스은행은 18일 비트코인 4000개를 매입했다고 밝혔다.",
         ("탈리스은행 앱에서 비트코인 4000개를 확인하세요.", "이 은행은 300개를 더 매입할 계획이다.")),
    ],
)  # fmt: skip
def test_sentences_of_the_site_in_other_languages(language: str, title: str, lead: str, sentences: tuple[str, ...]):
    """Forms of address and openings of other languages are known too."""
    assert detect_language(lead) == language
    for sentence in sentences:
        assert summarise(title, f"{lead}\n{sentence}") == lead


def test_page_without_the_article():
    """A notice that has nothing in common with the title is no summary, however well it reads."""
    notice = "Every plan has the crossword, the archive of the paper and two tickets for the zoo."
    assert summarise(BANK, f"{BANK}\n{notice}\nSchools and libraries pay 30 euros.") == ""


def test_bitcoin_without_its_name():
    """The largest cryptocurrency is Bitcoin, so a sentence about it can lead."""
    lead = "The world's largest cryptocurrency fell 2.1% to $93,400 on Monday."
    text = f"{lead}\nThe dollar index rose 0.4% after retail sales had grown by 0.9% in May."
    assert summarise("Bitcoin slips as dollar firms", text).startswith(lead)


def test_name_needs_its_introduction():
    """A surname is quoted only after the full name."""
    first = "Lawyer Mia Hewson represents 300 customers who lost coins at Talis in 2024."
    short = "Hewson wants 4,000 bitcoin from Talis Bank for its 300 customers in Oslo."
    assert short not in summarise(BANK, "\n".join((STORY[0], f"In Oslo, meanwhile, {first}", short)))
    assert short in summarise(BANK, "\n".join((STORY[0], first, short)))


def test_small_words_of_related_languages():
    """A Spanish lead with words that are French too is Spanish in a Spanish article."""
    lead = (
        "La zona de la costa de Quito pide un 9 % de la renta de la luz a 40 minas de bitcoin a la orilla de un lago."
    )
    rest = "Los vecinos de la costa esperan que la obra se termine en el mes de mayo y que se pague con el ahorro."
    assert lead in summarise("Quito pide renta de luz a las minas de bitcoin", f"{lead}\n{rest}")


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
    "sentence",
    [
        "Two days after Nordea Bank sold 300 coins, Talis paid $95,100 for each.",
        "Stockholm trading in Talis stopped at 2 p.m. local time on Tuesday for 40 minutes.",
        "Swedish interest rates were cut for the third time in 2026, to 1.5%.",
        "Nordea, based in Helsinki, sold Talis 300 coins at $94,900 in May.",
    ],
)
def test_news_that_looks_like_a_note(sentence: str):
    """A time, a place or a word of notes alone does not make a sentence unfit."""
    assert sentence in summarise(BANK, f"{STORY[0]}\n{sentence}")


def test_all_of_a_biography():
    """What stands behind the author's name in a paragraph tells of the author too."""
    about = "Prizes for research about Talis came from Oslo in 2021 and from Rome in 2023."
    author = "Ola Nord is a senior writer who follows banks and Bitcoin."
    assert about in summarise(BANK, f"{STORY[0]}\n{about}")
    assert about not in summarise(BANK, f"{STORY[0]}\n{author} {about}")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The case is Larch v. Birch Inc. in Ohio. It goes on.", 2),
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


@pytest.mark.parametrize(
    "entry", ["5 minutes ago The desk met in Lima", "12 hours ago: Lima votes", "14:05 Lima votes"]
)
def test_time_of_entry(entry: str):
    """What begins with the time of an entry is a note of the site."""
    assert addresses_reader(entry, "en")
    assert not addresses_reader("The desk met in Lima for 5 minutes on Monday.", "en")
