"""`sluice news`: judges, groups, reads, summarises and extracts, with JSON lines on standard output."""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from sluice.cli.files import read_file
from sluice.cli.standard_streams import Streams
from sluice.core.errors import Invalid

MAX_BYTES: Final = 50 * 1024 * 1024
_NO_FEED: Final = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    _add_lines_action(actions, "judge", "sentiment of headlines: JSON lines with id, title, description", _judge)
    _add_lines_action(
        actions, "group", "stories: JSON lines with id, title, description, text, publishedAt, source", _group
    )
    read = _add_action(actions, "read", "read one feed", _read)
    read.add_argument("file", metavar="FILE")
    read.add_argument("--content-type", default="", metavar="TYPE", help="the header it came with")
    read.add_argument("--url", default="https://feed.invalid/", help="its address, the base of relative links")
    summarise = _add_action(actions, "summarise", "summarise one page", _summarise)
    summarise.add_argument("file", metavar="FILE")
    summarise.add_argument("--content-type", default="text/html", metavar="TYPE")
    summarise.add_argument("--title", default="", help="the article's title in its feed")
    summarise.add_argument("--description", default="", help="the article's text in its feed")
    summarise.add_argument("--url", default="", help="the page's address")
    summarise.add_argument(
        "--status", type=int, default=200, metavar="N", help="the status that the page answered with"
    )
    feeds = _add_action(actions, "feeds", "turn the OPML of a feed reader into a value for NEWS_FEEDS", _list_feeds)
    feeds.add_argument("file", metavar="FILE")
    extract = _add_action(actions, "extract", "extract the text of pages", _extract)
    extract.add_argument("files", metavar="FILE", nargs="+")


def run(options: argparse.Namespace, streams: Streams) -> int:
    action: Callable[[argparse.Namespace, Streams], int] = options.action
    return action(options, streams)


def _add_action(
    actions: Any, name: str, summary: str, action: Callable[[argparse.Namespace, Streams], int]
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=summary, description=summary)
    parser.set_defaults(action=action)
    return parser


def _add_lines_action(
    actions: Any, name: str, summary: str, answer: Callable[[list[dict[str, Any]]], Iterator[dict[str, Any]]]
) -> None:
    def act(_options: argparse.Namespace, streams: Streams) -> int:
        for line in answer(list(_read_lines(streams))):
            _write(streams, line)
        return 0

    _add_action(actions, name, summary, act)


def _read_lines(streams: Streams) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(streams.stdin.read().decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Invalid(f"line {number} of standard input is not JSON: {error}") from None
        if not isinstance(value, dict) or not isinstance(value.get("title"), str) or "id" not in value:
            raise Invalid(f"line {number} of standard input must be an object with id and title")
        yield value


def _write(streams: Streams, value: Mapping[str, Any]) -> None:
    streams.stdout.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
    streams.stdout.flush()


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""


def _judge(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    from sluice.core.news.sentiment import judge_headline  # noqa: PLC0415 - only this action needs it

    for item in items:
        judgement = judge_headline(item["title"], _text(item, "description"))
        yield {
            "id": item["id"],
            "sentiment": judgement.sentiment,
            "score": judgement.score,
            "confidence": judgement.confidence,
        }


def _group(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    from sluice.core.news.article import Article  # noqa: PLC0415 - only this action needs them
    from sluice.core.news.published_article import PublishedArticle  # noqa: PLC0415
    from sluice.core.news.stories import group_into_stories  # noqa: PLC0415

    articles = [
        PublishedArticle.from_article(
            Article(
                {
                    "id": str(place),
                    "title": item["title"],
                    "description": _text(item, "description"),
                    "extractedContent": _text(item, "text"),
                    "link": f"https://articles.invalid/{place}",
                    "pubDate": _text(item, "publishedAt"),
                    "source_name": _text(item, "source"),
                }
            )
        )
        for place, item in enumerate(items)
    ]
    story_of: dict[str, Any] = {}
    for story in group_into_stories(articles):
        for article in (story.lead, *story.alternates):
            story_of[article.id] = items[int(story.id)]["id"]
    for place, item in enumerate(items):
        yield {"id": item["id"], "story": story_of[str(place)]}


def _list_feeds(options: argparse.Namespace, streams: Streams) -> int:
    from sluice.core.news.feeds.opml import MAX_BYTES as MAX_OPML_BYTES  # noqa: PLC0415 - only this action needs it
    from sluice.core.news.feeds.opml import parse_opml  # noqa: PLC0415

    addresses = parse_opml(read_file(options.file, max_bytes=MAX_OPML_BYTES))
    # A comma separates the addresses of NEWS_FEEDS, so that one inside an address is escaped.
    _write(streams, {"feeds": len(addresses), "NEWS_FEEDS": ",".join(each.replace(",", "%2C") for each in addresses)})
    return 0


def _read(options: argparse.Namespace, streams: Streams) -> int:
    from sluice.core.news.dates import parse_time  # noqa: PLC0415 - only this action needs them
    from sluice.core.news.reading import FeedItem, read_feed  # noqa: PLC0415

    def describe(item: FeedItem) -> dict[str, Any]:
        time_read = parse_time(item.written_time)
        more = {
            "publishedAt": time_read.strftime("%Y-%m-%dT%H:%M:%SZ") if time_read else None,
            "id": item.id,
            "author": item.author,
            "categories": item.categories,
        }
        return {"title": item.title, "link": item.link, **{name: value for name, value in more.items() if value}}

    body = read_file(options.file, max_bytes=MAX_BYTES)
    feed = read_feed(body, content_type=options.content_type, url=options.url, now=datetime.now(UTC))
    document = {
        "items": [describe(item) for item in feed.items],
        "format": feed.format,
        "encoding": feed.encoding,
        "warnings": [str(warning) for warning in feed.warnings],
        "error": feed.error,
    }
    # A page may name its feeds.
    _write(streams, document | ({"discovered": feed.discovered} if feed.discovered else {}))
    return 0 if feed.error is None else _NO_FEED


def _summarise(options: argparse.Namespace, streams: Streams) -> int:
    from sluice.core.news.summaries.page_summary import summarise_page  # noqa: PLC0415 - only this action needs it

    found = summarise_page(
        read_file(options.file, max_bytes=MAX_BYTES),
        content_type=options.content_type,
        status=options.status,
        title=options.title,
        description=options.description,
    )
    _write(
        streams,
        {"summary": found.summary, "by": found.by, "language": found.language, "reason": found.reason or None},
    )
    return 0


def _extract(options: argparse.Namespace, streams: Streams) -> int:
    from sluice.core.news.charset_detection import decode_text  # noqa: PLC0415 - only this action needs them
    from sluice.core.news.extraction import extract  # noqa: PLC0415

    for path in options.files:
        body = read_file(path, max_bytes=MAX_BYTES)
        started = time.process_time()
        article = extract(decode_text(body).text)
        elapsed_ms = round((time.process_time() - started) * 1000, 1)
        _write(streams, {"file": path, "title": article.title, "text": article.text, "ms": elapsed_ms})
    return 0
