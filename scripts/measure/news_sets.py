"""Scores the judgements of `sluice news` on a folder of labelled sets: headlines, pairs, feeds and articles."""

import codecs
import html
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from sluice.core.news.article import Article
from sluice.core.news.dates import parse_time
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.reading import FeedDocument, FeedItem, read_feed
from sluice.core.news.sentiment import judge_headline
from sluice.core.news.stories import group_into_stories
from sluice.core.news.summaries.page_summary import summarise_page

LABELS = ("positive", "negative", "neutral")
# Charsets that mean the same on the web.
FAMILIES = (
    {"shift_jis", "cp932"},
    {"gb2312", "gbk", "gb18030"},
    {"iso8859-1", "cp1252"},
    {"euc_kr", "cp949"},
    {"big5", "big5hkscs"},
)


@dataclass(frozen=True, slots=True)
class HeadlineFigures:
    """How many judgements have the label; `hard` and `sure` say it of each hard headline and of each sure judgement."""

    accuracy: float
    macro_f1: float
    hard: list[bool]
    sure: list[bool]

    @classmethod
    def of(cls, items: list[dict[str, Any]]) -> Self:
        judged = [judge_headline(item["title"], item.get("description", "")) for item in items]
        pairs = [(item["label"], each.sentiment) for item, each in zip(items, judged, strict=True)]
        right = [label == sentiment for label, sentiment in pairs]
        return cls(
            accuracy=share(right),
            macro_f1=macro_f1(pairs),
            hard=[is_right for item, is_right in zip(items, right, strict=True) if item.get("hard")],
            sure=[is_right for each, is_right in zip(judged, right, strict=True) if each.confidence >= 0.8],
        )


@dataclass(frozen=True, slots=True)
class PairFigures:
    """How much of what is told as one story is one, and how much of it is found."""

    precision: float
    recall: float

    @classmethod
    def of(cls, pairs: list[dict[str, Any]]) -> Self:
        merged = [len(group_into_stories([publish(pair["a"], "a"), publish(pair["b"], "b")])) == 1 for pair in pairs]
        right = sum(found and pair["same"] for found, pair in zip(merged, pairs, strict=True))
        return cls(right / max(1, sum(merged)), right / max(1, sum(pair["same"] for pair in pairs)))


@dataclass(frozen=True, slots=True)
class ArticleFigures:
    """Articles with enough facts, and sentences that no summary may have: forbidden ones, and ones without support."""

    enough: int
    forbidden: int
    unsupported: int

    @classmethod
    def of(cls, folder: Path, expected: dict[str, Any]) -> Self:
        forbidden = unsupported = enough = 0
        for name, wanted in expected.items():
            summary = summarise_article(json.loads((folder / f"{name}.json").read_text()))
            forbidden += sum(fold(each) in summary for each in wanted["never"])
            unsupported += sum(not is_supported(each, summary) for each in wanted["dependent"])
            facts = sum(any(each.lower() in summary.lower() for each in fact) for fact in wanted["facts"])
            enough += facts >= wanted["minFacts"]
        return cls(enough, forbidden, unsupported)


def measure_sets(folder: Path) -> None:
    for name, measure in (("headlines.json", measure_headlines), ("pairs.json", measure_pairs)):
        if (folder / name).exists():
            measure(json.loads((folder / name).read_text()))
    for name, measure_folder in (("feeds", measure_feeds), ("articles", measure_articles)):
        if (folder / name / "expected.json").exists():
            measure_folder(folder / name, json.loads((folder / name / "expected.json").read_text()))


def measure_headlines(items: list[dict[str, Any]]) -> None:
    found = HeadlineFigures.of(items)
    print(f"{len(items)} headlines: accuracy {found.accuracy:.3f}, macro-F1 {found.macro_f1:.3f}")
    print(
        f"  hard ones {sum(found.hard)} of {len(found.hard)}, with a confidence of 0.8 or more {sum(found.sure)} of {len(found.sure)}"
    )
    if (vader := judge_with_vader(items)) is not None:
        others = [(item["label"], label) for item, label in zip(items, vader, strict=True)]
        print(f"  VADER: accuracy {share(a == b for a, b in others):.3f}, macro-F1 {macro_f1(others):.3f}")


def judge_with_vader(items: list[dict[str, Any]]) -> list[str] | None:
    """Judge with VADER if it is installed; it is no part of the project."""
    try:
        vader = import_module("vaderSentiment.vaderSentiment")
    except ImportError:
        print("  VADER: pip install vaderSentiment to see its figures beside")
        return None
    analyser = vader.SentimentIntensityAnalyzer()
    scores = [analyser.polarity_scores(item["title"])["compound"] for item in items]
    return ["positive" if score >= 0.05 else "negative" if score <= -0.05 else "neutral" for score in scores]


