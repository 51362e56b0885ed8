"""The documentation of each route of the three news Workers."""

from typing import Final

from sluice.services.news.http.docs.queries import BucketQuery, ListQuery, ProcessOneQuery, TrendQuery
from sluice.services.news.http.docs.replies import (
    AllNews,
    CreatedWebhook,
    HubBody,
    NewsStory,
    PendingArticles,
    ProcessedArticle,
    ProcessorRun,
    SentimentBuckets,
    ServiceStatus,
    StoryPage,
    TrendingTerms,
    UpdaterRun,
    WebhookBody,
    WebhookList,
)
from sluice.web.openapi.common_docs import describe_page
from sluice.web.openapi.docs import Doc, Documentation, Media, Param, ReplyDoc

_NEWS: Final = "News"
_FEEDS: Final = "Feeds"
_PROCESSING: Final = "Processing"
_NO_NEWS: Final = (503,)
ARTICLE_ID: Final = "0123456789abcdef"
_CACHED: Final = {
    "ETag": "Identifies this version of the reply.",
    "Last-Modified": "When the data last changed.",
    "Cache-Control": "Fresh for a minute, and usable for five more while it is revalidated.",
}
_UNCHANGED: Final = ReplyDoc("The caller's copy is current.")

ALL_NEWS: Final = Doc(
    summary="Every article, the latest to be processed first",
    tag=_NEWS,
    replies={200: ReplyDoc("All articles.", AllNews, _CACHED), 304: _UNCHANGED},
    problems=(412, *_NO_NEWS),
)
ARTICLES: Final = Doc(
    summary="Stories, newest first, page by page",
    description=(
        "A cursor stays valid while new articles arrive. Articles about one event are one story. A search (`q`) is ranked by "
        "relevance and recency; `sort=newest` ranks it by time."
    ),
    tag=_NEWS,
    query=ListQuery,
    replies={200: ReplyDoc("A page.", StoryPage, {**_CACHED, "Link": "The next page."}), 304: _UNCHANGED},
    problems=(412, *_NO_NEWS),
)
ARTICLE: Final = Doc(
    summary="One article, and the story it belongs to",
    tag=_NEWS,
    params={"id": Param("The id of an article.", ARTICLE_ID)},
    replies={200: ReplyDoc("The article.", NewsStory, _CACHED), 304: _UNCHANGED},
    problems=(404, 412, *_NO_NEWS),
)
SENTIMENT: Final = Doc(
    summary="Stories of each sentiment per hour, day or week",
    tag=_NEWS,
    query=BucketQuery,
    replies={200: ReplyDoc("The buckets, oldest first.", SentimentBuckets, _CACHED), 304: _UNCHANGED},
    problems=(412, *_NO_NEWS),
)
TRENDING: Final = Doc(
    summary="Trending terms",
    tag=_NEWS,
    query=TrendQuery,
    replies={200: ReplyDoc("Words and pairs of words, the highest score first.", TrendingTerms), 304: _UNCHANGED},
    problems=(412, *_NO_NEWS),
)
STATUS: Final = Doc(
    summary="The state of the news service",
    tag=_PROCESSING,
    replies={200: ReplyDoc("The backlog, the articles to try later and why, and the last runs.", ServiceStatus)},
)
PENDING: Final = Doc(
    summary="Articles that wait to be processed",
    tag=_PROCESSING,
    replies={200: ReplyDoc("All ids, and the ten newest articles.", PendingArticles)},
    problems=(404,),
)
UPDATER_RUN: Final = Doc(
    summary="Fetch news now",
    tag=_PROCESSING,
    replies={200: ReplyDoc("The result of the run.", UpdaterRun)},
    security=("admin",),
)
PROCESSOR_RUN: Final = Doc(
    summary="Process articles now",
    tag=_PROCESSING,
    replies={200: ReplyDoc("The result of the run.", ProcessorRun)},
    security=("admin",),
)
PROCESS_ONE: Final = Doc(
    summary="Process one article now, all its stages at once",
    tag=_PROCESSING,
    query=ProcessOneQuery,
    replies={200: ReplyDoc("The article after processing.", ProcessedArticle)},
    problems=(404, 409),
    security=("admin",),
)


HUB: Final = Doc(
    summary="Subscribe to a feed (WebSub)",
    description=(
        "Send a form (`application/x-www-form-urlencoded`), as the standard has it, or JSON. The callback is asked to confirm "
        "afterwards. Each change is then posted to it as the whole feed, signed if there is a secret."
    ),
    tag=_FEEDS,
    body=HubBody,
    example={
        "hub.mode": "subscribe",
        "hub.topic": "/api/v1/feed.atom",
        "hub.callback": "https://reader.example.com/news",
    },
    replies={202: ReplyDoc("The callback will be asked.", Media("text/plain"))},
    problems=(429,),
)
WEBHOOKS: Final = Doc(
    summary="The webhooks for new stories",
    tag=_FEEDS,
    replies={200: ReplyDoc("All of them, without their secrets.", WebhookList)},
    security=("admin",),
)
ADD_WEBHOOK: Final = Doc(
    summary="Send new stories to an address",
    description="Each message is signed as in the Standard Webhooks specification.",
    tag=_FEEDS,
    body=WebhookBody,
    example={"url": "https://app.example.com/stories"},
    replies={201: ReplyDoc("The webhook and its secret.", CreatedWebhook)},
    problems=(429,),
    security=("admin",),
)
REMOVE_WEBHOOK: Final = Doc(
    summary="Send no more stories to an address",
    tag=_FEEDS,
    params={"id": Param("The id of a webhook.", ARTICLE_ID)},
    replies={204: ReplyDoc("It is removed.")},
    problems=(404,),
    security=("admin",),
)


def _describe_feed(title: str, media_type: str) -> Doc:
    """Describes a feed of complete stories, with the filters of the list."""
    return Doc(
        summary=f"The stories as {title}",
        tag=_FEEDS,
        query=ListQuery,
        replies={200: ReplyDoc("The feed.", Media(media_type), _CACHED), 304: _UNCHANGED},
        problems=(412, *_NO_NEWS),
    )


API: Final[Documentation] = {
    ("GET", "/"): describe_page("The news in a browser"),
    ("GET", "/api/bitcoin-news"): ALL_NEWS,
    ("GET", "/api/v1/articles"): ARTICLES,
    ("GET", "/api/v1/articles/:id"): ARTICLE,
    ("GET", "/api/v1/sentiment"): SENTIMENT,
    ("GET", "/api/v1/trending"): TRENDING,
    ("GET", "/api/v1/feed.rss"): _describe_feed("RSS 2.0", "application/rss+xml"),
    ("GET", "/api/v1/feed.atom"): _describe_feed("Atom", "application/atom+xml"),
    ("GET", "/api/v1/feed.json"): _describe_feed("JSON Feed 1.1", "application/feed+json"),
    ("POST", "/api/v1/hub"): HUB,
    ("GET", "/api/v1/webhooks"): WEBHOOKS,
    ("POST", "/api/v1/webhooks"): ADD_WEBHOOK,
    ("DELETE", "/api/v1/webhooks/:id"): REMOVE_WEBHOOK,
    ("GET", "/status"): STATUS,
}
UPDATER: Final[Documentation] = {("GET", "/"): PENDING, ("POST", "/run"): UPDATER_RUN, ("GET", "/status"): STATUS}
PROCESSOR: Final[Documentation] = {
    ("GET", "/"): PROCESS_ONE,
    ("POST", "/run"): PROCESSOR_RUN,
    ("GET", "/status"): STATUS,
}
