"""Stories: which headlines report the same event, and how articles are grouped."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.news.article import Article
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import StoryGrouper, comparisons, group_into_stories
from sluice.core.news.stories.numbers import find_numbers
from sluice.core.news.stories.same_story import ArticleFacts, is_same_story

TITLE = "Bitcoin climbs above $100,000 as ETF inflows return"


def make_published(
    name: str, title: str, queued_at: int, published: str = "2026-11-16T08:00:00Z", **members: Any
) -> PublishedArticle:
    data = {
        "title": title,
        "link": f"https://site.example/{name}",
        "pubDate": published,
        "queuedAt": queued_at,
        **members,
    }
    return PublishedArticle.from_article(Article({"id": name, **data}))


def is_one_story(first: str, second: str, **members: Any) -> bool:
    return len(group_into_stories([make_published("a", first, 1), make_published("b", second, 2, **members)])) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Tesla sells 4,200 BTC in third quarter", "Musk's carmaker offloaded 4,200 bitcoin in Q3"),
        ("Bitcoin tops $126,000", "BTC climbs past $126K for the first time"),
        ("Fed cuts rates by 25 basis points", "Federal Reserve announces quarter-point cut in rates"),
        ("Galaxy Digital buys 1,200 BTC", "Galaxy adds 1,200 bitcoin to treasury"),
        ("Exclusive: Orchid plans listing in London", "Orchid plans listing in London - Block Times"),
        ("CFTC fines Gemini $5M", "Gemini exchange fined $5 million by CFTC"),
        ("Arizona governor signs crypto kiosk law", "Arizona crypto ATM bill becomes law"),
        ("Bitcoin slides 6% to two-month low", "BTC tumbles 6%, lowest in two months"),
        # what is announced may be reported as a plan, or as done
        ("Norway to ban new Bitcoin mines", "Norway plans ban on new Bitcoin mines"),
        ("Alder to buy Birch for $2 billion", "Alder buys Birch in $2B deal"),
        # other verbs for the same names and numbers
        ("Latvia withdraws licence of lender Marrow", "Lender Marrow loses Latvian licence"),
        ("Jury finds Halden founder not guilty", "Halden founder acquitted by jury"),
        ("Ruth Calder asks SEC about Trump's tokens", "Calder presses SEC on Trump tokens"),
        ("Orchid puts Bitcoin purchases on hold", "Orchid pauses Bitcoin buying"),
        # numbers in words and in other units
        ("Robinhood cuts 7% of staff", "Robinhood lays off seven percent of workforce"),
        (
            "Whale shifts 3,000 BTC after 14 years of silence",
            "Dormant wallet moves three thousand bitcoin for first time in 14 years",
        ),
        ("Larch leases 1,500 megawatts for Bitcoin mining", "Larch signs lease of 1.5 GW for crypto miners"),
        ("Birch lowers fee of fund to 0.25%", "Birch cuts fund fee to 25 basis points"),
        ("Bitcoin tops $130,000 for first time", "BTC crosses 130K mark in historic first"),
        # words that only look like acts or names
        ("Appeals court clears Veloro trader", "Veloro trader cleared, judges rule"),
        ("Veloro halts withdrawals after hack", "Crypto exchange Veloro freezes payouts following breach"),
        ("Hot drink chain Marwick owns 410 BTC", "Coffee retailer Marwick reveals 410 bitcoin"),
        ("SEC fines Larch $12 million over disclosures", "Larch pays $12M penalty to settle SEC disclosure case"),
        ("Larch Mining buys rival Birch for $300m", "Birch to be acquired by Larch Mining in $300 million deal"),
        # states by their capitals and presidents
        ("Norway suspends new mining sites", "Oslo halts new bitcoin mining centres"),
        ("Bolivia lifts crypto ban", "Crypto becomes legal in Bolivia"),
        # the same words in another order, and what stands beside the event
        ("Talis: Bitcoin-Bank beantragt neue Lizenz", "Bitcoin-Bank Talis beantragt neue Lizenz"),
        ("ECB trims rates by 50 basis points as hiring cools", "ECB agrees on 50-basis-point cut amid fewer jobs"),
        ("Judge sentences Halden founder to 36 months", "Halden founder gets three years in prison"),
        ("Trump pardons Lena Frost", "Clemency for Lena Frost, convicted of wallet fraud in 2024"),
        ("Kestrel fund reports record withdrawals of $310 million", "Clients pull $310M from Kestrel fund"),
        ("Orchid names Mia Frost as chief executive", "Mia Frost becomes Orchid CEO"),
        ("Larch ships new steel wallet", "Larch starts deliveries of steel wallet"),
        ("Larch shares jump 9% on Ohio deal", "Larch stock up 9% after Ohio agreement"),
        ("Peru launches $60 million coin fund", "Peruvian state sets up coin fund of $60M"),
        ("Larch buys $9 million of Birch shares", "Larch scoops up Birch stock worth $9M"),
        ("Florida buys $7 million of Bitcoin for reserve", "Sunshine State spends $7M on Bitcoin for reserve"),
        ("Mt. Gox pushes back creditor repayments to 2027", "Creditors of Mt. Gox must wait until 2027 for payouts"),
    ],
)
def test_same_event(first: str, second: str):
    """Other words, forms of numbers, nicknames and labels do not matter."""
    assert is_one_story(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # opposites
        ("SEC approves options on Bitcoin ETFs", "SEC rejects options on Bitcoin ETFs"),
        ("Bitcoin ETFs see $500M inflow", "Bitcoin ETFs see $500M outflow"),
        ("Kestrel halts withdrawals", "Kestrel resumes withdrawals"),
        ("Bitcoin jumps 6%", "Bitcoin slides 6%"),
        ("Halden hires 300 people", "Halden cuts 300 jobs"),
        ("Northbeam opens platform to Bitcoin ETFs", "Northbeam again rules out Bitcoin ETFs"),
        ("Kestrel to sell bonds", "Kestrel not to sell bonds"),
        # a plan and the act
        ("Fed cuts rates by 25 basis points", "Fed likely to cut rates by 25 basis points"),
        ("Binance wins licence in Dubai", "Binance loses licence in Dubai"),
        ("Judge grants bail to Halden founder", "Judge denies bail to Halden founder"),
        ("Bitcoin holds above $110K", "Bitcoin fails to hold above $110K"),
        # another company, person, place or asset
        ("Metaplanet buys 780 BTC", "Semler Scientific buys 780 BTC"),
        ("Texas creates Bitcoin reserve", "Ohio creates Bitcoin reserve"),
        ("BlackRock Bitcoin ETF passes $10 billion", "BlackRock ether ETF passes $10 billion"),
        # another amount, edition or version
        ("Metaplanet adds 518 Bitcoin", "Metaplanet adds 103 Bitcoin"),
        ("Morning brief: 12 November", "Morning brief: 13 November"),
        ("Bitcoin Core 31.0 released", "Bitcoin Core 30.2 released"),
        ("Miner revenue up 12% in May", "Miner revenue up 12% in June"),
        # swapped roles
        ("SEC sues Halden Exchange", "Halden Exchange sues SEC"),
        ("Germany moves 900 BTC to Kraken", "Germany moves 900 BTC from Kraken"),
        ("Larch moves 500 BTC to Veloro", "Veloro moves 500 BTC to Larch"),
        ("Orchid to take over payment firm Marwick", "Payment firm Marwick to take over Orchid"),
        ("Larch Mining sells Texas site to Birch", "Birch sells Texas site to Larch Mining"),
        # a limit is no ban, a permission no prohibition
        ("Peru bans crypto kiosks", "Peru caps crypto kiosks at $900"),
        ("Kenya lets shops take crypto", "Kenya bars shops from taking crypto"),
        ("Hungary legalizes crypto loans", "Hungary bans crypto loans"),
        # nothing but the topic in common
        (
            "Bitcoin rallies to record high as spot funds attract inflows",
            "Spot funds report strong inflows for seventh week",
        ),
        # before and after the event
        ("Senate passes crypto bill", "Senate to vote on crypto bill"),
        ("Kestrel Exchange hacked for $212 million", "Police arrest suspect in Kestrel hack"),
        ("Kestrel Exchange hacked for $212 million", "What the Kestrel hack means for custody"),
        ("Bitcoin falls to $88,000", "Bitcoin could fall to $88,000, analyst says"),
        ("Miner Cipher raises $450 million", "Miner Cipher repays $450 million"),
        ("Alder in talks to buy Birch", "Alder agrees to buy Birch for $2 billion"),
        ("Ohio House passes Bitcoin reserve bill", "Ohio governor signs Bitcoin reserve bill"),
        ("Halden goes down for two hours", "Halden back online after outage"),
        ("Kestrel Exchange hacked for $212 million", "Kestrel offers hackers a bounty"),
        ("Veloro suspends withdrawals", "Veloro users sue over suspended withdrawals"),
        ("Orchid Wallet 31.0 released", "Orchid Wallet 31.0 release delayed"),
        ("Saylor hints at new purchase", "Strategy buys 400 BTC"),
        ("Latvia's parliament adopts crypto tax law", "Latvia's president signs crypto tax law"),
        ("Trump pardons Owen Marsh", "Trump pardons Lena Frost"),
        # the same titles with other words at one place
        ("Peru scraps income tax on bitcoin", "Peru scraps VAT on bitcoin"),
        ("Birch turns bullish on Bitcoin", "Birch turns bearish on Bitcoin"),
        ("Larch customers gain access to Bitcoin", "Larch customers lose access to Bitcoin"),
        # what one brings in and the other takes back
        ("Peru lifts mining ban in two regions", "Peru bans mining in two regions"),
        ("Agency drops appeal against Halden ruling", "Agency appeals Halden ruling"),
        # the event is what happened before the news
        ("Halden suspends trading", "Halden restarts trading after suspension"),
        ("Larch shuts mine in Ohio", "Larch reopens Ohio mine following closure"),
        ("Halden founder gets four years", "Halden founder asks for clemency after four-year sentence"),
        ("Bitcoin ends week above $71,000", "Bitcoin ends month above $71,000"),
        # several events in one title
        ("Halden files for IPO", "This week in Bitcoin: Kestrel probe, Halden IPO"),
        (
            "Peru arrests head of Halden",
            "Peru arrests head of Halden, Kestrel fine, copper slump: the week in Bitcoin",
        ),
        ("Peru arrests head of Halden", "Peru arrests head of Halden; Kestrel pays fine; copper slumps"),
        # roles of things, and of a company and its owners
        ("Bitcoin outshines copper in May", "Copper outshines Bitcoin in May"),
        ("Larch rejects merger with Birch", "Larch shareholders reject merger with Birch"),
        ("Kenya bans crypto kiosks", "Kenya consults on crypto kiosks"),
        ("Jury convicts Halden founder of fraud", "Halden founder's fraud trial ends in mistrial"),
        # a new product, and another new product
        ("Birch users can now lend coins to shops", "Birch users can now pay rent by card"),
        # results and trades
        ("Larch reports record revenue of $40 million", "Larch sells record 410 BTC"),
        # a company and its shares
        ("Orchid to close plant in Quebec", "Orchid shares drop on Quebec exit"),
    ],
)
def test_other_event(first: str, second: str):
    """One different fact makes another story, however many words are the same."""
    assert not is_one_story(first, second)
    assert not is_one_story(second, first)


def test_text_below_the_title_counts():
    """A name or amount in the description connects two titles that do not share it."""
    titles = ("Strategy buys 4,980 BTC", "Software maker spends $531 million on coins")
    assert not is_one_story(*titles)
    assert is_one_story(*titles, description="Strategy bought 4,980 BTC, a filing shows.")


def test_first_arrival_gives_the_id():
    """The story has the id of the article that arrived first, whatever the order of the input."""
    articles = [make_published("later", TITLE, 2), make_published("first", TITLE, 1)]
    [story] = group_into_stories(articles)
    assert (story.id, [each.id for each in story.alternates]) == ("first", ["later"])
    led = story.with_lead_from({"later"})
    assert led is not None
    assert (led.id, led.lead.id) == ("first", "later")
    assert story.with_lead_from({"other"}) is None


def test_best_member_leads():
    """An article with a summary leads; the story keeps its id."""
    articles = [make_published("first", TITLE, 1), make_published("later", TITLE, 2, aiSummary="It did.")]
    [story] = group_into_stories(articles)
    assert (story.id, story.lead.id, [each.id for each in story.alternates]) == ("first", "later", ["first"])


@pytest.mark.parametrize(
    ("published", "source", "stories"),
    [
        ("2026-11-16T20:00:00Z", "Other", 1),
        ("2026-11-17T04:00:00Z", "Paper", 2),
        ("2026-11-19T08:00:01Z", "Other", 2),
    ],
)
def test_time_apart(published: str, source: str, stories: int):
    """An equal title of the same source on another day is another edition, and after three days always another story."""
    articles = [
        make_published("a", TITLE, 1, source_name="Paper"),
        make_published("b", TITLE, 2, published, source_name=source),
    ]
    assert len(group_into_stories(articles)) == stories


def test_alike_titles_cost_no_more_and_more(monkeypatch: pytest.MonkeyPatch):
    """An article is compared with a bounded number of stories, however many have nearly the same title."""
    compared: list[int] = []

    def count(one: ArticleFacts, other: ArticleFacts) -> bool:
        compared.append(1)
        return is_same_story(one, other)

    monkeypatch.setattr(comparisons, "is_same_story", count)
    titles = [f"Bitcoin miner number {number} opens a plant" for number in range(200)]
    assert len(group_into_stories(make_published(str(n), title, n) for n, title in enumerate(titles))) == 200
    assert len(compared) <= 60 * len(titles)


def test_same_address_is_the_same_story():
    """Two items with one link are one story, whatever their titles."""
    one = make_published("a", "Bitcoin rises", 1)
    other = make_published("b", "Something else entirely", 2, link="https://site.example/a?utm_source=x")
    assert len(group_into_stories([one, other])) == 1


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("$126K", "$126,000", True),
        ("$101,200", "$101.2K", True),
        ("$2.5 trillion", "$2.5T", True),
        ("$120,000", "$126,000", False),
        ("3%", "3 percent", True),
        ("61,000 btc", "61k bitcoin", True),
        ("30 november", "nov. 30", True),
        ("third-quarter", "q3", True),
        ("$100", "100 btc", False),
        ("five-day streak", "five daily declines", True),
    ],
)
def test_numbers(one: str, other: str, equal: bool):
    """Numbers of one type are equal if the coarser rounding allows it."""
    found = [(a, b) for a in find_numbers(one.lower()) for b in find_numbers(other.lower())]
    assert any(a.equals(b) for a, b in found) is equal


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_titles(titles: list[str]):
    """Any titles can be grouped, and no article is lost."""
    stories = group_into_stories([make_published(str(at), title, at) for at, title in enumerate(titles)])
    assert sum(1 + len(story.alternates) for story in stories) == len(titles)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Evening mine ranking: Larch first at 120 BTC", "Evening mine ranking: Larch first at 121 BTC"),
        ("Orchid tops list of Bitcoin buyers", "Orchid again tops list of Bitcoin buyers"),
    ],
)
def test_next_edition(first: str, second: str):
    """A series goes on the next day, and what happens again is another event."""
    articles = [make_published("a", first, 1), make_published("b", second, 2, "2026-11-17T08:00:00Z")]
    assert len(group_into_stories(articles)) == 2


def test_moves_of_different_days():
    """The same rise on another day is another event, where nothing else is said."""
    first = make_published("a", "Bitcoin gains 5% on rate cut", 1, "2026-11-16T08:00:00Z")
    near = make_published("b", "Bitcoin gains 5% in Asian trading", 2, "2026-11-16T10:00:00Z")
    later = make_published("b", "Bitcoin gains 5% in Asian trading", 2, "2026-11-18T02:00:00Z")
    assert len(group_into_stories([first, near])) == 1
    assert len(group_into_stories([first, later])) == 2


@given(st.lists(st.lists(st.integers(0, 11), unique=True, max_size=8), max_size=5), st.data())
def test_groupings_one_after_another(rounds: list[list[int]], data: st.DataObject):
    """Whatever comes, goes or changes in between, a grouper that remembers finds the same stories as a new one."""
    acts = ("buys", "sells", "sued over", "denies buying")
    grouper = StoryGrouper()
    for numbers in rounds:
        titles = [f"Firm{each % 3} {data.draw(st.sampled_from(acts))} {each % 2 + 1},000 BTC" for each in numbers]
        articles = [make_published(str(each), title, each) for each, title in zip(numbers, titles, strict=True)]
        assert grouper.group(articles) == group_into_stories(articles)


def test_only_what_is_new_is_compared(monkeypatch: pytest.MonkeyPatch):
    """When one of many articles is new, it alone is compared with the others."""
    compared: list[str] = []

    def watch(one: ArticleFacts, other: ArticleFacts) -> bool:
        compared.append(one.headline)
        return is_same_story(one, other)

    monkeypatch.setattr(comparisons, "is_same_story", watch)
    articles = [make_published(str(number), f"Firm{number} buys {number},000 BTC", number) for number in range(1, 30)]
    grouper = StoryGrouper()
    for _ in range(2):
        grouper.group(articles)
    before = len(compared)
    grouper.group([*articles[1:], make_published("new", "Newcomer buys 77,000 BTC", 99)])
    assert before > 29
    assert set(compared[before:]) == {"Newcomer buys 77,000 BTC"}