def macro_f1(pairs: list[tuple[str, str]]) -> float:
    return sum(f1(pairs, label) for label in LABELS) / len(LABELS)


def f1(pairs: list[tuple[str, str]], label: str) -> float:
    right = sum(wanted == found == label for wanted, found in pairs)
    return 2 * right / max(1, sum((wanted == label) + (found == label) for wanted, found in pairs))


def share(values: Iterable[bool]) -> float:
    found = list(values)
    return sum(found) / max(1, len(found))


def measure_pairs(pairs: list[dict[str, Any]]) -> None:
    found = PairFigures.of(pairs)
    print(f"{len(pairs)} pairs: precision {found.precision:.3f}, recall {found.recall:.3f}")


def publish(item: dict[str, Any], name: str) -> PublishedArticle:
    members = {"title": item["title"], "description": item.get("description", ""), "pubDate": item["publishedAt"]}
    return PublishedArticle.from_article(
        Article({"id": name, "link": f"https://{name}.invalid/", "source_name": item["source"], **members})
    )


def measure_feeds(folder: Path, expected: dict[str, Any]) -> None:
    wrong = []
    for name, wanted in expected.items():
        body = generate(folder, wanted["generate"]) if "generate" in wanted else (folder / name).read_bytes()
        feed = read_feed(body, content_type=wanted["contentType"], url=wanted["url"], now=datetime.now(UTC))
        if faults := [*find_faults(feed, wanted)]:
            wrong.append(f"  {name}: {', '.join(faults)}")
    print(f"{len(expected)} feeds: {len(expected) - len(wrong)} right", *wrong, sep="\n")


def generate(folder: Path, command: list[str]) -> bytes:
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, check=True).stdout


def find_faults(feed: FeedDocument, wanted: dict[str, Any]) -> Iterable[str]:
    items = [item for item in feed.items if item.title not in wanted.get("optional", [])]
    if len(items) != wanted["items"]:
        yield f"{len(items)} items"
    for name, read in (("titles", read_title), ("links", read_link), ("ids", read_id), ("published", read_published)):
        if name in wanted and not all_match(wanted[name], [read(item) for item in items]):
            yield name
    if wanted["warnings"] and not feed.warnings:
        yield "no warning"
    if wanted.get("clean") and feed.warnings:
        yield "a warning"
    if "charset" in wanted and not same_charset(wanted["charset"], feed.encoding):
        yield f"charset {feed.encoding}"


def read_title(item: FeedItem) -> str | None:
    return item.title


def read_link(item: FeedItem) -> str | None:
    return item.link


def read_id(item: FeedItem) -> str | None:
    return item.id


def read_published(item: FeedItem) -> str | None:
    time = parse_time(item.written_time)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ") if time else None


def all_match(wanted: list[Any], found: list[str | None]) -> bool:
    return len(wanted) == len(found) and all(matches(*pair) for pair in zip(wanted, found, strict=True))


def matches(wanted: Any, found: str | None) -> bool:
    if isinstance(wanted, list):
        return any(matches(each, found) for each in wanted)
    if isinstance(wanted, str) and wanted.startswith("*prefix:"):
        return (found or "").startswith(wanted.removeprefix("*prefix:"))
    return bool(wanted == found)


def same_charset(wanted: str, found: str) -> bool:
    names = {codecs.lookup(name.replace("windows-", "cp")).name for name in (wanted, found)}
    return len(names) == 1 or any(names <= family for family in FAMILIES)


def measure_articles(folder: Path, expected: dict[str, Any]) -> None:
    found = ArticleFigures.of(folder, expected)
    print(
        f"{len(expected)} articles: {found.enough} with enough facts, {found.forbidden} forbidden sentences, "
        f"{found.unsupported} without support"
    )


def summarise_article(article: dict[str, Any]) -> str:
    found = summarise_page(
        wrap_in_page(article),
        content_type="text/html; charset=utf-8",
        status=200,
        title=article["title"],
        description=article.get("description") or "",
    )
    return fold(found.summary)


def wrap_in_page(article: dict[str, Any]) -> bytes:
    title = html.escape(article["title"])
    paragraphs = "".join(f"<p>{html.escape(each)}</p>" for each in article["paragraphs"])
    head = (
        f'<!doctype html><html lang="{article["language"]}"><head><meta charset="utf-8"><title>{title}</title></head>'
    )
    return f"{head}<body><article><h1>{title}</h1>{paragraphs}</article></body></html>".encode()


def is_supported(case: dict[str, str], summary: str) -> bool:
    sentence, needs = fold(case["sentence"]), fold(case["needs"])
    return sentence not in summary or needs in summary[: summary.index(sentence)]


def fold(text: str) -> str:
    return " ".join(text.split())
